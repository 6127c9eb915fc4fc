"""The kernel SVM without an intercept: a box and no equality, so that one weight at a time can be made better.

Minimises over a (β = ya)

    ½ Σᵢⱼ aᵢaⱼ yᵢyⱼKᵢⱼ − Σᵢ mᵢaᵢ        0 ≤ aᵢ ≤ cᵢ

by taking, again and again, the weight whose own best value gains most.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._pairs import Floats

_STEPS_PER_TEXT = 1000


def box_weights(K: Floats, y: Floats, costs: Floats, margins: Floats, tol: float) -> Floats:
    """β at the minimum: no text that could still change misses its margin m, or exceeds it, by more than `tol`."""
    a = np.zeros(y.size)
    short = np.asarray(margins, dtype=np.float64).copy()  # mᵢ − yᵢ(Kβ)ᵢ
    curvature = np.where(np.diagonal(K) > 0, np.diagonal(K), 1e-12)
    for _ in range(int(_STEPS_PER_TEXT * y.size)):
        step = np.clip(a + short / curvature, 0.0, costs) - a
        if np.abs(short[step != 0]).max(initial=0.0) <= tol:
            return np.asarray(y * a)
        i = int(np.argmax(step * (short - 0.5 * curvature * step)))
        a[i] += step[i]
        short -= (step[i] * y[i]) * (y * K[i])
    warnings.warn(
        f"The SVM without intercept still misses margins by {np.abs(short[step != 0]).max():.1e} (tol={tol:g}); "
        f"a smaller C or a larger tol makes it easier.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return np.asarray(y * a)
