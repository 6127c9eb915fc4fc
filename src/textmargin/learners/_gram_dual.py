"""Solves the duals of `_dual.py` over a Gram matrix at hand, on the processor.

Compiled coordinate steps (`src/core/dual.cpp`) find which weights are free, in single precision where the matrix is; then the
free ones jump together to where all of them are exactly on their margin, in double precision. Where that leaves a margin missed,
or single weights get nowhere (a kernel of low rank), steps in double precision and jumps take turns; each lowers the objective.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from .. import core
from .._system.levels import vector_level
from .._typing import Floats, Indices
from ._dual import DualProblems, DualSolution
from ._jump import jump

_STEPS_PER_TEXT = 50  # of a round
_MAX_ROUNDS = 50
_MAX_FREE = 600  # weights that jump together, the side of a dense system; beyond, jumps take longer than many steps
_STUCK_FREE = 4000  # the same for a problem that steps alone did not solve
_FEW_PROBLEMS = 3  # for which no common start is worth its time


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
    n_threads = min(effective_n_jobs(n_jobs), os.cpu_count() or 1)
    level = vector_level()
    matrix = K if exact is None else exact
    max_steps = _STEPS_PER_TEXT * len(K)

    def block(rows: Indices, columns: Indices) -> Floats:
        return np.asarray(matrix[np.ix_(rows, columns)], dtype=np.float64)

    def steps(part: DualProblems, values: Any, begin: Floats, tol: float, single: bool) -> tuple[Floats, Floats, Indices]:
        target, low, high, ridge = part.arrays()
        return core.dual_steps(
            values, target, low, high, ridge, np.ascontiguousarray(begin), fit_intercept, tol, max_steps, single, level, n_threads
        )

    if start is not None:
        beta = problems.clip(start, fit_intercept)
    else:
        beta = np.zeros_like(problems.target)
        if not fit_intercept and len(beta) > _FEW_PROBLEMS:
            beta = problems.clip(_background(problems, lambda part, begin: steps(part, K, begin, tol, True)[0]), False)
    beta, _, n_iter = steps(problems, K, beta, tol, True)
    left, most = np.arange(len(beta)), _MAX_FREE
    intercept, violation = np.zeros(len(beta)), np.zeros(len(beta))
    for _ in range(_MAX_ROUNDS):
        part = problems.take(left)
        for k in left:
            beta[k] = jump(block, problems.take(np.array([k])), beta[k], fit_intercept, most)
        e = core.dual_residuals(matrix, part.target, part.ridge, beta[left], level, n_threads)
        if not np.isfinite(e).all():
            raise ValueError(
                "The kernel matrix times the weights is not finite; kernel values or C are too large, scale them down."
            )
        intercept[left], violation[left] = part.conditions(beta[left], e, fit_intercept)
        left, most = left[violation[left] > tol], _STUCK_FREE
        if left.size == 0:
            break
        beta[left], _, n_more = steps(problems.take(left), matrix, beta[left], tol / 10, False)
        n_iter[left] += n_more
    return DualSolution(beta, intercept, violation, n_iter)


def warn_if_unsolved(violation: float, tol: float) -> None:
    """A machine that was left unfinished says by how much."""
    if violation > tol:
        warnings.warn(
            f"The kernel SVM still misses margins by {violation:.1e} (tol={tol:g}), as it may where a kernel is not positive "
            f"semi-definite or C is large; a smaller C, a larger tol or another kernel makes it easier.",
            ConvergenceWarning,
            stacklevel=2,
        )


def _background(problems: DualProblems, solve: Any) -> Floats:
    """The machine of a class that no text has, which every rare class resembles, for all problems to start from."""
    low = problems.low.min(axis=0, keepdims=True)
    ridge = np.median(problems.ridge, axis=0, keepdims=True)
    common = DualProblems(np.full_like(low, -1.0), low, np.zeros_like(low), ridge)
    return np.broadcast_to(solve(common, np.zeros_like(low)), problems.target.shape)
