"""A kernel over rows of numbers, over whatever a function of two lists compares, or as a matrix that somebody
has computed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from .._sklearn import take_rows
from .._typing import Floats, Indices


@dataclass(frozen=True)
class RowPairs:
    """Values k(A, B) of a kernel, by name or as a function; see `textmargin.gram.protocol`."""

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

    def join(self, X: Any) -> RowPairs:
        """Other rows before these."""
        sparse = sp.issparse(X) or sp.issparse(self.X)
        rows = (
            sp.vstack([sp.csr_array(X), sp.csr_array(self.X)], format="csr")
            if sparse
            else np.vstack([X, self.X])
        )
        return RowPairs(rows, self.kernel, self.params)

    def identity(self) -> str:
        """All that values depend on."""
        if not isinstance(self.kernel, str):
            raise ValueError(
                f"cache keeps kernels whose settings it can name, a string kernel or one of scikit-learn's; "
                f"kernel={self.kernel!r:.60} is a function. Use cache=None."
            )
        return json.dumps(
            [self.kernel, self.X.shape[1], sorted((name, repr(value)) for name, value in self.params.items())]
        )

    def digests(self) -> list[bytes]:
        """A name for each row."""
        rows = sp.csr_array(self.X)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        parts = (
            (rows.indices[a:b].astype(np.int64), rows.data[a:b])
            for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)
        )
        return [
            hashlib.blake2b(i.tobytes() + v.astype(np.float64).tobytes(), digest_size=16).digest()
            for i, v in parts
        ]

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
