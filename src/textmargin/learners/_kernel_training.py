"""What a kernel machine was fitted on, kernel values included, and its scores by machines learnt without a fold.

A fold starts from the support vectors of all texts that are not in it: their kernel values are known. Chunking goes on from there
until no text misses its margin, so that nothing but the values asked for depends on the start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import Bools, Floats, Indices
from ._chunking import Chunking, KernelProblem
from ._folds import deal_folds
from ._kernel_trust import KernelFit
from ._lazy import LazyGram


@dataclass(frozen=True)
class KernelTraining:
    """Texts that count, by number; problems and kernel values are of these alone."""

    counted: Indices
    positive: Bools  # (n_counted, n_problems)
    gram: LazyGram
    problems: list[KernelProblem]
    fits: list[KernelFit]
    chunking: Chunking
    pairs: Any  # of all texts
    z: Floats  # prior scores of all texts, as the machines take them

    def fold_scores(self, n_folds: int, random_state: int | None) -> Floats:
        """(n_texts, n_problems); NaN for a fold without which a class has no example, or no other text."""
        dealt = deal_folds(self.positive, n_folds, random_state)
        scores = np.full((len(self.z), len(self.problems)), np.nan)
        for j in range(n_folds):
            held_out, rest = np.flatnonzero(dealt == j), self.positive[dealt != j]
            learnable = np.flatnonzero(rest.any(axis=0) & ~rest.all(axis=0))
            scores[np.ix_(self.counted[held_out], learnable)] = self._without(held_out, learnable)
        absent = np.setdiff1d(np.arange(len(scores)), self.counted)
        scores[absent] = self._of_absent(absent)
        return scores

    def _without(self, held_out: Indices, learnable: Indices) -> Floats:
        """Scores of some texts by machines of the others, (n_held_out, n_learnable)."""
        problems: list[KernelProblem] = []
        starts, settings = [], []
        for k in learnable.tolist():
            costs: Floats = self.problems[k].costs.copy()
            costs[held_out] = 0.0
            problems.append(replace(self.problems[k], costs=costs))
            starts.append(np.setdiff1d(self.fits[k].machine.support, held_out))
            settings.append(self.fits[k].setting)
        machines = replace(self.chunking, watch=None).learn(self.gram, problems, settings, starts) if problems else []
        columns = [
            machine.scores(self.gram, held_out, self.problems[k].z) for k, machine in zip(learnable, machines, strict=True)
        ]
        return np.reshape(columns, (len(learnable), held_out.size)).T

    def _of_absent(self, absent: Indices) -> Floats:
        """Scores of texts of weight 0 by the machines themselves, which never saw them."""
        columns = []
        for k, fit in enumerate(self.fits):
            machine = fit.machine
            values = self.pairs.block(absent, self.counted[machine.support]) @ machine.beta if absent.size else np.zeros(0)
            columns.append(values + machine.eta * self.z[absent, k] + machine.intercept)
        return np.column_stack(columns)
