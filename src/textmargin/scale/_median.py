"""Exact medians over all parts, by counting: eight passes, each of which settles eight bits of the answer.

Non-negative doubles are ordered as the integers that their bits spell. So the number at a given rank is found digit by digit,
most significant first, each time by counting the numbers that agree with it so far by their next digit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ._blocks import Blocks
from ._client import client
from .tasks import tree_reduce

_BITS = 8  # more at a time would be fewer passes, and tables of 2¹⁶ counts for every set and part


def medians(values: Callable[..., list[Floats]], X: Blocks, others: Sequence[Any], n: int) -> Floats:
    """The medians of n sets of positive numbers, 0 for an empty one; `values(matrix, other part)` is what a part adds to each."""
    prefixes = np.zeros((n, 2), dtype=np.uint64)  # of the lower and the upper of the two numbers in the middle
    ranks: NDArray[np.int64] | None = None
    for shift in range(64 - _BITS, -1, -_BITS):
        tasks = X.delayed(_CountDigits(values, prefixes, shift), others)
        counts = client().compute(tree_reduce(_sum, tasks)).result()  # (n, 2, 256)
        if ranks is None:
            n_numbers = counts[:, 0].sum(axis=1)
            ranks = np.stack([(n_numbers - 1) // 2, n_numbers // 2], axis=1)
        for i, j in np.ndindex(n, 2):
            reached = counts[i, j].cumsum()
            digit = int(np.searchsorted(reached, ranks[i, j], side="right")) if reached[-1] else 0
            ranks[i, j] -= reached[digit - 1] if digit else 0
            prefixes[i, j] |= np.uint64(digit << shift)
    return np.asarray(prefixes.view(np.float64).mean(axis=1))


class _CountDigits:
    """How many numbers of a part agree with each prefix, by their next digit."""

    def __init__(self, values: Callable[..., list[Floats]], prefixes: NDArray[np.uint64], shift: int) -> None:
        self.values, self.prefixes, self.shift = values, prefixes, shift

    def __call__(self, matrix: Any, other: Any) -> NDArray[np.int64]:
        counts = np.zeros((*self.prefixes.shape, 1 << _BITS), dtype=np.int64)
        for i, numbers in enumerate(self.values(matrix, other)):
            bits = np.ascontiguousarray(numbers, dtype=np.float64).view(np.uint64)
            for j, prefix in enumerate(self.prefixes[i]):
                above = np.uint64(self.shift + _BITS)
                agree = bits if above == 64 else bits[(bits >> above) == (prefix >> above)]
                digits = (agree >> np.uint64(self.shift)) & np.uint64((1 << _BITS) - 1)
                counts[i, j] += np.bincount(digits.astype(np.int64), minlength=1 << _BITS)
        return counts


def _sum(*counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.sum(counts, axis=0)
