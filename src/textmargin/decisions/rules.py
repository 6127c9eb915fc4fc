"""From ranked scores and a utility to a threshold: utility curves and beta-gamma relaxation (Shanahan & Roma
2003).

Sort texts by score, highest first, ties as one group; u_k is the utility of accepting the first k groups.
Then

    θ_max    score of the group at the curve's first maximum (just above all scores if nothing is best)
    θ_zero   score of the first group past it where the curve is back at u_0 (just below all if it never is)
    θ        α·θ_zero + (1 − α)·θ_max,   α = β   or   α = β + (1 − β)e^(−pγ),   p the number of positives

A text is accepted when its score is at least θ. β > 0 relaxes the threshold, β < 0 tightens it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from .._ties import ROUNDING, first_maximum, just_above, without_rounding
from .._typing import Floats
from ..errors import LabelError, ScoreError
from .utility import T10U, Measure

_OF_COUNTS = 1e-14  # relative rounding of a utility of counts: some products and sums

Case = Literal["crosses", "never returns", "accepts nothing"]


@dataclass(frozen=True)
class UtilityCurve:
    """Utility as a function of the threshold.

    Attributes
    ----------
    scores : array (n_groups,), the distinct scores, highest first: the thresholds that can matter.
    utility : array (n_groups + 1,), u_0 (accepting nothing), u_1, …
    tp, fp : arrays (n_groups + 1,), true and false positives of each decision.
    theta_max, theta_zero : float
    case : "crosses" (back at u_0 past the maximum), "never returns", or "accepts nothing" (u_0 is the
        maximum).
    n_positive : int
    rounding : float, by how much utilities may differ that are equal.
    """

    scores: Floats
    utility: Floats
    tp: Floats
    fp: Floats
    k_max: int
    theta_max: float
    theta_zero: float
    case: Case
    n_positive: float
    rounding: float

    @property
    def best_interval(self) -> tuple[float, float]:
        """The thresholds (low, high] that all give the maximum."""
        below = (
            self.scores[self.k_max]
            if self.k_max < self.scores.size
            else np.nextafter(self.scores[-1], -np.inf)
        )
        return float(below), self.theta_max

    @property
    def best_middle(self) -> float:
        """The middle of the best interval; its upper end where the two are neighbouring numbers."""
        low, high = self.best_interval
        middle = (low + high) / 2
        return middle if middle > low else high

    def utility_at(self, theta: float) -> float:
        """The utility of a threshold."""
        return float(self.utility[np.searchsorted(-self.scores, -theta, side="right")])

    def best_among(self, allowed: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Of the decisions allowed (n_groups + 1,) those with the most utility."""
        return np.flatnonzero(allowed & (self.utility >= self.utility[allowed].max() - self.rounding))


def utility_curve(y: Any, score: Any, utility: Measure = T10U, sample_weight: Any = None) -> UtilityCurve:
    """The utility of every threshold, in O(n log n).

    Parameters
    ----------
    y : array (n_texts,) of 0/1, False/True or −1/+1
    score : array (n_texts,), finite
    utility : a measure of decisions
    sample_weight : array (n_texts,), default=None
        A text of weight 0 counts as absent.

    Examples
    --------
    >>> from textmargin import utility_curve
    >>> curve = utility_curve([1, 1, 0, 1, 0], [2.0, 1.5, 1.0, 0.6, 0.2])
    >>> curve.utility
    array([0., 2., 4., 3., 5., 4.])
    >>> curve.theta_max
    0.6
    """
    return _curve(*_sorted(y, score, sample_weight), utility)


def _curve(
    positive: NDArray[np.bool_], score: Floats, weight: Floats | None, utility: Measure
) -> UtilityCurve:
    """The curve of texts already sorted by score, highest first."""
    # the last text of each group of ties
    ends = np.append(np.flatnonzero(score[1:] != score[:-1]), score.size - 1)
    if weight is None:
        tp, n = np.cumsum(positive)[ends].astype(np.float64), ends + 1.0
    else:
        tp, n = np.cumsum(weight * positive)[ends], np.cumsum(weight)[ends]
    tp, fp = np.append(0.0, tp), np.append(0.0, n - tp)
    values = utility(tp, fp, tp[-1] - tp, fp[-1] - fp)
    scores = score[ends]
    # Costs such as 0.1 do not add up exactly, nor do weights, of which there may be many.
    all_right, all_wrong = utility(tp[-1], 0.0, 0.0, fp[-1]), utility(0.0, fp[-1], tp[-1], 0.0)
    rounding = (_OF_COUNTS if weight is None else ROUNDING) * max(
        abs(float(all_right)), abs(float(all_wrong))
    )
    k_max = int(first_maximum(values, rounding))
    back = np.flatnonzero(values[k_max + 1 :] <= values[0] + rounding)
    case: Case = "accepts nothing" if k_max == 0 else "crosses" if back.size else "never returns"
    theta_max = float(scores[k_max - 1]) if k_max else just_above(scores[0])
    theta_zero = float(scores[k_max + back[0]]) if back.size else float(np.nextafter(scores[-1], -np.inf))
    return UtilityCurve(scores, values, tp, fp, k_max, theta_max, theta_zero, case, float(tp[-1]), rounding)


def _sorted(y: Any, score: Any, sample_weight: Any = None) -> tuple[NDArray[np.bool_], Floats, Floats | None]:
    """Checked, and sorted by score, highest first; scores that are equal but for rounding are made equal.

    Texts of weight 0 are left out: dealt into a fold, they would be its only positives, of which F1 is
    undefined.
    """
    positive, score, weight = _checked(y, score, sample_weight)
    if weight is not None and not weight.all():
        positive, score, weight = positive[weight > 0], score[weight > 0], weight[weight > 0]
    score = without_rounding(score)
    order = np.argsort(-score, kind="stable")
    return positive[order], score[order], None if weight is None else weight[order]


def _checked(y: Any, score: Any, sample_weight: Any) -> tuple[NDArray[np.bool_], Floats, Floats | None]:
    check_consistent_length(y, score, sample_weight)
    y, score = np.asarray(y), np.asarray(score, dtype=np.float64)
    if y.ndim != 1 or score.ndim != 1:
        raise ScoreError(
            f"y and score must be vectors, one class at a time; got shapes {y.shape} and {score.shape}."
        )
    if score.size == 0:
        raise ScoreError("There are no scores to set a threshold on.")
    bad = np.flatnonzero(~np.isfinite(score))
    if bad.size:
        raise ScoreError(
            f"score number {bad[0]} is {score[bad[0]]}; a threshold can be set on finite scores only."
        )
    if y.dtype != bool and not np.isin(y, (0, 1, -1)).all():
        raise LabelError(
            f"y must be 0/1 or −1/+1 for the class in question; got {np.unique(y)[:5].tolist()}."
        )
    positive = y if y.dtype == bool else y > 0
    if not positive.any():
        raise LabelError("y has no positive, so that no threshold can be called better than another.")
    if sample_weight is None:
        return positive, score, None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight[positive].any():
        raise LabelError(
            "sample_weight must be finite and not negative, and leave some weight to the positives."
        )
    return positive, score, weight


def relaxation(beta: float | Floats, gamma: float | Floats | None, n_positive: float) -> Floats:
    """α, how far from θ_max towards θ_zero: β, or β + (1 − β)e^(−pγ), which relaxes more the fewer positives
    there are.
    """
    with np.errstate(over="ignore"):
        vanishing = 0.0 if gamma is None else np.exp(-n_positive * np.asarray(gamma, dtype=np.float64))
    return np.asarray(beta + (1 - np.asarray(beta)) * vanishing, dtype=np.float64)


def beta_gamma_threshold(
    y: Any,
    score: Any,
    beta: float = 0.1,
    gamma: float | None = None,
    utility: Measure = T10U,
    sample_weight: Any = None,
) -> float:
    """The threshold αθ_zero + (1 − α)θ_max.

    Parameters
    ----------
    y, score, utility, sample_weight : as in `utility_curve`
    beta : float, default=0.1
        0 gives θ_max, 1 gives θ_zero, a negative value tightens.
    gamma : float, default=None
        If given, relax more the fewer positives there are: α = β + (1 − β)e^(−pγ).

    Examples
    --------
    >>> from textmargin import beta_gamma_threshold
    >>> y = [1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0]
    >>> score = [2, 1.5, 1, 0.6, 0.2, -0.1, -0.4, -0.7, -1, -1.3, -1.6, -1.9]
    >>> round(beta_gamma_threshold(y, score, beta=0.1), 6)
    0.35
    """
    return relaxed(utility_curve(y, score, utility, sample_weight), beta, gamma)


def relaxed(curve: UtilityCurve, beta: float, gamma: float | None = None) -> float:
    """The beta-gamma threshold of a curve."""
    alpha = float(relaxation(beta, gamma, curve.n_positive))
    if not np.isfinite(alpha):
        raise ScoreError(
            f"gamma={gamma} with {curve.n_positive:g} positives overflows e^(−pγ); take a gamma nearer to 0."
        )
    return float(_between(curve, np.asarray(alpha)))


def _between(curve: UtilityCurve, alpha: Floats) -> Floats:
    """αθ_zero + (1 − α)θ_max. Rounding must not carry it past an end, which may be as near as the next
    floating-point number.
    """
    theta = alpha * curve.theta_zero + (1 - alpha) * curve.theta_max
    low = np.where(alpha < 0, curve.theta_max, np.where(alpha <= 1, curve.theta_zero, -np.inf))
    high = np.where(alpha > 1, curve.theta_zero, np.where(alpha >= 0, curve.theta_max, np.inf))
    return np.clip(theta, low, high)


@dataclass(frozen=True)
class BetaGamma:
    """The pair that cross-validation chose, the threshold it gives on all data, and its mean utility on
    held-out folds.
    """

    beta: float
    gamma: float | None
    theta: float
    value: float


BETAS = (-0.5, -0.2, -0.1, 0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
GAMMAS = (None, 0.02, 0.05, 0.1, 0.3, 1.0)


def select_beta_gamma(
    y: Any,
    score: Any,
    betas: Sequence[float] = BETAS,
    gammas: Sequence[float | None] = GAMMAS,
    utility: Measure = T10U,
    n_folds: int = 5,
    random_state: int | None = 0,
    sample_weight: Any = None,
) -> BetaGamma:
    """The paper's cross-validation: for every pair set the threshold on all folds but one, take its utility
    on that one.

    The scores stay as they are: nothing is trained again. With a single positive, or a single negative, there
    are no folds to choose on and θ_max is taken (β = 0).

    Parameters
    ----------
    y, score, utility, sample_weight : as in `utility_curve`
    betas, gammas : the pairs to try; None among the gammas is the form α = β
    n_folds : int, default=5
        Each with both classes, so fewer where there are fewer positives or negatives.
    random_state : int, default=0
    """
    texts = _sorted(y, score, sample_weight)
    beta, gamma = (
        grid.ravel()
        for grid in np.meshgrid(betas, [np.inf if g is None else g for g in gammas], indexing="ij")
    )
    value = np.zeros(beta.size)
    n_used, rounding = 0, 0.0
    for rest, held_out in _fold_curves(*texts, utility, n_folds, random_state):
        theta = _between(rest, relaxation(beta, gamma, rest.n_positive))
        value += held_out.utility[np.searchsorted(-held_out.scores, -theta, side="right")]
        rounding += held_out.rounding
        n_used += 1
    if n_used == 0:
        return BetaGamma(0.0, None, _curve(*texts, utility).theta_max, float("nan"))
    best = int(first_maximum(value, rounding))
    chosen = float(beta[best]), None if np.isinf(gamma[best]) else float(gamma[best])
    return BetaGamma(*chosen, relaxed(_curve(*texts, utility), *chosen), float(value[best] / n_used))


def retrofit_beta(
    y: Any,
    score: Any,
    gamma: float | None = None,
    utility: Measure = T10U,
    n_folds: int = 5,
    random_state: int | None = 0,
    sample_weight: Any = None,
) -> float:
    """β without a grid: the mean of what each fold would have needed. A reconstruction: the paper only hints
    at the step.

    For fold j, θ*_j is the threshold that is best on the fold itself (the middle of the interval of such
    thresholds). The ends θ_max and θ_zero come from the other folds, and β_j is what would have led from them
    to θ*_j: α_j = (θ_max − θ*_j)/(θ_max − θ_zero), β_j = (α_j − e)/(1 − e) with e = e^(−pγ), kept within ±1
    because the ends nearly meet where accepting nothing is best. With a single positive, or a single
    negative, there are no folds and β is 0.

    Parameters
    ----------
    y, score, utility, sample_weight : as in `utility_curve`
    gamma : float, default=None
    n_folds, random_state : as in `select_beta_gamma`
    """
    found = []
    for rest, held_out in _fold_curves(*_sorted(y, score, sample_weight), utility, n_folds, random_state):
        alpha = (rest.theta_max - held_out.best_middle) / (rest.theta_max - rest.theta_zero)
        vanishing = float(relaxation(0.0, gamma, rest.n_positive))
        if vanishing < 1:
            found.append(np.clip((alpha - vanishing) / (1 - vanishing), -1, 1))
    return float(np.mean(found)) if found else 0.0


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
    """
    curve = utility_curve(y, score, utility)
    positive, score = np.asarray(y) > 0, without_rounding(np.asarray(score, dtype=np.float64))
    rng = np.random.default_rng(random_state)
    sides = [side for side in (np.flatnonzero(positive), np.flatnonzero(~positive)) if side.size]
    thetas = np.empty(n_bootstrap)
    for draw in range(n_bootstrap):
        rows = np.concatenate([rng.choice(side, side.size) for side in sides])
        thetas[draw] = rule(positive[rows], score[rows], utility=utility)
    values = np.array([curve.utility_at(theta) for theta in thetas])
    edges = [(1 - level) / 2, (1 + level) / 2]
    theta = rule(positive, score, utility=utility)
    low, high = np.quantile(thetas, edges, method="inverted_cdf")
    worst, best = np.quantile(values, edges, method="inverted_cdf")
    return ThresholdInterval(
        theta, float(low), float(high), curve.utility_at(theta), float(worst), float(best), n_bootstrap
    )


def _fold_curves(
    positive: NDArray[np.bool_],
    score: Floats,
    weight: Floats | None,
    utility: Measure,
    n_folds: int,
    random_state: int | None,
) -> Iterator[tuple[UtilityCurve, UtilityCurve]]:
    """For each fold the curve of the others and its own; both classes are dealt out evenly. Texts come
    sorted.
    """
    n_folds = min(n_folds, int(positive.sum()), int((~positive).sum()))
    if n_folds < 2:
        return
    rng = np.random.default_rng(random_state)
    fold = np.empty(positive.size, dtype=np.intp)
    for side in (positive, ~positive):
        fold[side] = rng.permutation(np.arange(side.sum()) % n_folds)
    for j in range(n_folds):
        rest, held_out = (
            _curve(positive[rows], score[rows], None if weight is None else weight[rows], utility)
            for rows in (fold != j, fold == j)
        )
        yield rest, held_out
