"""The most frequent substrings of texts in parts, counted exactly, and some of the texts.

Every part counts its own; what they find is added up here, so that the substrings that occur must fit into
memory, and texts need not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Indices
from .encode import Tokens, encode
from .spectrum import count_ngrams
from .text_parts import TextParts

_TEXTS_AT_ONCE = 1000  # counted together within a part: a count takes some hundred bytes per symbol
_PLACES = 1 << 40  # in a part


@dataclass(frozen=True)
class SubstringCounts:
    """Substrings, how often each occurs, and the first place where: part and symbol in one number; of so many
    texts.
    """

    substrings: list[Any]
    counts: NDArray[np.int64]
    places: NDArray[np.int64]
    n_texts: int = 0


def most_frequent(
    parts: TextParts, tokens: Tokens, length: int, n: int
) -> tuple[list[Any], NDArray[np.int64], list[int]]:
    """The n most frequent substrings of a length, of equally frequent ones those that occur first; counts;
    texts of each part.
    """
    sizes: list[int] = []

    def tables() -> Iterator[SubstringCounts]:
        for table in parts.map_parts(partial(_count, tokens=tokens, length=length)):
            sizes.append(table.n_texts)
            yield table

    total = _add(tables())
    top = np.lexsort((total.places, -total.counts))[:n]
    return [total.substrings[i] for i in top], total.counts[top], sizes


def part_sizes(texts: TextParts | Sequence[Any]) -> list[int]:
    """The number of texts of each part; a list is one part."""
    return list(texts.map_parts(_size)) if isinstance(texts, TextParts) else [len(texts)]


def texts_at(texts: TextParts | Sequence[Any], sizes: Sequence[int], rows: Indices) -> list[Any]:
    """The texts of some rows, of all parts together; parts without any are not read."""
    if not isinstance(texts, TextParts):
        return [texts[i] for i in rows.tolist()]
    ends = np.cumsum(sizes)
    part = np.searchsorted(ends, rows, side="right")
    wanted = {int(i): (rows[part == i] - (ends[i] - sizes[i])).tolist() for i in np.unique(part)}
    found = np.empty(rows.size, dtype=object)
    for i, some in zip(wanted, texts.map_parts(partial(_take, rows=wanted), list(wanted)), strict=True):
        found[part == i] = some
    return list(found)


def _add(tables: Iterator[SubstringCounts]) -> SubstringCounts:
    """All tables as one; in the order in which substrings come up, places of the first table that has
    them.
    """
    row_of: dict[Any, int] = {}
    counts, places = np.zeros(0, np.int64), np.zeros(0, np.int64)
    n_texts = 0
    for table in tables:
        rows = np.array([row_of.setdefault(u, len(row_of)) for u in table.substrings], dtype=np.intp)
        n_new = len(row_of) - counts.size
        counts, places = (
            np.append(counts, np.zeros(n_new, np.int64)),
            np.append(places, np.full(n_new, np.iinfo(np.int64).max)),
        )
        counts[rows] += table.counts  # each once in a table
        places[rows] = np.minimum(places[rows], table.places)
        n_texts += table.n_texts
    return SubstringCounts(list(row_of), counts, places, n_texts)


def _count(texts: list[str], part: int, tokens: Tokens, length: int) -> SubstringCounts:
    """What the texts of a part have, some at a time."""
    return _add(_counts(texts, part, tokens, length))


def _counts(texts: list[str], part: int, tokens: Tokens, length: int) -> Iterator[SubstringCounts]:
    first = part * _PLACES
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        some = texts[start : start + _TEXTS_AT_ONCE]
        (sequences,), symbols = encode(tokens, some)
        counts, places = count_ngrams(sequences, length)
        spelled: Any = (
            "".join(some) if tokens == "char" else tuple(symbols[code] for code in sequences.codes.tolist())
        )
        yield SubstringCounts(
            [spelled[place : place + length] for place in places.tolist()], counts, first + places, len(some)
        )
        first += sequences.codes.size


def _size(texts: list[str], part: int) -> int:
    return len(texts)


def _take(texts: list[str], part: int, rows: dict[int, list[int]]) -> list[str]:
    return [texts[row] for row in rows[part]]
