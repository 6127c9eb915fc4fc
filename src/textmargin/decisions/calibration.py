"""From scores to probabilities, fitted on held-out scores; nothing is trained again.

    binary, multilabel   Platt's sigmoid per class (targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2)); from ten
                         positives on an isotonic fit where its log loss on folds is lower by more than a
                         standard error
    multiclass           P(y = k | s) ∝ exp(f_k), f_k = α(a_k s_k + b_k) + c_k on the sigmoids' log odds, or
                         f_k = α s_k + c_k, whichever has the lower log loss on folds

One-against-rest sigmoids that are merely normalised are worse on folds of the training texts of wikipedia25
and desk (Brier .207 and .258, against .167 and .229) and no better on single-topic Reuters texts. The
isotonic fit is a set of knots, the middle of each flat stretch, joined by lines (`_isotonic.py`). Fitting is
in `_calibration_fit.py`: a fitted calibration needs NumPy alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from .._typing import Bools, Floats, Indices
from ..errors import LabelError, ScoreError, SettingError
from ..records import record

Kind = Literal["binary", "multiclass", "multilabel"]

_LARGEST = 30.0  # log odds: 1 − p is then 1e-13, and p is not yet 1
_SMALLEST = 1 / (1 + math.exp(_LARGEST))


@record()
@dataclass(frozen=True, eq=False)
class Calibration:
    """Probabilities of classes from their scores.

    Attributes
    ----------
    kind : {"binary", "multiclass", "multilabel"}
    slope, intercept : arrays (n_problems,)
        Log odds a·s + b of each class; of several classes that exclude each other, what softmax takes.
    knot_scores, knot_log_odds : arrays (n_knots,)
        Of the classes with an isotonic fit, one class after the other.
    knot_ends : array (n_problems + 1,)
        Class k has the knots from `knot_ends[k]` up to `knot_ends[k + 1]`; none where it has a sigmoid.

    Examples
    --------
    >>> from textmargin.decisions.calibration import Calibration
    >>> positive, scores = [[1], [1], [0], [1], [0], [0]], [[2.0], [1.5], [1.0], [0.6], [0.2], [-0.4]]
    >>> calibration = Calibration.fit(positive, scores, "binary")
    >>> calibration.predict([[-1.0], [0.5], [2.0]]).round(2)
    array([0.11, 0.41, 0.8 ])
    """

    kind: Kind
    slope: Floats
    intercept: Floats
    knot_scores: Floats
    knot_log_odds: Floats
    knot_ends: Indices

    @classmethod
    def fit(
        cls, positive: Any, scores: Any, kind: Kind, weight: Any = None, random_state: int | None = 0
    ) -> Self:
        """Fit on held-out scores.

        Parameters
        ----------
        positive : array (n_texts, n_problems) of bool
            A column per class; of two classes one column, that of the positive class.
        scores : array (n_texts, n_problems)
            Held-out; NaN where a text has no held-out score for a class, which is left out.
        kind : {"binary", "multiclass", "multilabel"}
            Whether a text has one class of two, one of several, or any number.
        weight : array (n_texts,), default=None
            With `kind="multilabel"` also (n_texts, n_problems), another for each class.
        random_state : int, default=0
            Deals out the folds.
        """
        from ._calibration_fit import fit_parts

        checked = checked_texts(positive, scores, kind, weight)
        return cls(kind, *fit_parts(*checked, kind, np.random.default_rng(random_state)))

    @property
    def isotonic(self) -> Bools:
        """Which classes have an isotonic fit, (n_problems,)."""
        return np.diff(self.knot_ends) > 0

    def shift(self, log_odds: Floats) -> Calibration:
        """For another mix, which adds so much to the log odds of each class (n_problems,); exact where only
        the mix changed.
        """
        knots = self.knot_log_odds + np.repeat(log_odds, np.diff(self.knot_ends))
        return replace(self, intercept=self.intercept + log_odds, knot_log_odds=knots)

    def predict(self, scores: Any) -> Floats:
        """Probabilities, strictly between 0 and 1 and never falling as a class's score rises.

        Parameters
        ----------
        scores : array (n_texts, n_problems), finite; for two classes a vector (n_texts,) will do

        Returns
        -------
        array (n_texts,) of the positive class for two, else (n_texts, n_problems); rows of several classes
            sum to 1
        """
        f = self.log_odds(scores)
        if self.kind == "multiclass":
            f -= f.max(axis=1, keepdims=True)
            p = np.exp(f, out=f)
            p /= p.sum(axis=1, keepdims=True)
            np.clip(p, _SMALLEST, 1 - _SMALLEST, out=p)
            p /= p.sum(axis=1, keepdims=True)
            return p
        p = np.exp(np.clip(-f, -_LARGEST, _LARGEST, out=f), out=f)
        p += 1
        np.divide(1, p, out=p)
        return p[:, 0] if self.kind == "binary" else p

    def log_odds(self, scores: Any) -> Floats:
        """Log odds (n_texts, n_problems) of each class by itself; of several classes what softmax takes."""
        scores = np.asarray(scores, dtype=np.float64)
        scores = scores[:, None] if scores.ndim == 1 and self.kind == "binary" else scores
        if scores.ndim != 2 or scores.shape[1] != self.slope.size:
            raise ScoreError(
                f"scores must have a column for each of the {self.slope.size} classes; got shape "
                f"{scores.shape}."
            )
        if not np.isfinite(scores).all():
            raise ScoreError(
                "scores hold NaN or infinity, of which no probability can be told; leave these texts out."
            )
        f: Floats = self.slope * scores
        f += self.intercept
        for k in np.flatnonzero(self.isotonic):
            part = slice(self.knot_ends[k], self.knot_ends[k + 1])
            f[:, k] = interpolate(
                scores[:, k], self.knot_scores[part], self.knot_log_odds[part], self.slope[k]
            )
        return f


def interpolate(score: Floats, knot_scores: Floats, knot_log_odds: Floats, slope: float) -> Floats:
    """Lines between the knots, and the sigmoid's slope beyond the outer two."""
    beyond = score - np.clip(score, knot_scores[0], knot_scores[-1])
    return np.asarray(np.interp(score, knot_scores, knot_log_odds) + slope * beyond)


def brier_score(positive: Any, proba: Any) -> float:
    """The mean over texts of (p − y)², summed over classes.

    Parameters
    ----------
    positive : array (n_texts,) or (n_texts, n_classes) of bool
    proba : array of the same shape

    Examples
    --------
    >>> from textmargin.decisions.calibration import brier_score
    >>> brier_score([True, False], [0.5, 0.5])
    0.25
    """
    positive, proba = _checked_probabilities(positive, proba)
    return float(np.mean((proba - positive) ** 2, axis=0).sum())


def calibration_error(positive: Any, proba: Any, n_bins: int = 15) -> float:
    """By how much probabilities and frequencies differ in bins of equally many texts; the mean over classes.

    Parameters
    ----------
    positive, proba : as in `brier_score`
    n_bins : int, default=15
        Equal probabilities are always in one bin, so that there may be fewer.
    """
    from scipy.stats import rankdata

    positive, proba = _checked_probabilities(positive, proba)
    if n_bins < 1:
        raise SettingError("n_bins", f"must be at least 1; got {n_bins}.")
    n_texts = len(proba)
    bins = np.floor((rankdata(proba, axis=0) - 0.5) * n_bins / n_texts).astype(np.intp)
    gaps = [
        np.abs(np.bincount(b, p - y, n_bins)).sum() / n_texts
        for b, p, y in zip(bins.T, proba.T, positive.T, strict=True)
    ]
    return float(np.mean(gaps))


def checked_texts(positive: Any, scores: Any, kind: str, weight: Any) -> tuple[Bools, Floats, Floats]:
    """Labels, held-out scores and weights as arrays that fit each other and the kind of task; texts of weight
    0 are dropped.
    """
    from sklearn.utils.validation import check_consistent_length

    positive, scores = np.asarray(positive), np.asarray(scores, dtype=np.float64)
    check_consistent_length(positive, scores, weight)
    if kind not in ("binary", "multiclass", "multilabel"):
        raise SettingError("kind", f"must be 'binary', 'multiclass' or 'multilabel'; got {kind!r}.")
    if positive.shape != scores.shape or scores.ndim != 2:
        raise ScoreError(
            f"positive and scores must have a row per text and a column per class; got {positive.shape} "
            f"and {scores.shape}."
        )
    wanted = {"binary": "one column", "multiclass": "two columns or more", "multilabel": "a column or more"}[
        kind
    ]
    if not {
        "binary": scores.shape[1] == 1,
        "multiclass": scores.shape[1] > 1,
        "multilabel": scores.shape[1] > 0,
    }[kind]:
        raise ScoreError(f"kind={kind!r} takes {wanted} of scores; got {scores.shape[1]}.")
    if not np.isin(positive, (0, 1)).all():
        raise LabelError(
            f"positive must hold True and False, or 1 and 0; got {np.unique(positive)[:5].tolist()}."
        )
    if np.isinf(scores).any():
        raise ScoreError("scores hold infinity; held-out scores are finite, or NaN where a text has none.")
    weight = np.ones(len(scores)) if weight is None else np.asarray(weight, dtype=np.float64)
    shapes = [(len(scores),), *([scores.shape] if kind == "multilabel" else [])]
    if weight.shape not in shapes or not (np.isfinite(weight) & (weight >= 0)).all():
        raise LabelError("weight must hold a finite number per text, none of them negative.")
    used = weight > 0 if weight.ndim == 1 else weight.any(axis=1)
    if kind == "multiclass":
        if not (positive[used].sum(axis=1) == 1).all():
            raise LabelError(
                "positive must mark one class in every row where kind='multiclass'; for any number use "
                "'multilabel'."
            )
        used &= ~np.isnan(scores).any(axis=1)
    if not np.any(used[:, None] & ~np.isnan(scores)):
        raise ScoreError("No text has a held-out score and a weight; there is nothing to fit on.")
    return positive[used].astype(bool), scores[used], weight[used]


def by_class(weight: Floats, n_problems: int) -> Floats:
    """Weights (n_texts, n_problems) of texts that have one for all classes, or another for each."""
    return weight if weight.ndim == 2 else np.broadcast_to(weight[:, None], (weight.size, n_problems))


def _checked_probabilities(positive: Any, proba: Any) -> tuple[Bools, Floats]:
    positive, proba = np.asarray(positive), np.asarray(proba, dtype=np.float64)
    if positive.shape != proba.shape or proba.size == 0:
        raise ScoreError(
            f"positive and proba must have the same shape and hold a text; got {positive.shape} and "
            f"{proba.shape}."
        )
    if not ((proba >= 0) & (proba <= 1)).all():
        raise ScoreError(
            f"proba must hold probabilities from 0 to 1; got {proba.min():g} to {proba.max():g}."
        )
    return positive.astype(bool).reshape(len(proba), -1), proba.reshape(len(proba), -1)
