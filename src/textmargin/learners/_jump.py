"""All free weights of one problem of `_dual.py` moved together, to where each is exactly on its margin.

What single steps creep towards, along directions in which a kernel of low rank is flat, is one jump away: to
the first bound on the way, where that weight stays, and on from there. Each jump makes the objective smaller.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._ties import ROUNDING
from .._typing import Floats, Indices
from ._dual import DualProblems

_MAX_JUMPS = 50
_MAX_FREE = 1000  # the side of a dense system; beyond, jumps take longer than many steps
_JITTER = 1e-11  # relative
_EXACT = 1e-10  # relative, of a solution that needs no refinement


def jump(
    block: Callable[[Indices, Indices], Floats],
    problem: DualProblems,
    beta: Floats,
    fit_intercept: bool,
    most: int = _MAX_FREE,
) -> Floats:
    """The weights of the one problem from β on.

    Parameters
    ----------
    block : K between texts of these numbers, in double precision
    most : how many free weights may jump together
    """
    target, low, high, ridge = problem.target[0], problem.low[0], problem.high[0], problem.ridge[0]
    beta = _snap(beta, low, high)
    support = np.flatnonzero(beta)
    moving = support[(beta[support] > low[support]) & (beta[support] < high[support])]
    if not 0 < moving.size <= most:
        return beta
    K = block(moving, support)
    for _ in range(_MAX_JUMPS):
        free = np.flatnonzero((beta[moving] > low[moving]) & (beta[moving] < high[moving]))
        if not free.size:
            break
        rows = moving[free]
        part = K if free.size == moving.size else K[free]
        e = target[rows] - part @ beta[support] - ridge[rows] * beta[rows]
        Q = part[:, np.searchsorted(support, rows)]
        Q[np.diag_indices_from(Q)] += ridge[rows]
        move = _newton_move(Q, e, fit_intercept)
        if move is None:
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(move > 0, high[rows] - beta[rows], low[rows] - beta[rows]) / move
        room = np.where(move == 0, np.inf, room)
        share = min(1.0, float(room.min()))
        # nothing to gain, or a kernel that is indefinite
        if not share * (e @ move) > 0.5 * share**2 * (move @ Q @ move):
            break
        beta[rows] = np.clip(beta[rows] + share * move, low[rows], high[rows])
        if share < 1.0:
            first = int(room.argmin())
            beta[rows[first]] = high[rows[first]] if move[first] > 0 else low[rows[first]]
        beta = _snap(beta, low, high)
        if share == 1.0:
            break
    return beta


def _newton_move(Q: Floats, e: Floats, fit_intercept: bool) -> Floats | None:
    """Where Q·move + b = e, Σmove = 0 with an intercept; the least such where there are many, as with equal
    texts.
    """
    jitter = _JITTER * float(np.trace(Q)) / len(Q)
    sides = np.column_stack([e - e.mean(), np.ones_like(e)]) if fit_intercept else e[:, None]
    A = Q.copy()
    A[np.diag_indices_from(A)] += jitter
    try:
        factor = cho_factor(A.T, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    x = cho_solve(factor, sides, check_finite=False)
    for _ in range(2):
        missed = sides - Q @ x
        if np.abs(missed).max() > _EXACT * np.abs(sides).max():
            x += cho_solve(factor, missed, check_finite=False)
    if not np.isfinite(x).all():
        return None
    if not fit_intercept:
        return np.asarray(x[:, 0])
    move = x[:, 0] - x[:, 1] * (x[:, 0].sum() / x[:, 1].sum())
    return np.asarray(move - move.mean())  # what rounding left of the sum


def _snap(beta: Floats, low: Floats, high: Floats) -> Floats:
    """Weights that are at a bound but for rounding are there: whether a text supports at all must not hang on
    rounding.
    """
    rounding = ROUNDING * np.minimum(high - low, np.abs(beta).max(initial=0.0))
    return np.where(beta - low <= rounding, low, np.where(high - beta <= rounding, high, beta))
