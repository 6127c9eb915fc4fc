"""How far the prior score of a text is trusted by a kernel machine: the η of  f = Kβ + ηz + b, by the modes of `_trust.py`.

A kernel has no weights on whose scale a prior could be put, so scores are compared: *on the scale of the scores* means that ηz is
spread over the training texts as widely (standard deviation) as the scores that the kernel alone gives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._pairs import Floats, Numbers
from ._chunking import Chunking, Machine, Problem
from ._hinge import Stance
from ._lazy import LazyGram
from ._trust import Mode, Trust

_PLAIN = Stance()
_N_FOLDS = 5


@dataclass(frozen=True)
class KernelSolver:
    """The settings that every problem of one estimator shares."""

    chunking: Chunking
    trust: Trust
    pull: float  # C times the strength of `ridge`

    def fit(self, gram: LazyGram, problems: list[Problem]) -> list[tuple[Machine, Mode]]:
        """A machine for each problem, and the mode it was learnt with."""
        knows = [bool(problem.z[problem.costs > 0].any()) for problem in problems]
        if not any(knows) or self.trust in ("auto", "ridge"):
            fits = self._learn(gram, problems, ["plain"] * len(problems), [_PLAIN] * len(problems))
            if any(knows):
                fits = [
                    self._scaled(gram, problem, machine) if known else (machine, mode)
                    for problem, known, (machine, mode) in zip(problems, knows, fits, strict=True)
                ]
            return fits
        mode, stance = self._given()
        modes: list[Mode] = [mode if known else "plain" for known in knows]
        return self._learn(gram, problems, modes, [stance if known else _PLAIN for known in knows])

    def _learn(
        self, gram: LazyGram, problems: list[Problem], modes: list[Mode], stances: list[Stance]
    ) -> list[tuple[Machine, Mode]]:
        return list(zip(self.chunking.learn(gram, problems, stances), modes, strict=True))

    def _given(self) -> tuple[Mode, Stance]:
        """The stance of a mode that needs to know nothing else."""
        if self.trust == "free":
            return "free", Stance(pull=0.0)
        if self.trust == "nonneg":
            return "nonneg", Stance(pull=0.0, least=0.0)
        return "fixed", Stance(1.0 if self.trust == "fixed" else float(self.trust))

    def _scaled(self, gram: LazyGram, problem: Problem, plain: Machine) -> tuple[Machine, Mode]:
        """`ridge` and `auto`, which start from what the kernel alone gives."""
        texts = np.flatnonzero(problem.costs > 0)
        spread = float(problem.z[texts].std())
        scale = float(plain.scores(gram, texts, problem.z).std()) / spread if spread > 0 else 0.0
        if scale == 0:
            return plain, "plain"
        if self.trust == "ridge":
            stance = Stance(scale, self.pull / scale**2)
            return self.chunking.learn(gram, [problem], [stance])[0], "ridge"
        trusting = Stance(scale)
        if self._helps(gram, problem, texts, trusting):
            return self.chunking.learn(gram, [problem], [trusting])[0], "fixed"
        return plain, "plain"

    def _helps(self, gram: LazyGram, problem: Problem, texts: Numbers, stance: Stance) -> bool:
        """Whether texts that were left out lose less with the prior than without."""
        positive, negative = texts[problem.y[texts] > 0], texts[problem.y[texts] < 0]
        n_folds = min(_N_FOLDS, positive.size, negative.size)
        if n_folds < 2:  # nothing can be left out; a prior that speaks for its only example is believed
            return bool(problem.z[positive].mean() > problem.z[negative].mean())
        fold = np.empty(len(gram), dtype=np.intp)
        for side in (positive, negative):
            fold[side] = np.arange(side.size) % n_folds
        with_prior, without = (self._loss(gram, problem, texts, fold, s) for s in (stance, _PLAIN))
        return with_prior < (1 - 1e-6) * without

    def _loss(self, gram: LazyGram, problem: Problem, texts: Numbers, fold: Numbers, stance: Stance) -> float:
        loss = 0.0
        quiet = replace(self.chunking, watch=None)
        for j in range(fold[texts].max() + 1):
            held_out = texts[fold[texts] == j]
            costs: Floats = problem.costs.copy()
            costs[held_out] = 0
            (machine,) = quiet.learn(gram, [replace(problem, costs=costs)], [stance])
            missed = 1 - problem.y[held_out] * machine.scores(gram, held_out, problem.z)
            loss += float(problem.costs[held_out] @ np.maximum(missed, 0))
        return loss
