"""A matrix of texts on this machine's disk, which the compiled core maps: in memory is what the system has
room for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import core
from .._system.memory import machine_memory
from .._system.threads import n_threads
from .._typing import Floats, Indices
from ..errors import TextmarginError
from ..learners.matrix import BlockMatrix, Rows
from ..learners.solver_texts import ENTRY_BYTES
from ..representations.drafts import StoredRows
from .store import Store

_LEAST_LEFT = 0.3  # of the memory given


class Blocks(BlockMatrix):
    """Rows in single precision, in two files.

    `BagOfWords().fit_transform` makes them of texts in parts; `from_matrices` of matrices that you have.

    Parameters
    ----------
    store : Store
        With a matrix in it.
    n_columns : int
    n_jobs : int, default=None
        Threads; None: all cores. The result does not depend on it.
    memory : float, default=None
        Bytes that whoever works on it should keep to; None: half of the machine's.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from textmargin.scale.blocks import Blocks
    >>> X = Blocks.from_matrices([sp.csr_matrix([[1.0, 0.0]]), sp.csr_matrix([[0.0, 0.5], [2.0, 0.0]])])
    >>> X.shape, X.times([[1.0, 2.0]]).ravel().tolist()
    ((3, 2), [1.0, 1.0, 2.0])
    """

    bytes_per_text = 8  # its score and its move: rows are read where they are

    def __init__(
        self, store: Store, n_columns: int, n_jobs: int | None = None, memory: float | None = None
    ) -> None:
        self.store, self.n_jobs = store, n_jobs
        self.memory = machine_memory() / 2 if memory is None else memory
        starts, entries = map(str, store.paths)
        self._texts = core.SparseTexts.mapped(starts, entries, n_columns)
        self.shape = (self._texts.n_rows, n_columns)

    @classmethod
    def from_matrices(
        cls,
        matrices: Iterable[Any],
        *,
        n_jobs: int | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> Blocks:
        """From sparse matrices one below the other, which are put on disk in single precision, one after the
        other.
        """
        store = Store(folder, {})
        widths: list[int] = []

        def rows() -> Iterable[StoredRows]:
            for matrix in matrices:
                X = sp.csr_matrix(matrix, dtype=np.float64, copy=True)
                X.sum_duplicates()
                X.eliminate_zeros()
                widths.append(X.shape[1])
                if X.shape[1] != widths[0]:
                    raise TextmarginError(
                        f"matrices have {widths[0]} columns, but number {len(widths) - 1} has {X.shape[1]}."
                    )
                if not np.isfinite(X.data).all():
                    raise ValueError(
                        f"Number {len(widths) - 1} of matrices contains NaN or infinity; replace or drop "
                        "such values first."
                    )
                yield StoredRows.from_csr(X)

        with store.close_on_error():
            store.write_rows(rows())
            if not widths:
                raise TextmarginError("matrices has none; give at least one, which may be empty.")
            return cls(store, widths[0], n_jobs)

    @property
    def work_memory(self) -> float:
        """What is left beside the matrix, so that the system need not read it again; all where that would be
        too little.
        """
        left = self.memory - ENTRY_BYTES * self._texts.n_entries
        return left if left > _LEAST_LEFT * self.memory else self.memory

    def times(self, W: Floats, *, sizes: bool = False) -> Floats:
        """XW' (n_texts, k)."""
        return self._texts.times(np.ascontiguousarray(W, dtype=np.float64), sizes, n_threads(self.n_jobs))

    def transposed_times(self, A: Floats) -> Floats:
        """A'X (k, n_columns)."""
        return self._texts.transposed_times(np.ascontiguousarray(A, dtype=np.float64)).T

    def squared_lengths(self) -> Floats:
        """Of each row."""
        return self._texts.squared_lengths(n_threads(self.n_jobs))

    def row_counts(self) -> Indices:
        """Values in each row."""
        return self._texts.row_counts()

    def column_sizes(self) -> tuple[Indices, Floats]:
        """Rows that have each column, and the sum of the sizes of its values."""
        return self._texts.column_sizes()

    def take(self, rows: Rows) -> sp.csr_matrix:
        """Some rows, in memory and in double precision."""
        indptr, indices, data = self._texts.take(np.asarray(rows, dtype=np.int64))
        return sp.csr_matrix((data, indices, indptr), shape=(len(rows), self.shape[1]))

    def solver_texts(self) -> Any:
        """What `core.fit_classes` takes."""
        return self._texts

    def delete(self) -> None:
        """Delete the folder of the matrix; a temporary one goes by itself with the last who uses it."""
        self.store.delete()
