"""Newton steps by orthogonal factors, for scales at which the squares of a Cholesky step have lost their
digits.

The quadratic on the active rows S is a problem of least squares,

    ‖ √c (goal − X_S w − Z_S q) ‖² + λ‖w‖² + Σₖ ρₖ(qₖ − q⁰ₖ)²

and is solved as such, by Householder's QR with columns exchanged and rows in the order of their size, which
errs in each row by no more than that row's own rounding (Cox & Higham 1998): values of 1e8 beside values of
1e-8, a C of 1e6. With fewer active rows than weights, w is in the space of these rows, and their own QR comes
first.

Where C is huge, texts on the margin miss it by less than rounding, and which of them are active cannot be
seen from their scores. Their dual weights α = c·shortfall can be had from w = X_S'(y∘α)/λ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lstsq, qr, solve_triangular

from .._typing import Floats
from .matrix import Rows
from .objective import Objective

_RANK = 1e-15  # of a column beside the first, below which it adds nothing
_DUAL_RANK = 1e-14


@dataclass(frozen=True)
class OrthogonalStep:
    """Where the quadratic on some rows is least."""

    w: Floats
    q: Floats
    shortfall: Floats | None  # of the rows, from their dual weights; None where these cannot be told


def orthogonal_step(objective: Objective, rows: Rows, w: Floats, q: Floats) -> OrthogonalStep:
    """The minimum of the quadratic on the rows; what these do not determine stays as it is in w and q."""
    columns = objective.columns
    X = objective.X[rows].toarray() if sp.issparse(objective.X) else objective.X[rows]
    root = np.sqrt(objective.costs[rows])
    goal, Z = root * objective.goal(rows), root[:, None] * columns.Z[rows]
    in_rows = 0 < rows.size < X.shape[1]
    if in_rows:
        span, X_root = _row_space(X, root)
        before = span.T @ w
    else:
        span, X_root, before = None, root[:, None] * X, w
    n, k = X_root.shape[1], len(columns)
    held = np.flatnonzero(columns.pull > 0)
    pulls = np.sqrt(columns.pull[held])
    A = np.zeros((rows.size + n + held.size, n + k))
    A[: rows.size, :n], A[: rows.size, n:] = X_root, Z
    A[np.arange(rows.size, rows.size + n), np.arange(n)] = np.sqrt(objective.penalty)
    A[np.arange(rows.size + n, len(A)), n + held] = pulls
    found = _least_squares(
        A, np.concatenate([goal, np.zeros(n), pulls * columns.target[held]]), np.append(before, q)
    )
    w, q = found[:n] if span is None else span @ found[:n], found[n:]
    return OrthogonalStep(w, q, _dual_shortfall(objective, rows, X, root, w) if in_rows else None)


def _row_space(X: Floats, root: Floats) -> tuple[Floats, Floats]:
    """An orthonormal basis of the rows (n_weights, n_rows), and the rows times √c in it."""
    order = _by_size(X.T)
    Q, R, pivots = qr(X.T[order], mode="economic", pivoting=True, check_finite=False)
    span, of_rows = np.empty_like(Q), np.empty_like(R)
    span[order], of_rows[:, pivots] = Q, R
    return span, root[:, None] * of_rows.T


def _least_squares(A: Floats, b: Floats, otherwise: Floats) -> Floats:
    """The least squares of Ax = b; a column that adds nothing keeps what it had."""
    sizes = np.sqrt(np.einsum("ij,ij->j", A, A))
    sizes[sizes == 0] = 1.0
    A = A / sizes
    order = _by_size(A)
    Q, R, pivots = qr(A[order], mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(R.diagonal())
    rank = int(np.count_nonzero(diagonal > _RANK * diagonal.max(initial=0.0)))
    found = (otherwise * sizes)[pivots]
    right = Q[:, :rank].T @ b[order] - R[:rank, rank:] @ found[rank:]
    found[:rank] = solve_triangular(R[:rank, :rank], right, check_finite=False)
    solution = np.empty_like(found)
    solution[pivots] = found
    return solution / sizes


def _by_size(A: Floats) -> Rows:
    return np.argsort(-np.abs(A).max(axis=1, initial=0.0), kind="stable")


def _dual_shortfall(objective: Objective, rows: Rows, X: Floats, root: Floats, w: Floats) -> Floats | None:
    """α/c with λw = X_S'(y∘α); of many such α the one with the least Σα²/c, which is the minimum's."""
    A = (root[:, None] * X).T
    sizes = np.sqrt(np.einsum("ij,ij->i", A, A))
    used = sizes > 0
    if not used.any():
        return None
    order = _by_size(A[used])
    solution, _, _, _ = lstsq(
        A[used][order], objective.penalty * w[used][order], cond=_DUAL_RANK, lapack_driver="gelsy"
    )
    return np.asarray(objective.y[rows] * solution / root)
