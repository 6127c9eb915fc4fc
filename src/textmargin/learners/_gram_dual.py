"""Solves the duals of `_dual.py` over a Gram matrix at hand, on the processor.

Compiled coordinate steps (`src/core/dual.cpp`) find which weights are free, in single precision where the
matrix is; then the free ones jump together to where all of them are exactly on their margin, in double
precision. Where that leaves a margin missed, or single weights get nowhere (a kernel of low rank), steps in
double precision and jumps take turns; each lowers the objective. Above the default tol the steps alone are
the answer, wherever a sample of texts shows that single precision did not drift: that takes a few rows of the
matrix, where jumps and all margins in double precision take longer than the steps.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from .._system.levels import vector_level
from .._typing import Floats, Indices
from ._dual import DualProblems, DualSolution
from ._jump import jump

_STEPS_PER_TEXT = 50  # of a round
_MAX_ROUNDS = 50
# weights that jump together, the side of a dense system; beyond, jumps take longer than many steps
_MAX_FREE = 600
_STUCK_FREE = 4000  # the same for a problem that steps alone did not solve
_FEW_PROBLEMS = 3  # for which no common start is worth its time
_POLISH = 1e-4  # tol from which down weights are exact
_SAMPLE = 64  # texts whose margins are computed in double precision
# of tol, by which single precision may be off on these; two texts are compared, and others may be off by more
_DRIFT = 1 / 32
# times tol, to which single precision steps are taken, so that the truth is within tol in spite of that
_STRICTER = 0.875


def solve_dual(
    K: Any,
    problems: DualProblems,
    fit_intercept: bool,
    tol: float,
    start: Floats | None = None,
    n_jobs: int | None = None,
    exact: Floats | None = None,
) -> DualSolution:
    """All problems over one matrix.

    Parameters
    ----------
    K : array (n, n), C-contiguous and symmetric; float32 for speed, float64 for precision
    start : array (n_problems, n), default=None
        Weights to start from; they need not be allowed.
    exact : array (n, n), default=None
        The same matrix as float64, for the last digits.
    """
    # Jumps of a few hundred weights are over before the threads of BLAS have found one another.
    with threadpool_limits(limits=1, user_api="blas"):
        return _solve(K, problems, fit_intercept, tol, start, n_jobs, exact)


def _solve(
    K: Any,
    problems: DualProblems,
    fit_intercept: bool,
    tol: float,
    start: Floats | None,
    n_jobs: int | None,
    exact: Floats | None,
) -> DualSolution:
    from .. import core  # a GPU does without

    n_threads = min(effective_n_jobs(n_jobs), os.cpu_count() or 1)
    level = vector_level()
    matrix = K if exact is None else exact
    max_steps = _STEPS_PER_TEXT * len(K)

    def block(rows: Indices, columns: Indices) -> Floats:
        return np.asarray(matrix[np.ix_(rows, columns)], dtype=np.float64)

    def steps(
        part: DualProblems, values: Any, begin: Floats, tol: float, single: bool, common: Floats | None = None
    ) -> tuple[Floats, Floats, Floats, Indices]:
        target, low, high, ridge = part.arrays()
        first = np.zeros((1, len(K))) if common is None else common
        begin = np.ascontiguousarray(begin)
        return core.dual_steps(
            values,
            target,
            low,
            high,
            ridge,
            begin,
            first,
            fit_intercept,
            tol,
            max_steps,
            single,
            level,
            n_threads,
        )

    common = None
    if start is not None:
        beta = problems.clip(start, fit_intercept)
    else:
        beta = np.zeros_like(problems.target)
        if not fit_intercept and len(beta) > _FEW_PROBLEMS:
            common = _background(problems, lambda part, begin: steps(part, K, begin, tol, True)[0])
            beta = problems.clip(np.broadcast_to(common, beta.shape), False)
    rough = tol > _POLISH
    beta, e, _, n_iter = steps(problems, K, beta, _STRICTER * tol if rough else tol, True, common)
    intercept, violation = np.zeros(len(beta)), np.zeros(len(beta))
    left, most = np.arange(len(beta)), _MAX_FREE
    if rough:
        intercept, violation = problems.conditions(beta, e, fit_intercept)
        good = (
            (violation <= tol)
            & (_drift(matrix, problems, beta, e) <= _DRIFT * tol)
            & np.isfinite(e).all(axis=1)
        )
        left = np.flatnonzero(~good)
    for _ in range(_MAX_ROUNDS):
        if left.size == 0:
            break
        part = problems.take(left)
        for k in left:
            beta[k] = jump(block, problems.take(np.array([k])), beta[k], fit_intercept, most)
        e = core.dual_residuals(matrix, part.target, part.ridge, beta[left], level, n_threads)
        if not np.isfinite(e).all():
            raise ValueError(
                "The kernel matrix times the weights is not finite; kernel values or C are too large, "
                "scale them down."
            )
        intercept[left], violation[left] = part.conditions(beta[left], e, fit_intercept)
        left, most = left[violation[left] > tol], _STUCK_FREE
        if left.size == 0:
            break
        beta[left], _, _, n_more = steps(problems.take(left), matrix, beta[left], tol / 10, False)
        n_iter[left] += n_more
    return DualSolution(beta, intercept, violation, n_iter)


def warn_if_unsolved(violation: float, tol: float) -> None:
    """A machine that was left unfinished says by how much."""
    if violation > tol:
        warnings.warn(
            f"The kernel SVM still misses margins by {violation:.1e} (tol={tol:g}), as it may where a "
            "kernel is not positive "
            f"semi-definite or C is large; a smaller C, a larger tol or another kernel makes it easier.",
            ConvergenceWarning,
            stacklevel=2,
        )


def _background(problems: DualProblems, solve: Any) -> Floats:
    """The machine of a class that no text has, which every rare class resembles, for all problems to start
    from.
    """
    low = problems.low.min(axis=0, keepdims=True)
    ridge = np.median(problems.ridge, axis=0, keepdims=True)
    common = DualProblems(np.full_like(low, -1.0), low, np.zeros_like(low), ridge)
    return np.asarray(solve(common, np.zeros_like(low)))


def _drift(K: Any, problems: DualProblems, beta: Floats, e: Floats) -> Floats:
    """By how much e = t − (K + ridge)β of each problem is off, on texts spread evenly and on those of the
    largest values.
    """
    n = len(K)
    largest = np.argsort(-np.diagonal(K), kind="stable")[: _SAMPLE // 2]
    sample = np.union1d(largest, np.linspace(0, n - 1, min(_SAMPLE // 2, n)).astype(np.intp))
    support = np.flatnonzero(beta.any(axis=0))
    reached = beta[:, support] @ K[np.ix_(sample, support)].T.astype(np.float64)
    exact = problems.target[:, sample] - reached - problems.ridge[:, sample] * beta[:, sample]
    return np.asarray(np.abs(exact - e[:, sample]).max(axis=1))
