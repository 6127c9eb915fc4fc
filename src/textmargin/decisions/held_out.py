"""Scores of any estimator, one column per class, from a fit or from refitted folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.parallel import Parallel, delayed

from .._sklearn import take_rows
from .._typing import Floats
from ..errors import ScoreError
from ..labels import ClassLabels, Indicator, column_names


def score_columns(estimator: Any, X: Any, multilabel: bool) -> Floats:
    """Scores (n_texts, n_problems), by `decision_function` or else `predict_proba`."""
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
        scores = scores.reshape(len(scores), -1)
    else:
        scores = estimator.predict_proba(X)
        if isinstance(scores, list):  # one table per label
            scores = np.column_stack([np.asarray(table)[:, -1] for table in scores])
        scores = np.asarray(scores, dtype=np.float64)
        scores = scores[:, 1:] if scores.shape[1] == 2 and not multilabel else scores
    if np.isnan(scores).any():
        raise ScoreError(f"{type(estimator).__name__} gave NaN as a score, on which nothing can be decided.")
    return scores


@dataclass(frozen=True)
class Fitter:
    """An estimator to be fitted, and whether it is given the texts' weights."""

    estimator: Any
    weighs: bool

    def fit(self, X: Any, y: Any, weight: Floats | None) -> Any:
        """A fitted clone."""
        return clone(self.estimator).fit(X, y, sample_weight=weight) if self.weighs else clone(self.estimator).fit(X, y)

    def fold_scores(
        self,
        X: Any,
        y: Any,
        weight: Floats | None,
        labels: ClassLabels,
        n_folds: int,
        random_state: int | None,
        n_jobs: int | None = None,
    ) -> Floats:
        """Scores by models refitted without the text's fold; NaN where a class was missing from the other folds."""
        multilabel, names = labels.multilabel, column_names(y)
        X = X.tocsr() if sp.issparse(X) else X
        y = np.asarray(y.toarray() if sp.issparse(y) else y)
        if multilabel:
            folds = KFold(min(n_folds, len(y)), shuffle=True, random_state=random_state).split(y)
        else:
            y = np.ravel(y)
            smallest = int(np.unique(y, return_counts=True)[1].min())
            n_folds = max(2, min(n_folds, smallest))  # as many as every class can fill
            folds = StratifiedKFold(n_folds, shuffle=True, random_state=random_state).split(y, y)
        scores, usable = np.full((len(y), labels.n_problems), np.nan), []
        for rest, held_out in folds:
            kept = _learnable(y[rest], labels)
            if kept.any():
                usable.append((rest, held_out, kept))
                if not kept.all():
                    self.refuse_settings_by_class(labels.names[~kept][0])
        found = Parallel(n_jobs, prefer="threads")(
            delayed(self._score_fold)(X, y, weight, rest, held_out, kept, labels, names) for rest, held_out, kept in usable
        )
        for (_, held_out, kept), columns in zip(usable, found, strict=True):
            scores[np.ix_(held_out, kept)] = columns
        return scores

    def _score_fold(
        self,
        X: Any,
        y: NDArray[Any],
        weight: Floats | None,
        rest: Any,
        held_out: Any,
        kept: NDArray[np.bool_],
        labels: ClassLabels,
        names: NDArray[Any] | None,
    ) -> Floats:
        """Scores of the texts of one fold, by a model of the others."""
        target = _target(y[rest], kept, names) if labels.multilabel else y[rest]
        model = self.fit(take_rows(X, rest), target, None if weight is None else weight[rest])
        return score_columns(model, take_rows(X, held_out), labels.multilabel and (kept.sum() > 1 or names is not None))

    def refuse_settings_by_class(self, missing: Any) -> None:
        """Leaving a class out would hand its settings to the next one."""
        for name, value in self.estimator.get_params().items():
            last = name.rsplit("__", 1)[-1]
            if (last == "class_weight" and isinstance(value, Mapping)) or (last in ("prior", "knowledge") and value is not None):
                raise ScoreError(
                    f"Class {missing} has no example outside one of the folds, and {name} speaks of classes one by one; use "
                    f"scores='loo', or give that class more examples."
                )


def _learnable(y: NDArray[Any], labels: ClassLabels) -> NDArray[np.bool_]:
    """Which problems can be learnt from a part of the texts."""
    if labels.multilabel:
        return np.asarray(y.any(axis=0) & ~y.all(axis=0))
    present = np.isin(labels.names, y)
    if labels.n_problems == 1:
        return np.full(1, present.all())
    # Two classes that are left of three make a problem of another kind, with one score instead of two.
    return present if present.sum() > 2 else np.zeros(labels.n_problems, dtype=bool)


def _target(Y: NDArray[Any], kept: NDArray[np.bool_], names: NDArray[Any] | None) -> NDArray[Any]:
    """The columns of an indicator matrix that can be learnt, with their names; a single one without a name as plain labels."""
    if names is not None:
        return Indicator(Y[:, kept], names[kept])
    return Y[:, kept] if kept.sum() > 1 else Y[:, kept].ravel()
