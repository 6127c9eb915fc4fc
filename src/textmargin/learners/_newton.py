"""Newton's method for the primal SVM (Chapelle 2007), with a few unpenalised columns eliminated.

Each step minimises the quadratic that J is on the active rows S. Two ways lead there:

- a linear system in the size of S, or of the weights, solved by Cholesky (`_exact.py`): best while it is small;
- conjugate gradients in the weights, never forming the Hessian λI + X_S'CX_S (`newton.hpp`), to a modest precision.

The columns of Z (intercept, priors) are solved for exactly in both, so their scale does not matter. How far to go along a
direction is found by exact search (`search.hpp`). An exact step that moves no text across its margin ends at the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .. import core
from ._exact import factor, size
from ._objective import Floats, Objective, Point, Rows, invert_block

# Up to this many active rows, or weights, a Cholesky step costs no more than the conjugate gradients it replaces.
EXACT_SIZE = 64
# Where these converge badly (texts of very different lengths, a large C), larger Cholesky steps are worth it after a while.
_PATIENCE, _STILL_EXACT = 12, 2000
_ROUNDING = 1e-15
_NEGLIGIBLE = 1e-9  # an objective this small beside that of scoring nothing at all counts as zero
_CG_PRECISION = 0.1  # at first; tighter as the optimum comes near, so that the last steps converge fast
_CG_MAX_STEPS = 250


@dataclass(frozen=True)
class Solution:
    """The minimum, or where `max_iter` left it; `gap` is the last Newton decrement relative to J."""

    point: Point
    n_iter: int
    converged: bool
    gap: float


@dataclass(frozen=True)
class _Direction:
    w: Floats
    q: Floats
    decrement: float  # twice the decrease that the quadratic promises
    exact: bool


def newton(objective: Objective, *, start: Point | None = None, tol: float, max_iter: int) -> Solution:
    """Minimise J from `start` (default: no weights) until the Newton decrement is below tol · J."""
    point, _ = _search(objective, start or objective.point())
    negligible = _NEGLIGIBLE * objective.value(objective.point())
    gap = np.inf
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        value, rows = objective.value(point), objective.active(point)
        if n_iter == 1 and start is None:
            point, _ = _search(objective, point, _downhill(objective, point, rows))
            continue
        worth_it = size(objective, rows) <= (EXACT_SIZE if n_iter < _PATIENCE else _STILL_EXACT)
        direction = _exact(objective, point, rows) if worth_it else None
        if direction is None:
            direction = _conjugate_gradients(objective, point, rows, min(_CG_PRECISION, np.sqrt(gap)))
        point, stayed = _search(objective, point, direction)
        gap = direction.decrement / max(value, negligible) if direction.decrement > 0 else 0.0
        # An exact step costs little and ends by itself: take it to the end.
        if (stayed or gap <= _ROUNDING) if direction.exact else gap <= tol:
            return Solution(point, n_iter, True, gap)
    return Solution(point, n_iter, gap <= tol, gap)


def _downhill(objective: Objective, point: Point, rows: Rows) -> _Direction:
    """The first direction: with the intercept settled, the difference of the class centroids (Rocchio)."""
    errors = np.zeros_like(objective.y)
    errors[rows] = objective.costs[rows] * objective.errors(point, rows)
    w = objective.X.T @ errors - objective.penalty * point.w
    return _Direction(w, np.zeros_like(point.q), float(w @ w), exact=False)


def _exact(objective: Objective, point: Point, rows: Rows) -> _Direction | None:
    """Newton's direction by Cholesky; None where the system is singular to machine precision."""
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
    return _Direction(w, q, float(objective.penalty * (w @ w) + bend), exact=True)


def _conjugate_gradients(objective: Objective, point: Point, rows: Rows, precision: float) -> _Direction:
    """Newton's direction by conjugate gradients in w, the columns eliminated (Schur complement)."""
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
    return _Direction(w, q, decrement, exact=False)


def _search(objective: Objective, point: Point, direction: _Direction | None = None) -> tuple[Point, bool]:
    """The best point in the plane of a direction and the columns; whether a full step changed no row's side."""
    columns, k = objective.columns, len(objective.columns)
    if direction is None and k == 0:
        return point, True
    pulled = columns.pull * (point.q - columns.target)
    if direction is None:
        move, g, A = np.empty(0), pulled, np.diag(columns.pull)
    else:
        move = objective.times(direction.w) + columns.Z @ direction.q
        cross = columns.pull * direction.q
        A = np.zeros((1 + k, 1 + k))
        A[0, 0] = objective.penalty * (direction.w @ direction.w) + cross @ direction.q
        A[0, 1:] = A[1:, 0] = cross
        A[1:, 1:] = np.diag(columns.pull)
        g = np.concatenate([[objective.penalty * (point.w @ direction.w) + pulled @ direction.q], pulled])
    theta, shortfall, stayed = core.search_plane(point.shortfall, objective.y, objective.costs, move, columns.Z, g, A)
    if direction is None:
        return Point(point.w, point.q + theta, shortfall), stayed
    t, shift = theta[0], theta[1:]
    return Point(point.w + t * direction.w, point.q + t * direction.q + shift, shortfall), stayed
