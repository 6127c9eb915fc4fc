"""Whether probabilities are what they say: predicted beside observed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Bools, Floats
from ..classifier import TextClassifier
from ..decisions.calibration import brier_score, calibration_error
from ..decisions.threshold import ThresholdClassifier
from ..labels import Decisions

_N_BINS = 10


@dataclass(frozen=True)
class Reliability:
    """Probabilities of a topic in bins of about equally many texts, the lowest first; names are
    scikit-learn's.

    Attributes
    ----------
    prob_pred : list of float, the mean probability of each bin
    prob_true : list of float, the share of its texts that belong to the topic
    n_texts : list of int, how many it has
    brier : float, mean of (p − y)²
    """

    prob_pred: list[float]
    prob_true: list[float]
    n_texts: list[int]
    brier: float

    @classmethod
    def of(cls, truth: Bools, proba: Floats) -> Reliability:
        """Bins of `sklearn.calibration.calibration_curve(strategy="quantile")`."""
        edges = np.quantile(proba, np.linspace(0, 1, _N_BINS + 1))
        bins = np.searchsorted(edges[1:-1], proba)
        n = np.bincount(bins, minlength=_N_BINS)
        used = n > 0
        predicted, true = (np.bincount(bins, values, _N_BINS)[used] / n[used] for values in (proba, truth))
        return cls(
            [_short(p) for p in predicted],
            [_short(p) for p in true],
            n[used].tolist(),
            _short(brier_score(truth, proba)),
        )


@dataclass(frozen=True)
class Probabilities:
    """How good the probabilities of all topics are: Brier score, summed over topics, and mean calibration
    error.
    """

    brier: float
    calibration_error: float


def probabilities_of(model: TextClassifier, decisions: Decisions) -> Floats | None:
    """(n_texts, n_classes), from the scores that decisions were made by; None where there are no held-out
    scores.
    """
    decision, labels = model.model_, model.labels_
    if not isinstance(decision, ThresholdClassifier):
        return None
    columns = decisions.scores[:, 1:] if labels.kind == "binary" else decisions.scores
    proba = decision.calibration_.predict(labels.sign * (columns + decision.offsets_))
    if labels.kind != "binary":
        return proba
    return np.column_stack([proba, 1 - proba] if labels.positive == 0 else [1 - proba, proba])


def quality_of(truth: Bools, proba: Floats) -> Probabilities:
    """Of all topics together."""
    return Probabilities(_short(brier_score(truth, proba)), _short(calibration_error(truth, proba)))


def _short(value: float) -> float:
    return round(float(value), 5)
