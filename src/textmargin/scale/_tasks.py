"""Work on a list of things, one task each, and on what these give, in a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from dask.delayed import Delayed, delayed

from ._client import client, homes


def delay_each(function: Callable[..., Any], items: Sequence[Any], *others: Any) -> list[Delayed]:
    """`function(item, *others)` for each, when it is needed, and again whenever it is."""
    task: Any = delayed(function, pure=False)
    return [task(item, *others) for item in items]


def gather_each(function: Callable[..., Any], items: Sequence[Any], *others: Any) -> list[Any]:
    """The results for each, which should be small: they come back."""
    cluster = client()
    results: list[Any] = cluster.gather(cluster.compute(delay_each(function, items, *others)))
    return results


def compute_parts(tasks: Sequence[Delayed]) -> list[Any]:
    """Futures of one task per part, neighbours on the same worker."""
    at = client()
    return [
        future
        for address, (first, last) in split_evenly(len(tasks), homes(at))
        for future in at.compute(list(tasks[first:last]), workers=[address], allow_other_workers=True)
    ]


def split_evenly(n_parts: int, threads: Sequence[str]) -> list[tuple[str, tuple[int, int]]]:
    """For each worker, named as often as it has threads, its parts from the first to before the last; some
    may have none.

    Examples
    --------
    >>> from textmargin.scale._tasks import split_evenly
    >>> split_evenly(7, ["a", "a", "b"])
    [('a', (0, 5)), ('b', (5, 7))]
    >>> split_evenly(1, ["a", "b"])
    [('a', (0, 1))]
    """
    n_shares = min(n_parts, len(threads))
    places = [(threads[i * n_shares // n_parts], i) for i in range(n_parts)]
    shares = ((address, [i for _, i in own]) for address, own in groupby(places, key=itemgetter(0)))
    return [(address, (own[0], own[-1] + 1)) for address, own in shares]


def tree_reduce(function: Callable[..., Any], items: Sequence[Any], at_once: int = 8) -> Delayed:
    """`function(*items)` a few neighbours at a time, and again on what these give, so that no worker holds
    many of them.
    """
    task: Any = delayed(function, pure=False)
    results = list(items)
    while len(results) > 1:
        results = [task(*results[i : i + at_once]) for i in range(0, len(results), at_once)]
    return results[0]
