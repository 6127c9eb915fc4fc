"""Texts as sets of character 5-grams, and the sets as a few minima each.

The 5-grams of a text (in lower case, white space as single blanks; a shorter text is one gram) are 32-bit
numbers x, and

    signature_k = min over a text's grams of  a_k (x ⊕ c_k) mod 2³²  (a_k odd: a permutation; Broder 1997)

agrees for two texts with a probability that is the Jaccard similarity |A ∩ B| / |A ∪ B| of their sets.
Characters, not words: the same for scripts without blanks. All of it is NumPy on blocks that fit a cache,
which leaves the interpreter to other threads.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats, Indices

# characters of a gram: one changed word of a text of 100 characters leaves four fifths of its grams as they
# are
LENGTH = 5
_BLOCK = 400_000  # characters at once
_LONGEST = 20_000  # characters of a text that count: of longer ones the beginning

Numbers32 = NDArray[np.uint32]


def plain_form(text: str) -> str:
    """A text as it is compared: no matter how it is set, and in upper or lower case."""
    text = text[:_LONGEST]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.casefold().split())


def blocks(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Ranges of texts that are worked on together."""
    start, size = 0, 0
    for row, text in enumerate(texts):
        if size > _BLOCK:
            yield start, row
            start, size = row, 0
        size += len(text)
    if start < len(texts):
        yield start, len(texts)


def grams(texts: Sequence[str]) -> tuple[Numbers32, Indices]:
    """The grams of texts in plain form as numbers, one text after the other, and where each text starts; none
    is without.
    """
    padded = [text.ljust(LENGTH) for text in texts]
    codes = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    lengths = np.array([len(text) for text in padded], dtype=np.intp)
    value = codes[: codes.size - LENGTH + 1].copy()
    for j in range(1, LENGTH):
        value *= np.uint64(0x1F0000003)
        value += codes[j : codes.size - LENGTH + 1 + j]
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xFF51AFD7ED558CCD)
    ends = np.cumsum(lengths)
    inside = np.ones(value.size, dtype=bool)
    for j in range(1, LENGTH):  # grams that would go on in the next text
        inside[(ends[:-1] - j)] = False
    starts = ends - lengths - (LENGTH - 1) * np.arange(len(texts))
    return (value >> np.uint64(32)).astype(np.uint32)[inside], starts


def signatures(texts: Sequence[str], n_minima: int) -> Numbers32:
    """The minima (n_texts, n_minima) of texts in plain form."""
    rng = np.random.default_rng(0)  # any numbers will do; the same always
    factors = rng.integers(0, 2**31, n_minima, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    masks = rng.integers(0, 2**32, n_minima, dtype=np.uint32)
    numbers, starts = grams(texts)
    found = np.empty((len(texts), n_minima), dtype=np.uint32)
    work = np.empty_like(numbers)
    for k in range(n_minima):
        np.bitwise_xor(numbers, masks[k], out=work)
        np.multiply(work, factors[k], out=work)
        found[:, k] = np.minimum.reduceat(work, starts)
    return found


def jaccard(texts: Sequence[str], first: Indices, second: Indices) -> Floats:
    """The Jaccard similarity of pairs of texts in plain form, by their rows; exact but for two grams with one
    number.
    """
    rows, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    numbers, starts = grams([texts[row] for row in rows.tolist()])
    owner = np.repeat(np.arange(rows.size, dtype=np.uint64), np.diff(np.append(starts, numbers.size)))
    keys = np.unique(owner << np.uint64(32) | numbers)  # each gram of a text once, in order
    sizes = np.bincount((keys >> np.uint64(32)).astype(np.intp), minlength=rows.size)
    begins = np.cumsum(sizes) - sizes
    a, b = places[: first.size], places[first.size :]
    pair = np.repeat(np.arange(first.size), sizes[a])
    inside = np.arange(pair.size) - np.repeat(np.cumsum(sizes[a]) - sizes[a], sizes[a])
    wanted = (keys[begins[a[pair]] + inside] & np.uint64(0xFFFFFFFF)) | (
        b[pair].astype(np.uint64) << np.uint64(32)
    )
    at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    common = np.bincount(pair, keys[at] == wanted, minlength=first.size)
    return np.asarray(common / (sizes[a] + sizes[b] - common))
