"""The kernel SVM without an intercept: a box and no equality, so that one weight at a time can be made better.

Minimises over a (β = ya)

    ½ Σᵢⱼ aᵢaⱼ yᵢyⱼKᵢⱼ − Σᵢ mᵢaᵢ        0 ≤ aᵢ ≤ cᵢ

by taking, again and again, the weight whose own best value gains most (`src/core/box.hpp`).
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import core
from .._pairs import Floats

_MAX_ROUNDS = 100
_STEPS_PER_TEXT = 20  # of a round; between rounds Ctrl-C is heard


def box_weights(K: Floats, y: Floats, costs: Floats, margins: Floats, tol: float) -> Floats:
    """β at the minimum: no text that could still change misses its margin m, or exceeds it, by more than `tol`."""
    K, y, costs = (np.ascontiguousarray(array, dtype=np.float64) for array in (K, y, costs))
    a, short = np.zeros(y.size), np.ascontiguousarray(margins, dtype=np.float64)
    for _ in range(_MAX_ROUNDS):
        a, short, worst = core.box_steps(K, y, costs, a, short, tol, _STEPS_PER_TEXT * y.size)
        if worst <= tol:
            return np.asarray(y * a)
    warnings.warn(
        f"The SVM without intercept still misses margins by {worst:.1e} (tol={tol:g}); "
        f"a smaller C or a larger tol makes it easier.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return np.asarray(y * a)
