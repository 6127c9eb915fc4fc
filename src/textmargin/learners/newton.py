"""Newton's method for the primal SVM (Chapelle 2007), with a few unpenalised columns eliminated.

Each step minimises the quadratic that J is on the active rows S. Two ways lead there:

- a linear system in the size of S, or of the weights, solved by Cholesky (`_exact.py`): best while it is
  small;
- conjugate gradients in the weights, never forming the Hessian λI + X_S'CX_S (`newton.hpp`), to a modest
  precision.

The columns of Z (intercept, priors) are solved for exactly in both, so their scale does not matter. How far
to go along a direction is found by exact search (`search.hpp`). An exact step that moves no text across its
margin ends at the optimum.

Where scales are hard (columns of very different size, a huge C) digits may run out before that, and the
Newton decrement does not show it. The duality gap does: for any α ≥ 0 no point is below

    D(α) = Σᵢ αᵢ(mᵢ − yᵢ·offsetᵢ) − ½ Σᵢ αᵢ²/cᵢ − ‖X'(y∘α)‖²/2λ − Σₖ (tₖ²/2ρₖ + q⁰ₖtₖ)
    t = Z'(y∘α), 0 where ρ = 0
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .. import core
from .._typing import Floats
from ._exact import factor, size
from .matrix import Rows, column_sizes
from .objective import NEGLIGIBLE, Objective, Point, invert_block

# Up to this many active rows, or weights, a Cholesky step costs no more than the conjugate gradients it
# replaces.
EXACT_SIZE = 64
# Where these converge badly (texts of very different lengths, a large C), larger Cholesky steps are worth it
# after a while.
_PATIENCE, _STILL_EXACT = 12, 2000
_ROUNDING = 1e-15
_CG_PRECISION = 0.1  # at first; tighter as the optimum comes near, so that the last steps converge fast
_CG_MAX_STEPS = 250
_STEEP = 1e10  # c‖X‖²/λ beyond which squares lose digits
_UNEVEN = 1e4  # columns of which one has values so many times as large as another
_FAR = 1e4  # scores of priors, or their shares of a score, beside the margin


@dataclass(frozen=True)
class Solution:
    """The minimum, or where `max_iter` left it; `gap` is the last Newton decrement relative to J, or twice
    the duality gap.
    """

    point: Point
    n_iter: int
    converged: bool
    gap: float
    raw_scores: Floats | None = None  # Xw + Zq, where whoever solved it has them at hand

    def scores(self, objective: Objective, rows: Rows) -> Floats:
        """f of some rows, also of those whose cost is 0."""
        offset = objective.offset if isinstance(objective.offset, float) else objective.offset[rows]
        if self.raw_scores is not None:
            return np.asarray(self.raw_scores[rows] + offset, dtype=np.float64)
        return np.asarray(
            objective.X[rows] @ self.point.w + objective.columns.Z[rows] @ self.point.q + offset
        )


@dataclass(frozen=True)
class Direction:
    """Where to go from a point."""

    w: Floats
    q: Floats
    decrement: float  # twice the decrease that the quadratic promises
    exact: bool


@dataclass(frozen=True)
class View:
    """What is seen of J from a point: its value, the size of an exact step, and the active texts."""

    value: float
    size: int
    active: Rows


def newton(objective: Objective, *, start: Point | None = None, tol: float, max_iter: int) -> Solution:
    """Minimise J from `start` (default: no weights) until the Newton decrement is below tol · J."""
    origin = objective.point()
    point, _ = search(objective, start or origin)
    negligible = NEGLIGIBLE * objective.value(origin)
    gap = np.inf
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        view = look(objective, point)
        if n_iter == 1 and start is None:
            point, _ = search(objective, point, downhill(objective, point, view))
            continue
        worth_it = view.size <= (EXACT_SIZE if n_iter < _PATIENCE else _STILL_EXACT)
        direction = exact(objective, point, view) if worth_it else None
        if direction is None:
            direction = conjugate_gradients(objective, point, view, min(_CG_PRECISION, np.sqrt(gap)))
        point, stayed = search(objective, point, direction)
        gap = direction.decrement / max(view.value, negligible) if direction.decrement > 0 else 0.0
        # An exact step costs little and ends by itself: take it to the end.
        if (stayed or gap <= _ROUNDING) if direction.exact else gap <= tol:
            return Solution(point, n_iter, True, gap)
    return Solution(point, n_iter, gap <= tol, gap)


def look(objective: Objective, point: Point) -> View:
    """J and the active rows at a point."""
    rows = objective.active(point)
    return View(objective.value(point), size(objective, rows), rows)


def downhill(objective: Objective, point: Point, view: View) -> Direction:
    """The first direction: with the intercept settled, the difference of the class centroids (Rocchio)."""
    rows = view.active
    errors = np.zeros_like(objective.y)
    errors[rows] = objective.costs[rows] * objective.errors(point, rows)
    w = objective.X.T @ errors - objective.penalty * point.w
    return Direction(w, np.zeros_like(point.q), float(w @ w), exact=False)


def exact(objective: Objective, point: Point, view: View) -> Direction | None:
    """Newton's direction by Cholesky; None where the system is singular to machine precision."""
    rows = view.active
    if rows.size:
        try:
            w, q = factor(objective, rows).minimum()
        except np.linalg.LinAlgError:
            return None
    else:  # every margin is reached: only the penalties are left
        w, q = np.zeros_like(point.w), np.where(objective.columns.pull > 0, objective.columns.target, point.q)
    w, q = w - point.w, q - point.q
    # The quadratic's gradient is zero at its minimum, so the decrement is its curvature along the way there.
    move = objective.X[rows] @ w + objective.columns.Z[rows] @ q
    bend = objective.costs[rows] @ (move * move) + objective.columns.pull @ (q * q)
    return Direction(w, q, float(objective.penalty * (w @ w) + bend), exact=True)


def conjugate_gradients(objective: Objective, point: Point, view: View, precision: float) -> Direction:
    """Newton's direction by conjugate gradients in w, the columns eliminated (Schur complement)."""
    rows = view.active
    X, columns = objective.X, objective.columns
    Z, costs, errors = columns.Z[rows], objective.costs[rows], objective.errors(point, rows)
    CZ = costs[:, None] * Z
    gradient_q = columns.pull * (point.q - columns.target) - CZ.T @ errors
    M_inverse = invert_block(CZ.T @ Z + np.diag(columns.pull))
    quadratic = (rows, objective.penalty, costs, errors, CZ, M_inverse, gradient_q, point.w)
    if sp.issparse(X):
        w, q, decrement = core.cg_sparse(X.indptr, X.indices, X.data, *quadratic, precision, _CG_MAX_STEPS)
    else:
        w, q, decrement = core.cg_dense(X, *quadratic, precision, _CG_MAX_STEPS)
    return Direction(w, q, decrement, exact=False)


def search(
    objective: Objective, point: Point, direction: Direction | None = None, scores: Floats | None = None
) -> tuple[Point, bool]:
    """The best point in the plane of a direction, whose `scores` may be known, and the columns; whether a "
    "full
    step changed no row's side.
    """
    columns, k = objective.columns, len(objective.columns)
    if direction is None and k == 0:
        return point, True
    pulled = columns.pull * (point.q - columns.target)
    if direction is None:
        move, g, A = np.empty(0), pulled, np.diag(columns.pull)
    else:
        scores = objective.times(direction.w) if scores is None else scores
        move = scores + columns.Z @ direction.q
        cross = columns.pull * direction.q
        A = np.zeros((1 + k, 1 + k))
        A[0, 0] = objective.penalty * (direction.w @ direction.w) + cross @ direction.q
        A[0, 1:] = A[1:, 0] = cross
        A[1:, 1:] = np.diag(columns.pull)
        g = np.concatenate([[objective.penalty * (point.w @ direction.w) + pulled @ direction.q], pulled])
    theta, shortfall, stayed = core.search_plane(
        point.shortfall, objective.y, objective.costs, move, columns.Z, g, A
    )
    if direction is None:
        return Point(point.w, point.q + theta, shortfall), stayed
    t, shift = theta[0], theta[1:]
    return Point(point.w + t * direction.w, point.q + t * direction.q + shift, shortfall), stayed


def on_hard_scales(objective: Objective, point: Point) -> bool:
    """Whether the Newton decrement at a point may not be the truth."""
    X, columns = objective.X, objective.columns
    if sp.issparse(X):
        counts, sizes = column_sizes(X)
        typical, square = sizes / np.maximum(counts, 1), float(X.data @ X.data)
    else:
        typical, square = np.abs(X).mean(axis=0), float(np.einsum("ij,ij->", X, X))
    typical = typical[typical > 0]
    far = _FAR * objective.margins.max()
    return bool(
        (typical.size and typical.max() > _UNEVEN * typical.min())
        or square * objective.costs.max() > _STEEP * objective.penalty
        or np.abs(objective.offset).max() > far
        or (np.abs(columns.Z).max(axis=0) * np.abs(point.q) > far).any()
    )


def duality_gap(objective: Objective, point: Point) -> float:
    """J at a point less the bound from below that its shortfalls give, relative to J."""
    point = objective.point(point.w, point.q)
    value = objective.value(point)
    bound = _lower_bound(objective, np.maximum(point.shortfall, 0.0))
    return max(0.0, value - bound) / max(value, NEGLIGIBLE * objective.value_of_nothing())


def _lower_bound(objective: Objective, shortfall: Floats) -> float:
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
