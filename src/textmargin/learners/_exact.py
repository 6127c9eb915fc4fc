"""Exact Newton steps, by a Cholesky factor in the number of active rows or of weights, whichever is smaller.

In the size of the active set S, with K = XX' there, costs c and columns Z, goal = m∘y − offset:

    [ K + λ diag(1/c)   Z       ] [β]   [ goal    ]
    [ Z'                −ρ/λ    ] [q] = [ −ρq⁰/λ  ]        w = X_S'β

In the size of the weights, with X̃ = [X_S, Z_S] and R = diag(λ, …, λ, ρ):

    (X̃'CX̃ + R) [w; q] = X̃'C goal + [0; ρq⁰]

The same factor gives the *leverage* hᵢ = cᵢ x̃ᵢ'(X̃'CX̃ + R)⁻¹x̃ᵢ of each active text, how much its own label
decides its own score, which is what leave-one-out scores need. In the first form 1 − hᵢ = (A⁻¹)ᵢᵢ λ/cᵢ. A
matrix that is singular to machine precision (huge C, repeated columns) raises `numpy.linalg.LinAlgError`.

A large and well-conditioned K + λ diag(1/c) may be factored in single precision, at half the cost: what is
solved by the factor is then refined in double precision, and 1 − h has an error of up to 1e-4 of itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.linalg import blas, lapack

from .. import core
from .._typing import Floats
from .matrix import BlockMatrix, Matrix, Rows
from .objective import Objective, invert_block

_BLOCK = 1024  # rows that are dense at a time
_WORTH_SINGLE = 256  # rows
_CONDITION = 1e3  # of the matrix, at most, for single precision
_REFINEMENTS = 1
# columns of which one has values so many times as large as another; at most so many
_UNEVEN, _MOST_UNEVEN = 1e4, 500
_FREQUENT = 0.1  # of the rows: the share of them that have a term which is as good as dense


class ExactStep(Protocol):
    """The quadratic on the active rows, factored."""

    def minimum(self) -> tuple[Floats, Floats]:
        """w and q where the quadratic is least."""
        ...

    def one_minus_leverage(self) -> Floats:
        """1 − h of the active rows."""
        ...


def factor(objective: Objective, rows: Rows, jitter: float = 0.0, *, single: bool = False) -> ExactStep:
    """The quadratic of the given rows in the smaller of its two forms; `jitter` raises the diagonal, relative
    to its mean.

    `single` allows single precision where it pays and harms little.
    """
    if size(objective, rows) < rows.size or _is_uneven(objective.X, rows):
        return _ByWeights.factor(objective, rows, jitter)
    return _ByRows.factor(
        objective, rows, jitter, single and rows.size >= _WORTH_SINGLE and sp.issparse(objective.X)
    )


def _is_uneven(X: Matrix, rows: Rows) -> bool:
    """Whether some columns are so much larger than others that these would be lost in XX', and are few enough
    to do without.
    """
    if X.shape[1] > _MOST_UNEVEN:
        return False
    part = X[rows]
    sizes = np.asarray(
        abs(part).max(axis=0).todense() if sp.issparse(part) else np.abs(part).max(axis=0)
    ).ravel()
    sizes = sizes[sizes > 0]
    return bool(sizes.size and sizes.max() > _UNEVEN * sizes.min())


def size(objective: Objective, rows: Rows) -> int:
    """How large the matrix to factor is."""
    return min(rows.size, objective.X.shape[1] + len(objective.columns))


@dataclass(frozen=True)
class _ByRows:
    objective: Objective
    rows: Rows
    U: Any  # K + λ/c = U'U
    Z: Floats
    GZ: Floats  # (K + λ/c)⁻¹Z
    M_inverse: Floats  # (Z'(K + λ/c)⁻¹Z + ρ/λ)⁻¹

    @classmethod
    def factor(cls, objective: Objective, rows: Rows, jitter: float, single: bool) -> _ByRows:
        columns, penalty = objective.columns, objective.penalty
        G, ridge = _gram(objective.X, rows), penalty / objective.costs[rows]
        single = single and float(np.linalg.norm(G)) < _CONDITION * float(ridge.min())
        G[np.diag_indices_from(G)] += ridge
        # G has its lower triangle, so G.T its upper one
        U = _cholesky((G.astype(np.float32) if single else G).T, jitter)
        Z = columns.Z[rows]
        unsettled = cls(objective, rows, U, Z, Z, np.empty((0, 0)))
        GZ = unsettled._solve(Z) if Z.size else Z
        return replace(unsettled, GZ=GZ, M_inverse=invert_block(Z.T @ GZ + np.diag(columns.pull / penalty)))

    def minimum(self) -> tuple[Floats, Floats]:
        objective, columns = self.objective, self.objective.columns
        beta = self._solve(objective.goal(self.rows))
        q = self.M_inverse @ (self.Z.T @ beta + columns.pull * columns.target / objective.penalty)
        return objective.X[self.rows].T @ (beta - self.GZ @ q), q

    def one_minus_leverage(self) -> Floats:
        U_inverse, _ = (lapack.strtri if self._single else lapack.dtrtri)(self.U, lower=0)
        diagonal = np.einsum("ij,ij->i", U_inverse, U_inverse).astype(np.float64)
        diagonal -= np.einsum("ij,ij->i", self.GZ @ self.M_inverse, self.GZ)
        return diagonal * self.objective.penalty / self.objective.costs[self.rows]

    @property
    def _single(self) -> bool:
        return bool(self.U.dtype == np.float32)

    def _solve(self, right: Floats) -> Floats:
        """(K + λ/c)⁻¹ times some columns."""
        if not self._single:
            return np.asarray(lapack.dpotrs(self.U, right, lower=0)[0])
        X, ridge = self.objective.X[self.rows], self.objective.penalty / self.objective.costs[self.rows]
        ridge = ridge if right.ndim == 1 else ridge[:, None]
        found = np.zeros_like(right)
        for _ in range(1 + _REFINEMENTS):
            left = right - X @ (X.T @ found) - ridge * found
            found += lapack.spotrs(self.U, left.astype(np.float32), lower=0)[0]
        return found


@dataclass(frozen=True)
class _ByWeights:
    objective: Objective
    rows: Rows
    U: Floats  # X̃'CX̃ + R = U'U

    @classmethod
    def factor(cls, objective: Objective, rows: Rows, jitter: float = 0.0) -> _ByWeights:
        X, Z, costs = objective.X[rows], objective.columns.Z[rows], objective.costs[rows]
        CX = sp.csr_array(X.multiply(costs[:, None])) if sp.issparse(X) else costs[:, None] * X
        XCX = X.T @ CX
        XCZ = X.T @ (costs[:, None] * Z)
        H = np.block([[XCX.toarray() if sp.issparse(XCX) else XCX, XCZ], [XCZ.T, (Z.T * costs) @ Z]])
        H[np.diag_indices_from(H)] += np.append(
            np.full(X.shape[1], objective.penalty), objective.columns.pull
        )
        return cls(objective, rows, _cholesky(H, jitter))

    def minimum(self) -> tuple[Floats, Floats]:
        objective, columns = self.objective, self.objective.columns
        weighted = objective.costs[self.rows] * objective.goal(self.rows)
        right = np.append(
            objective.X[self.rows].T @ weighted,
            columns.Z[self.rows].T @ weighted + columns.pull * columns.target,
        )
        solution, _ = lapack.dpotrs(self.U, right, lower=0)
        n_weights = objective.X.shape[1]
        return solution[:n_weights], solution[n_weights:]

    def one_minus_leverage(self) -> Floats:
        leverage = np.empty(self.rows.size)
        for start in range(0, self.rows.size, _BLOCK):
            rows = self.rows[start : start + _BLOCK]
            X = self.objective.X[rows]
            X = np.hstack([X.toarray() if sp.issparse(X) else X, self.objective.columns.Z[rows]])
            half, _ = lapack.dtrtrs(self.U, X.T, lower=0, trans=1)
            leverage[start : start + _BLOCK] = self.objective.costs[rows] * np.einsum("ji,ji->i", half, half)
        return 1.0 - leverage


def _cholesky(G: Any, jitter: float) -> Any:
    """U with U'U = G, from the upper triangle of G, which is overwritten where its order allows."""
    if jitter:
        G[np.diag_indices_from(G)] += jitter * G.diagonal().mean()
    potrf = lapack.spotrf if G.dtype == np.float32 else lapack.dpotrf
    U, failed = potrf(G, lower=0, clean=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the quadratic on the active rows is singular to machine precision")
    return U


def _gram(X: Matrix, rows: Rows) -> Floats:
    """X_S X_S', at least its lower triangle."""
    if isinstance(X, BlockMatrix):
        X, rows = X[rows], np.arange(rows.size)
    if not sp.issparse(X):
        return X[rows] @ X[rows].T
    if rows.size < _WORTH_SINGLE:
        return core.sparse_gram(X.indptr, X.indices, X.data, X.shape[1], rows)
    # Terms that many of the texts have are as good as dense, and BLAS is made for these; texts meet in few of
    # the others.
    X = X[rows]
    frequent = np.bincount(X.indices, minlength=X.shape[1]) > _FREQUENT * rows.size
    is_frequent = frequent[X.indices]
    starts = np.concatenate([[0], np.cumsum(~is_frequent)])[X.indptr].astype(X.indptr.dtype)
    G = core.sparse_gram(
        starts, X.indices[~is_frequent], X.data[~is_frequent], X.shape[1], np.arange(rows.size)
    )
    if not frequent.any():
        return G
    dense = X[:, np.flatnonzero(frequent)].toarray()
    return np.asarray(blas.dsyrk(1.0, dense.T, trans=1, beta=1.0, c=G.T, overwrite_c=1, lower=0).T)
