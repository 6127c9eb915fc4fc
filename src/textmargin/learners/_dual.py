"""Kernel SVMs of all classes over one kernel matrix: what a solver takes and gives."""

from __future__ import annotations

from dataclasses import dataclass

from .._typing import Floats, Indices


@dataclass(frozen=True)
class DualProblems:
    """min ½β'Kβ − t'β over low ≤ β ≤ high, per class; with an intercept Σβ = 0."""

    target: Floats  # (n_problems, n) t: what Kβ + b should reach, m·y − ηz; ±1 without prior scores
    low: Floats  # (n_problems, n) bounds of β: 0 to c for y = +1, −c to 0 for y = −1
    high: Floats


@dataclass(frozen=True)
class DualSolution:
    """Of each problem."""

    beta: Floats  # (n_problems, n), exactly 0 or at its bound where it is
    intercept: Floats  # (n_problems,)
    violation: Floats  # (n_problems,) the largest by which a margin is missed that could still be mended
    n_iter: Indices
