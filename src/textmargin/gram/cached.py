"""A kernel's values over some texts, looked up among the tiles of a store before they are computed.

Texts are numbered in the store as they come. Tile (I, J) of a kernel, I ≤ J, holds the values of texts SIDE·I
… with SIDE·J …, as far as they are known. What a tile lacks is computed by the process that locks it; the
others go on with tiles that are free. Where joblib is told to do several things at a time, it computes the
blocks of several tiles, and this process stores them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from .._typing import Floats, Indices
from .protocol import NamedPairs, rectangles
from .tiles import SIDE, Key, Tiles

_TILES_AT_ONCE = 64  # read, locked or written together
_BATCHES_PER_JOB = 8  # locked, computed and stored together where there are several jobs

_Block = tuple[Indices, Indices | None]  # rows and columns; without columns: the rows with themselves


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

    @property
    def on_diagonal(self) -> bool:
        return self.key[1] == self.key[2]


class CachedPairs:
    """Pairs that are looked up before they are computed; see `textmargin.gram.protocol`.

    Parameters
    ----------
    tiles : where they are stored
    pairs : where they come from
    n_jobs : int, default=None
        How many batches of tiles are computed at a time, through joblib; None: one, or what
        `joblib.parallel_config` says.
    numbers : tuple, default=None
        The numbers that the store has given to kernel and texts, where they are known already.

    Attributes
    ----------
    n_computed : int
        How many pairs were not there.
    """

    def __init__(
        self,
        tiles: Tiles,
        pairs: NamedPairs,
        n_jobs: int | None = None,
        numbers: tuple[int, Indices] | None = None,
    ) -> None:
        self._tiles = tiles
        self._pairs = pairs
        self._n_jobs = n_jobs
        self._kernel, self._numbers = numbers or tiles.numbers(pairs.identity(), pairs.digests())
        self._order = np.argsort(self._numbers, kind="stable")
        self.n_computed = 0

    def __len__(self) -> int:
        return len(self._pairs)

    def block(self, rows: Indices, columns: Indices | None = None) -> Floats:
        """K between the texts of these numbers."""
        down, to_rows = np.unique(self._numbers[rows], return_inverse=True)
        if columns is None:
            return self._lookup(down, None)[np.ix_(to_rows, to_rows)]
        across, to_columns = np.unique(self._numbers[columns], return_inverse=True)
        return self._lookup(down, across)[np.ix_(to_rows, to_columns)]

    def _lookup(self, down: Indices, across: Indices | None) -> Floats:
        """K between texts by their numbers in the store, ascending; of `down` with itself where `across` is
        left out.
        """
        request = _Request(down, down if across is None else across, symmetric=across is None)
        remaining: list[_Part] = []
        for some in _chunks(request.parts(self._kernel), _TILES_AT_ONCE):
            stored = self._tiles.read([part.key for part in some])
            remaining += [part for part in some if not request.take(part, stored.get(part.key))]
        while remaining:
            n_batches = 1 if self._n_at_once == 1 else _BATCHES_PER_JOB * self._n_at_once
            rest = [
                part
                for some in _groups(_batches(remaining), n_batches)
                for part in self._finish(request, some)
            ]
            if len(rest) == len(remaining):  # others are at all of them: wait for one, holding none
                self._tiles.wait_for(rest[0].key)
            remaining = rest
        if across is None:
            request.mirror()
        return request.K

    def _finish(self, request: _Request, batches: list[list[_Part]]) -> list[_Part]:
        """Compute and store those parts of some batches that nobody else is at; returns the others."""
        parts = [part for batch in batches for part in batch]
        with self._tiles.lock([part.key for part in parts]) as mine:
            stored = self._tiles.read(list(mine))
            missing = [  # somebody may just have been here
                [part for part in batch if part.key in mine and not request.take(part, stored.get(part.key))]
                for batch in batches
            ]
            blocks = [block for batch in missing for block in request.unknown(batch)]
            for (rows, columns), values in zip(blocks, self._values(request, blocks), strict=True):
                request.put(rows, columns, values)
                self.n_computed += values.size if columns is not None else rows.size * (rows.size + 1) // 2
            self._tiles.add({part.key: request.tile(part) for batch in missing for part in batch})
            return [part for part in parts if part.key not in mine]

    def _values(self, request: _Request, blocks: list[_Block]) -> Iterable[Floats]:
        """The kernel of each block; a job gets the texts of its block, and gives numbers."""
        places = [
            (
                self._places(request.down[rows]),
                None if columns is None else self._places(request.across[columns]),
            )
            for rows, columns in blocks
        ]
        if self._n_at_once == 1:
            return (self._pairs.block(rows, columns) for rows, columns in places)
        return Parallel(self._n_jobs, prefer="processes")(
            delayed(_block)(
                self._pairs.take(rows if columns is None else np.concatenate([rows, columns])), rows.size
            )
            for rows, columns in places
        )

    @property
    def _n_at_once(self) -> int:
        return int(effective_n_jobs(self._n_jobs))

    def _places(self, numbers: Indices) -> Indices:
        return self._order[np.searchsorted(self._numbers, numbers, sorter=self._order)]


class _Request:
    """A matrix that is asked for, by the numbers of its rows and columns, NaN where it is not known yet.

    Of a symmetric one only the tiles on and above the diagonal are looked after, until `mirror`.
    """

    def __init__(self, down: Indices, across: Indices, *, symmetric: bool) -> None:
        self.down = down
        self.across = across
        self.symmetric = symmetric
        self.K = np.full((down.size, across.size), np.nan)

    def parts(self, kernel: int) -> list[_Part]:
        """The tiles that hold it, a column of tiles at a time."""
        return [
            _Part((kernel, min(i, j), max(i, j)), rows, columns, turned=i > j)
            for j, columns in _tile_slices(self.across)
            for i, rows in _tile_slices(self.down)
            if i <= j or not self.symmetric
        ]

    def take(self, part: _Part, tile: Floats | None) -> bool:
        """Copy what a tile has; whether that was all."""
        if tile is not None:
            if part.on_diagonal:  # (a, b) and (b, a) lie in the same tile, and either will do
                tile = np.where(np.isnan(tile), tile.T, tile)
            values = (tile.T if part.turned else tile)[self._within(part)]
            np.copyto(self.K[part.place], values, where=~np.isnan(values))
        return not np.isnan(self.K[part.place]).any()

    def unknown(self, parts: list[_Part]) -> Iterator[_Block]:
        """Blocks of one batch that are not known, as rows and columns; without columns: of the rows with
        themselves.
        """
        plain = []
        for part in parts:
            if part.on_diagonal:
                yield from self._unknown_on_diagonal(part)
            else:
                plain.append(part)
        if plain:
            top, left = min(part.rows.start for part in plain), plain[0].columns.start
            wanted = np.zeros(
                (max(part.rows.stop for part in plain) - top, plain[0].columns.stop - left), dtype=bool
            )
            for part in plain:
                wanted[part.rows.start - top : part.rows.stop - top] = np.isnan(self.K[part.place])
            for rows, columns in rectangles(wanted):
                yield top + rows, left + columns

    def _unknown_on_diagonal(self, part: _Part) -> Iterator[_Block]:
        """Within one tile of the diagonal a pair may be asked for both ways, and is computed once."""
        missing = np.isnan(self.K[part.place])
        top, left = part.rows.start, part.columns.start
        if self.symmetric:
            among = np.flatnonzero(missing.any(axis=0))
            if missing[np.ix_(among, among)].all():
                yield top + among, None
                return
            missing = np.triu(missing)
        else:
            a, b = self.down[part.rows], self.across[part.columns]
            both_ways = missing & np.isin(a, b)[:, None] & np.isin(b, a)
            missing &= ~(both_ways & (a[:, None] > b))
        for rows, columns in rectangles(missing):
            yield top + rows, left + columns

    def put(self, rows: Indices, columns: Indices | None, values: Floats) -> None:
        """Enter what was computed, and what follows by symmetry."""
        columns = rows if columns is None else columns
        self.K[np.ix_(rows, columns)] = values
        same_down, same_across = (
            np.isin(self.across, self.down[rows]),
            np.isin(self.down, self.across[columns]),
        )
        if same_down.any() and same_across.any():
            r = np.searchsorted(self.down[rows], self.across[same_down])
            c = np.searchsorted(self.across[columns], self.down[same_across])
            self.K[np.ix_(same_across, same_down)] = values[np.ix_(r, c)].T

    def tile(self, part: _Part) -> Floats:
        """What is known of a tile."""
        tile = np.full((SIDE, SIDE), np.nan)
        (tile.T if part.turned else tile)[self._within(part)] = self.K[part.place]
        return tile

    def mirror(self) -> None:
        """What lies above the diagonal, below it as well."""
        np.copyto(self.K, self.K.T, where=np.isnan(self.K))

    def _within(self, part: _Part) -> tuple[NDArray[np.intp], ...]:
        return np.ix_(self.down[part.rows] % SIDE, self.across[part.columns] % SIDE)


def _block(pairs: NamedPairs, n_rows: int) -> Floats:
    """Of the first texts with the others, or with themselves where there are no others."""
    # its own: what comes through shared memory cannot be written to
    pairs = pairs.take(np.arange(len(pairs)))
    rest = n_rows + np.arange(len(pairs) - n_rows)
    return pairs.block(np.arange(n_rows), rest if rest.size else None)


def _groups(batches: Iterable[list[_Part]], n: int) -> Iterator[list[list[_Part]]]:
    """Up to n batches at a time, no tile twice: what is asked for both ways follows, the second time, from
    the first.
    """
    some: list[list[_Part]] = []
    keys: set[Key] = set()
    for batch in batches:
        new = {part.key for part in batch}
        if some and (len(some) == n or new & keys):
            yield some
            some, keys = [], set()
        some.append(batch)
        keys |= new
    if some:
        yield some


def _tile_slices(numbers: Indices) -> list[tuple[int, slice]]:
    """Per tile, which of some ascending numbers are in it."""
    which, starts = np.unique(numbers // SIDE, return_index=True)
    return [
        (int(i), slice(int(a), int(b)))
        for i, a, b in zip(which, starts, [*starts[1:], numbers.size], strict=True)
    ]


def _batches(parts: list[_Part]) -> Iterator[list[_Part]]:
    """Parts within one column of tiles, together about a full tile's work."""
    for _, column in groupby(parts, key=lambda part: part.columns.start):
        batch: list[_Part] = []
        n_pairs = 0
        for part in column:
            batch.append(part)
            n_pairs += part.n_pairs
            if n_pairs >= SIDE * SIDE or len(batch) == _TILES_AT_ONCE:
                yield batch
                batch, n_pairs = [], 0
        if batch:
            yield batch


def _chunks(parts: list[_Part], n: int) -> Iterator[list[_Part]]:
    return (parts[start : start + n] for start in range(0, len(parts), n))
