"""A matrix in parts, each of them a task or a result on the cluster; never all of it in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Self

import dask.array
import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed, delayed
from distributed import Future

from ..errors import TextmarginError
from ..learners.objective import canonical
from ._client import client, homes
from ._spill import SpilledMatrix, load

_arrays: Any = dask.array  # which carries no types


class Blocks:
    """The rows of a matrix (n_texts, n_columns) in parts.

    Parameters
    ----------
    parts : iterable of Dask delayed objects or futures
        Each a CSR matrix or a dense array of some rows, perhaps of none, in order.
    n_columns : int
    sizes : sequence of int, default=None
        The number of rows of each part, where it is known.
    """

    def __init__(self, parts: Iterable[Any], n_columns: int, sizes: Sequence[int] | None = None) -> None:
        self.parts: tuple[Any, ...] = tuple(parts)
        self.n_columns = n_columns
        self.sizes = None if sizes is None else tuple(sizes)
        self._persisted = False
        if not self.parts:
            raise TextmarginError("Blocks needs at least one part; got none.")

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def shape(self) -> tuple[float, int]:
        """Rows (NaN while unknown) and columns."""
        return (float("nan") if self.sizes is None else sum(self.sizes)), self.n_columns

    @classmethod
    def of(cls, matrices: Iterable[Any], n_columns: int | None = None) -> Self:
        """From matrices in memory, delayed or on the cluster; `n_columns` must be given unless all are in memory."""
        parts = list(matrices)
        if not any(isinstance(part, Delayed | Future) for part in parts):
            parts = [sp.csr_matrix(part) if sp.issparse(part) else np.asarray(part) for part in parts]
            widths = {part.shape[1] for part in parts} | ({n_columns} if n_columns is not None else set())
            if len(widths) != 1:
                raise TextmarginError(f"The parts of a matrix must have the same columns; got {sorted(widths)}.")
            return cls([delayed(part, pure=False) for part in parts], widths.pop(), [part.shape[0] for part in parts])
        if n_columns is None:
            raise TextmarginError("Blocks.of needs n_columns where parts are not in memory.")
        return cls(parts, n_columns)

    @classmethod
    def split(cls, X: Any, n_partitions: int) -> Self:
        """A matrix in memory, cut in parts of about as many rows each."""
        X = sp.csr_matrix(X) if sp.issparse(X) else np.asarray(X)
        cuts = np.linspace(0, X.shape[0], n_partitions + 1).astype(int).tolist()
        return cls.of([X[start:end] for start, end in pairwise(cuts)])

    def map(self, function: Callable[..., Any], *others: Sequence[Any], n_columns: int) -> Blocks:
        """Another matrix, `function(matrix, *parts of the others)` for each part; computed when asked for."""
        return Blocks(self.delayed(function, *others), n_columns, self.sizes)

    def delayed(self, function: Callable[..., Any], *others: Sequence[Any]) -> list[Delayed]:
        """`function(matrix, *parts of the others)` for each part."""
        task = delayed(_apply, pure=False)
        return [task(function, part, *rest) for part, *rest in zip(self.parts, *others, strict=True)]

    def persist(self) -> Blocks:
        """The same matrix, computed and kept on the disks of the workers."""
        if self._persisted:
            return self
        at, spill = client(), delayed(_spill, pure=False)
        parts = compute_parts([spill(part, self.n_columns) for part in self.parts])
        sizes = at.gather([at.submit(_n_rows, part, pure=False) for part in parts])
        blocks = Blocks(parts, self.n_columns, sizes)
        blocks._persisted = True
        return blocks

    def array(self, function: Callable[[Any], Any], dtype: Any, *, flat: bool) -> Any:
        """`function(matrix)` of each part as a Dask array, of one axis if flat; sizes are NaN while unknown."""
        sizes = self.sizes or [float("nan")] * len(self)
        return _arrays.concatenate(
            [
                _arrays.from_delayed(part, (size,) if flat else (size, self.n_columns), dtype)
                for part, size in zip(self.delayed(function), sizes, strict=True)
            ],
            allow_unknown_chunksizes=True,
        )

    def compute(self) -> Any:
        """The whole matrix in memory."""
        matrices = client().gather(client().compute(self.delayed(_identity)))
        return sp.vstack(matrices, format="csr") if sp.issparse(matrices[0]) else np.vstack(matrices)


def compute_parts(tasks: Sequence[Delayed]) -> list[Any]:
    """Futures of one task per part, each on the worker that has its share."""
    at = client()
    shares = groupby(zip(tasks, assign_homes(len(tasks), homes(at)), strict=True), key=itemgetter(1))
    return [
        future
        for home, share in shares
        for future in at.compute([task for task, _ in share], workers=[home], allow_other_workers=True)
    ]


def assign_homes(n_parts: int, homes: Sequence[str]) -> list[str]:
    """A home for each part: neighbours together, about as many for each."""
    n_shares = min(n_parts, len(homes))
    return [homes[i * n_shares // n_parts] for i in range(n_parts)]


def as_block(matrix: Any) -> Any:
    """A matrix as the learner takes it: doubles entry in one place, indices of four bytes."""
    if not sp.issparse(matrix):
        return np.ascontiguousarray(matrix, dtype=np.float64)
    X = canonical(sp.csr_matrix(matrix, dtype=np.float64))
    if X.indices.dtype == np.int32:
        return X
    return sp.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def _apply(function: Callable[..., Any], part: Any, *others: Any) -> Any:
    return function(load(part), *others)


def _identity(matrix: Any) -> Any:
    return matrix


def _spill(part: Any, n_columns: int) -> SpilledMatrix:
    matrix = load(part)
    if matrix.ndim != 2 or matrix.shape[1] != n_columns:
        raise TextmarginError(f"A part has shape {matrix.shape}, but the matrix has {n_columns} columns.")
    matrix = as_block(matrix)
    if not np.isfinite(matrix.data if sp.issparse(matrix) else matrix).all():
        raise ValueError("Input X contains NaN or infinity; replace or drop such values first.")
    return SpilledMatrix(matrix)


def _n_rows(part: Any) -> int:
    return int(part.shape[0])
