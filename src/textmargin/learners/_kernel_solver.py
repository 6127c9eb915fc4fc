"""Kernel SVMs of many classes over one kernel matrix, by coordinate steps on the rows that are there.

    per class, minimise over β   ½β'Kβ − t'β     low ≤ β ≤ high   (and Σβ = 0 with an intercept)

The compiled steps (`src/core/dual.cpp`) know e = t − Kβ of all texts and move those of a *working set*, whose
rows of K they read. Over a matrix at hand these are all texts. Else the set is small at first and grows by
the texts outside that miss their margin until none does (chunking, Lodhi et al. 2002, Sec. 6): a text that is
not in the set and has its margin would not be a support vector of the whole problem either.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from .. import core
from .._system.levels import vector_level
from .._ties import descending_order
from .._typing import Bools, Floats, Indices
from .kernel_matrix import KernelMatrix

_FIRST = 50  # texts of a working set
_GROWTH = 0.5  # of a working set at a time, or as many texts as it started with
_FEW_PROBLEMS = 3  # for which no common start is worth its time
_AT_BOUND = 1e-9  # relative to the width of the box
_MAX_STEPS = 10_000_000  # as LIBSVM has
_FINEST = 1e-5  # tol that single precision is asked for
_SAMPLE = 64  # texts whose margins are computed in double precision
_DRIFT = 1 / 32  # of tol, by which single precision may be off on these
_STRICTER = 0.875  # of tol, for single precision: the truth is then within tol
_ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class Dual:
    """The problems of all classes; every array is (n_problems, n)."""

    target: Floats  # t, what Kβ + b should reach: y − ηz; ±1 without prior scores
    low: Floats  # bounds of β: 0 … c for y = +1, −c … 0 for y = −1
    high: Floats

    @classmethod
    def of(cls, y: Floats, costs: Floats, offset: Floats | float = 0.0) -> Dual:
        """From labels ±1, the cost of a missed margin (0: the text is not there) and prior scores."""
        return cls(y - offset, np.where(y < 0, -costs, 0.0), np.where(y > 0, costs, 0.0))

    def take(self, rows: Indices) -> Dual:
        """Some of the problems."""
        return Dual(self.target[rows], self.low[rows], self.high[rows])

    def clip(self, beta: Floats, fit_intercept: bool) -> Floats:
        """The nearest weights of other problems that these allow."""
        beta = np.clip(beta, self.low, self.high)
        for row in beta if fit_intercept else ():
            total = float(row.sum())
            side = np.flatnonzero(row * total > 0)  # the larger side gives
            before = np.cumsum(np.abs(row[side])) - np.abs(row[side])
            row[side] -= np.sign(total) * np.clip(abs(total) - before, 0.0, np.abs(row[side]))
        return beta

    def conditions(self, beta: Floats, e: Floats, fit_intercept: bool) -> tuple[Floats, Floats]:
        """b and the violation of each problem, the largest by which a margin is missed that could be met."""
        found = [
            self._conditions(k, *parts, fit_intercept) for k, parts in enumerate(zip(beta, e, strict=True))
        ]
        return np.array([b for b, _ in found]), np.array([violation for _, violation in found])

    def _conditions(self, k: int, beta: Floats, e: Floats, fit_intercept: bool) -> tuple[float, float]:
        low, high = self.low[k], self.high[k]
        top = float(e[beta < high].max(initial=-np.inf))
        bottom = float(e[beta > low].min(initial=np.inf))
        if not fit_intercept:
            return 0.0, max(top, -bottom, 0.0)
        slack = _AT_BOUND * np.minimum(high - low, np.abs(beta).max())
        free = (beta > low + slack) & (beta < high - slack)
        if free.any():
            return float(e[free].mean()), max(top - bottom, 0.0)
        ends = [end for end in (top, bottom) if np.isfinite(end)]
        return float(np.mean(ends)) if ends else 0.0, max(top - bottom, 0.0)


@dataclass(frozen=True)
class DualSolution:
    """What was found for each problem."""

    beta: Floats  # (n_problems, n), exactly 0 or at the bound where it is
    e: Floats  # (n_problems, n), t − Kβ
    intercept: Floats  # (n_problems,)


@dataclass(frozen=True)
class KernelSolver:
    """The settings that all problems share."""

    tol: float
    fit_intercept: bool = True
    n_jobs: int | None = None

    def solve(self, gram: KernelMatrix, dual: Dual, start: Floats | None = None) -> DualSolution:
        """All problems; `start` are weights to start from, which need not be allowed."""
        beta, whole = np.zeros_like(dual.target), bool(gram.rows.all())
        if start is not None:
            beta = dual.clip(start, self.fit_intercept)
        elif whole and not self.fit_intercept and len(beta) > _FEW_PROBLEMS:
            beta = dual.clip(np.broadcast_to(self._background(gram, dual), beta.shape), False)
        inside = np.ones(beta.shape, dtype=bool) if whole else _first_texts(dual, beta)
        e, intercept, violation = np.empty_like(beta), np.zeros(len(beta)), np.zeros(len(beta))
        left = np.arange(len(beta))
        while left.size:
            if not whole:
                gram.compute(np.flatnonzero(inside[left].any(axis=0)))
            part = dual.take(left)
            within = Dual(part.target, part.low * inside[left], part.high * inside[left])
            beta[left], e[left] = self._descend(gram.K, within, beta[left])
            intercept[left], violation[left] = within.conditions(beta[left], e[left], self.fit_intercept)
            left = left[[self._grow(dual, k, inside[k], e[k] - intercept[k]) for k in left.tolist()]]
        if not whole:
            intercept, _ = dual.conditions(beta, e, self.fit_intercept)
        self._warn(float(violation.max(initial=0.0)))
        return DualSolution(beta, e, intercept)

    def _background(self, gram: KernelMatrix, dual: Dual) -> Floats:
        """The machine of a class that no text has, which every rare class resembles."""
        low = dual.low.min(axis=0, keepdims=True)
        nobody = Dual(np.full_like(low, -1.0), low, np.zeros_like(low))
        return self._descend(gram.K, nobody, np.zeros_like(low))[0]

    def _grow(self, dual: Dual, k: int, inside: Bools, short: Floats) -> bool:
        """Whether texts outside of a working set miss their margin; the worst of them join it."""
        gain = np.maximum(short * (dual.high[k] > 0), -short * (dual.low[k] < 0))
        missing = np.flatnonzero(~inside & (gain > self.tol))
        n_new = max(_FIRST, int(_GROWTH * np.count_nonzero(inside)))
        inside[missing[descending_order(gain[missing])[:n_new]]] = True
        return bool(missing.size)

    def _descend(self, K: Any, dual: Dual, beta: Floats) -> tuple[Floats, Floats]:
        """β and e to tol: in the precision of K, and in double where single is not precise enough."""
        single = K.dtype == np.float32
        tol = max(_STRICTER * self.tol, _FINEST) if single else self.tol
        beta, e = self._steps(K, dual, beta, tol)
        if single:
            left = np.flatnonzero(~(_drift(K, dual, beta, e) <= _DRIFT * self.tol) | (tol > self.tol))
            if left.size:
                beta[left], e[left] = self._steps(K, dual.take(left), beta[left], self.tol, np.float64)
        if not np.isfinite(e).all():
            raise ValueError(
                "The kernel matrix times the weights is not finite; kernel values or C are too large, "
                "scale them down."
            )
        return beta, e

    def _steps(
        self, K: Any, dual: Dual, beta: Floats, tol: float, precision: Any = None
    ) -> tuple[Floats, Floats]:
        beta, dtype = np.array(beta, order="C"), precision or K.dtype
        e = np.ascontiguousarray(dual.target - _product(beta, K, dtype), dtype=dtype)
        n_threads = min(effective_n_jobs(self.n_jobs), os.cpu_count() or 1)
        low, high = np.ascontiguousarray(dual.low), np.ascontiguousarray(dual.high)
        core.dual_steps(K, e, low, high, beta, self.fit_intercept, tol, _MAX_STEPS, vector_level(), n_threads)
        return beta, e.astype(np.float64, copy=False)

    def _warn(self, violation: float) -> None:
        """A machine that was left unfinished says by how much."""
        if violation > self.tol:
            warnings.warn(
                f"The kernel SVM still misses margins by {violation:.1e} (tol={self.tol:g}), as it may if a "
                "kernel is not positive semi-definite or C is large; use a smaller C, a larger tol or "
                "another kernel.",
                ConvergenceWarning,
                stacklevel=2,
            )


def _first_texts(dual: Dual, beta: Floats) -> Bools:
    """The first working sets: support vectors, or half for a class and half against it at even distances."""
    inside = beta != 0
    for k, row in enumerate(inside):
        sides = [np.flatnonzero(dual.high[k] > 0), np.flatnonzero(dual.low[k] < 0)]
        if all(row[side].any() for side in sides):
            continue
        few, many = sorted(sides, key=len)
        n_few = min(few.size, _FIRST // 2)
        for side, n in ((few, n_few), (many, min(many.size, _FIRST - n_few))):
            row[side[np.linspace(0, side.size - 1, n).astype(np.intp)]] = True
    return inside


def _product(beta: Floats, K: Any, dtype: Any) -> Any:
    """βK, of which the rows of support vectors are read."""
    total = np.zeros(beta.shape, dtype)
    support = np.flatnonzero(beta.any(axis=0))
    for first in range(0, support.size, _ROWS_AT_ONCE):
        some = support[first : first + _ROWS_AT_ONCE]
        total += beta[:, some].astype(dtype) @ K[some].astype(dtype, copy=False)
    return total


def _drift(K: Any, dual: Dual, beta: Floats, e: Floats) -> Floats:
    """By how much e = t − Kβ of each problem is off, on texts spread evenly."""
    support = np.flatnonzero(beta.any(axis=0))
    sample = np.linspace(0, len(K) - 1, min(_SAMPLE, len(K))).astype(np.intp)
    reached = beta[:, support] @ K[np.ix_(support, sample)].astype(np.float64)
    return np.asarray(np.abs(dual.target[:, sample] - reached - e[:, sample]).max(axis=1))
