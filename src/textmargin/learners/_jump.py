"""All free weights of one problem of `_dual.py` moved together, to where each is exactly on its margin.

What single steps creep towards, along directions in which a kernel of low rank is flat, is one jump away: to the first bound on
the way, where that weight stays, and on from there. Each jump makes the objective smaller.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._typing import Floats, Indices
from ._dual import DualProblems

_MAX_JUMPS = 50
_MAX_FREE = 1000  # the side of a dense system; beyond, jumps take longer than many steps
_JITTER = 1e-11  # relative


def jump(block: Callable[[Indices, Indices], Floats], problem: DualProblems, beta: Floats, fit_intercept: bool) -> Floats:
    """The weights of the one problem from β on.

    Parameters
    ----------
    block : K between texts of these numbers, in double precision
    """
    target, low, high, ridge = problem.target[0], problem.low[0], problem.high[0], problem.ridge[0]
    beta = beta.copy()
    support = np.flatnonzero(beta)
    moving = support[(beta[support] > low[support]) & (beta[support] < high[support])]
    if moving.size > _MAX_FREE:
        return beta
    K = block(moving, support)
    for _ in range(_MAX_JUMPS):
        free = np.flatnonzero((beta[moving] > low[moving]) & (beta[moving] < high[moving]))
        if not free.size:
            break
        rows = moving[free]
        e = target[rows] - K[free] @ beta[support] - ridge[rows] * beta[rows]
        Q = K[free][:, np.searchsorted(support, rows)] + np.diag(ridge[rows])
        move = _newton_move(Q, e, fit_intercept)
        if move is None:
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(move > 0, high[rows] - beta[rows], low[rows] - beta[rows]) / move
        room = np.where(move == 0, np.inf, room)
        share = min(1.0, float(room.min()))
        if not share * (e @ move) > 0.5 * share**2 * (move @ Q @ move):  # nothing to gain, or a kernel that is indefinite
            break
        beta[rows] = np.clip(beta[rows] + share * move, low[rows], high[rows])
        if share == 1.0:
            break
        first = int(room.argmin())
        beta[rows[first]] = high[rows[first]] if move[first] > 0 else low[rows[first]]
    return beta


def _newton_move(Q: Floats, e: Floats, fit_intercept: bool) -> Floats | None:
    """Where Q·move + b = e, Σmove = 0 with an intercept; far along directions in which Q is flat."""
    jitter = _JITTER * float(np.trace(Q)) / len(Q)
    sides = np.column_stack([e, np.ones_like(e)]) if fit_intercept else e[:, None]
    try:
        factor = cho_factor(Q + jitter * np.eye(len(Q)), lower=True, check_finite=False)
    except LinAlgError:
        return None
    x = cho_solve(factor, sides, check_finite=False)
    move = x[:, 0] - x[:, 1] * (x[:, 0].sum() / x[:, 1].sum()) if fit_intercept else x[:, 0]
    return move if np.isfinite(move).all() else None
