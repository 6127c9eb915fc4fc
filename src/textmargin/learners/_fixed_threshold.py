"""The kernel SVM without an intercept: a box and no equality, so that one weight at a time can be made better.

Minimises over a (β = ya)

    ½ Σᵢⱼ aᵢaⱼ yᵢyⱼKᵢⱼ − Σᵢ mᵢaᵢ        0 ≤ aᵢ ≤ cᵢ

by taking, again and again, the weight whose own best value gains most (`src/core/box.hpp`). Where texts are so alike that single
weights get nowhere (a kernel of low rank), those inside the box jump together to where they would like to be, as far as it goes.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from .. import core
from .._typing import Floats

_MAX_ROUNDS = 100
_STEPS_PER_TEXT = 20  # of a round; between rounds Ctrl-C is heard
_MAX_JUMPS = 50  # of a round
_MAX_TOGETHER = 3000  # weights, the side of a dense system
_RIDGE = 1e-10  # relative


def box_weights(K: Floats, y: Floats, costs: Floats, margins: Floats, tol: float, start: Floats | None = None) -> Floats:
    """β at the minimum: no text that could still change misses its margin m, or exceeds it, by more than `tol`."""
    K, y, costs, margins = (np.ascontiguousarray(array, dtype=np.float64) for array in (K, y, costs, margins))
    a = np.zeros(y.size) if start is None else np.clip(y * start, 0.0, costs)
    for _ in range(_MAX_ROUNDS):
        a, _, worst = core.box_steps(K, y, costs, a, _short(K, y, margins, a), tol, _STEPS_PER_TEXT * y.size)
        if worst <= tol:
            return np.asarray(y * a)
        a = _jumped(K, y, costs, margins, a)
    warnings.warn(
        f"The SVM without intercept still misses margins by {worst:.1e} (tol={tol:g}); "
        f"a smaller C or a larger tol makes it easier.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return np.asarray(y * a)


def _short(K: Floats, y: Floats, margins: Floats, a: Floats) -> Floats:
    """What each text lacks of its margin."""
    return np.asarray(margins - y * (K @ (y * a)))


def _jumped(K: Floats, y: Floats, costs: Floats, margins: Floats, a: Floats) -> Floats:
    """The weights inside the box moved together, until nothing stops them; each jump makes the objective smaller."""
    for _ in range(_MAX_JUMPS):
        inside = np.flatnonzero((a > 0) & (a < costs))
        if not 0 < inside.size <= _MAX_TOGETHER:
            return a
        signs = y[inside]
        Q = signs[:, None] * K[np.ix_(inside, inside)] * signs
        Q[np.diag_indices_from(Q)] += _RIDGE * max(float(np.trace(Q)), 1e-300)
        move = cho_solve(cho_factor(Q, lower=True), _short(K, y, margins, a)[inside])
        room = np.where(move > 0, costs[inside] - a[inside], a[inside]) / np.maximum(np.abs(move), 1e-300)
        share = min(1.0, float(room.min()))
        a = a.copy()
        a[inside] = np.clip(a[inside] + share * move, 0.0, costs[inside])
        if share == 1.0:
            return a
        first = inside[int(room.argmin())]
        a[first] = 0.0 if move[int(room.argmin())] < 0 else costs[first]
    return a
