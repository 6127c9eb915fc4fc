"""Terms of texts in parts: each part is counted, and the counts of all make one vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from .. import core
from .languages import TextSample


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
class PartCounts:
    """What is counted of a part, or of several: terms, and a sample of the texts."""

    terms: TermCounts
    sample: TextSample


def merge_counts(parts: Iterable[PartCounts]) -> PartCounts:
    """The counts of neighbouring parts as one; each is let go of once it is merged."""
    sample = TextSample.draw([])

    def terms() -> Iterator[TermCounts]:
        nonlocal sample
        for part in parts:
            sample = TextSample.join([sample, part.sample])
            yield part.terms

    return PartCounts(merge_all_terms(terms()), sample)


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
