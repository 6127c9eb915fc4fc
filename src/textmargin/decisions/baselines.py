"""Baselines for beta-gamma thresholds: SCut, RCut, PCut, uneven margins and asymmetric costs.

SCut         per class the best threshold of each validation fold, averaged
SCutFBR.0/.1 SCut, but where validation F1 is below fbr the threshold is ∞, or the top validation score
RCut         each text gets its t best classes
PCut         class c takes its top x·prior(c)·n texts
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils.parallel import Parallel, delayed

from .._ties import ROUNDING, descending_order, first_maximum
from .._typing import Floats
from ..errors import ScoreError
from .rules import _fold_curves, _sorted, utility_curve
from .utility import F1, T10U, Measure


def scut(
    y: Any,
    score: Any,
    utility: Measure = F1,
    *,
    fbr: float | None = None,
    below: str = "infinity",
    n_folds: int = 5,
    random_state: int | None = 0,
) -> float:
    """SCut, or with `fbr` SCutFBR.0 (`below="infinity"`) or SCutFBR.1 (`below="top"`).

    Parameters
    ----------
    y, score : as in `utility_curve`; the scores should be validation scores
    utility : what the threshold of each fold maximises, F1 by default
    fbr : float, default=None
        Where the best F1 on the folds is below this, the class is (nearly) given up.
    below : {"infinity", "top"}
    """
    if below not in ("infinity", "top"):
        raise ScoreError(f"below must be 'infinity' or 'top'; got {below!r}.")
    texts = _sorted(y, score)
    curves = [held_out for _, held_out in _fold_curves(*texts, utility, n_folds, random_state)]
    curves = curves or [utility_curve(y, score, utility)]
    if fbr is not None and np.mean([curve.utility.max() for curve in curves]) < fbr - ROUNDING:
        return float(np.inf) if below == "infinity" else float(texts[1][0])
    return float(np.mean([curve.best_middle for curve in curves]))


def rcut(scores: Any, t: int = 1) -> NDArray[np.intp]:
    """An indicator matrix that gives each text its t best classes."""
    scores = _finite(scores)
    if scores.ndim != 2 or not 1 <= t <= scores.shape[1]:
        raise ScoreError(
            f"rcut takes scores (n_texts, n_classes) and t from 1 to n_classes; got {scores.shape} and t={t}."
        )
    chosen = descending_order(scores)[:, :t]
    labels = np.zeros(scores.shape, dtype=np.intp)
    np.put_along_axis(labels, chosen, 1, axis=1)
    return labels


def pcut(scores: Any, prior: Any, x: float = 1.0) -> NDArray[np.intp]:
    """An indicator matrix that gives each class its top x·prior·n texts; `prior` is each class's share of the
    training texts.
    """
    scores, prior = _finite(scores), np.asarray(prior, dtype=np.float64)
    if scores.ndim != 2 or prior.shape != (scores.shape[1],):
        raise ScoreError(
            f"pcut takes scores (n_texts, n_classes) and a prior per class; got {scores.shape} and "
            f"{prior.shape}."
        )
    n_accepted = np.minimum(np.rint(x * prior * len(scores)), len(scores)).astype(int)
    labels = np.zeros(scores.shape, dtype=np.intp)
    for k, n in enumerate(n_accepted):
        labels[descending_order(scores[:, k])[:n], k] = 1
    return labels


def _finite(scores: Any) -> Floats:
    scores = np.asarray(scores, dtype=np.float64)
    if np.isnan(scores).any():
        raise ScoreError("scores contain NaN, which has no rank.")
    return scores


def uneven_margin_threshold(tau: float) -> float:
    """The threshold that equals training with margins (1, τ), given a free intercept: −(1 − τ)/(1 + τ). No
    retraining.
    """
    if not tau >= 0:
        raise ScoreError(f"The margin tau of the negatives cannot be negative; got {tau}.")
    return -(1 - tau) / (1 + tau)


def select_cost_factors(
    estimator: Any,
    X: Any,
    Y: Any,
    factors: Sequence[float] = (0.5, 1, 2, 4, 8, 16, 32, 64),
    utility: Measure = T10U,
    n_folds: int = 5,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Floats:
    """The cost factor j of each class's positives (c₊ = j·c₋) with the best utility over refitted folds.

    Parameters
    ----------
    estimator : multilabel classifier with `class_weight`, such as `PriorSVC`
    X : matrix (n_texts, n_features)
    Y : 0/1 indicator matrix (n_texts, n_classes)
    factors : the values to try
    utility : measure; the sum over folds decides, ties go to the smaller factor
    n_jobs : int, default=None
        How many fits at a time, through joblib.
    """
    Y = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y)
    if Y.ndim != 2:
        raise ScoreError(
            f"select_cost_factors takes an indicator matrix (n_texts, n_classes); got shape {Y.shape}."
        )
    factors = sorted(factors)
    value, size = np.zeros((len(factors), Y.shape[1])), np.zeros(Y.shape[1])
    folds = list(KFold(n_folds, shuffle=True, random_state=random_state).split(Y))
    kept = [np.flatnonzero(Y[rest].any(axis=0) & ~Y[rest].all(axis=0)) for rest, _ in folds]
    fits = [(fold, f) for fold in range(len(folds)) if kept[fold].size for f in range(len(factors))]
    counts = Parallel(n_jobs, prefer="threads")(
        delayed(_count_mistakes)(X, Y, estimator, float(factors[f]), *folds[fold], kept[fold])
        for fold, f in fits
    )
    for (fold, f), table in zip(fits, counts, strict=True):
        found = np.nan_to_num(utility(*table))
        value[f, kept[fold]] += found
        size[kept[fold]] += np.abs(found)
    return np.asarray(factors, dtype=np.float64)[first_maximum(value, ROUNDING * size)]


def _count_mistakes(
    X: Any,
    Y: NDArray[Any],
    estimator: Any,
    factor: float,
    rest: NDArray[np.intp],
    held_out: NDArray[np.intp],
    kept: NDArray[np.intp],
) -> tuple[NDArray[np.intp], ...]:
    """Per class what is accepted rightly and wrongly, missed, and rejected rightly, in a fold, with a
    factor.
    """
    truth, target = Y[np.ix_(held_out, kept)] != 0, Y[np.ix_(rest, kept)]
    target, names = (target, range(kept.size)) if kept.size > 1 else (target.ravel(), [1])
    weighted = clone(estimator).set_params(class_weight=dict.fromkeys(names, factor))
    accepted = weighted.fit(X[rest], target).decision_function(X[held_out]).reshape(truth.shape) >= 0
    tp, fp = (accepted & truth).sum(axis=0), (accepted & ~truth).sum(axis=0)
    fn, tn = (~accepted & truth).sum(axis=0), (~accepted & ~truth).sum(axis=0)
    return tp, fp, fn, tn
