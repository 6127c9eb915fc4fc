"""A matrix of texts on this machine's disk, which the compiled core maps: in memory is what the system has
room for.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import core
from .._system.memory import machine_memory
from .._system.threads import n_threads
from .._typing import Floats, Indices
from ..errors import TextmarginError
from ..learners.matrix import ENTRY_BYTES, BlockMatrix, Rows
from .store import Store, append_rows

_LEAST_LEFT = 0.3  # of the memory given


class Blocks(BlockMatrix):
    """Rows in single precision, in two files.

    `BagOfWords().fit_transform` makes them of texts in parts.

    Parameters
    ----------
    parts : iterable of sparse matrices, one below the other
        Not looked at if the folder has the matrix already.
    n_columns : int
    store : Store, default=None
        The folder; None: a temporary one.
    digest : str, the name of the matrix in the folder
    n_jobs : int, default=None
        Threads; None: all cores. The result does not depend on it.
    memory : float, default=None
        Bytes that whoever works on it should keep to; None: half of the machine's.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from textmargin.scale import Blocks
    >>> X = Blocks([sp.csr_matrix([[1.0, 0.0]]), sp.csr_matrix([[0.0, 0.5], [2.0, 0.0]])], 2)
    >>> X.shape, X.times([[1.0, 2.0]]).ravel().tolist()
    ((3, 2), [1.0, 1.0, 2.0])
    """

    def __init__(
        self,
        parts: Iterable[Any],
        n_columns: int,
        store: Store | None = None,
        digest: str = "matrix",
        n_jobs: int | None = None,
        memory: float | None = None,
    ) -> None:
        self.store, self.n_jobs = Store(None) if store is None else store, n_jobs
        self.memory = machine_memory() / 2 if memory is None else memory
        self._paths = self.store.matrix(digest, (_checked(part, n_columns) for part in parts))
        self._texts = core.SparseTexts.mapped(str(self._paths[0]), str(self._paths[1]), n_columns)
        self.shape = (self._texts.n_rows, n_columns)

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

    def stacked(self, below: sp.csr_matrix) -> Blocks:
        """The same with some rows below: a copy, in a temporary folder."""
        store, name = Store(None), "stacked"
        starts, entries = store.folder / f"{name}.starts", store.folder / f"{name}.entries"
        with store.writing("the matrix"):
            shutil.copyfile(self._paths[0], starts)
            shutil.copyfile(self._paths[1], entries)
            with starts.open("ab") as start_file, entries.open("ab") as entry_file:
                append_rows(start_file, entry_file, self._texts.n_entries, [sp.csr_matrix(below)])
        return Blocks((), self.shape[1], store, name, self.n_jobs, self.memory)

    def minimise(self, tasks: Sequence[Any], tol: float, max_iter: int) -> None:
        """Left to the core, which has the rows."""

    def solver_texts(self) -> core.SparseTexts:
        """What `core.fit_classes` takes."""
        return self._texts

    def delete(self) -> None:
        """Delete the files; a temporary folder goes by itself with the last who uses it."""
        self.store.delete()


def _checked(matrix: Any, n_columns: int) -> sp.csr_matrix:
    """In canonical form."""
    X = sp.csr_matrix(matrix)
    if X.shape[1] != n_columns:
        raise TextmarginError(f"A part of the matrix has {X.shape[1]} columns; it needs {n_columns}.")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if not np.isfinite(X.data).all():
        raise ValueError("A part of the matrix contains NaN or infinity; replace or drop such values first.")
    return X
