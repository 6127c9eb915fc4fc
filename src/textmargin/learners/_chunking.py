"""Chunking: a kernel SVM on few texts at a time, which grows by the texts that miss the margin until none does.

A text that is not in the chunk and has its margin would not be a support vector of the whole problem either, so the machine of
the last chunk is that of all texts. Only the kernel of all texts with those that ever were in a chunk is needed.
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
from ._hinge import Chunk, KernelTrustSetting, intercept
from ._lazy import LazyGram

_GROWTH = 0.5  # a chunk grows at most by this share of itself, or by as many texts as it started with


@dataclass(frozen=True)
class KernelProblem:
    """One class against the rest, by its number among the classes."""

    number: int
    y: Floats  # ±1
    costs: Floats  # 0: not there
    z: Floats  # prior scores, centred; 0 where there are none


@dataclass(frozen=True)
class Machine:
    """What was learnt: f(x) = Σ βᵢ K(x, xᵢ) + ηz(x) + b, over the support vectors."""

    support: Indices
    beta: Floats
    intercept: float
    eta: float

    def scores(self, gram: LazyGram, rows: Indices, z: Floats) -> Floats:
        """f of some of the texts."""
        return gram.times(self.support, self.beta)[rows] + self.eta * z[rows] + self.intercept


@dataclass(frozen=True)
class Round:
    """How far one problem has come, for those who watch."""

    problem: int
    number: int
    n_chunk: int
    n_support: int
    n_missing: int  # texts outside the chunk that miss their margin
    n_evaluations: int


@dataclass(frozen=True)
class Chunking:
    """Settings that all problems share."""

    size: int  # texts to start with
    tol: float
    fit_intercept: bool = True
    watch: Callable[[Round], None] | None = None
    n_jobs: int | None = None  # problems at a time

    def learn(
        self,
        gram: LazyGram,
        problems: list[KernelProblem],
        settings: list[KernelTrustSetting],
        starts: list[Indices] | None = None,
    ) -> list[Machine]:
        """A machine for each problem, all of the same texts; side by side, so that kernel values are asked for at once.

        `starts` are texts to start with, in place of some at even distances; both sides are in a first chunk all the same.
        """
        texts = np.flatnonzero(problems[0].costs > 0)
        chunks = [self._first(problem, texts) for problem in problems]
        if starts is not None:
            chunks = [
                start if np.unique(problem.y[start]).size == 2 else np.union1d(start, chunk)
                for problem, start, chunk in zip(problems, starts, chunks, strict=True)
            ]
        machines: dict[int, Machine] = {}
        unfinished = list(range(len(problems)))
        number = 0
        while unfinished:
            number += 1
            gram.compute(np.unique(np.concatenate([chunks[k] for k in unfinished])))
            solved = Parallel(self.n_jobs, prefer="threads")(
                self._to_solve(gram, problems[k], settings[k], chunks[k]) for k in unfinished
            )
            for k, solution in zip(unfinished, solved, strict=True):
                machines[k] = _machine(chunks[k], *solution)
            for k in list(unfinished):
                missing = self._missing(gram, problems[k], machines[k], np.setdiff1d(texts, chunks[k]))
                if self.watch:
                    self.watch(
                        Round(
                            problems[k].number, number, chunks[k].size, machines[k].support.size, missing.size, gram.n_evaluations
                        )
                    )
                if missing.size == 0:
                    if self.fit_intercept:
                        machines[k] = _settled(gram, problems[k], machines[k], texts)
                    unfinished.remove(k)
                chunks[k] = np.union1d(chunks[k], missing[: max(self.size, int(_GROWTH * chunks[k].size))])
        return [machines[k] for k in range(len(problems))]

    def _first(self, problem: KernelProblem, texts: Indices) -> Indices:
        """The first chunk: half for the class and half against it, at even distances."""
        sides = [texts[problem.y[texts] > 0], texts[problem.y[texts] < 0]]
        few, many = sorted(sides, key=len)
        n_few = min(few.size, max(1, self.size // 2))
        return np.union1d(_evenly(few, n_few), _evenly(many, max(1, self.size - n_few)))

    def _to_solve(self, gram: LazyGram, problem: KernelProblem, setting: KernelTrustSetting, chunk: Indices) -> Any:
        """The problem of a chunk as a job that needs nothing else; its kernel values, the bulk of it, stand apart."""
        y, costs, z = (values[chunk] for values in (problem.y, problem.costs, problem.z))
        part = partial(Chunk, y=y, costs=costs, z=z, fit_intercept=self.fit_intercept)
        return delayed(_solve)(gram.block(chunk, chunk), part, setting, self.tol)

    def _missing(self, gram: LazyGram, problem: KernelProblem, machine: Machine, rest: Indices) -> Indices:
        """Texts outside the chunk that miss their margin, the worst first."""
        shortfall = 1 - problem.y[rest] * machine.scores(gram, rest, problem.z)
        order = descending_order(shortfall)
        return rest[order[shortfall[order] > self.tol]]


def _solve(K: Floats, part: Callable[[Floats], Chunk], setting: KernelTrustSetting, tol: float) -> tuple[Floats, float, float]:
    return part(K).solve(setting, tol)


def _machine(chunk: Indices, beta: Floats, b: float, eta: float) -> Machine:
    support = beta != 0
    return Machine(chunk[support], beta[support], b, eta)


def _settled(gram: LazyGram, problem: KernelProblem, machine: Machine, texts: Indices) -> Machine:
    """With the intercept that all texts agree on; the chunk may have left it more room."""
    beta = np.zeros(len(gram))
    beta[machine.support] = machine.beta
    scores = replace(machine, intercept=0.0).scores(gram, texts, problem.z)
    return replace(machine, intercept=intercept(scores, problem.y[texts], beta[texts], problem.costs[texts]))


def _evenly(numbers: Indices, n: int) -> Indices:
    return numbers[np.linspace(0, numbers.size - 1, min(n, numbers.size)).astype(np.intp)]
