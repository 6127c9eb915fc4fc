"""`trust="auto"`: each prior, and the contrasts, against the plain model on held-out texts; those that help
are used.

Two priors that both help may do worse together than the better one alone: what one has wrong thins out what
the other has right. So they join one at a time, the one that saves most loss first, and one that clearly
harms those already there stays out; contrasts are one more that may join. Whether it harms is asked of the
held-out texts of all classes at once, by the evidence of losses (`evidence.py`): class by class there is too
little to tell, and the better of two equal ones would be the one that chance favours.

Held-out texts are scored by exact leave-one-out where that is cheap, else by models refitted without a fifth
of the texts. Where there are contrasts it is always folds, since the contrasts of a text have to go with it;
and where a prior was learnt from the training texts, it is the folds that it was learnt without, each weighed
on its own fold (`cross_fitting.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._typing import Bools, Floats, Indices
from ._held_out_cost import leave_one_out_pays
from ._training import Training
from .cross_fitting import PriorFolds
from .evidence import (
    Verdict,
    evidence_of,
    is_harmful,
    prior_evidence,
    rank_gains,
    select_priors,
    squared_gains,
    verdict,
)
from .matrix import Rows
from .problem import Problem
from .trust import Case, Fit, Refit, Solver, trained_scores

PerClass: TypeAlias = Callable[..., list[Any]]
Losses: TypeAlias = Callable[[Indices, Bools], list[Floats]]


@dataclass(frozen=True)
class Evaluation:
    """What is known of one class before its priors and contrasts are adopted or dropped; contrasts, if any,
    come last.
    """

    plain: Fit
    fits: list[Fit]  # with each of them alone
    evidence: Floats  # NaN for an empty prior
    gain: Floats
    silent: Bools  # whether no text has any of its terms


def fit_auto(
    training: Training, starts: list[Fit], per_class: PerClass
) -> tuple[list[Fit], list[Verdict], Bools]:
    """Weigh the priors and contrasts of each class, use those that deserve it, and say why.

    Parameters
    ----------
    training : with contrasts for all classes that have any
    starts : list of Fit, per class; empty where there is none
    per_class : function of some work on a class, of the classes' problems, and of what else it needs of each
        class

    Returns
    -------
    fits, verdicts, and which classes use the contrasts
    """
    labels, n_priors = training.targets.labels, training.prior.shape[1]
    problems = list(training.plain_problems())
    contrasted = [None] * len(problems) if training.contrasts is None else list(training.problems())
    evaluator = Evaluator(training.solver, per_class, problems, contrasted)
    evaluations = evaluator.evaluate(starts or [None] * len(problems))
    evidence, gain, silent = (
        np.array([getattr(one, name) for one in evaluations]) for name in ("evidence", "gain", "silent")
    )

    def losses(classes: Indices, used: Bools) -> list[Floats]:
        return evaluator.selected_losses(classes, evaluations, used)

    learnt = np.zeros(evidence.shape[1], dtype=bool)
    if training.prior_folds is not None:
        learnt[:n_priors] = training.prior_folds.learnt
    trusted = join_priors(select_priors(evidence, silent, learnt), gain, silent, losses, training.solver.tol)
    fits = evaluator.fit_selected(np.arange(len(problems)), evaluations, trusted)
    verdicts = [
        verdict(
            labels.name(k),
            j if j < n_priors else None,
            float(evidence[k, j]),
            float(gain[k, j]),
            trusted=bool(trusted[k, j]),
        )
        for k, j in np.argwhere(~np.isnan(evidence)).tolist()
    ]
    return fits, verdicts, np.asarray(trusted[:, n_priors:].any(axis=1))


@dataclass(frozen=True)
class Evaluator:
    """The two halves of `auto`. A class is given without contrasts, and with them where there are any."""

    solver: Solver
    per_class: PerClass
    problems: list[Problem]
    contrasted: list[Problem] | list[None]

    def evaluate(self, starts: list[Fit] | list[None]) -> list[Evaluation]:
        """What held-out texts gain by each prior, and by the contrasts."""
        problems = self.problems
        scales = [problem.margin_scale() for problem in problems]
        n_priors = scales[0].size
        plain = list(
            self.solver.solve(
                Case(problem, "plain", np.zeros(n_priors), start)
                for problem, start in zip(problems, starts, strict=True)
            )
        )
        trials = [(k, j) for k, scale in enumerate(scales) for j in np.flatnonzero(scale > 0).tolist()]
        trials += [(k, n_priors) for k, problem in enumerate(self.contrasted) if problem is not None]
        fits = dict(
            zip(
                trials,
                self.solver.solve(self._trial(k, j, scales[k], plain[k]) for k, j in trials),
                strict=True,
            )
        )
        # Where there is nothing to weigh, leaving texts out would cost more than the fit.
        weighed = [k for k, scale in enumerate(scales) if scale.any() or self.contrasted[k] is not None]
        by_folds = {k: self._by_folds(k, plain[k]) for k in weighed}
        own = [(k, problems[k], plain[k], by_folds[k]) for k in weighed]
        own += [(k, self._chosen(k, j == n_priors), fit, by_folds[k]) for (k, j), fit in fits.items()]
        held_out = self._held_out_scores(own) if own else []
        scores = dict(zip([(k, -1) for k in weighed] + trials, held_out, strict=True))
        return [self._evaluation(k, scales[k], plain[k], fits, scores) for k in range(len(problems))]

    def fit_selected(
        self, classes: Indices, evaluations: list[Evaluation], trusted: NDArray[np.bool_]
    ) -> list[Fit]:
        """Of some classes, with what is adopted, and nothing else."""
        several = [(k, row) for k, row in zip(classes.tolist(), trusted, strict=True) if row.sum() > 1]
        joint = self.solver.solve(self._joint(k, row, evaluations[k]) for k, row in several)
        found = []
        for k, row in zip(classes.tolist(), trusted, strict=True):
            if row.sum() > 1:
                found.append(next(joint))
            else:
                found.append(evaluations[k].fits[int(row.argmax())] if row.any() else evaluations[k].plain)
        return found

    def selected_losses(
        self, classes: Indices, evaluations: list[Evaluation], trusted: NDArray[np.bool_]
    ) -> list[Floats]:
        """Of each held-out text, with what is adopted; 0 for a text that had a part in some prior."""
        fits = self.fit_selected(classes, evaluations, trusted)
        own = [
            (k, self._chosen(k, bool(row[-1])), fit, self._by_folds(k, evaluations[k].plain))
            for k, row, fit in zip(classes.tolist(), trusted, fits, strict=True)
        ]
        found = []
        for k, scores in zip(classes.tolist(), self._held_out_scores(own), strict=True):
            losses, folds = _losses(self.problems[k], scores), self.problems[k].folds
            found.append(losses if folds is None else losses * folds.judges.all(axis=1))
        return found

    def _chosen(self, k: int, with_contrasts: bool) -> Problem:
        contrasted = self.contrasted[k]
        return contrasted if with_contrasts and contrasted is not None else self.problems[k]

    def _trial(self, k: int, j: int, scale: Floats, plain: Fit) -> Case:
        """One prior alone, or the contrasts."""
        if j == scale.size:
            return Case(self._chosen(k, True), "plain", np.zeros(scale.size), plain)
        return Case(self.problems[k], "fixed", np.where(np.arange(scale.size) == j, scale, 0.0), plain)

    def _joint(self, k: int, trusted: NDArray[np.bool_], evaluation: Evaluation) -> Case:
        problem = self.problems[k]
        anchor = problem.joint_margin_scale(trusted[: len(problem.V)])
        return Case(self._chosen(k, bool(trusted[-1])), "fixed", anchor, evaluation.fits[-1])

    def _evaluation(
        self,
        k: int,
        scale: Floats,
        plain: Fit,
        fits: dict[tuple[int, int], Fit],
        scores: dict[tuple[int, int], Floats],
    ) -> Evaluation:
        problem, contrasted = self.problems[k], self.contrasted[k]
        known, silent, n_tried = scale > 0, problem.silent, scale.size
        if contrasted is not None:
            known, silent = (
                np.append(known, contrasted.costs[contrasted.n_texts :].any()),
                np.append(silent, False),
            )
            n_tried += 1
        evidence, share = np.full(n_tried, np.nan), np.zeros(n_tried)
        for j in range(n_tried):
            if (k, j) not in fits:
                continue
            own = problem.costs[: problem.n_texts] > 0
            if problem.folds is not None and j < scale.size:
                own &= problem.folds.judges[:, j]
            evidence[j], share[j] = self._weigh(problem, scores[k, -1], scores[k, j], own)
        evidence[~known] = np.nan
        return Evaluation(plain, [fits.get((k, j), plain) for j in range(n_tried)], evidence, share, silent)

    def _weigh(
        self, problem: Problem, without: Floats, with_prior: Floats, own: Bools
    ) -> tuple[float, float]:
        """The evidence for a prior from the held-out scores of its own judges, and the share of their loss
        that it saves.
        """
        y, costs = (part[: problem.n_texts][own] for part in (problem.y, problem.costs))
        losses, losses_with = (_losses(problem, scores)[own] for scores in (without, with_prior))
        gains = squared_gains(losses, losses_with, self.solver.tol)
        by_rank = rank_gains(without[own], with_prior[own], y > 0, costs)
        return prior_evidence(gains, by_rank), float(gains.sum() / max(losses.sum(), 1e-300))

    def _by_folds(self, k: int, plain: Fit) -> bool:
        """Whether held-out texts are scored by refitted folds instead of leave-one-out: the same for all fits
        of a class.
        """
        problem = self.problems[k]
        if self.contrasted[k] is not None or problem.folds is not None:
            return True
        # With fewer weights than texts, leaving one out moves others across their margins, and the formula
        # may err by far.
        few_weights = problem.X.shape[1] < problem.counted.size
        return (
            few_weights
            or not leave_one_out_pays([self.solver.size(problem, trained_scores(problem, plain))])[0]
        )

    def _held_out_scores(self, own: list[tuple[int, Problem, Fit, bool]]) -> Iterator[Floats]:
        """Of each text under each fit of a class."""
        exact = [(problem, fit) for _, problem, fit, by_folds in own if not by_folds]
        left_out = iter(self.per_class(self.solver.leave_one_out, *zip(*exact, strict=True)) if exact else [])
        folds = {k: _folds(self.problems[k]) for k, _, _, by_folds in own if by_folds}
        # At the tolerance of the fits: small gains count as well.
        refits = self.solver.fold_scores(
            (
                Refit(problem.in_fold(number), fit, rows)
                for k, problem, fit, by_folds in own
                if by_folds
                for number, rows in folds[k].items()
            ),
            self.solver.tol,
        )
        for k, problem, fit, by_folds in own:
            if by_folds:
                scores = trained_scores(problem, fit)
                for rows in folds[k].values():
                    scores[rows] = next(refits)
            else:
                scores = next(left_out)
            yield scores[: problem.n_texts]


def _folds(problem: Problem) -> dict[int, Rows]:
    """The texts that count, by the number of their fold."""
    counted = problem.counted
    dealt = (
        PriorFolds.deal(problem.y[counted, None] > 0)
        if problem.folds is None
        else problem.folds.fold[counted]
    )
    return {number: counted[dealt == number] for number in np.unique(dealt).tolist()}


def _losses(problem: Problem, scores: Floats) -> Floats:
    """Of the texts, by their scores."""
    texts = slice(problem.n_texts)
    missed = np.maximum(problem.margins[texts] - problem.y[texts] * scores, 0)
    return problem.costs[texts] * missed * missed


def join_priors(adopted: Bools, gain: Floats, silent: Bools, losses: Losses, tol: float) -> Bools:
    """Which priors are used: (n_problems, n_priors), like what is given.

    Parameters
    ----------
    adopted : whether each prior is adopted for itself
    gain : the share of the held-out loss that it saves alone
    silent : whether no text has any of its terms, so that it can neither help nor harm here
    losses : function of classes and of what each of them uses (n_classes, n_priors)
        Gives the loss of each held-out text, per class.
    tol : float
        To which these are known.
    """
    tried = adopted & ~silent
    used = adopted & silent
    several = tried.sum(axis=1) > 1
    used[~several] = adopted[~several]
    tried[~several] = False
    for j in np.argsort(-np.where(tried, gain, 0.0).sum(axis=0), kind="stable"):
        joined = used.copy()
        joined[tried[:, j], j] = True
        contested = np.flatnonzero(tried[:, j] & (used & tried).any(axis=1))
        if contested.size:
            pairs = zip(losses(contested, used[contested]), losses(contested, joined[contested]), strict=True)
            if is_harmful(evidence_of(np.concatenate([squared_gains(*pair, tol) for pair in pairs]))):
                joined[contested, j] = False
        used = joined
    return used
