"""What one worker of a cluster has of a matrix: its rows, in two files in its own folder, memory-mapped by
the compiled core.

A `Holding` is a Dask actor: a call goes from the client to the worker without the scheduler, its arrays as
they are in memory. Where its rows have less than half of all columns these are renumbered, and only their
part of a vector travels.

For the solver it takes part in Newton's steps: of each class it copies the rows S inside the margin, with
costs C, and then gives X_S'CX_S p as often as asked (`remote_texts.hpp`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from distributed import get_worker
from numpy.typing import NDArray

from .. import core
from .._typing import Floats, Indices
from ..errors import StoreError, TextmarginError
from ..learners.solver_texts import ActiveRows, LocalTexts, Singles, Sums
from ..representations.drafts import ENTRY, StoredRows
from ._shared_memory import Inbox, Message, Outbox, make_outbox

# Active rows as they travel: their numbers, their costs (one where all are the same), errors, and columns Z
# (None for ones).
PackedRows: TypeAlias = tuple[NDArray[np.int32], Singles, Singles, list[Singles | None]]
_ENTRIES_AT_ONCE = 1 << 24


class HoldingFacts(NamedTuple):
    """Where a holding is, and of what shape; `columns` are those its rows have, None where it is told of
    all.
    """

    address: str
    n_threads: int
    n_rows: int
    n_entries: int
    columns: Indices | None


class Holding:
    """The rows of some neighbouring parts.

    Parameters
    ----------
    pieces : sequence
        What each part is made of.
    finish : function of a piece, or None
        Gives its rows as `StoredRows`, or as a matrix (n, n_columns), sparse or dense; None: pieces are such.
    n_columns : int
    first : int
        The number of the first part, for messages.
    """

    def __init__(
        self, pieces: Sequence[Any], finish: Callable[[Any], Any] | None, n_columns: int, first: int
    ) -> None:
        worker: Any = get_worker()
        self._address, self._n_threads = str(worker.address), int(worker.state.nthreads)
        self._columns: Indices | None = None
        # the mapping outlives it
        with tempfile.TemporaryDirectory(prefix="textmargin-", dir=worker.local_directory) as folder:
            starts, entries = Path(folder, "starts"), Path(folder, "entries")
            try:
                n_entries = _write(starts, entries, pieces, finish, n_columns, first)
                if n_entries:
                    self._columns = _renumber(entries, n_columns)
            except OSError as error:
                raise StoreError(
                    f"Rows cannot be written to {worker.local_directory!r} of worker {self._address}: "
                    f"{error.strerror or error}; "
                    f"give it a folder with more room (the local directory of a Dask worker)."
                ) from error
            width = n_columns if self._columns is None else self._columns.size
            self._texts = core.SparseTexts.mapped(str(starts), str(entries), width)
        self._solver = LocalTexts(self._texts, self._n_threads)
        self._inbox, self._outboxes = Inbox(), dict[str, Outbox]()

    def greet(self, message: Message) -> Message | None:
        """What a message says, by memory of this process; None where it is from another machine."""
        outbox = make_outbox()
        try:
            value = self._inbox.read(message)
        except OSError:
            return None
        if outbox is None:
            return None
        self._outboxes["greet"] = outbox
        return outbox.write(value)

    def answer(self, method: str, message: Message) -> Message:
        """What a method gives for the arguments of a message; until that method is asked again."""
        value = getattr(self, method)(*self._inbox.read(message))
        if method not in self._outboxes:
            self._outboxes[method] = Outbox()
        return self._outboxes[method].write(value)

    def facts(self) -> HoldingFacts:
        """Where it is, and of what shape."""
        texts = self._texts
        return HoldingFacts(self._address, self._n_threads, texts.n_rows, texts.n_entries, self._columns)

    def times(self, W: Floats, sizes: bool) -> Floats:
        """XW' (n_rows, k)."""
        return self._texts.times(W, sizes, self._n_threads)

    def transposed_times(self, A: Floats) -> Floats:
        """X'A (its columns, k)."""
        return self._texts.transposed_times(A)

    def squared_lengths(self) -> Floats:
        """Of each row."""
        return self._texts.squared_lengths(self._n_threads)

    def row_counts(self) -> Indices:
        """Of each row."""
        return self._texts.row_counts()

    def column_sizes(self) -> tuple[Indices, Floats]:
        """Of each of its columns."""
        return self._texts.column_sizes()

    def take(self, rows: Indices) -> tuple[Indices, NDArray[np.int32], Floats]:
        """Some rows as indptr, indices (of all columns) and data."""
        indptr, indices, data = self._texts.take(rows)
        return indptr, self._of_all(indices), data

    def scores(self, D: Singles) -> Singles:
        """DX' (k, n_rows)."""
        return self._solver.scores(D)

    def gradients(self, A: Singles) -> Singles:
        """AX (k, its columns)."""
        return self._solver.gradients(A)

    def activate(self, classes: list[PackedRows]) -> Sums:
        """Copy the active rows of some classes, in place of those there were; what the first step needs of
        them.
        """
        columns, ends, pull, diagonal, cross = self._solver.activate([unpack_rows(rows) for rows in classes])[
            0
        ]
        return self._of_all(columns), ends, pull, diagonal, cross

    def products(self, classes: list[int], directions: Singles) -> Singles:
        """X_S'CX_S p for directions p of some classes, on the columns that their active rows have, one class
        after the other.
        """
        return self._solver.products(classes, [directions])[0]

    def _of_all(self, columns: NDArray[np.int32]) -> NDArray[np.int32]:
        return columns if self._columns is None else self._columns[columns].astype(np.int32)


def pack_rows(active: ActiveRows) -> PackedRows:
    """What travels: most often all costs are the same, and the only column is of ones, for the intercept."""
    rows, costs, errors, Z = active
    same = costs.size > 0 and bool((costs == costs[0]).all())
    columns = [None if (column == 1).all() else np.ascontiguousarray(column) for column in Z]
    return rows.astype(np.int32), costs[:1] if same else costs, errors, columns


def unpack_rows(packed: PackedRows) -> ActiveRows:
    """What `pack_rows` was given."""
    rows, costs, errors, columns = packed
    Z = np.ones((len(columns), rows.size), np.float32)
    for row, column in zip(Z, columns, strict=True):
        if column is not None:
            row[:] = column
    return rows.astype(np.int64), np.ascontiguousarray(np.broadcast_to(costs, rows.size)), errors, Z


def _write(
    starts: Path,
    entries: Path,
    pieces: Iterable[Any],
    finish: Callable[[Any], Any] | None,
    n_columns: int,
    first: int,
) -> int:
    """The two files of some parts, a part at a time; how many entries they have."""
    n_entries = 0
    with starts.open("wb") as start_file, entries.open("wb") as entry_file:
        np.zeros(1, np.int64).tofile(start_file)
        for number, piece in enumerate(pieces, start=first):
            made = piece if finish is None else finish(piece)
            rows = (
                made
                if isinstance(made, StoredRows)
                else StoredRows.from_csr(_as_csr(made, n_columns, number))
            )
            rows.entries.tofile(entry_file)
            (rows.starts[1:] + n_entries).tofile(start_file)
            n_entries += rows.entries.size
    return n_entries


def _as_csr(matrix: Any, n_columns: int, number: int) -> sp.csr_matrix:
    if matrix.ndim != 2 or matrix.shape[1] != n_columns:
        raise TextmarginError(
            f"Part {number} has shape {matrix.shape}, but the matrix has {n_columns} columns."
        )
    rows = sp.csr_matrix(matrix, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if not np.isfinite(rows.data).all():
        raise ValueError(f"Part {number} contains NaN or infinity; replace or drop such values first.")
    return rows


def _renumber(entries: Path, n_columns: int) -> Indices | None:
    """Number columns by those that occur, where these are less than half of all; which they are."""
    written: Any = np.memmap(entries, ENTRY, "r+")
    used = np.zeros(n_columns, bool)
    for start in range(0, written.size, _ENTRIES_AT_ONCE):
        used[written["column"][start : start + _ENTRIES_AT_ONCE]] = True
    columns = np.flatnonzero(used)
    if 2 * columns.size >= n_columns:
        return None
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    for start in range(0, written.size, _ENTRIES_AT_ONCE):
        some = written["column"][start : start + _ENTRIES_AT_ONCE]
        some[:] = number[some]
    return columns
