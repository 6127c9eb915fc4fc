"""What the linear learners ask of a matrix of texts, wherever it lies: in memory (NumPy, SciPy), or as a `BlockMatrix` elsewhere.

Numbers per text (labels, weights, scores) are arrays in memory in any case. A `BlockMatrix` has its values in single precision;
sums over them are double.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import core
from .._typing import Bools, Floats, Indices

Rows: TypeAlias = NDArray[np.intp]
Matrix: TypeAlias = Any  # Floats, a CSR matrix in canonical form, or a BlockMatrix
_ROWS_AT_ONCE = 1 << 16


class BlockMatrix(ABC):
    """A sparse matrix (n_texts, n_columns) whose rows lie in blocks outside of memory: on disk, or on other machines.

    Each method goes once over all blocks. Whoever adds a kind of place implements these; the learners know no other.
    """

    shape: tuple[int, int]

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
    def solver_texts(self) -> Any:
        """What `core.fit_classes` takes in place of `core.SparseTexts`."""
