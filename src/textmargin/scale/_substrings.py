"""The most frequent substrings of partitioned texts, counted exactly.

Every part counts its own and deals them out by hash; what falls to the same share in all parts is added up, a few tables at a
time, and the most frequent of each share are the candidates for all. Whatever is most frequent overall is among them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.delayed import Delayed, delayed
from numpy.typing import NDArray

from ..representations.encode import Tokens, encode
from ..representations.spectrum import count_ngrams
from ._client import carried, client
from .tasks import combined

_PARTS_PER_SHARE = 8  # so that a share holds about as many substrings as a few parts have
_MOST_SHARES = 64
_TEXTS_AT_ONCE = 1000  # counted together within a part: a count takes some hundred bytes per symbol
_PLACES = 1 << 40  # in a part


@dataclass(frozen=True)
class Table:
    """Substrings, how often each occurs, and the first place where: part and symbol in one number."""

    substrings: list[Any]
    counts: NDArray[np.int64]
    places: NDArray[np.int64]

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Some of the substrings."""
        return Table([self.substrings[i] for i in rows], self.counts[rows], self.places[rows])

    def top(self, n: int) -> Table:
        """The n most frequent; of equally frequent ones those that occur first."""
        return self.take(np.lexsort((self.places, -self.counts))[:n])


def most_frequent(
    parts: Sequence[Delayed], tokens: Tokens, length: int, n: int
) -> tuple[list[Any], NDArray[np.int64], list[int]]:
    """The n most frequent substrings of a length, most frequent first, how often they occur, and the texts of each part."""
    n_shares = max(1, min(_MOST_SHARES, len(parts) // _PARTS_PER_SHARE))
    count = delayed(_count, pure=False, nout=n_shares + 1)
    there = carried(tokens)
    counted = [count(part, i, there, length, n_shares) for i, part in enumerate(parts)]
    top = delayed(_top, pure=False)
    tables = [top(combined(_add, [shares[k] for shares in counted]), n) for k in range(n_shares)]
    at = client()
    sizes = [shares[n_shares] for shares in counted]
    gathered = at.gather(at.compute([*sizes, *tables]))  # together, so that nothing is counted twice
    found = added(gathered[len(sizes) :]).top(n)
    return found.substrings, found.counts, gathered[: len(sizes)]


def added(tables: Sequence[Table]) -> Table:
    """All tables as one."""
    row_of: dict[Any, int] = {}
    rows = np.fromiter((row_of.setdefault(u, len(row_of)) for table in tables for u in table.substrings), dtype=np.intp)
    counts, places = np.zeros(len(row_of), np.int64), np.full(len(row_of), np.iinfo(np.int64).max)
    np.add.at(counts, rows, np.concatenate([table.counts for table in tables]))
    np.minimum.at(places, rows, np.concatenate([table.places for table in tables]))
    return Table(list(row_of), counts, places)


def _add(*tables: Table) -> Table:
    return added(tables)


def _top(table: Table, n: int) -> Table:
    return table.top(n)


def _count(texts: list[str], part: int, tokens: Tokens, length: int, n_shares: int) -> tuple[Any, ...]:
    """A table for each share, and the number of texts. Runs on a worker."""
    table = added([Table([], *np.zeros((2, 0), np.int64)), *_counts(texts, part, tokens, length)])
    share = np.array([zlib.crc32(repr(u).encode("utf-8", "surrogatepass")) for u in table.substrings], dtype=np.int64) % n_shares
    return *(table.take(np.flatnonzero(share == k)) for k in range(n_shares)), len(texts)


def _counts(texts: list[str], part: int, tokens: Tokens, length: int) -> Iterator[Table]:
    """What some texts at a time have."""
    first = part * _PLACES
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        some = texts[start : start + _TEXTS_AT_ONCE]
        (sequences,), symbols = encode(tokens, some)
        counts, places = count_ngrams(sequences, length)
        spelled: Any = "".join(some) if tokens == "char" else tuple(symbols[code] for code in sequences.codes.tolist())
        yield Table([spelled[place : place + length] for place in places.tolist()], counts, first + places)
        first += sequences.codes.size
