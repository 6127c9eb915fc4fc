"""How sure a threshold is: a bootstrap band around it and its utility."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from .._ties import without_rounding
from .._typing import Floats
from .rules import beta_gamma_threshold, utility_curve
from .utility import T10U, Measure

_PARTS_PER_JOB = 4  # so that a slow one does not keep the others waiting


@dataclass(frozen=True)
class ThresholdInterval:
    """A threshold and its utility on all texts, with the range that resampling the texts gives."""

    theta: float
    theta_low: float
    theta_high: float
    utility: float
    utility_low: float
    utility_high: float
    n_bootstrap: int


def threshold_interval(
    y: Any,
    score: Any,
    utility: Measure = T10U,
    rule: Callable[..., float] = beta_gamma_threshold,
    *,
    level: float = 0.9,
    n_bootstrap: int = 200,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> ThresholdInterval:
    """Set the threshold on resampled texts again and again; positives and negatives are drawn separately.

    Parameters
    ----------
    y, score, utility : as in `utility_curve`
    rule : callable (y, score, utility=) → θ, default=beta_gamma_threshold
    level : float, default=0.9
        The share of resampled thresholds (and utilities, on all texts) that the interval holds.
    n_bootstrap : int, default=200
    random_state : int, default=0
    n_jobs : int, default=None
        How many parts of the draws at a time, through joblib. The draws are the same whatever it is.
    """
    curve = utility_curve(y, score, utility)
    positive, score = np.asarray(y) > 0, without_rounding(np.asarray(score, dtype=np.float64))
    rng = np.random.default_rng(random_state)
    n_at_once = effective_n_jobs(n_jobs)
    n_parts = min(n_bootstrap, _PARTS_PER_JOB * n_at_once) if n_at_once > 1 else 1
    sizes = [part.size for part in np.array_split(np.arange(n_bootstrap), n_parts)]
    parts = Parallel(n_jobs, prefer="threads")(
        delayed(_thresholds)(positive, score, utility, rule, state, n)
        for state, n in _states(rng, _sides(positive), sizes)
    )
    thetas = np.concatenate(parts)
    values = np.array([curve.utility_at(theta) for theta in thetas])
    edges = [(1 - level) / 2, (1 + level) / 2]
    theta = rule(positive, score, utility=utility)
    low, high = np.quantile(thetas, edges, method="inverted_cdf")
    worst, best = np.quantile(values, edges, method="inverted_cdf")
    return ThresholdInterval(
        theta, float(low), float(high), curve.utility_at(theta), float(worst), float(best), n_bootstrap
    )


def _sides(positive: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    return [side for side in (np.flatnonzero(positive), np.flatnonzero(~positive)) if side.size]


def _draw(rng: np.random.Generator, sides: list[NDArray[np.intp]]) -> NDArray[np.intp]:
    return np.concatenate([rng.choice(side, side.size) for side in sides])


def _states(
    rng: np.random.Generator, sides: list[NDArray[np.intp]], sizes: list[int]
) -> Iterator[tuple[Mapping[str, Any], int]]:
    """How the generator stands before each part of the draws: a state travels, where the draws would be as
    large as the texts.
    """
    for i, size in enumerate(sizes):
        yield rng.bit_generator.state, size
        for _ in range(size if i + 1 < len(sizes) else 0):
            _draw(rng, sides)


def _thresholds(
    positive: NDArray[np.bool_],
    score: Floats,
    utility: Measure,
    rule: Callable[..., float],
    state: Mapping[str, Any],
    n: int,
) -> Floats:
    """The thresholds of n draws, from where the generator stands."""
    rng = np.random.default_rng(0)
    rng.bit_generator.state = state
    sides = _sides(positive)
    drawn = (_draw(rng, sides) for _ in range(n))
    return np.array([rule(positive[rows], score[rows], utility=utility) for rows in drawn], dtype=np.float64)
