"""Texts for the linear solver (`core.fit_classes`) that lie in several places, each answering for its own
rows.

The solver takes `core.SparseTexts`, or an object with these four methods, all in single precision, of k
classes:

    scores(D (k, n_columns)) → (k, n_texts) gradients(A (k, n_texts)) → (k, n_columns), AX activate([(rows,
    costs, errors, Z), …]) → per machine what `core.ActiveTexts.sums` gives; the rows are remembered
    products(classes, [directions of each machine]) → [images of each machine], as `core.ActiveTexts.products`
    gives them
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import core
from .._system.levels import vector_level
from .._system.threads import n_threads

Singles: TypeAlias = NDArray[np.float32]
ActiveRows: TypeAlias = tuple[NDArray[np.int64], Singles, Singles, Singles]
Sums: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int64], Singles, Singles, Singles]


class RemoteTexts(Protocol):
    """Texts that are asked."""

    def scores(self, D: Singles) -> Singles: ...
    def gradients(self, A: Singles) -> Singles: ...
    def activate(self, classes: list[ActiveRows]) -> list[Sums]: ...
    def products(self, classes: list[int], directions: list[Singles]) -> list[Singles]: ...


COPY_SHARE = 0.2  # of the memory given, where texts lie elsewhere, for copies of their rows
ENTRY_BYTES = 8  # of a matrix in single precision: a column and a value
SolverTexts: TypeAlias = Any  # core.SparseTexts | RemoteTexts


def local_texts(X: sp.csr_matrix) -> core.SparseTexts:
    """A matrix in memory."""
    return core.SparseTexts(X.indptr, X.indices, X.data, X.shape[1])


class LocalTexts:
    """`core.SparseTexts` as texts that are asked; what a machine does for its own rows.

    Parameters
    ----------
    texts : core.SparseTexts
    n_jobs : int, threads
    memory : float, default=None
        Bytes that copies of active rows may take; None: as many as the rows themselves.
    """

    def __init__(
        self, texts: core.SparseTexts, n_jobs: int | None = None, memory: float | None = None
    ) -> None:
        self._texts, self._n_threads = texts, n_threads(n_jobs)
        self._room = texts.n_entries if memory is None else int(min(memory / ENTRY_BYTES, texts.n_entries))
        self._active: core.ActiveTexts | None = None

    def scores(self, D: Singles) -> Singles:
        return self._texts.scores(vector_level(), np.ascontiguousarray(D), self._n_threads)

    def gradients(self, A: Singles) -> Singles:
        return np.ascontiguousarray(
            self._texts.transposed_times(np.ascontiguousarray(A.T)).T, dtype=np.float32
        )

    def activate(self, classes: list[ActiveRows]) -> list[Sums]:
        self._active = None  # before the next takes room
        self._active = core.ActiveTexts(self._texts, vector_level(), classes, self._room)
        return [self._active.sums(self._n_threads)]

    def products(self, classes: list[int], directions: list[Singles]) -> list[Singles]:
        assert self._active is not None
        return [self._active.products(classes, directions[0], self._n_threads)]


class JointTexts:
    """Texts in several places, the rows of one below those of the other.

    Parameters
    ----------
    texts : sequence of core.SparseTexts or of texts that are asked
    sizes : sequence of int, the rows of each
    memory : float, default=None
        Of copies of each, as in `LocalTexts`.
    """

    def __init__(
        self, texts: Sequence[SolverTexts], sizes: Sequence[int], memory: float | None = None
    ) -> None:
        self._texts: list[RemoteTexts] = [
            LocalTexts(one, memory=memory) if isinstance(one, core.SparseTexts) else one for one in texts
        ]
        self._cuts = list(pairwise(accumulate(sizes, initial=0)))
        self._n_machines: list[int] = []

    def scores(self, D: Singles) -> Singles:
        return np.ascontiguousarray(np.hstack([one.scores(D) for one in self._texts]))

    def gradients(self, A: Singles) -> Singles:
        parts = [
            one.gradients(A[:, start:end]) for one, (start, end) in zip(self._texts, self._cuts, strict=True)
        ]
        return np.ascontiguousarray(sum(parts[1:], parts[0]))

    def activate(self, classes: list[ActiveRows]) -> list[Sums]:
        answers = [
            one.activate(rows_between(classes, start, end))
            for one, (start, end) in zip(self._texts, self._cuts, strict=True)
        ]
        self._n_machines = [len(own) for own in answers]
        return [machine for own in answers for machine in own]

    def products(self, classes: list[int], directions: list[Singles]) -> list[Singles]:
        cuts = pairwise(accumulate(self._n_machines, initial=0))
        own = zip(self._texts, cuts, strict=True)
        return [image for one, (start, end) in own for image in one.products(classes, directions[start:end])]


def rows_between(classes: list[ActiveRows], start: int, end: int) -> list[ActiveRows]:
    """The active rows from start to before end, numbered from there."""
    parts = []
    for rows, costs, errors, Z in classes:
        first, last = np.searchsorted(rows, [start, end])
        own = rows[first:last] - start
        parts.append((own, costs[first:last], errors[first:last], np.ascontiguousarray(Z[:, first:last])))
    return parts
