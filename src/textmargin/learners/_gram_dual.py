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
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from .. import core
from .._ties import ROUNDING
from .._typing import Floats, Indices
from ._dual import DualProblems, DualSolution

_STEPS_PER_TEXT = 50  # of a round
_MAX_ROUNDS = 50
_MAX_JUMPS = 50  # of a round and problem
_MAX_FREE = 600  # weights that jump together, the side of a dense system; beyond, jumps take longer than many steps
_STUCK_FREE = 4000  # the same for a problem that steps alone did not solve
_JITTER = 1e-11  # relative
_EXACT = 1e-10  # relative, of a solution that needs no refinement
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
    level = core.dual_level(os.environ.get("TEXTMARGIN_LEVEL"))
    exact = K if exact is None else exact
    max_steps = _STEPS_PER_TEXT * len(K)

    def steps(part: DualProblems, matrix: Any, begin: Floats, tol: float, single: bool) -> tuple[Floats, Floats, Indices]:
        target, low, high, ridge = part.arrays()
        return core.dual_steps(
            matrix, target, low, high, ridge, np.ascontiguousarray(begin), fit_intercept, tol, max_steps, single, level, n_threads
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
            beta[k] = _jump(exact, problems.take(np.array([k])), beta[k], fit_intercept, most)
        e = core.dual_residuals(exact, part.target, part.ridge, beta[left], level, n_threads)
        if not np.isfinite(e).all():
            raise ValueError(
                "The kernel matrix times the weights is not finite; kernel values or C are too large, scale them down."
            )
        intercept[left], violation[left] = part.conditions(beta[left], e, fit_intercept)
        left, most = left[violation[left] > tol], _STUCK_FREE
        if left.size == 0:
            break
        beta[left], _, n_more = steps(problems.take(left), exact, beta[left], tol / 10, False)
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
    low = np.where(np.isinf(problems.low), -np.inf, problems.low).min(axis=0, keepdims=True)
    ridge = np.median(problems.ridge, axis=0, keepdims=True)
    common = DualProblems(np.full_like(low, -1.0), low, np.zeros_like(low), ridge)
    return np.broadcast_to(solve(common, np.zeros_like(low)), problems.target.shape)


def _jump(K: Any, problem: DualProblems, beta: Floats, fit_intercept: bool, most: int) -> Floats:
    """Weights of one problem with the free ones moved together, until nothing stops them; each jump lowers the objective."""
    target, low, high, ridge = problem.target[0], problem.low[0], problem.high[0], problem.ridge[0]
    beta = beta.copy()
    for _ in range(_MAX_JUMPS):
        _snap(beta, low, high)
        support = np.flatnonzero(beta)
        free = np.flatnonzero((beta[support] > low[support]) & (beta[support] < high[support]))
        if not 0 < free.size <= most:
            return beta
        rows = support[free]
        block = K[np.ix_(rows, support)].astype(np.float64)
        e = target[rows] - block @ beta[support] - ridge[rows] * beta[rows]
        Q = block[:, free]
        Q[np.diag_indices_from(Q)] += ridge[rows]
        move = _newton_move(Q, e, fit_intercept)
        if move is None:
            return beta
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(move > 0, high[rows] - beta[rows], low[rows] - beta[rows]) / move
        room = np.where(move == 0, np.inf, room)
        share = min(1.0, float(room.min()))
        slope, curve = float(e @ move), float(move @ Q @ move)
        if not share * slope > 0.5 * share**2 * curve:  # nothing to gain, or a kernel that is not positive semi-definite
            return beta
        beta[rows] = np.clip(beta[rows] + share * move, low[rows], high[rows])
        if share == 1.0:
            break
        first = int(room.argmin())
        beta[rows[first]] = high[rows[first]] if move[first] > 0 else low[rows[first]]
    _snap(beta, low, high)
    return beta


def _newton_move(Q: Floats, e: Floats, fit_intercept: bool) -> Floats | None:
    """Where Q·move + b = e, Σmove = 0 with an intercept; the least such where there are many, as with equal texts."""
    jitter = _JITTER * float(np.trace(Q)) / len(Q)
    sides = np.column_stack([e - e.mean(), np.ones_like(e)]) if fit_intercept else e[:, None]
    A = Q.copy()
    A[np.diag_indices_from(A)] += jitter
    try:
        factor = cho_factor(A.T, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    x = cho_solve(factor, sides, check_finite=False)
    for _ in range(2):
        missed = sides - Q @ x
        if np.abs(missed).max() > _EXACT * np.abs(sides).max():
            x += cho_solve(factor, missed, check_finite=False)
    if not np.isfinite(x).all():
        return None
    if not fit_intercept:
        return np.asarray(x[:, 0])
    move = x[:, 0] - x[:, 1] * (x[:, 0].sum() / x[:, 1].sum())
    return np.asarray(move - move.mean())  # what rounding left of the sum


def _snap(beta: Floats, low: Floats, high: Floats) -> None:
    """Weights that are at a bound but for rounding are there: whether a text supports at all must not hang on rounding."""
    rounding = ROUNDING * np.minimum(high - low, np.abs(beta).max(initial=0.0))
    beta[:] = np.where(beta - low <= rounding, low, np.where(high - beta <= rounding, high, beta))
