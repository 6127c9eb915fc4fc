"""Ties of decisions: scores that differ in their last digits alone count as equal.

Two texts with the same words have the same score, but its last digits depend on the processor, its BLAS and
the number of threads. The best class and the comparison with a threshold forgive them; nothing else does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._typing import Floats, Indices

ROUNDING = 1e-12  # relative: thousands of last digits, and far below any difference that means something


def tie_ranks(values: Any) -> Indices:
    """Per value along the last axis its rank from 0 for the highest; values that are equal but for rounding
    share one.
    """
    values = np.asarray(values, dtype=np.float64)
    order = np.argsort(-values, axis=-1, kind="stable")
    descending = np.take_along_axis(values, order, axis=-1)
    steps = np.zeros(values.shape, dtype=np.intp)
    steps[..., 1:] = ~_equal_neighbours(descending)
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, np.cumsum(steps, axis=-1), axis=-1)
    return ranks


def descending_order(values: Any) -> Indices:
    """The order of values along the last axis, highest first; of equal values the first comes first."""
    return np.argsort(-np.asarray(values, dtype=np.float64), axis=-1, kind="stable")


def without_rounding(values: Floats) -> Floats:
    """A vector in which values that are equal but for rounding are the same number, the lowest of them."""
    order = np.argsort(-values, kind="stable")
    descending = values[order]
    apart = ~_equal_neighbours(descending)
    if np.array_equal(apart, descending[1:] != descending[:-1]):  # as good as always
        return values
    last = np.append(np.flatnonzero(apart), values.size - 1)  # of each group of ties
    same = np.empty_like(values)
    same[order] = descending[np.repeat(last, np.diff(last, prepend=-1))]
    return same


def just_above(score: float) -> float:
    """A threshold that a score is below: by more than the rounding that decisions forgive, or it would be
    taken to be at it.
    """
    return float(score) + 4 * ROUNDING * max(abs(float(score)), 1.0)


def first_maximum(values: Any, rounding: float | Floats) -> Any:
    """Along the first axis the place of the first value that falls short of the highest by no more than
    rounding.
    """
    values = np.asarray(values)
    return np.argmax(values >= values.max(axis=0) - rounding, axis=0)


def _equal_neighbours(descending: Floats) -> Any:
    """Which values of a descending list are equal to the one before: beside their own size, or near 0 beside
    that of the list.
    """
    higher, lower = descending[..., :-1], descending[..., 1:]
    sizes = np.abs(descending)
    if descending.shape[-1] == 0:
        return np.zeros(higher.shape, dtype=bool)
    finite = np.isfinite(sizes)
    typical = np.median(np.where(finite, sizes, 0.0), axis=-1, keepdims=True)
    larger = np.maximum(np.maximum(sizes[..., :-1], sizes[..., 1:]), 0.01 * typical)
    with np.errstate(invalid="ignore"):
        close = higher - lower <= ROUNDING * larger
    return (higher == lower) | (close & finite[..., :-1] & finite[..., 1:])
