"""A threshold set anew on texts that people judged, when what they see is what the old threshold let through.

In filtering only accepted texts are read, so that of scores below the old threshold θ₀ nothing is known
unless somebody looked there too. With n accepted and m rejected texts judged, θ is where the utility of the
judged texts is highest among

    θ ≥ θ₀                                    where m < least: it can go up, never down
    θ ≥ the lowest score that was judged      otherwise: down only as far as somebody looked

The utility must be additive (`Utility`): then what was never judged changes the worth of all these thresholds
alike, and how sparsely rejected texts were judged does not matter for whether accepting them pays, as long as
whether a text was judged does not depend on what it is. F1 and scaled utilities need the number of all texts
that were missed, which nobody knows here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._ties import ROUNDING
from .._typing import Bools, Floats
from ..errors import ScoreError
from .rules import UtilityCurve, utility_curve
from .utility import T10U, Measure, Utility

LEAST = 20


@dataclass(frozen=True)
class FeedbackThreshold:
    """A threshold, and the feedback it rests on.

    Attributes
    ----------
    before, theta : float, θ₀ and θ
    n_accepted, n_right : int, judged texts with a score of θ₀ or more, and how many of them were rightly
        accepted
    n_rejected, n_missed : int, judged texts below θ₀, and how many of them should have been accepted
    gain : float, what θ is worth on the judged texts beyond θ₀
    can_fall : bool, whether enough rejected texts were judged to lower it
    """

    before: float
    theta: float
    n_accepted: int
    n_right: int
    n_rejected: int
    n_missed: int
    gain: float
    can_fall: bool


def feedback_threshold(
    y: Any,
    score: Any,
    theta: float,
    utility: Measure = T10U,
    *,
    least: int = LEAST,
    min_precision: float | None = None,
) -> FeedbackThreshold:
    """The threshold of best utility that feedback can vouch for.

    It can be raised on accepted texts alone. It is lowered only where `least` rejected texts or more were
    judged, and no further than the lowest of them. It stays where it is unless another is worth more, by more
    than a standard error, or a floor wants it; of several equally good ones the nearest is taken, in the
    middle of the gap between two judged texts. Under a floor for precision it can only rise: of rejected
    texts a sample is judged, and precision over both would be too high.

    Parameters
    ----------
    y : array (n_texts,) of bool, what people said
    score : array (n_texts,)
    theta : float
        θ₀, the threshold when the texts were decided on.
    utility : Utility, default=T10U
    least : int, default=20
        How many accepted texts must have been judged, and how many rejected ones for it to fall.
    min_precision : float, default=None

    Examples
    --------
    Accepted at 1.0 and more; what scored below 1.5 was wrong more often than two right ones make up for.

    >>> from textmargin.decisions.feedback import feedback_threshold
    >>> y = [1, 1, 0, 1, 0, 0, 0]
    >>> feedback_threshold(y, [2.0, 1.9, 1.8, 1.6, 1.4, 1.2, 1.0], theta=1.0, least=5).theta
    1.5
    """
    if not isinstance(utility, Utility):
        raise ScoreError(
            f"{utility} needs the number of texts that were missed, which is unknown where only accepted "
            "texts are judged; say "
            f"what a hit and a false alarm are worth: utility=Utility(tp=2, fp=-1), for instance."
        )
    y, score = np.asarray(y, dtype=bool), np.asarray(score, dtype=np.float64)
    accepted = score >= theta
    n_accepted, n_right = int(accepted.sum()), int((y & accepted).sum())
    n_rejected, n_missed = int((~accepted).sum()), int((y & ~accepted).sum())
    if n_accepted < least:
        raise ScoreError(f"{n_accepted} accepted texts were judged, and it takes {least}")
    can_fall = n_rejected >= least and min_precision is None
    seen = np.ones(y.size, dtype=bool) if can_fall else accepted
    if not y[seen].any():
        raise ScoreError(
            f"none of the {n_accepted} texts that were accepted was right, so that no threshold helps; "
            "train it again"
        )
    curve = utility_curve(y[seen], score[seen], utility)
    k = _best(curve, theta, min_precision)
    k_before = int(np.searchsorted(-curve.scores, -theta, side="right"))
    gain = float(curve.utility[k] - curve.utility[k_before])
    floored = min_precision is not None and not _reaches(curve, min_precision)[k_before]
    if not floored and gain <= _standard_error(y[seen], score[seen], theta, _below(curve, k), utility):
        k, gain = k_before, 0.0  # which chance may give as well
    new = theta if k == k_before else _below(curve, k)
    return FeedbackThreshold(theta, new, n_accepted, n_right, n_rejected, n_missed, gain, can_fall)


def _best(curve: UtilityCurve, theta: float, min_precision: float | None) -> int:
    """How many groups to accept: those of the highest utility, as near as can be to those accepted now."""
    allowed = np.ones(curve.utility.size, dtype=bool)
    if min_precision is not None:
        allowed = _reaches(curve, min_precision)
        if not allowed.any():
            best_precision = (curve.tp / np.maximum(curve.tp + curve.fp, 1.0)).max()
            raise ScoreError(
                f"no threshold reaches min_precision={min_precision}; the best to be had is "
                f"{best_precision:.3f}"
            )
    k_before = int(np.searchsorted(-curve.scores, -theta, side="right"))
    best = curve.best_among(allowed)
    k = int(best[np.argmin(np.abs(best - k_before))])
    if k == 0:
        raise ScoreError(
            "accepting nothing would be worth most, so that no threshold helps; train it again, or change "
            "the costs"
        )
    return k


def _reaches(curve: UtilityCurve, min_precision: float) -> Bools:
    return np.asarray(curve.tp / np.maximum(curve.tp + curve.fp, 1.0) >= min_precision - ROUNDING)


def _standard_error(y: Bools, score: Floats, before: float, after: float, utility: Utility) -> float:
    """Of what one threshold is worth beyond another on these texts."""
    turned = (score >= after).astype(int) - (score >= before)
    gain = turned * np.where(y, utility.tp - utility.fn, utility.fp - utility.tn)
    return float(np.sqrt(gain.size) * gain.std())


def _below(curve: UtilityCurve, k: int) -> float:
    """A threshold that accepts k groups: the middle of the gap below them, or the lowest score itself."""
    high = float(curve.scores[k - 1])
    if k == curve.scores.size:
        return high
    middle = (high + float(curve.scores[k])) / 2
    return middle if middle > curve.scores[k] else high
