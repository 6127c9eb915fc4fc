"""Exact Newton steps, by a Cholesky factor in the number of active rows or of weights, whichever is smaller.

In the size of the active set S, with K = XX' there, costs c and columns Z, goal = m∘y − offset:

    [ K + λ diag(1/c)   Z       ] [β]   [ goal    ]
    [ Z'                −ρ/λ    ] [q] = [ −ρq⁰/λ  ]        w = X_S'β

In the size of the weights, with X̃ = [X_S, Z_S] and R = diag(λ, …, λ, ρ):

    (X̃'CX̃ + R) [w; q] = X̃'C goal + [0; ρq⁰]

The same factor gives the *leverage* hᵢ = cᵢ x̃ᵢ'(X̃'CX̃ + R)⁻¹x̃ᵢ of each active text, how much its own label
decides its own score, which is what leave-one-out scores need. In the first form 1 − hᵢ = (A⁻¹)ᵢᵢ λ/cᵢ. A
matrix that is singular to machine precision (huge C, repeated columns) raises `numpy.linalg.LinAlgError`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from .. import core
from .._typing import Floats
from .matrix import BlockMatrix, Matrix, Rows
from .objective import Objective, invert_block

_BLOCK = 1024  # rows that are dense at a time


def factor(objective: Objective, rows: Rows, jitter: float = 0.0) -> _ByRows | _ByWeights:
    """The quadratic of the given rows in the smaller of its two forms; `jitter` raises the diagonal, relative
    to its mean.
    """
    form = _ByWeights if size(objective, rows) < rows.size else _ByRows
    return form.factor(objective, rows, jitter)


def size(objective: Objective, rows: Rows) -> int:
    """How large the matrix to factor is."""
    return min(rows.size, objective.X.shape[1] + len(objective.columns))


@dataclass(frozen=True)
class _ByRows:
    objective: Objective
    rows: Rows
    U: Floats  # K + λ/c = U'U
    Z: Floats
    GZ: Floats  # (K + λ/c)⁻¹Z
    M_inverse: Floats  # (Z'(K + λ/c)⁻¹Z + ρ/λ)⁻¹

    @classmethod
    def factor(cls, objective: Objective, rows: Rows, jitter: float) -> _ByRows:
        columns, penalty = objective.columns, objective.penalty
        G = _gram(objective.X, rows)
        G[np.diag_indices_from(G)] += penalty / objective.costs[rows]
        U = _cholesky(G.T, jitter)  # G has its lower triangle, so G.T its upper one
        Z = columns.Z[rows]
        GZ = _solve(U, Z) if Z.size else Z
        return cls(objective, rows, U, Z, GZ, invert_block(Z.T @ GZ + np.diag(columns.pull / penalty)))

    def minimum(self) -> tuple[Floats, Floats]:
        objective, columns = self.objective, self.objective.columns
        beta = _solve(self.U, objective.goal(self.rows))
        q = self.M_inverse @ (self.Z.T @ beta + columns.pull * columns.target / objective.penalty)
        return objective.X[self.rows].T @ (beta - self.GZ @ q), q

    def one_minus_leverage(self) -> Floats:
        U_inverse, _ = lapack.dtrtri(self.U, lower=0)
        diagonal = np.einsum("ij,ij->i", U_inverse, U_inverse)
        diagonal -= np.einsum("ij,ij->i", self.GZ @ self.M_inverse, self.GZ)
        return diagonal * self.objective.penalty / self.objective.costs[self.rows]


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
    U, failed = lapack.dpotrf(G, lower=0, clean=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the quadratic on the active rows is singular to machine precision")
    return U


def _solve(U: Floats, right: Floats) -> Floats:
    """(U'U)⁻¹ times some columns."""
    return np.asarray(lapack.dpotrs(U, right, lower=0)[0])


def _gram(X: Matrix, rows: Rows) -> Floats:
    """X_S X_S', at least its lower triangle."""
    if isinstance(X, BlockMatrix):
        X, rows = X[rows], np.arange(rows.size)
    if sp.issparse(X):
        return core.sparse_gram(X.indptr, X.indices, X.data, X.shape[1], rows)
    return X[rows] @ X[rows].T
