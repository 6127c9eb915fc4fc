"""`trust="auto"`: each prior, and the contrasts, against the plain model on held-out texts; those that help are used.

Which of these are used together, `joint_priors.py` says; contrasts are one more that may join.

Held-out texts are scored by exact leave-one-out where that is cheap, else by models refitted without a fifth of the texts. Where
there are contrasts it is always folds, since the contrasts of a text have to go with it; and where a prior was learnt from the
training texts, it is the folds that it was learnt without, each weighed on its own fold (`cross_fitting.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._typing import Bools, Floats, Indices
from ._held_out_cost import leave_one_out_pays
from ._refit import Fold
from ._training import Training
from .cross_fitting import PriorFolds
from .evidence import Verdict, prior_evidence, rank_gains, select_priors, squared_gains, verdict
from .joint_priors import join_priors
from .problem import Problem
from .trust import Fit, Solver, trained_scores

PerClass: TypeAlias = Callable[..., list[Any]]


@dataclass(frozen=True)
class Evaluation:
    """What is known of one class before its priors and contrasts are adopted or dropped; contrasts, if any, come last."""

    plain: Fit
    fits: list[Fit]  # with each of them alone
    evidence: Floats  # NaN for an empty prior
    gain: Floats
    silent: Bools  # whether no text has any of its terms


def fit_auto(training: Training, starts: list[Fit], per_class: PerClass) -> tuple[list[Fit], list[Verdict], Bools]:
    """Weigh the priors and contrasts of each class, use those that deserve it, and say why.

    Parameters
    ----------
    training : with contrasts for all classes that have any
    starts : list of Fit, per class; empty where there is none
    per_class : function of some work on a class, of the classes' problems, and of what else it needs of each class

    Returns
    -------
    fits, verdicts, and which classes use the contrasts
    """
    evaluator, labels, n_priors = Evaluator(training.solver), training.targets.labels, training.prior.shape[1]
    problems = list(training.plain_problems())
    contrasted = [None] * len(problems) if training.contrasts is None else list(training.problems())
    evaluations = per_class(evaluator.evaluate, problems, contrasted, starts or [None] * len(problems))
    evidence, gain, silent = (np.array([getattr(one, name) for one in evaluations]) for name in ("evidence", "gain", "silent"))

    def losses(classes: Indices, used: Bools) -> list[Floats]:
        return per_class(
            evaluator.selected_losses, *([part[k] for k in classes] for part in (problems, contrasted, evaluations)), used
        )

    learnt = np.zeros(evidence.shape[1], dtype=bool)
    if training.prior_folds is not None:
        learnt[:n_priors] = training.prior_folds.learnt
    trusted = join_priors(select_priors(evidence, silent, learnt), gain, silent, losses, training.solver.tol)
    fits = per_class(evaluator.fit_selected, problems, contrasted, evaluations, trusted)
    verdicts = [
        verdict(
            labels.name(k), j if j < n_priors else None, float(evidence[k, j]), float(gain[k, j]), trusted=bool(trusted[k, j])
        )
        for k, j in np.argwhere(~np.isnan(evidence)).tolist()
    ]
    return fits, verdicts, np.asarray(trusted[:, n_priors:].any(axis=1))


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
        by_folds = self._by_folds(problem, contrasted, plain)
        without, *scores = self._held_out_scores(problem, [plain, *fits], by_folds)
        known, silent = scale > 0, problem.silent
        judges = np.ones((without.size, n_priors), dtype=bool) if problem.folds is None else problem.folds.judges
        if contrasted is not None:
            fits.append(self.solver.solve(contrasted, "plain", np.zeros(n_priors), plain))
            scores += self._held_out_scores(contrasted, fits[-1:], by_folds)
            known, silent = np.append(known, contrasted.costs[contrasted.n_texts :].any()), np.append(silent, False)
            judges = np.column_stack([judges, np.ones(without.size, dtype=bool)])
        counted = judges & (problem.costs[: problem.n_texts, None] > 0)
        found = [self._weigh(problem, without, one, own) for one, own in zip(scores, counted.T, strict=True)]
        evidence, share = np.array(found).T
        evidence[~known] = np.nan
        return Evaluation(plain, fits, evidence, share, silent)

    def _weigh(self, problem: Problem, without: Floats, with_prior: Floats, own: Bools) -> tuple[float, float]:
        """The evidence for a prior from the held-out scores of its own judges, and the share of their loss that it saves."""
        y, costs = (part[: problem.n_texts][own] for part in (problem.y, problem.costs))
        losses, losses_with = (_losses(problem, scores)[own] for scores in (without, with_prior))
        gains = squared_gains(losses, losses_with, self.solver.tol)
        by_rank = rank_gains(without[own], with_prior[own], y > 0, costs)
        return prior_evidence(gains, by_rank), float(gains.sum() / max(losses.sum(), 1e-300))

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

    def selected_losses(
        self, problem: Problem, contrasted: Problem | None, evaluation: Evaluation, trusted: NDArray[np.bool_]
    ) -> Floats:
        """Of each held-out text, with what is adopted; 0 for a text that had a part in some prior."""
        chosen = problem if contrasted is None or not trusted[-1] else contrasted
        fit = self.fit_selected(problem, contrasted, evaluation, trusted)
        losses = _losses(problem, self._held_out_scores(chosen, [fit], self._by_folds(problem, contrasted, evaluation.plain))[0])
        return losses if problem.folds is None else losses * problem.folds.judges.all(axis=1)

    def _by_folds(self, problem: Problem, contrasted: Problem | None, plain: Fit) -> bool:
        """Whether held-out texts are scored by refitted folds instead of leave-one-out: the same for all fits of a class."""
        if contrasted is not None or problem.folds is not None:
            return True
        # With fewer weights than texts, leaving one out moves others across their margins, and the formula may err by far.
        few_weights = problem.X.shape[1] < problem.counted.size
        return few_weights or not leave_one_out_pays([self.solver.size(problem, trained_scores(problem, plain))])

    def _held_out_scores(self, problem: Problem, fits: list[Fit], by_folds: bool) -> list[Floats]:
        """Of each text under each fit."""
        scores = self._fold_scores(problem, fits) if by_folds else [self.solver.leave_one_out(problem, fit) for fit in fits]
        return [score[: problem.n_texts] for score in scores]

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


def _losses(problem: Problem, scores: Floats) -> Floats:
    """Of the texts, by their scores."""
    texts = slice(problem.n_texts)
    missed = np.maximum(problem.margins[texts] - problem.y[texts] * scores, 0)
    return problem.costs[texts] * missed * missed
