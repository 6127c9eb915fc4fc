"""A kernel matrix whose rows are computed when they are first asked for, each entry once: in memory, or in a
file that the next fit goes on with.

Row i is there once K[i, i] is not NaN. That number is written last, so that a process may be killed at any
moment; the processes that fill one file take turns.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from filelock import FileLock
from numpy.lib.format import open_memmap

from .._system.memory import machine_memory
from .._typing import Floats, Indices
from ..errors import StoreError, TooLargeError

_ROWS_AT_ONCE = 1024  # of memory
_STRIPE = 64  # of a file: what an interruption may lose
_DOUBLE = 3000  # texts up to which double precision is fast enough


class Pairs(Protocol):
    """A kernel over a list of texts, none of whose values is computed before it is asked for."""

    def __len__(self) -> int: ...

    def block(self, rows: Indices, columns: Indices | None = None) -> Floats:
        """K between the texts of these numbers; of the rows with themselves if columns are left out."""
        ...


class NamedPairs(Pairs, Protocol):
    """Pairs whose values can be found again in a file."""

    def identity(self) -> str:
        """All of the kernel's settings that its values depend on."""
        ...

    def digests(self) -> list[bytes]:
        """A name for what the kernel sees of each text."""
        ...


class KernelMatrix:
    """K over a list of texts.

    Attributes
    ----------
    K : array (n, n), float64 of up to 3,000 texts, else float32; see `rows` for what is there
    n_evaluations : int
        How many pairs were computed; (i, j) and (j, i) are one pair.
    """

    def __init__(self, K: Any, pairs: Pairs | None = None, path: Path | None = None) -> None:
        self.K, self.n_evaluations = K, 0
        self._pairs, self._path = pairs, path

    @classmethod
    def given(cls, K: Any) -> Self:
        """A matrix that somebody has computed."""
        return cls(np.ascontiguousarray(K, dtype=_precision(len(K))))

    @classmethod
    def lazy(cls, pairs: Pairs) -> Self:
        """A matrix in memory, of which the system provides those rows that are written."""
        n = len(pairs)
        size, memory = n * n * _precision(n)().itemsize, machine_memory()
        if size > 0.8 * memory:
            raise TooLargeError(
                f"The kernel matrix of {n:,} texts takes up to {size / 2**30:.1f} GiB, and this machine has "
                f"{memory / 2**30:.1f} GiB in all; with cache='a folder' it lies in a file."
            )
        K = np.empty((n, n), _precision(n))
        np.fill_diagonal(K, np.nan)
        return cls(K, pairs)

    @classmethod
    def stored(cls, pairs: NamedPairs, folder: str | os.PathLike[str]) -> Self:
        """The file of a kernel and these texts in a folder, made if it is not there."""
        name = blake2b(pairs.identity().encode(), digest_size=16)
        for digest in pairs.digests():
            name.update(digest)
        path, shape = Path(folder) / f"{name.hexdigest()}.npy", (len(pairs), len(pairs))
        with _explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(path.with_suffix(".lock")):
                if not path.exists():
                    new = open_memmap(path.with_suffix(".new"), "w+", _precision(len(pairs)), shape)
                    np.fill_diagonal(new, np.nan)
                    new.flush()
                    path.with_suffix(".new").replace(path)
            if path.stat().st_size < shape[0] * shape[1] * _precision(len(pairs))().itemsize:
                raise ValueError("it is too short")
            K = open_memmap(path, "r+")
            if K.shape != shape or K.dtype != _precision(len(pairs)):
                raise ValueError(f"its shape is {K.shape}")
        return cls(K, pairs, path)

    def __len__(self) -> int:
        return len(self.K)

    @property
    def rows(self) -> Any:
        """Which rows are there, (n,) bool."""
        return ~np.isnan(np.diagonal(self.K))

    def compute(self, rows: Indices) -> None:
        """See that these rows are there. What other rows tell of them by symmetry is copied."""
        missing, step = rows[~self.rows[rows]], _ROWS_AT_ONCE if self._path is None else _STRIPE
        for first in range(0, missing.size, step):
            with self._lock():
                there = self.rows  # in a file, another process may just have computed some
                some = missing[first : first + step]
                self._fill(some[~there[some]], there)

    def _fill(self, new: Indices, there: Any) -> None:
        assert self._pairs is not None
        if not new.size:
            return
        known = np.flatnonzero(there)
        there[new] = True
        others = np.flatnonzero(~there)
        values = np.empty((new.size, len(self)))
        values[:, known] = self.K[np.ix_(known, new)].T
        values[:, new] = self._pairs.block(new)
        if others.size:
            values[:, others] = self._pairs.block(others, new).T
        if not np.isfinite(values).all():
            j, i = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(
                f"The kernel of texts number {i} and {new[j]} is {values[j, i]}; it must be finite."
            )
        own = np.arange(new.size), new
        diagonal = values[own].copy()
        values[own] = np.nan
        self.K[new] = values
        if self._path is not None:
            self.K.flush()
        self.K[new, new] = diagonal
        self.n_evaluations += new.size * (new.size + 1) // 2 + others.size * new.size

    def _lock(self) -> AbstractContextManager[Any]:
        return nullcontext() if self._path is None else FileLock(self._path.with_suffix(".lock"))


def _precision(n: int) -> Any:
    return np.float64 if n <= _DOUBLE else np.float32


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Errors of the system and of damaged files, in words that help."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"Kernel values cannot be kept in {path.parent}; make the folder writable, choose another, or "
            f"use cache=None ({error})."
        ) from error
    except ValueError as error:
        raise StoreError(
            f"{path} is damaged; delete it, and its values are computed again ({error})."
        ) from error
