"""Work on a list of things, one task each, and on what these give, in a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dask.bag as db
from dask.delayed import Delayed, delayed

from ._client import client


def delay_each(function: Callable[..., Any], items: Sequence[Any], *others: Any) -> list[Delayed]:
    """`function(item, *others)` for each, when it is needed, and again whenever it is."""
    task: Any = delayed(function, pure=False)
    return [task(item, *others) for item in items]


def persist_each(function: Callable[..., Any], items: Sequence[Any], *others: Any) -> list[Any]:
    """The same as futures: computed once, and kept on the workers."""
    results: list[Any] = client().compute(delay_each(function, items, *others))
    return results


def gather_each(function: Callable[..., Any], items: Sequence[Any], *others: Any) -> list[Any]:
    """The results for each, which should be small: they come back."""
    cluster = client()
    results: list[Any] = cluster.gather(cluster.compute(delay_each(function, items, *others)))
    return results


def tree_reduce(function: Callable[..., Any], items: Sequence[Any], at_once: int = 8) -> Delayed:
    """`function(*items)` a few neighbours at a time, and again on what these give, so that no worker holds many of them."""
    task: Any = delayed(function, pure=False)
    results = list(items)
    while len(results) > 1:
        results = [task(*results[i : i + at_once]) for i in range(0, len(results), at_once)]
    return results[0]


def bag(lists: Sequence[Delayed]) -> Any:
    """A Dask bag of lists that are tasks."""
    from_delayed: Any = db.from_delayed
    return from_delayed(lists)
