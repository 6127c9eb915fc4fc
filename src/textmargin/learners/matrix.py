"""What the linear learners ask of a matrix of texts, wherever it lies: in memory (NumPy, SciPy), or as a
`BlockMatrix` elsewhere.

Numbers per text (labels, weights, scores) are arrays in memory in any case. A `BlockMatrix` has its values in
single precision; sums over them are double.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import core
from .._typing import Floats, Indices

COPY_SHARE = 0.2  # of the memory given, where texts lie elsewhere, for copies of their rows
ENTRY_BYTES = 8  # of a matrix in single precision: a column and a value
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
    bytes_per_text: int = 8  # that the solver holds of each text and class

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
    def stacked(self, below: sp.csr_matrix) -> BlockMatrix:
        """The same with some rows below."""

    @abstractmethod
    def minimise(self, tasks: Sequence[Any], tol: float, max_iter: int) -> list[Any] | None:
        """The minimum of each objective, where the rows are; None where `core.fit_classes` can have them:
        `solver_texts`.
        """

    def solver_texts(self) -> core.SparseTexts:
        """The rows as the core takes them."""
        raise NotImplementedError

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
        return X.stacked(below)
    return sp.csr_matrix(sp.vstack([X, below], format="csr")) if sp.issparse(X) else np.vstack([X, below])


def local_texts(X: sp.csr_matrix) -> core.SparseTexts:
    """A matrix in memory, as the core takes it."""
    return core.SparseTexts(X.indptr, X.indices, X.data, X.shape[1])
