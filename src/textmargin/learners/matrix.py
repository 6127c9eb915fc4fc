"""What the linear learners ask of a matrix of texts, wherever it lies: in memory (NumPy, SciPy), or as a
`BlockMatrix` elsewhere.

Numbers per text (labels, weights, scores) are arrays in memory in any case. A `BlockMatrix` has its values in
single precision; sums over them are double.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import Floats, Indices
from .solver_texts import COPY_SHARE, JointTexts, SolverTexts, local_texts

Rows: TypeAlias = NDArray[np.intp]
Matrix: TypeAlias = Any  # Floats, a CSR matrix in canonical form, or a BlockMatrix


class BlockMatrix(ABC):
    """A sparse matrix (n_texts, n_columns) whose rows lie in blocks outside of memory: on disk, or on other
    machines.

    Each method goes once over all blocks. Whoever adds a kind of place implements these; the learners know no
    other. `X[rows]` and `X @ W` are as with SciPy.
    """

    shape: tuple[int, int]
    memory: float = float("inf")  # bytes that whoever works on it should keep to
    bytes_per_text: int = (
        # that the solver holds of each text and class: its score, and where texts are asked, the active rows
        40
    )

    @abstractmethod
    def times(self, W: Floats, *, sizes: bool = False) -> Floats:
        """XW' (n_texts, k) for W (k, n_columns); with `sizes`, of the sizes of the values, |X||W'|."""

    @abstractmethod
    def transposed_times(self, A: Floats) -> Floats:
        """A'X (k, n_columns) for A (n_texts, k)."""

    @abstractmethod
    def squared_lengths(self) -> Floats:
        """Of each row, (n_texts,)."""

    @abstractmethod
    def row_counts(self) -> Indices:
        """How many values that are not 0 each row has, (n_texts,)."""

    @abstractmethod
    def column_sizes(self) -> tuple[Indices, Floats]:
        """Of each column, how many rows have it, and the sum of the sizes of its values."""

    @abstractmethod
    def take(self, rows: Rows) -> sp.csr_matrix:
        """Some rows, in memory and in double precision."""

    @abstractmethod
    def solver_texts(self) -> SolverTexts:
        """What `core.fit_classes` takes: `core.SparseTexts`, or an object that answers for texts
        elsewhere.
        """

    @property
    def work_memory(self) -> float:
        """Bytes for what is held beside the rows."""
        return self.memory

    def __getitem__(self, rows: Any) -> sp.csr_matrix:
        return self.take(np.arange(self.shape[0])[rows])

    def __matmul__(self, W: Any) -> Floats:
        W = np.asarray(W, dtype=np.float64)
        scores = self.times(np.ascontiguousarray(np.atleast_2d(W.T)))
        return scores[:, 0] if W.ndim == 1 else scores


class StackedRows(BlockMatrix):
    """A matrix elsewhere, and below it some rows in memory."""

    def __init__(self, X: BlockMatrix, below: sp.csr_matrix) -> None:
        self._X, self._below = X, sp.csr_matrix(below, dtype=np.float64)
        self.shape = X.shape[0] + below.shape[0], X.shape[1]
        self.memory = X.memory

    @property
    def work_memory(self) -> float:
        return self._X.work_memory

    def times(self, W: Floats, *, sizes: bool = False) -> Floats:
        below = abs(self._below) @ np.abs(W.T) if sizes else self._below @ W.T
        return np.vstack([self._X.times(W, sizes=sizes), below])

    def transposed_times(self, A: Floats) -> Floats:
        n = self._X.shape[0]
        return self._X.transposed_times(A[:n]) + (self._below.T @ A[n:]).T

    def squared_lengths(self) -> Floats:
        return np.concatenate([self._X.squared_lengths(), squared_lengths(self._below)])

    def row_counts(self) -> Indices:
        return np.concatenate([self._X.row_counts(), np.diff(self._below.indptr)])

    def column_sizes(self) -> tuple[Indices, Floats]:
        (counts, sizes), (more, larger) = self._X.column_sizes(), column_sizes(self._below)
        return counts + more, sizes + larger

    def take(self, rows: Rows) -> sp.csr_matrix:
        n = self._X.shape[0]
        order = np.argsort(rows >= n, kind="stable")
        own = rows[order]
        stacked = sp.vstack([self._X.take(own[own < n]), self._below[own[own >= n] - n]], format="csr")
        return sp.csr_matrix(stacked[np.argsort(order)])

    def solver_texts(self) -> SolverTexts:
        places = [self._X.solver_texts(), local_texts(self._below)]
        return JointTexts(places, [self._X.shape[0], self._below.shape[0]], self.work_memory * COPY_SHARE)


def times(X: Matrix, W: Floats, *, sizes: bool = False) -> Floats:
    """XW' (n_texts, k) for W (k, n_columns); with `sizes`, |X||W'|."""
    if isinstance(X, BlockMatrix):
        return X.times(np.ascontiguousarray(W, dtype=np.float64), sizes=sizes)
    return np.asarray(abs(X) @ np.abs(W.T) if sizes else X @ W.T)


def squared_lengths(X: Matrix) -> Floats:
    """Of each row."""
    if isinstance(X, BlockMatrix):
        return X.squared_lengths()
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)


def row_counts(X: Matrix) -> Indices:
    """How many values each row has that are not 0; of a dense matrix all."""
    if isinstance(X, BlockMatrix):
        return X.row_counts()
    return np.diff(X.indptr) if sp.issparse(X) else np.full(X.shape[0], X.shape[1])


def column_sizes(X: Matrix) -> tuple[Indices, Floats]:
    """Of each column of a sparse matrix, how many rows have it, and the sum of the sizes of its values."""
    if isinstance(X, BlockMatrix):
        return X.column_sizes()
    sizes = np.bincount(X.indices, np.abs(X.data), minlength=X.shape[1]).astype(np.float64)
    return np.bincount(X.indices, minlength=X.shape[1]), sizes


def column_presence(X: Matrix) -> NDArray[np.bool_]:
    """Whether some row has each column."""
    if sp.issparse(X) or isinstance(X, BlockMatrix):
        return np.asarray(column_sizes(X)[0] > 0)
    return np.asarray(X.any(axis=0))


def stack(X: Matrix, below: Matrix) -> Matrix:
    """Rows below others."""
    if isinstance(X, BlockMatrix):
        return StackedRows(X, below)
    return sp.csr_matrix(sp.vstack([X, below], format="csr")) if sp.issparse(X) else np.vstack([X, below])
