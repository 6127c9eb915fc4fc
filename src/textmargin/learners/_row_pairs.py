"""A kernel over rows of numbers, over whatever a function of two lists compares, or as a matrix that somebody
has computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from .._sklearn import take_rows
from .._typing import Floats, Indices


@dataclass(frozen=True)
class RowPairs:
    """Values k(A, B) of a kernel, by name or as a function; as `kernel_matrix.Pairs`."""

    X: Any
    kernel: str | Callable[[Any, Any], Any]
    params: Mapping[str, Any]

    def __len__(self) -> int:
        return self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)

    @property
    def texts(self) -> Any:
        return self.X

    def block(self, rows: Indices, columns: Indices | None = None) -> Floats:
        """K between the rows of these numbers."""
        A = take_rows(self.X, rows)
        return self._values(A, A if columns is None else take_rows(self.X, columns))

    def take(self, rows: Indices) -> RowPairs:
        """Some of the rows."""
        return RowPairs(take_rows(self.X, rows), self.kernel, self.params)

    def versus(self, X: Any) -> Floats:
        """K of other rows with these, (n_X, n_rows)."""
        return self._values(X, self.X)

    def _values(self, A: Any, B: Any) -> Floats:
        if isinstance(self.kernel, str):
            return np.asarray(pairwise_kernels(A, B, metric=self.kernel, **self.params), dtype=np.float64)
        return np.asarray(self.kernel(A, B), dtype=np.float64)


@dataclass(frozen=True)
class MatrixPairs:
    """Columns of a matrix of kernel values; with which rows they are compared, new texts say by theirs."""

    columns: Indices

    def __len__(self) -> int:
        return self.columns.size

    @property
    def texts(self) -> Any:
        """None: the texts themselves were never there. An empty array, as in scikit-learn's SVC."""
        return np.empty((0, 0))

    def take(self, rows: Indices) -> MatrixPairs:
        """Some of the columns."""
        return MatrixPairs(self.columns[rows])

    def versus(self, X: Any) -> Floats:
        """K of other texts with these, (n_X, n_columns)."""
        return np.asarray(X[:, self.columns], dtype=np.float64)
