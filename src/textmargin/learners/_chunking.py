"""Chunking: a kernel SVM on few texts at a time, which grows by the texts that miss the margin until none
does.

A text that is not in the chunk and has its margin would not be a support vector of the whole problem either,
so the machine of the last chunk is that of all texts. Only the kernel of all texts with those that ever were
in a chunk is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from .._ties import descending_order
from .._typing import Floats, Indices
from ._dual import DualProblems
from ._hinge import Chunk, KernelTrustSetting, MachineSettings
from ._lazy import LazyGram
from ._machine import KernelProblem, Machine, Round

_GROWTH = 0.5  # a chunk grows at most by this share of itself, or by as many texts as it started with


@dataclass(frozen=True)
class Chunking:
    """Settings that all problems share."""

    size: int  # texts to start with
    settings: MachineSettings
    watch: Callable[[Round], None] | None = None
    n_jobs: int | None = None  # problems at a time

    def quiet(self) -> Chunking:
        """The same without anybody who watches."""
        return replace(self, watch=None)

    def learn(
        self,
        gram: LazyGram,
        problems: list[KernelProblem],
        trust: list[KernelTrustSetting],
        starts: list[Machine] | None = None,
    ) -> list[Machine]:
        """A machine for each problem; side by side, so that kernel values are asked for at once.

        The support vectors of `starts` are the texts to start with, in place of some at even distances; both
        sides are in a first chunk all the same.
        """
        texts = [np.flatnonzero(problem.costs > 0) for problem in problems]
        chunks = [self._first(problem, there) for problem, there in zip(problems, texts, strict=True)]
        if starts is not None:
            known = [
                start.support[problem.costs[start.support] > 0]
                for problem, start in zip(problems, starts, strict=True)
            ]
            chunks = [
                start if np.unique(problem.y[start]).size == 2 else np.union1d(start, chunk)
                for problem, start, chunk in zip(problems, known, chunks, strict=True)
            ]
        machines: dict[int, Machine] = {}
        unfinished = list(range(len(problems)))
        number = 0
        while unfinished:
            number += 1
            gram.compute(np.unique(np.concatenate([chunks[k] for k in unfinished])))
            solved = Parallel(self.n_jobs, prefer="threads")(
                self._to_solve(gram, problems[k], trust[k], chunks[k], machines.get(k)) for k in unfinished
            )
            for k, solution in zip(unfinished, solved, strict=True):
                machines[k] = _machine(chunks[k], *solution)
            for k in list(unfinished):
                missing = self._missing(gram, problems[k], machines[k], np.setdiff1d(texts[k], chunks[k]))
                if self.watch:
                    self.watch(
                        Round(
                            problems[k].number,
                            number,
                            chunks[k].size,
                            machines[k].support.size,
                            missing.size,
                            gram.n_evaluations,
                        )
                    )
                if missing.size == 0:
                    if self.settings.fit_intercept:
                        machines[k] = self._settled(gram, problems[k], machines[k], texts[k])
                    unfinished.remove(k)
                chunks[k] = np.union1d(chunks[k], missing[: max(self.size, int(_GROWTH * chunks[k].size))])
        return [machines[k] for k in range(len(problems))]

    def _first(self, problem: KernelProblem, texts: Indices) -> Indices:
        """The first chunk: half for the class and half against it, at even distances."""
        sides = [texts[problem.y[texts] > 0], texts[problem.y[texts] < 0]]
        few, many = sorted(sides, key=len)
        n_few = min(few.size, max(1, self.size // 2))
        return np.union1d(_evenly(few, n_few), _evenly(many, max(1, self.size - n_few)))

    def _to_solve(
        self,
        gram: LazyGram,
        problem: KernelProblem,
        setting: KernelTrustSetting,
        chunk: Indices,
        last: Machine | None,
    ) -> Any:
        """The problem of a chunk as a job that needs nothing else; its kernel values, the bulk of it, stand
        apart.
        """
        y, costs, z = (values[chunk] for values in (problem.y, problem.costs, problem.z))
        part = partial(Chunk, y=y, costs=costs, z=z, settings=self.settings)
        start: Floats | None = None
        if last is not None:
            start = np.zeros(chunk.size)
            start[np.searchsorted(chunk, last.support)] = last.beta
        return delayed(_solve)(gram.block(chunk, chunk), part, setting, start)

    def _missing(self, gram: LazyGram, problem: KernelProblem, machine: Machine, rest: Indices) -> Indices:
        """Texts outside the chunk that miss their margin, the worst first."""
        shortfall = 1 - problem.y[rest] * machine.scores(gram, rest, problem.z)
        order = descending_order(shortfall)
        return rest[order[shortfall[order] > self.settings.tol]]

    def _settled(self, gram: LazyGram, problem: KernelProblem, machine: Machine, texts: Indices) -> Machine:
        """With the intercept that all texts agree on; the chunk may have left it more room."""
        beta = np.zeros(len(gram))
        beta[machine.support] = machine.beta
        y, costs, offset = problem.y[texts], problem.costs[texts], machine.eta * problem.z[texts]
        posed = DualProblems.of(y[None], costs[None], offset[None], self.settings.loss)
        e = posed.target - gram.times(machine.support, machine.beta)[texts] - posed.ridge * beta[texts]
        return replace(machine, intercept=float(posed.conditions(beta[None, texts], e, True)[0][0]))


def _solve(
    K: Floats, part: Callable[[Floats], Chunk], setting: KernelTrustSetting, start: Floats | None
) -> tuple[Floats, float, float]:
    return part(K).solve(setting, start)


def _machine(chunk: Indices, beta: Floats, b: float, eta: float) -> Machine:
    support = beta != 0
    return Machine(chunk[support], beta[support], b, eta)


def _evenly(numbers: Indices, n: int) -> Indices:
    return numbers[np.linspace(0, numbers.size - 1, min(n, numbers.size)).astype(np.intp)]
