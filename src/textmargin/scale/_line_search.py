"""Exact search in the plane of a direction and the columns, by sums over all texts: the twin of `search.hpp`.

Minimises over θ   g'θ + ½θ'Aθ + ½ Σᵢ cᵢ max(0, aᵢ − (Dθ)ᵢ)². Where that one reads every text, this one asks for
sums at a θ: a pass each.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias

import numpy as np

from .._typing import Floats

# A decrement this small beside the loss comes from a slope that is rounding. In memory such a search costs nothing; here each
# try is a pass.
_ROUNDING = 1e-22

PlaneSums: TypeAlias = tuple[Floats, Floats, int, float]  # D'Cs, D'CD, how many texts changed sides, and the loss s'Cs, at a θ


def search_plane(at_origin: PlaneSums, g: Floats, A: Floats) -> Generator[Floats, PlaneSums, tuple[Floats, bool]]:
    """θ, and whether one full step led there and changed no text's side; yields each θ at which it needs the sums."""
    theta, sums, gain = np.zeros(g.size), at_origin, 0.0
    for round_ in range(30):
        gradient = g + A @ theta - sums[0]
        step = solve_small(A + sums[1], -gradient)
        decrement = float(-gradient @ step)
        if not decrement > max(1e-2 * gain, _ROUNDING * sums[3]):
            break
        linear, curvature = float((g + A @ theta) @ step), float(step @ A @ step)
        t, sums = yield from _search_line(theta, step, linear, curvature, 1e-2 * decrement)
        theta = theta + t * step
        gain += decrement
        if t == 1.0 and round_ == 0 and sums[2] == 0:
            return theta, True
    return theta, False


def _search_line(
    theta: Floats, step: Floats, linear: float, curvature: float, slack: float
) -> Generator[Floats, PlaneSums, tuple[float, PlaneSums]]:
    """The t > 0 where the slope along a step is within ±slack, and what is known there."""
    t, low, high = 1.0, 0.0, np.inf
    for _ in range(60):
        sums = yield theta + t * step
        slope = linear + t * curvature - float(step @ sums[0])
        if abs(slope) <= slack:
            return t, sums
        low, high = (low, t) if slope > 0 else (t, high)
        t -= slope / (curvature + float(step @ sums[1] @ step))
        if not low < t < high:
            t = 2 * low if np.isinf(high) else 0.5 * (low + high)
    return t, (yield theta + t * step)


def solve_small(H: Floats, b: Floats) -> Floats:
    """x with Hx = b for a small positive semi-definite H; what changes nothing, alone or beside those before it, stays 0."""
    k = b.size
    L, pivots, pivotal = np.eye(k), np.zeros(k), np.zeros(k, dtype=bool)
    for i in range(k):  # LDL'
        pivots[i] = H[i, i] - (L[i, :i] ** 2 * pivots[:i])[pivotal[:i]].sum()
        pivotal[i] = pivots[i] > 1e-13 * H[i, i]
        if pivotal[i]:
            for r in range(i + 1, k):
                L[r, i] = (H[r, i] - (L[r, :i] * L[i, :i] * pivots[:i])[pivotal[:i]].sum()) / pivots[i]
    x = np.zeros(k)
    if pivotal.any():
        small = L[np.ix_(pivotal, pivotal)]
        x[pivotal] = np.linalg.solve(small.T, np.linalg.solve(small, b[pivotal]) / pivots[pivotal])
    return x
