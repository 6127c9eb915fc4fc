"""Pairs of texts by number: what a kernel offers, a store keeps and a kernel machine asks for, a block at a
time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats, Indices


class Pairs(Protocol):
    """A kernel over a list of texts, none of whose values is computed before it is asked for."""

    def __len__(self) -> int: ...

    def block(self, rows: Indices, columns: Indices | None = None) -> Floats:
        """K between the texts of these numbers; of the rows with themselves, for half the work, where columns
        are left out.
        """
        ...


class NamedPairs(Pairs, Protocol):
    """Pairs whose values can be found again, in another process and years later."""

    def identity(self) -> str:
        """All of the kernel's settings that its values depend on."""
        ...

    def digests(self) -> list[bytes]:
        """A name for what the kernel sees of each text."""
        ...

    def take(self, rows: Indices) -> NamedPairs:
        """Some of the texts, without the others: what a worker needs for a block."""
        ...


def rectangles(wanted: NDArray[np.bool_]) -> Iterator[tuple[Indices, Indices]]:
    """Rows and columns of blocks that cover the entries wanted, each once and no others: columns alike are
    taken together.
    """
    if not wanted.size or wanted.all():
        if wanted.size:
            yield np.arange(wanted.shape[0]), np.arange(wanted.shape[1])
        return
    patterns, which = np.unique(np.packbits(wanted, axis=0).T, axis=0, return_inverse=True)
    for k in range(len(patterns)):
        columns = np.flatnonzero(which.ravel() == k)
        rows = np.flatnonzero(wanted[:, columns[0]])
        if rows.size:
            yield rows, columns
