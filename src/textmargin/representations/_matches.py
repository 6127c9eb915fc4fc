"""Which subsequences make texts alike, and where they stand.

A kernel on strings is a sum over subsequences u,  K(x, s) = Σ_m f_m Σ_u G_u(x) G_u(s), where G_u adds up
what the occurrences of u count. So a sum over texts, Σ_s c_s K(x, s), is one over subsequences as well, and
each u has its exact share

    c_u = f_m G_u(x) Σ_s c_s G_u(s)

There are far too many u to try all. Those that count most have few gaps: as many gaps are allowed for as a
budget of occurrences in x admits, all of them if x is short.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb

import numpy as np
from numpy.typing import NDArray

from .._ties import ROUNDING, descending_order
from .._typing import Floats
from .encode import Sequences

_BUDGET = 20_000  # occurrences in x
_N_FIRST = 30  # texts with the largest shares, by which subsequences are sifted first
_N_SIFTED = 1_000  # subsequences that are then judged by all texts
_N_STEPS = 1e10  # of the first sifting, some seconds

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Term:
    """The part of a kernel that one length of subsequences makes."""

    length: int
    gap: float  # about what a skipped symbol counts; 0: none is skipped
    scale: Floats  # f, with what normalises the kernel of x and each other text
    amounts: Callable[[Sequences, Codes], Floats]  # G of texts and subsequences, (n_texts, n_subsequences)


@dataclass(frozen=True)
class Share:
    """What a subsequence adds, and the text that it owes most of that to."""

    u: Codes
    value: float
    other: int


@dataclass(frozen=True)
class Match:
    """A subsequence that a text shares with others.

    Attributes
    ----------
    symbols : str or tuple of tokens
    value : float, what it adds to the score through all its occurrences, gaps and all, in all texts.
    places : tuple of int, where it stands in the text, with as few gaps as possible there.
    other : int, which of the other texts has the largest share.
    other_places : tuple of int, where it stands in that.
    shown, other_shown : str, the same as texts, what is skipped in brackets.
    """

    symbols: str | tuple[Hashable, ...]
    value: float
    places: tuple[int, ...]
    other: int
    other_places: tuple[int, ...]
    shown: str
    other_shown: str


def candidates(codes: Codes, length: int, gap: float) -> tuple[Codes, Floats]:
    """Different subsequences of a text, (n_subsequences, length), with as many gaps as the budget admits, and
    about their G.
    """
    n_gaps = 0
    while gap and n_gaps < codes.size - length and codes.size * comb(length + n_gaps, length - 1) <= _BUDGET:
        n_gaps += 1
    if codes.size < length:
        return np.empty((0, length), dtype=np.int32), np.empty(0)
    patterns = np.array(
        [(0, *later) for later in combinations(range(1, length + n_gaps), length - 1)], dtype=np.intp
    )
    places = (np.arange(codes.size)[:, None, None] + patterns).reshape(-1, length)
    worth = np.tile(max(gap, 1e-300) ** (patterns[:, -1] + 1.0 - length), codes.size)
    inside = places[:, -1] < codes.size
    found, which = np.unique(codes[places[inside]], axis=0, return_inverse=True)
    return found, np.bincount(which.ravel(), worth[inside]).astype(np.float64)


def largest(
    term: Term, x: Sequences, others: Sequences, coefficients: Floats, similarities: Floats
) -> list[Share]:
    """The shares of the subsequences of one length that count most."""
    found, roughly = candidates(x.codes, term.length, term.gap)
    if not len(found):
        return []
    coefficients = coefficients * term.scale
    first = descending_order(np.abs(coefficients * similarities))[:_N_FIRST]
    if len(found) > (most := max(100, int(_N_STEPS / (1 + others.lengths[first].sum() * term.length**2)))):
        kept = descending_order(roughly)[:most]  # of very long texts not all can be tried
        found, roughly = found[kept], roughly[kept]
    guess = np.abs(roughly * (coefficients[first] @ term.amounts(others.take(first), found)))
    kept = descending_order(guess)[:_N_SIFTED]
    parts = coefficients[:, None] * term.amounts(others, found[kept]) * term.amounts(x, found[kept])[0]
    sums, sizes = parts.sum(axis=0), np.abs(parts)
    sums[np.abs(sums) <= ROUNDING * sizes.sum(axis=0)] = 0.0  # texts for and against that cancel
    others_most = descending_order(sizes.T)[:, 0].tolist()
    return [
        Share(u, value, other)
        for u, value, other in zip(found[kept], sums.tolist(), others_most, strict=True)
    ]


def tightest(codes: Codes, u: Codes, costs: Floats) -> tuple[int, ...]:
    """Where u stands in a text with the cheapest gaps; empty if it does not."""
    # best[j]: the least cost of the first k symbols of u with the k-th at place j; skipping place j costs
    # costs[j]. Whole numbers add up exactly, so that of two places with the same gaps always the same one is
    # taken.
    skipped = np.concatenate([[0.0], np.cumsum(np.rint(costs * 2**30)[codes])])
    best = np.where(codes == u[0], 0.0, np.inf)
    came_from = []
    for symbol in u[1:]:
        # From k to j > k the places between are skipped: skipped[j] − skipped[k + 1].
        reach = best - skipped[1:]
        lowest = np.minimum.accumulate(reach)
        which = np.maximum.accumulate(np.where(reach == lowest, np.arange(codes.size), 0))
        came_from.append(np.concatenate([[0], which[:-1]]))
        best = np.where(codes == symbol, np.concatenate([[np.inf], lowest[:-1]]) + skipped[:-1], np.inf)
    if not np.isfinite(best).any():
        return ()
    places = [int(best.argmin())]
    for back in reversed(came_from):
        places.append(int(back[places[-1]]))
    return tuple(reversed(places))


def mark_gaps(symbols: Sequence[Hashable], places: tuple[int, ...]) -> str:
    """A stretch of a text with what is skipped in brackets: 'c[us]tard' for 'ctard' in 'custard'."""
    space = "" if isinstance(symbols, str) else " "
    parts = [str(symbols[places[0]])]
    for a, b in pairwise(places):
        between = [str(symbol) for symbol in symbols[a + 1 : b]]
        if between:
            parts.append(f"[{space.join(between)}]")
        parts.append(str(symbols[b]))
    return space.join(parts)
