"""Pairs of texts by number: what a kernel offers, a store keeps and a kernel machine asks for, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]


class Pairs(Protocol):
    """A kernel over a list of texts, none of whose values is computed before it is asked for."""

    def __len__(self) -> int: ...

    def block(self, rows: Numbers, columns: Numbers | None = None) -> Floats:
        """K between the texts of these numbers; of the rows with themselves, for half the work, where columns are left out."""
        ...


class NamedPairs(Pairs, Protocol):
    """Pairs whose values can be found again, in another process and years later."""

    def identity(self) -> str:
        """All of the kernel's settings that its values depend on."""
        ...

    def digests(self) -> list[bytes]:
        """A name for what the kernel sees of each text."""
        ...

    def take(self, rows: Numbers) -> NamedPairs:
        """Some of the texts, without the others: what a worker needs for a block."""
        ...


def every(n: int) -> Numbers:
    """The numbers of all n texts."""
    return np.arange(n, dtype=np.intp)


def rectangles(wanted: NDArray[np.bool_]) -> Iterator[tuple[Numbers, Numbers]]:
    """Rows and columns of blocks that cover the entries wanted, each once and no others: columns alike are taken together."""
    if not wanted.size or wanted.all():
        if wanted.size:
            yield every(wanted.shape[0]), every(wanted.shape[1])
        return
    patterns, which = np.unique(np.packbits(wanted, axis=0).T, axis=0, return_inverse=True)
    for k in range(len(patterns)):
        columns = np.flatnonzero(which.ravel() == k)
        rows = np.flatnonzero(wanted[:, columns[0]])
        if rows.size:
            yield rows, columns
