"""Exact Newton steps, by a Cholesky factor in the number of active rows or of weights, whichever is smaller.

In the size of the active set S, with K = XX' there, costs c and columns Z (MATHS §1), goal = m∘y − offset:

    [ K + λ diag(1/c)   Z       ] [β]   [ goal    ]
    [ Z'                −ρ/λ    ] [q] = [ −ρq⁰/λ  ]        w = X_S'β

In the size of the weights, with X̃ = [X_S, Z_S] and R = diag(λ, …, λ, ρ):

    (X̃'CX̃ + R) [w; q] = X̃'C goal + [0; ρq⁰]

The same factor gives the *leverage* hᵢ = cᵢ x̃ᵢ'(X̃'CX̃ + R)⁻¹x̃ᵢ of each active text, how much its own label decides its own
score, which is what leave-one-out scores need. In the first form 1 − hᵢ = (A⁻¹)ᵢᵢ λ/cᵢ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from .. import core
from ._objective import Floats, Matrix, Objective, Rows, invert_block


class ExactStep(Protocol):
    """The quadratic on the active rows, factored."""

    def minimum(self) -> tuple[Floats, Floats]:
        """w and q where the quadratic is least."""
        ...

    def one_minus_leverage(self) -> Floats:
        """1 − h of the active rows."""
        ...


def factor(objective: Objective, rows: Rows) -> ExactStep:
    """The quadratic of the given rows in the smaller of its two forms."""
    if size(objective, rows) < rows.size:
        return _ByWeights.factor(objective, rows)
    return _ByRows.factor(objective, rows)


def size(objective: Objective, rows: Rows) -> int:
    """How large the matrix to factor is."""
    return min(rows.size, objective.X.shape[1] + len(objective.columns))


@dataclass(frozen=True)
class _ByRows:
    objective: Objective
    rows: Rows
    U: Floats  # K + λ/c = U'U; upper triangle, Fortran order
    Z: Floats
    GZ: Floats  # (K + λ/c)⁻¹Z
    M_inverse: Floats  # (Z'(K + λ/c)⁻¹Z + ρ/λ)⁻¹

    @classmethod
    def factor(cls, objective: Objective, rows: Rows) -> _ByRows:
        columns, penalty = objective.columns, objective.penalty
        G = _gram(objective.X, rows)
        G[np.diag_indices_from(G)] += penalty / objective.costs[rows]
        U, _ = lapack.dpotrf(G.T, lower=0, clean=1, overwrite_a=1)  # G has its lower triangle, so G.T its upper one
        Z = columns.Z[rows]
        GZ = lapack.dpotrs(U, Z, lower=0)[0] if Z.size else Z
        return cls(objective, rows, U, Z, GZ, invert_block(Z.T @ GZ + np.diag(columns.pull / penalty)))

    def minimum(self) -> tuple[Floats, Floats]:
        objective, columns = self.objective, self.objective.columns
        beta, _ = lapack.dpotrs(self.U, objective.goal(self.rows), lower=0)
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
    X: Floats  # X̃, dense: it has fewer columns than rows
    CX: Floats

    @classmethod
    def factor(cls, objective: Objective, rows: Rows) -> _ByWeights:
        X = objective.X[rows]
        X = np.hstack([X.toarray() if sp.issparse(X) else X, objective.columns.Z[rows]])
        CX = objective.costs[rows, None] * X
        H = X.T @ CX
        H[np.diag_indices_from(H)] += cls._ridge(objective)
        U, _ = lapack.dpotrf(H, lower=0, clean=1)
        return cls(objective, rows, U, X, CX)

    @staticmethod
    def _ridge(objective: Objective) -> Floats:
        return np.concatenate([np.full(objective.X.shape[1], objective.penalty), objective.columns.pull])

    def minimum(self) -> tuple[Floats, Floats]:
        objective, columns = self.objective, self.objective.columns
        right = self.CX.T @ objective.goal(self.rows)
        n_weights = objective.X.shape[1]
        right[n_weights:] += columns.pull * columns.target
        solution, _ = lapack.dpotrs(self.U, right, lower=0)
        return solution[:n_weights], solution[n_weights:]

    def one_minus_leverage(self) -> Floats:
        half, _ = lapack.dtrtrs(self.U, self.X.T, lower=0, trans=1)
        return 1.0 - self.objective.costs[self.rows] * np.einsum("ji,ji->i", half, half)


def _gram(X: Matrix, rows: Rows) -> Floats:
    """X_S X_S', at least its lower triangle."""
    if sp.issparse(X):
        return core.sparse_gram(X.indptr, X.indices, X.data, X.shape[1], rows)
    return X[rows] @ X[rows].T
