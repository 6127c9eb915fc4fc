"""Scores of the training texts of a linear model by models that did not see them, for some of its classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Bools, Floats, Indices
from ._folds import deal_folds
from ._held_out_cost import leave_one_out_pays
from ._training import Training
from .auto import PerClass
from .trust import Fit, Refit


@dataclass(frozen=True)
class HeldOutTexts:
    """The training texts of a fitted model.

    Parameters
    ----------
    training : what it was fitted on
    fits : function that gives the fits of all classes one by one: the weights of thousands do not fit into
        memory twice
    trained : scores by the fitted model, (n_texts, n_problems)
    uses_prior : whether any class trusts a prior
    per_class : as in `fit_auto`
    """

    training: Training
    fits: Callable[[], Iterator[Fit]]
    trained: Floats
    uses_prior: bool
    per_class: PerClass

    @property
    def need_folds(self) -> bool:
        """Whether something that is used was learnt from the training texts, and has to be held out with
        them.
        """
        training = self.training
        contrasts = training.contrasts is not None and (
            training.contrasted is None or training.contrasted.any()
        )
        return bool(contrasts or (training.prior_folds is not None and self.uses_prior))

    def leave_one_out_pays(self) -> Bools:
        """Per class, whether leave-one-out scores can be had at a bearable cost."""
        n_problems = self.trained.shape[1]
        if self.need_folds:
            return np.zeros(n_problems, dtype=bool)
        solver, problems = self.training.solver, self.training.problems()
        return leave_one_out_pays(
            solver.size(problem, self.trained[:, k]) for k, problem in enumerate(problems)
        )

    def leave_one_out(self, classes: Indices) -> Floats:
        """Of some classes, (n_texts, n_classes)."""
        parts = (_some(part, classes) for part in (self.training.problems(), self.fits(), self.trained.T))
        scores = self.per_class(self.training.solver.leave_one_out, *parts)
        return np.column_stack(scores) if scores else np.empty((len(self.trained), 0))

    def folds(self, classes: Indices, n_folds: int, random_state: int | None) -> Floats:
        """Of some classes, (n_texts, n_problems), in place of `trained`, which may be gigabytes; other
        columns stay.
        """
        training = self.training
        counted = np.flatnonzero(training.weight > 0)
        positive = training.targets.positive[counted]
        if training.prior_folds is None:
            dealt = deal_folds(positive, n_folds, random_state)
        else:
            dealt, n_folds = training.prior_folds.fold[counted], len(training.prior_folds.priors)
        folds = [counted[dealt == j] for j in range(n_folds)]
        rest = (positive[dealt != j] for j in range(n_folds))
        learnable = np.array([part.any(axis=0) & ~part.all(axis=0) for part in rest])  # (n_folds, n_problems)
        del dealt, positive  # a number per text each
        scores = self.trained
        for k in classes.tolist():
            scores[counted, k] = np.nan
        places = [(k, j) for k in classes.tolist() for j in np.flatnonzero(learnable[:, k]).tolist()]
        parts = zip(
            classes.tolist(), _some(training.problems(), classes), _some(self.fits(), classes), strict=True
        )
        refits = (
            Refit(problem.in_fold(j), fit, folds[j])
            for k, problem, fit in parts
            for j in np.flatnonzero(learnable[:, k]).tolist()
        )
        for (k, j), column in zip(places, training.solver.fold_scores(refits), strict=True):
            scores[folds[j], k] = column
        return scores


def _some(parts: Iterable[Any], classes: Indices) -> Iterator[Any]:
    """The parts of some classes."""
    chosen = set(classes.tolist())
    return (part for k, part in enumerate(parts) if k in chosen)
