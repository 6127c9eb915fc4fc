"""A mix that has changed: shares of the classes among new texts without labels, and whether a change of mix
explains them.

Old texts are known by label and held-out score; of new texts there are scores only. If merely the shares
changed, from π to π′, the old texts weighed by π′_k/π_k look like the new ones, and a threshold set on them
with these weights is right for the new mix. Whether they do look alike is tested; where they do not, no
weights are given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Bools, Floats
from ..errors import ScoreError, SettingError
from ._mix_draws import MixDraws, draw_classes, draw_column
from .calibration import Calibration, Kind, by_class, checked_texts

MIN_NEW_TEXTS = 30  # below, neither shares nor a distance can be told from chance


@dataclass(frozen=True, eq=False)
class MixEstimate:
    """Shares of the classes among new texts.

    Attributes
    ----------
    kind : {"binary", "multiclass", "multilabel"}
    shares, low, high : arrays (n_problems,)
        Estimated among the new texts, with an interval of `level`; of several classes that exclude each other
        they sum to 1.
    old_shares : array (n_problems,)
    distance, p_value : arrays (n_problems,)
        Kolmogorov and Smirnov's distance between the new scores and the reweighted old ones, and how often
        chance alone gives as much less the tolerance; of several classes that exclude each other, as much in
        any of them.
    explained : array (n_problems,) of bool
        Whether a change of mix explains the new scores of a class.
    reasons : tuple of str, "" where explained
    n_new : int
    level : float
    """

    kind: Kind
    shares: Floats
    low: Floats
    high: Floats
    old_shares: Floats
    distance: Floats
    p_value: Floats
    explained: Bools
    reasons: tuple[str, ...]
    n_new: int
    level: float


def estimate_mix(
    positive: Any,
    scores: Any,
    new_scores: Any,
    kind: Kind,
    *,
    weight: Any = None,
    level: float = 0.9,
    alpha: float = 0.05,
    tolerance: float = 0.02,
    n_bootstrap: int = 200,
    random_state: int | None = 0,
) -> MixEstimate:
    """Estimate the shares of the classes among new texts, and test whether other shares are all that changed.

    Parameters
    ----------
    positive, scores, kind, weight : the old texts, as in `Calibration.fit`
    new_scores : array (n_new, n_problems), finite
    level : float, default=0.9
        Of the intervals: bootstrap over new and old texts; calibration included, but for `kind="multiclass"`.
    alpha : float, default=0.05
        How often the test may refuse a mere change of mix, per class; of classes that exclude each other, any
        of them.
    tolerance : float, default=0.02
        A distance that does not matter: it is taken off the one measured before the test, which would else
        refuse any stream that is long enough.
    n_bootstrap : int, default=200
    random_state : int, default=0

    Examples
    --------
    >>> import numpy as np
    >>> from textmargin.decisions.mix import estimate_mix
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(1000)[:, None] < 100
    >>> scores = rng.normal(np.where(positive, 1, -1), 0.7)
    >>> new_scores = rng.normal(np.where(np.arange(1000)[:, None] < 400, 1, -1), 0.7)
    >>> mix = estimate_mix(positive, scores, new_scores, "binary")
    >>> mix.explained
    array([ True])
    >>> bool(mix.low[0] < 0.4 < mix.high[0])
    True
    """
    positive, scores, weight = checked_texts(positive, scores, kind, weight)
    new = checked_scores(new_scores, scores.shape[1])
    weights = by_class(weight, scores.shape[1])
    for name, value in (("level", level), ("alpha", alpha)):
        if not 0 < value < 1:
            raise SettingError(name, f"must lie between 0 and 1; got {value}.")
    if not 0 <= tolerance < 1:
        raise SettingError("tolerance", f"must be at least 0 and below 1; got {tolerance}.")
    if n_bootstrap < 1 / alpha:
        raise SettingError(
            "n_bootstrap", f"must be at least {1 / alpha:g} for a test at alpha={alpha}; got {n_bootstrap}."
        )
    rng = np.random.default_rng(random_state)
    if kind == "multiclass":
        missing = np.flatnonzero(~positive.any(axis=0))
        if missing.size:
            raise ScoreError(
                f"Class {missing[0]} has no old text with a held-out score, so that nothing is known of "
                "its scores."
            )
        calibration = Calibration.fit(positive, scores, kind, weight)
        proba, new_proba = calibration.predict(scores), calibration.predict(new)
        sample = draw_classes(
            np.argmax(positive, axis=1), scores, weight, new, proba, new_proba, n_bootstrap, rng
        )
    else:
        sample = _concatenate(
            [
                _draw(positive[:, k], scores[:, k], weights[:, k], new[:, k], n_bootstrap, rng)
                for k in range(new.shape[1])
            ]
        )
    p_value = (1 + np.sum(sample.null >= sample.distance - tolerance, axis=0)) / (1 + n_bootstrap)
    scored = ~np.isnan(scores)
    scored |= ~scored.any(axis=0)
    old_shares = np.sum(weights * (positive & scored), axis=0) / np.sum(weights * scored, axis=0)
    tail = (1 - level) / 2
    low, high = np.quantile(sample.draws, [tail, 1 - tail], axis=0)
    # the share that would still go unseen in so many texts with that probability
    rare = 1 - tail ** (1 / len(new))
    low = np.minimum.reduce([low, sample.shares, np.full(low.size, 1 - rare)])
    high = np.maximum.reduce([high, sample.shares, np.full(high.size, rare)])
    reasons = tuple(
        _reason(len(new), distance, p, alpha) for distance, p in zip(sample.distance, p_value, strict=True)
    )
    explained = np.array([not reason for reason in reasons])
    return MixEstimate(
        kind,
        sample.shares,
        low,
        high,
        old_shares,
        sample.distance,
        p_value,
        explained,
        reasons,
        len(new),
        level,
    )


def checked_scores(new_scores: Any, n_problems: int) -> Floats:
    """Scores of new texts as an array that fits the old ones."""
    new = np.asarray(new_scores, dtype=np.float64)
    new = new[:, None] if new.ndim == 1 and n_problems == 1 else new
    if new.ndim != 2 or new.shape[1] != n_problems or len(new) == 0:
        raise ScoreError(
            f"new_scores must have a row per text and a column for each of the {n_problems} classes; got "
            f"{new.shape}."
        )
    if not np.isfinite(new).all():
        raise ScoreError("new_scores hold NaN or infinity; leave these texts out.")
    return new


def _draw(
    positive: Bools, score: Floats, weight: Floats, new: Floats, n_draws: int, rng: np.random.Generator
) -> MixDraws:
    rows = ~np.isnan(score)
    if not 0 < np.sum(positive & rows) < np.sum(rows):  # any share is possible, and nothing can be compared
        share, unknown = np.array([np.average(positive, weights=weight)]), np.full((n_draws, 1), np.nan)
        return MixDraws(share, np.resize([0.0, 1.0], (n_draws, 1)), unknown[0], unknown)
    return draw_column(positive[rows], score[rows], weight[rows], new, n_draws, rng)


def _concatenate(parts: list[MixDraws]) -> MixDraws:
    return MixDraws(
        np.concatenate([part.shares for part in parts]),
        np.hstack([part.draws for part in parts]),
        np.concatenate([part.distance for part in parts]),
        np.hstack([part.null for part in parts]),
    )


def _reason(n_new: int, distance: float, p_value: float, alpha: float) -> str:
    """Why nothing is to be adapted, or nothing."""
    if n_new < MIN_NEW_TEXTS:
        return f"{n_new} new texts are too few to tell; {MIN_NEW_TEXTS} are needed."
    if np.isnan(distance):
        return (
            "Old texts with the class, or those without, have no held-out scores, so that nothing is "
            "known of theirs."
        )
    if p_value >= alpha:
        return ""
    return (
        f"No mix of the old texts has such scores (distance {distance:.3f}, p = {p_value:.3f}): these are "
        "texts of another kind; "
        f"label some of them and learn again."
    )
