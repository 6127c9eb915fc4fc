"""A kernel's values over some texts, looked up among the tiles of a store before they are computed.

Texts are numbered in the store as they come. Tile (I, J) of a kernel, I ≤ J, holds the values of texts SIDE·I … with SIDE·J …, as
far as they are known. What a tile lacks is computed by the process that claims it; the others go on with tiles that are free.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._pairs import Floats, NamedPairs, Numbers, rectangles
from ._tiles import SIDE, Key, Tiles


class KeptPairs:
    """Pairs that are looked up before they are computed; see `textmargin._pairs`."""

    def __init__(self, tiles: Tiles, pairs: NamedPairs) -> None:
        self._tiles = tiles
        self._pairs = pairs
        self._kernel, self._numbers = tiles.numbers(pairs.identity(), pairs.digests())
        self.n_computed = 0  # pairs that were not there
        self._order = np.argsort(self._numbers, kind="stable")

    def __len__(self) -> int:
        return len(self._pairs)

    def block(self, rows: Numbers, columns: Numbers | None = None) -> Floats:
        """K between the texts of these numbers."""
        down, to_rows = np.unique(self._numbers[rows], return_inverse=True)
        if columns is None:
            return self._known(down, None)[np.ix_(to_rows, to_rows)]
        across, to_columns = np.unique(self._numbers[columns], return_inverse=True)
        return self._known(down, across)[np.ix_(to_rows, to_columns)]

    def _known(self, down: Numbers, across: Numbers | None) -> Floats:
        """K between texts by their numbers in the store, ascending; of `down` with itself where `across` is left out."""
        request = _Request(down, down if across is None else across, symmetric=across is None)
        parts = request.parts(self._kernel)
        kept = self._tiles.read([part.key for part in parts])
        unfinished = [part for part in parts if not request.take(part, kept.get(part.key))]
        while unfinished:
            left = self._finish(request, unfinished)
            if len(left) == len(unfinished):  # others are at all of them: wait for one, holding none
                with self._tiles.claim(left[0].key, wait=True):
                    pass
            unfinished = left
        return request.K

    def _finish(self, request: _Request, parts: list[_Part]) -> list[_Part]:
        """Compute and keep the parts that nobody else is at, about a full tile's work at a time; the others are left."""
        left: list[_Part] = []
        batch: list[_Part] = []
        with ExitStack() as claims:
            for part in parts:
                if not claims.enter_context(self._tiles.claim(part.key)):
                    left.append(part)
                    continue
                batch.append(part)
                if sum(part.n_pairs for part in batch) >= SIDE * SIDE:
                    self._compute(request, batch)
                    batch = []
                    claims.close()
            self._compute(request, batch)
        return left

    def _compute(self, request: _Request, batch: list[_Part]) -> None:
        kept = self._tiles.read([part.key for part in batch])
        missing = [part for part in batch if not request.take(part, kept.get(part.key))]  # somebody may just have been here
        for rows, columns in request.unknown(missing):
            across = None if columns is None else self._places(request.across[columns])
            values = self._pairs.block(self._places(request.down[rows]), across)
            request.put(rows, columns, values)
            self.n_computed += values.size if columns is not None else rows.size * (rows.size + 1) // 2
        self._tiles.add({part.key: request.tile(part) for part in missing})

    def _places(self, numbers: Numbers) -> Numbers:
        return self._order[np.searchsorted(self._numbers, numbers, sorter=self._order)]


@dataclass(frozen=True)
class _Part:
    """What of one tile is asked for."""

    key: Key
    rows: slice  # of the matrix asked for
    columns: slice
    turned: bool  # whether the tile has its rows as columns

    @property
    def place(self) -> tuple[slice, slice]:
        return self.rows, self.columns

    @property
    def n_pairs(self) -> int:
        return (self.rows.stop - self.rows.start) * (self.columns.stop - self.columns.start)


class _Request:
    """A matrix that is asked for, by the numbers of its rows and columns, NaN where it is not known yet."""

    def __init__(self, down: Numbers, across: Numbers, *, symmetric: bool) -> None:
        self.down = down
        self.across = across
        self.symmetric = symmetric
        self.K = np.full((down.size, across.size), np.nan)

    def parts(self, kernel: int) -> list[_Part]:
        """The tiles that hold it, a column of tiles at a time; of a symmetric matrix half of them."""
        return [
            _Part((kernel, min(i, j), max(i, j)), rows, columns, turned=i > j)
            for j, columns in _tile_slices(self.across)
            for i, rows in _tile_slices(self.down)
            if i <= j or not self.symmetric
        ]

    def take(self, part: _Part, tile: Floats | None) -> bool:
        """Copy what a tile has; whether that was all."""
        if tile is not None:
            values = (tile.T if part.turned else tile)[self._within(part)]
            self._set(part.place, np.where(np.isnan(values), self.K[part.place], values))
        return not np.isnan(self.K[part.place]).any()

    def unknown(self, parts: list[_Part]) -> Iterator[tuple[Numbers, Numbers | None]]:
        """Blocks that are not known, as rows and columns; without columns: of the rows with themselves."""
        wanted = np.zeros(self.K.shape, dtype=bool)
        for part in parts:
            missing = np.isnan(self.K[part.place])
            if self.symmetric and part.rows == part.columns:
                among = np.flatnonzero(missing.any(axis=0))
                if missing[np.ix_(among, among)].all():
                    yield part.rows.start + among, None
                    continue
                missing = np.triu(missing)
            wanted[part.place] = missing
        yield from rectangles(wanted)

    def put(self, rows: Numbers, columns: Numbers | None, values: Floats) -> None:
        """Keep what was computed."""
        self._set(np.ix_(rows, rows if columns is None else columns), values)

    def tile(self, part: _Part) -> Floats:
        """What is known of a tile."""
        tile = np.full((SIDE, SIDE), np.nan)
        (tile.T if part.turned else tile)[self._within(part)] = self.K[part.place]
        return tile

    def _set(self, index: Any, values: Floats) -> None:
        self.K[index] = values
        if self.symmetric:
            self.K.T[index] = values

    def _within(self, part: _Part) -> tuple[Numbers, ...]:
        return np.ix_(self.down[part.rows] % SIDE, self.across[part.columns] % SIDE)


def _tile_slices(numbers: Numbers) -> list[tuple[int, slice]]:
    """Per tile, which of some ascending numbers are in it."""
    which, starts = np.unique(numbers // SIDE, return_index=True)
    return [(int(i), slice(a, b)) for i, a, b in zip(which, starts, [*starts[1:], numbers.size], strict=True)]
