"""The fit behind `Calibration`: sigmoids and isotonic knots class by class, or one softmax over all
classes.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax

from .._ties import ROUNDING, tie_ranks
from .._typing import Bools, Floats, Indices
from ._isotonic import deal_folds, fit_knots
from ._logistic import fit_sigmoids, fit_softmax
from .calibration import Kind, by_class


def fit_parts(
    positive: Bools, scores: Floats, weight: Floats, kind: Kind, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats, Floats, Indices]:
    """Slopes, intercepts, and the scores, log odds and ends of the knots; `checked_texts` gives the
    arrays.
    """
    if kind == "multiclass":
        slope, intercept = _fit_classes(positive, scores, weight, rng)
        return slope, intercept, np.empty(0), np.empty(0), np.zeros(slope.size + 1, dtype=np.intp)
    weight = by_class(weight, scores.shape[1])
    rows = np.where(np.isnan(scores), 0.0, weight).T
    truth, columns = positive.T.copy(), np.nan_to_num(scores.T, nan=0.0)
    # no positive has a score: what is left is the share of the class
    unscored = ~np.any(truth & (rows > 0), axis=1)
    rows, columns = np.where(unscored[:, None], weight.T, rows), np.where(unscored[:, None], 0.0, columns)
    slope, intercept = fit_sigmoids(truth, columns, rows)
    knots = fit_knots(truth, columns, rows, slope, rng)
    ends = np.cumsum([0, *(at.size for at, _ in knots)], dtype=np.intp)
    return (
        slope,
        intercept,
        np.concatenate([at for at, _ in knots]),
        np.concatenate([f for _, f in knots]),
        ends,
    )


def _fit_classes(
    positive: Bools, scores: Floats, weight: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Slopes and intercepts for softmax: of the sigmoids' log odds or of the scores, as folds have it."""
    classes = np.argmax(positive, axis=1)
    own = np.take_along_axis(scores, classes[:, None], axis=1)[:, 0]
    fold = deal_folds(classes, np.lexsort((*-tie_ranks(scores.T), tie_ranks(own))), rng)
    loss = {_of_log_odds: 0.0, _of_scores: 0.0}
    for j in np.unique(fold).tolist() if np.ptp(fold) else ():
        rest, out = fold != j, fold == j
        for way in loss:
            slope, intercept = way(positive[rest], scores[rest], weight[rest])
            log_p = log_softmax(slope * scores[out] + intercept, axis=1)
            loss[way] -= float(np.sum(weight[out, None] * log_p, where=positive[out]))
    better = _of_scores if loss[_of_scores] < loss[_of_log_odds] * (1 - ROUNDING) else _of_log_odds
    return better(positive, scores, weight)


def _of_log_odds(positive: Bools, scores: Floats, weight: Floats) -> tuple[Floats, Floats]:
    a, b = fit_sigmoids(positive.T.copy(), scores.T.copy(), np.broadcast_to(weight, scores.T.shape))
    alpha, c = fit_softmax(np.argmax(positive, axis=1), a * scores + b, weight)
    return alpha * a, alpha * b + c


def _of_scores(positive: Bools, scores: Floats, weight: Floats) -> tuple[Floats, Floats]:
    alpha, c = fit_softmax(np.argmax(positive, axis=1), scores, weight)
    return np.full(scores.shape[1], alpha), c
