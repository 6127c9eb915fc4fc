"""What a kernel machine was fitted on, kernel values included, and its scores by machines learnt without a
fold.

A fold starts from the machine of all texts: the kernel values of its support vectors are known. Learning goes
on from there until no text misses its margin, so that nothing but the time and the values asked for depends
on the start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._typing import Bools, Floats, Indices
from ..errors import TooLargeError
from ._folds import deal_folds
from ._kernel_trust import KernelFit, without
from ._machine import GramColumns, KernelProblem, Machine, MachineLearner

MAX_SIZE = 12_000  # support vectors of a class, the side of the matrix that leave-one-out scores factor


@dataclass(frozen=True)
class KernelTraining:
    """Texts that count, by number; problems and kernel values are of these alone."""

    counted: Indices
    positive: Bools  # (n_counted, n_problems)
    gram: GramColumns
    problems: list[KernelProblem]
    fits: list[KernelFit]
    learner: MachineLearner
    # K of texts that do not count with those that do, (n_texts, n_counted)
    compare: Callable[[Indices], Floats]
    z: Floats  # prior scores of all texts, as the machines take them
    C: float

    def starts(self, counted: Indices, positive: Bools, C: float) -> list[Machine] | None:
        """Machines to start a fit with another C from: weights at their bound go with it, free ones stay.

        None where the texts or classes are others.
        """
        if not (np.array_equal(counted, self.counted) and np.array_equal(positive, self.positive)):
            return None
        starts = []
        for fit, problem in zip(self.fits, self.problems, strict=True):
            at_bound = np.abs(fit.machine.beta) >= problem.costs[fit.machine.support] * (1 - 1e-9)
            factor = C / self.C if self.learner.settings.loss == "hinge" else 1.0
            starts.append(replace(fit.machine, beta=np.where(at_bound, factor, 1.0) * fit.machine.beta))
        return starts

    def fold_scores(self, n_folds: int, random_state: int | None) -> Floats:
        """(n_texts, n_problems); NaN for a fold without which a class has no example, or no other text."""
        dealt = deal_folds(self.positive, n_folds, random_state)
        scores = np.full((len(self.z), len(self.problems)), np.nan)
        folds = []  # (texts held out, class), of all folds and classes that can be learnt
        for j in range(n_folds):
            held_out, rest = np.flatnonzero(dealt == j), self.positive[dealt != j]
            folds += [(held_out, k) for k in np.flatnonzero(rest.any(axis=0) & ~rest.all(axis=0)).tolist()]
        problems = [
            replace(self.problems[k], costs=without(self.problems[k].costs, held_out))
            for held_out, k in folds
        ]
        fits = [self.fits[k] for _, k in folds]
        starts = [fit.machine for fit in fits]
        machines = (
            self.learner.quiet().learn(self.gram, problems, [fit.setting for fit in fits], starts)
            if folds
            else []
        )
        for (held_out, k), machine in zip(folds, machines, strict=True):
            scores[self.counted[held_out], k] = machine.scores(self.gram, held_out, self.problems[k].z)
        absent = np.setdiff1d(np.arange(len(scores)), self.counted)
        scores[absent] = self._of_absent(absent)
        return scores

    def loo_scores(self) -> Floats:
        """(n_texts, n_problems), each text by the machine of the others, for the squared hinge.

        The support vectors solve M·[β; b] = [y − ηz; 0] with M = [K + ridge, 1; 1', 0]; taking row i out of
        that system gives text i the score yᵢ − βᵢ / (M⁻¹)ᵢᵢ, so long as no other text crosses its margin by
        that.
        """
        scores = np.empty((len(self.z), len(self.problems)))
        for k, (fit, problem) in enumerate(zip(self.fits, self.problems, strict=True)):
            support, beta = fit.machine.support, fit.machine.beta
            if support.size > MAX_SIZE:
                raise TooLargeError(
                    "Leave-one-out scores need a dense matrix as large as there are support vectors, "
                    f"{support.size}, "
                    f"more than {MAX_SIZE}. Use scores of refitted folds: fold_decision_function()."
                )
            own = fit.machine.scores(self.gram, np.arange(len(self.gram)), problem.z)
            if support.size:
                Q = self.gram.block(support, support)
                Q[np.diag_indices_from(Q)] += 0.5 / problem.costs[support]
                inverse = np.linalg.inv(Q)
                diagonal = inverse.diagonal().copy()
                if self.learner.settings.fit_intercept:
                    ones = inverse.sum(axis=1)
                    diagonal -= ones**2 / ones.sum()
                own[support] = problem.y[support] - beta / np.maximum(
                    diagonal, 1e-12 * np.abs(inverse.diagonal())
                )
            scores[self.counted, k] = own
        absent = np.setdiff1d(np.arange(len(scores)), self.counted)
        scores[absent] = self._of_absent(absent)
        return scores

    def _of_absent(self, absent: Indices) -> Floats:
        """Scores of texts of weight 0 by the machines themselves, which never saw them."""
        K = self.compare(absent) if absent.size else np.zeros((0, len(self.gram)))
        columns = []
        for k, fit in enumerate(self.fits):
            machine = fit.machine
            columns.append(
                K[:, machine.support] @ machine.beta + machine.eta * self.z[absent, k] + machine.intercept
            )
        return np.column_stack(columns)
