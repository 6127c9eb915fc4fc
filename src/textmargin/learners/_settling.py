"""The end of a descent on hard scales: to the minimum in steps that lose no digits, and the proof of it.

The proof is the duality gap. For any α ≥ 0 no point is below

    D(α) = Σᵢ αᵢ(mᵢ − yᵢ·offsetᵢ) − ½ Σᵢ αᵢ²/cᵢ − ‖X'(y∘α)‖²/2λ − Σₖ (tₖ²/2ρₖ + q⁰ₖtₖ)
    t = Z'(y∘α), 0 where ρ = 0

so that J less D bounds what a fit is off by, whatever was rounded on the way to it. `Scales` tells the
problems that may need it from the others, of which the Newton decrement is proof enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._typing import Floats
from ._orthogonal import orthogonal_step
from .matrix import Matrix, Rows, column_sizes
from .objective import NEGLIGIBLE, Objective, Point

_MOST = 600  # rows, or weights, of a step by orthogonal factors
_STEPS = 60
_ROUNDING = 4e-16  # of a score, beside the sizes of what is added up to it
_STEEP = 1e10  # c‖X‖²/λ beyond which squares lose digits
_UNEVEN = 1e4  # columns of which one has values so many times as large as another
_FAR = 1e4  # scores of priors, or their shares of a score, beside the margin


@dataclass(frozen=True)
class Scales:
    """Of a matrix, what tells whether digits may run out."""

    square: float  # ‖X‖²
    uneven: bool

    @classmethod
    def of(cls, X: Matrix) -> Scales:
        if not sp.issparse(X):
            typical, square = np.abs(X).mean(axis=0), float(np.einsum("ij,ij->", X, X))
        else:
            counts, sizes = column_sizes(X)
            typical, square = sizes / np.maximum(counts, 1), float(X.data @ X.data)
        typical = typical[typical > 0]
        return cls(square, bool(typical.size and typical.max() > _UNEVEN * typical.min()))

    def are_hard(self, objective: Objective, point: Point) -> bool:
        """Whether the Newton decrement at a point may not be the truth."""
        if self.uneven or self.square * objective.costs.max() > _STEEP * objective.penalty:
            return True
        far = _FAR * objective.margins.max()
        columns = objective.columns
        return bool(
            np.abs(objective.offset).max() > far
            or (np.abs(columns.Z).max(axis=0) * np.abs(point.q) > far).any()
        )


@dataclass(frozen=True)
class Settled:
    """The best point there was, and its duality gap relative to J."""

    point: Point
    gap: float


def settle(objective: Objective, point: Point, enough: float) -> Settled:
    """The minimum, from a point near it; a relative gap of `enough` is one."""
    negligible = NEGLIGIBLE * objective.value_of_nothing()
    point = objective.point(point.w, point.q)
    best, value = point, objective.value(point)
    bound = lower_bound(objective, np.maximum(point.shortfall, 0.0))
    rows = objective.active(point)
    seen: set[bytes] = set()
    for _ in range(_STEPS):
        if value - bound <= enough * max(value, negligible) or rows.tobytes() in seen:
            break
        seen.add(rows.tobytes())
        if min(rows.size, objective.X.shape[1]) > _MOST:
            break
        step = orthogonal_step(objective, rows, point.w, point.q)
        target = objective.point(step.w, step.q)
        shortfall = target.shortfall.copy()
        if step.shortfall is not None:
            unseen = np.abs(step.shortfall - shortfall[rows]) <= _score_rounding(
                objective, rows, step.w, step.q
            )
            shortfall[rows[unseen]] = step.shortfall[unseen]
        for missed in (target.shortfall, shortfall):
            bound = max(bound, lower_bound(objective, np.maximum(missed, 0.0)))
        own = objective.value(target)
        if own < value:
            best, value = target, own
        point = target
        rows = np.flatnonzero(shortfall > 0)
        if own > value * (1 + 1e-9):  # a full step too far
            point = _between(objective, best, target)
            if (own := objective.value(point)) < value:
                best, value = point, own
            rows = objective.active(point)
    return Settled(best, max(0.0, value - bound) / max(value, negligible))


def _between(objective: Objective, point: Point, target: Point) -> Point:
    """The best point on the way, by halving an interval of the slope along it."""
    step_w, step_q = target.w - point.w, target.q - point.q
    columns = objective.columns
    counted = objective.costs > 0
    a, costs = point.shortfall[counted], objective.costs[counted]
    move = a - target.shortfall[counted]
    linear = objective.penalty * (point.w @ step_w) + (columns.pull * (point.q - columns.target)) @ step_q
    bend = objective.penalty * (step_w @ step_w) + columns.pull @ (step_q * step_q)
    low, high = 0.0, 1.0
    for _ in range(60):
        t = (low + high) / 2
        slope = linear + t * bend - (costs * np.maximum(0, a - t * move)) @ move
        low, high = (t, high) if slope < 0 else (low, t)
    return objective.point(point.w + low * step_w, point.q + low * step_q)


def _score_rounding(objective: Objective, rows: Rows, w: Floats, q: Floats) -> Floats:
    """By how much shortfalls may be off that are computed from scores."""
    offset = objective.offset if isinstance(objective.offset, float) else objective.offset[rows]
    sizes = (
        abs(objective.X[rows]) @ np.abs(w) + np.abs(objective.columns.Z[rows]) @ np.abs(q) + np.abs(offset)
    )
    return np.asarray(_ROUNDING * np.sqrt(objective.X.shape[1]) * (sizes + objective.margins[rows]) * 4)


def lower_bound(objective: Objective, shortfall: Floats) -> float:
    """D of the weights c·shortfall, the sides of a column without pull made even; at least 0."""
    rows = np.flatnonzero((shortfall > 0) & (objective.costs > 0))
    columns, costs = objective.columns, objective.costs[rows]
    alpha, y, Z = costs * shortfall[rows], objective.y[rows], objective.columns.Z[rows]
    for k in np.flatnonzero(columns.pull == 0):
        lift = y * Z[:, k] * alpha
        up, down = lift[lift > 0].sum(), -lift[lift < 0].sum()
        if min(up, down) == 0:
            alpha = np.where(lift == 0, alpha, 0.0)
        else:
            alpha = alpha * np.where(
                lift > 0, min(1.0, down / up), np.where(lift < 0, min(1.0, up / down), 1.0)
            )
    signed = y * alpha
    through = objective.X[rows].T @ signed
    held = columns.pull > 0
    lift = Z[:, held].T @ signed
    # Along the ray of these weights D is t·rise − ½t²·bend, most where t = rise/bend.
    rise = signed @ objective.goal(rows) - columns.target[held] @ lift
    bend = (
        (alpha * alpha / costs).sum()
        + through @ through / objective.penalty
        + (lift * lift / columns.pull[held]).sum()
    )
    return float(rise * (rise / (2 * bend))) if rise > 0 else 0.0
