"""How sure a threshold is: a bootstrap band around it and its utility."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .rules import beta_gamma_threshold, utility_curve
from .utility import T10U, Measure


@dataclass(frozen=True)
class ThresholdBand:
    """A threshold and its utility on all texts, with the range that resampling the texts gives."""

    theta: float
    theta_low: float
    theta_high: float
    utility: float
    utility_low: float
    utility_high: float
    n_bootstrap: int


def threshold_band(
    y: Any,
    score: Any,
    utility: Measure = T10U,
    rule: Callable[..., float] = beta_gamma_threshold,
    *,
    level: float = 0.9,
    n_bootstrap: int = 200,
    random_state: int | None = 0,
) -> ThresholdBand:
    """Set the threshold on resampled texts again and again; positives and negatives are drawn separately.

    Parameters
    ----------
    y, score, utility : as in `utility_curve`
    rule : callable (y, score, utility=) → θ, default=beta_gamma_threshold
    level : float, default=0.9
        The share of resampled thresholds (and utilities, on all texts) that the band holds.
    n_bootstrap : int, default=200
    random_state : int, default=0
    """
    curve = utility_curve(y, score, utility)
    positive, score = np.asarray(y) > 0, np.asarray(score, dtype=np.float64)
    rng = np.random.default_rng(random_state)
    sides = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    thetas = np.empty(n_bootstrap)
    for b in range(n_bootstrap):
        drawn = np.concatenate([rng.choice(side, side.size) for side in sides if side.size])
        thetas[b] = rule(positive[drawn], score[drawn], utility=utility)
    values = np.array([curve.utility_at(theta) for theta in thetas])
    edges = [(1 - level) / 2, (1 + level) / 2]
    theta = rule(positive, score, utility=utility)
    low, high = np.quantile(thetas, edges, method="inverted_cdf")
    worst, best = np.quantile(values, edges, method="inverted_cdf")
    return ThresholdBand(theta, float(low), float(high), curve.utility_at(theta), float(worst), float(best), n_bootstrap)
