"""Words of texts in parts: each part is counted by itself (a draft), the terms of all are merged, and each
draft is finished.

A term's weight depends on the other texts only through their number and how many of them have it. So a part's
counts are all that must be held of it until the vocabulary is known. These are plain functions of one part,
for whoever has the parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import core
from .._typing import Floats
from .languages import TextSample
from .linear_scores import TF

ENTRY = np.dtype([("column", "<i4"), ("value", "<f4")])  # of a row in single precision


@dataclass(frozen=True)
class TermCounts:
    """Terms in order, with the number of texts that have each (df), and of times that it occurs.

    `block` has all terms in UTF-8, one behind the other, and `ends` where each ends.
    """

    block: NDArray[np.uint8]
    ends: NDArray[np.int64]
    df: NDArray[np.int64]
    total: NDArray[np.int64]
    n_texts: int

    def take(self, selection: NDArray[np.bool_]) -> TermCounts:
        """Some of the terms."""
        sizes = np.diff(self.ends, prepend=0)
        block = self.block[np.repeat(selection, sizes)]
        return TermCounts(
            block, np.cumsum(sizes[selection]), self.df[selection], self.total[selection], self.n_texts
        )


@dataclass(frozen=True)
class Draft:
    """A part whose terms were counted.

    Parameters
    ----------
    terms : TermCounts
        Of this part alone.
    starts : array (n_texts + 1,)
        Where each text begins in the two that follow.
    numbers, counts : arrays (n_entries,)
        A text's terms, by their number here, and how often it has each.
    sample : TextSample
        From which the language of all parts is told.
    """

    terms: TermCounts
    starts: NDArray[np.int64]
    numbers: NDArray[np.int32]
    counts: NDArray[Any]
    sample: TextSample


@dataclass(frozen=True)
class TermColumns:
    """What a fitted `BagOfWords` makes of a term: its column and its weight.

    Parameters
    ----------
    block, ends : arrays
        The vocabulary in order, as in `TermCounts`.
    columns : array (n_terms,), int32
        Of these terms.
    idf : array (n_columns,)
    weight : {"tf-idf", "log-tf-idf", "count"}
    unit : bool
        Whether rows have length 1.
    """

    block: NDArray[np.uint8]
    ends: NDArray[np.int64]
    columns: NDArray[np.int32]
    idf: Floats
    weight: str
    unit: bool


@dataclass(frozen=True)
class StoredRows:
    """Rows in single precision: where each begins (n_rows + 1,), and their entries (n_entries,), an `ENTRY`
    each, in order.
    """

    starts: NDArray[np.int64]
    entries: NDArray[Any]

    @classmethod
    def from_csr(cls, X: Any) -> StoredRows:
        """Of a CSR matrix in canonical form."""
        entries = np.empty(X.nnz, dtype=ENTRY)
        entries["column"], entries["value"] = X.indices, X.data
        return cls(X.indptr.astype(np.int64), entries)


def finish(draft: Draft, columns: TermColumns) -> StoredRows:
    """The rows of a part, as `BagOfWords` has them in memory, rounded to single precision."""
    places = core.match_terms(draft.terms.block, draft.terms.ends, columns.block, columns.ends)
    own = (
        np.where(places >= 0, columns.columns[places], -1).astype(np.int32)
        if columns.columns.size
        else places
    )
    tf = TF[columns.weight](np.arange(int(draft.counts.max(initial=0)) + 1, dtype=np.float64))
    counts = draft.counts.astype(np.uint32, copy=False)
    starts, entries = core.finish_rows(
        draft.starts, draft.numbers, counts, own, columns.idf, tf, columns.unit
    )
    return StoredRows(starts, entries.view(ENTRY))


def merge_terms(a: TermCounts, b: TermCounts) -> TermCounts:
    """The terms of two parts."""
    block, ends, places_a, places_b = core.merge_terms(a.block, a.ends, b.block, b.ends)
    df, total = np.zeros(ends.size, np.int64), np.zeros(ends.size, np.int64)
    for part, places in ((a, places_a), (b, places_b)):  # each term once in a part
        df[places] += part.df
        total[places] += part.total
    return TermCounts(block, ends, df, total, a.n_texts + b.n_texts)


def merge_all_terms(parts: Iterable[TermCounts]) -> TermCounts:
    """The terms of all parts, each let go of once it is merged; a term is merged about as often as the parts
    can be halved.
    """
    stack: list[TermCounts] = []
    for part in parts:
        stack.append(part)
        while len(stack) > 1 and stack[-2].ends.size <= 2 * stack[-1].ends.size:
            stack.append(merge_terms(stack.pop(-2), stack.pop()))
    return reduce(merge_terms, stack[::-1], _none())


def _none() -> TermCounts:
    empty = np.zeros(0, np.int64)
    return TermCounts(np.zeros(0, np.uint8), empty, empty, empty, 0)
