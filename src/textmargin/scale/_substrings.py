"""The most frequent substrings of partitioned texts, counted exactly.

Every part counts its own, in buckets by hash; what falls into the same bucket in all parts is added up, a few tables at a
time, and the most frequent of each bucket are the candidates for all. Whatever is most frequent overall is among them.
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
from ._client import broadcast_pickled, client
from .tasks import tree_reduce

_PARTS_PER_BUCKET = 8  # so that a bucket holds about as many substrings as a few parts have
_MOST_BUCKETS = 64
_TEXTS_AT_ONCE = 1000  # counted together within a part: a count takes some hundred bytes per symbol
_PLACES = 1 << 40  # in a part


@dataclass(frozen=True)
class SubstringCounts:
    """Substrings, how often each occurs, and the first place where: part and symbol in one number."""

    substrings: list[Any]
    counts: NDArray[np.int64]
    places: NDArray[np.int64]

    def take(self, rows: NDArray[np.intp]) -> SubstringCounts:
        """Some of the substrings."""
        return SubstringCounts([self.substrings[i] for i in rows], self.counts[rows], self.places[rows])

    def top(self, n: int) -> SubstringCounts:
        """The n most frequent; of equally frequent ones those that occur first."""
        return self.take(np.lexsort((self.places, -self.counts))[:n])


def most_frequent(
    parts: Sequence[Delayed], tokens: Tokens, length: int, n: int
) -> tuple[list[Any], NDArray[np.int64], list[int]]:
    """The n most frequent substrings of a length, most frequent first, how often they occur, and the texts of each part."""
    n_buckets = max(1, min(_MOST_BUCKETS, len(parts) // _PARTS_PER_BUCKET))
    count = delayed(_count, pure=False, nout=n_buckets + 1)
    there = broadcast_pickled(tokens)
    per_part = [count(part, i, there, length, n_buckets) for i, part in enumerate(parts)]
    top = delayed(_top, pure=False)
    tables = [top(tree_reduce(_add, [buckets[k] for buckets in per_part]), n) for k in range(n_buckets)]
    cluster = client()
    sizes = [buckets[n_buckets] for buckets in per_part]
    results = cluster.gather(cluster.compute([*sizes, *tables]))  # together, so that nothing is counted twice
    frequent = add_tables(results[len(sizes) :]).top(n)
    return frequent.substrings, frequent.counts, results[: len(sizes)]


def add_tables(tables: Sequence[SubstringCounts]) -> SubstringCounts:
    """All tables as one."""
    row_of: dict[Any, int] = {}
    rows = np.fromiter((row_of.setdefault(u, len(row_of)) for table in tables for u in table.substrings), dtype=np.intp)
    counts, places = np.zeros(len(row_of), np.int64), np.full(len(row_of), np.iinfo(np.int64).max)
    np.add.at(counts, rows, np.concatenate([table.counts for table in tables]))
    np.minimum.at(places, rows, np.concatenate([table.places for table in tables]))
    return SubstringCounts(list(row_of), counts, places)


def _add(*tables: SubstringCounts) -> SubstringCounts:
    return add_tables(tables)


def _top(table: SubstringCounts, n: int) -> SubstringCounts:
    return table.top(n)


def _count(texts: list[str], part: int, tokens: Tokens, length: int, n_buckets: int) -> tuple[Any, ...]:
    """A table for each bucket, and the number of texts. Runs on a worker."""
    table = add_tables([SubstringCounts([], *np.zeros((2, 0), np.int64)), *_counts(texts, part, tokens, length)])
    bucket = (
        np.array([zlib.crc32(repr(u).encode("utf-8", "surrogatepass")) for u in table.substrings], dtype=np.int64) % n_buckets
    )
    return *(table.take(np.flatnonzero(bucket == k)) for k in range(n_buckets)), len(texts)


def _counts(texts: list[str], part: int, tokens: Tokens, length: int) -> Iterator[SubstringCounts]:
    """What some texts at a time have."""
    first = part * _PLACES
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        some = texts[start : start + _TEXTS_AT_ONCE]
        (sequences,), symbols = encode(tokens, some)
        counts, places = count_ngrams(sequences, length)
        spelled: Any = "".join(some) if tokens == "char" else tuple(symbols[code] for code in sequences.codes.tolist())
        yield SubstringCounts([spelled[place : place + length] for place in places.tolist()], counts, first + places)
        first += sequences.codes.size
