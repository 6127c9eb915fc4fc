"""`trust="auto"`: each prior, and the contrasts, against the plain model on held-out texts; those that help are used.

Held-out texts are scored by exact leave-one-out where that is cheap, else by models refitted without a fifth of the texts. Where
there are contrasts it is always folds, since the contrasts of a text have to go with it; and where a prior was learnt from the
training texts, it is the folds that it was learnt without, each weighed on its own fold (`cross_fitting.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._typing import Bools, Floats
from ._held_out_cost import leave_one_out_pays
from ._refit import Fold
from .cross_fitting import PriorFolds
from .evidence import evidence_of, squared_gains
from .problem import Problem
from .trust import Fit, Solver, trained_scores


@dataclass(frozen=True)
class Evaluation:
    """What is known of one class before its priors and contrasts are adopted or dropped; contrasts, if any, come last."""

    plain: Fit
    fits: list[Fit]  # with each of them alone
    evidence: Floats  # NaN for an empty prior
    gain: Floats
    silent: Bools  # whether no text has any of its terms


@dataclass(frozen=True)
class Evaluator:
    """The two halves of `auto`. A class is given without contrasts, and with them where there are any."""

    solver: Solver

    def evaluate(self, problem: Problem, contrasted: Problem | None = None, start: Fit | None = None) -> Evaluation:
        """What held-out texts gain by each prior, and by the contrasts."""
        scale = problem.margin_scale()
        n_priors = scale.size
        plain = self.solver.solve(problem, "plain", np.zeros(n_priors), start)
        if not scale.any() and contrasted is None:  # nothing to weigh: leaving texts out would cost more than the fit
            return Evaluation(plain, [plain] * n_priors, np.full(n_priors, np.nan), np.zeros(n_priors), scale > 0)
        anchors = np.diag(scale)
        fits = [self.solver.solve(problem, "fixed", anchor, plain) if anchor.any() else plain for anchor in anchors]
        without, *losses = self._held_out_losses(problem, [plain, *fits], by_folds=contrasted is not None)
        known, silent = scale > 0, problem.silent
        judges = np.ones((without.size, n_priors), dtype=bool) if problem.folds is None else problem.folds.judges
        if contrasted is not None:
            fits.append(self.solver.solve(contrasted, "plain", np.zeros(n_priors), plain))
            losses += self._held_out_losses(contrasted, fits[-1:], by_folds=True)
            known, silent = np.append(known, contrasted.costs[contrasted.n_texts :].any()), np.append(silent, False)
            judges = np.column_stack([judges, np.ones(without.size, dtype=bool)])
        gains = [squared_gains(without[own], loss[own], self.solver.tol) for loss, own in zip(losses, judges.T, strict=True)]
        evidence = np.array([evidence_of(gain) if any_ else np.nan for gain, any_ in zip(gains, known, strict=True)])
        share = [gain.sum() / max(without[own].sum(), 1e-300) for gain, own in zip(gains, judges.T, strict=True)]
        return Evaluation(plain, fits, evidence, np.array(share), silent)

    def fit_selected(
        self, problem: Problem, contrasted: Problem | None, evaluation: Evaluation, trusted: NDArray[np.bool_]
    ) -> Fit:
        """With what is adopted, and nothing else."""
        if not trusted.any():
            return evaluation.plain
        if trusted.sum() == 1:
            return evaluation.fits[int(trusted.argmax())]
        anchor = problem.joint_margin_scale(trusted[: len(problem.V)])
        chosen = problem if contrasted is None or not trusted[-1] else contrasted
        return self.solver.solve(chosen, "fixed", anchor, evaluation.fits[-1])

    def _held_out_losses(self, problem: Problem, fits: list[Fit], *, by_folds: bool) -> list[Floats]:
        """Of each text under each fit, by leave-one-out or by refitted folds: the same for all fits, as the first decides."""
        n_texts = problem.n_texts
        # With fewer weights than texts, leaving one out moves others across their margins, and the formula may err by far.
        few_weights = problem.X.shape[1] < problem.counted.size
        if by_folds or few_weights or problem.folds is not None or not self._leave_one_out_pays(problem, fits[0]):
            scores = self._fold_scores(problem, fits)
        else:
            scores = [self.solver.leave_one_out(problem, fit) for fit in fits]
        missed = [np.maximum(problem.margins - problem.y * score, 0)[:n_texts] for score in scores]
        return [problem.costs[:n_texts] * one * one for one in missed]

    def _leave_one_out_pays(self, problem: Problem, fit: Fit) -> bool:
        return leave_one_out_pays([self.solver.size(problem, trained_scores(problem, fit))])

    def _fold_scores(self, problem: Problem, fits: list[Fit]) -> list[Floats]:
        """Scores of all texts, each by a refit without its fold, at the tolerance of the fits: small gains count as well."""
        counted = problem.counted
        dealt = PriorFolds.deal(problem.y[counted, None] > 0) if problem.folds is None else problem.folds.fold[counted]
        found = [trained_scores(problem, fit) for fit in fits]
        for number in np.unique(dealt).tolist():
            rows = counted[dealt == number]
            own, fold = problem.in_fold(number), Fold(rows, problem.X[rows])
            for fit, scores in zip(fits, found, strict=True):
                scores[rows] = self.solver.fold_scores(own, fit, fold, self.solver.tol)
        return found
