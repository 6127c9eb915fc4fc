"""The duals of kernel SVMs of many classes over one Gram matrix, and what solves them.

per class, minimise over β   ½β'(K + ridge)β − t'β     low ≤ β ≤ high   (and Σβ = 0 with an intercept)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from .._typing import Bools, Floats, Indices

Loss = Literal["hinge", "squared_hinge"]
_AT_BOUND = 1e-9  # relative to the width of the box


@dataclass(frozen=True)
class DualProblems:
    """All classes over one Gram matrix; every array is (n_problems, n)."""

    target: Floats  # t, what Kβ + b should reach: y − ηz; ±1 without prior scores
    low: Floats  # bounds of β: 0 … c for y = +1, −c … 0 for y = −1; infinite for the squared hinge
    high: Floats
    ridge: Floats  # on the diagonal of K: 1/(2c) for the squared hinge, else 0

    @classmethod
    def of(cls, y: Floats, costs: Floats, offset: Floats, loss: Loss) -> Self:
        """From labels ±1, what a missed margin costs (0: the text is not there) and the scores that are known
        beforehand.
        """
        there = costs > 0
        bound = np.where(there, np.inf, 0.0) if loss == "squared_hinge" else costs
        ridge = (
            np.where(there, 0.5, 0.0) / np.where(there, costs, 1.0)
            if loss == "squared_hinge"
            else np.zeros_like(costs)
        )
        return cls(y - offset, np.where(y < 0, -bound, 0.0), np.where(y > 0, bound, 0.0), ridge)

    def arrays(self) -> tuple[Floats, Floats, Floats, Floats]:
        """All of them, for compiled code."""
        target, low, high, ridge = map(np.ascontiguousarray, (self.target, self.low, self.high, self.ridge))
        return target, low, high, ridge

    def take(self, rows: Indices | Bools | slice) -> DualProblems:
        """Some of the problems."""
        return DualProblems(self.target[rows], self.low[rows], self.high[rows], self.ridge[rows])

    def clip(self, beta: Floats, fit_intercept: bool) -> Floats:
        """The nearest weights of other problems that these allow."""
        beta = np.clip(beta, self.low, self.high)
        if fit_intercept:
            for row, low, high in zip(beta, self.low, self.high, strict=True):
                _balance(row, low, high)
        return beta

    def conditions(self, beta: Floats, e: Floats, fit_intercept: bool) -> tuple[Floats, Floats]:
        """b and the violation of each problem, from e = t − (K + ridge)β."""
        found = [  # one after another, so that what lies between stays in cache
            self.take(slice(k, k + 1))._conditions(beta[k : k + 1], e[k : k + 1], fit_intercept)
            for k in range(len(e))
        ]
        intercept, violation = (np.concatenate(values) for values in zip(*found, strict=True))
        return intercept, violation

    def _conditions(self, beta: Floats, e: Floats, fit_intercept: bool) -> tuple[Floats, Floats]:
        rises, falls = beta < self.high, beta > self.low
        top = np.where(rises, e, -np.inf).max(axis=1)
        bottom = np.where(falls, e, np.inf).min(axis=1)
        if not fit_intercept:
            return np.zeros(len(e)), np.maximum(np.maximum(top, -bottom), 0.0)
        free = self.free(beta)
        middle = np.where(
            np.isinf(top),
            np.where(np.isinf(bottom), 0.0, bottom),
            np.where(np.isinf(bottom), top, (top + bottom) / 2),
        )
        mean = (e * free).sum(axis=1) / np.maximum(free.sum(axis=1), 1)
        return np.where(free.any(axis=1), mean, middle), np.maximum(top - bottom, 0.0)

    def free(self, beta: Floats) -> Bools:
        """Which weights are neither 0 nor at their bound."""
        largest = np.abs(beta).max(axis=-1, keepdims=True)
        width = np.minimum(self.high - self.low, largest)
        return np.asarray((beta > self.low + _AT_BOUND * width) & (beta < self.high - _AT_BOUND * width))


@dataclass(frozen=True)
class DualSolution:
    """What was found for each problem."""

    beta: Floats  # (n_problems, n), exactly 0 or at the bound where it is
    intercept: Floats  # (n_problems,)
    # (n_problems,) the largest by which a margin is missed that could still be mended, as LIBSVM measures it
    violation: Floats
    n_iter: Indices


def _balance(beta: Floats, low: Floats, high: Floats) -> None:
    """Σβ = 0, by taking weight from the larger side; from free weights first, which move anyway."""
    total = float(beta.sum())
    side = np.flatnonzero(beta * total > 0)
    side = side[np.argsort((beta[side] <= low[side]) | (beta[side] >= high[side]), kind="stable")]
    sizes = np.abs(beta[side])
    before = np.cumsum(sizes) - sizes
    beta[side] -= np.sign(total) * np.clip(abs(total) - before, 0.0, sizes)
