"""Work on a list of things, one task each, and on what these give, in a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dask.bag as db
from dask.delayed import Delayed, delayed

from ._client import client


def later(function: Callable[..., Any], things: Sequence[Any], *others: Any) -> list[Delayed]:
    """`function(thing, *others)` for each, when it is needed, and again whenever it is."""
    task: Any = delayed(function, pure=False)
    return [task(thing, *others) for thing in things]


def kept(function: Callable[..., Any], things: Sequence[Any], *others: Any) -> list[Any]:
    """The same as futures: computed once, and kept on the workers."""
    found: list[Any] = client().compute(later(function, things, *others))
    return found


def now(function: Callable[..., Any], things: Sequence[Any], *others: Any) -> list[Any]:
    """The results for each, which should be small: they come back."""
    at = client()
    found: list[Any] = at.gather(at.compute(later(function, things, *others)))
    return found


def combined(function: Callable[..., Any], things: Sequence[Any], at_once: int = 8) -> Delayed:
    """`function(*things)` a few neighbours at a time, and again on what these give, so that no worker holds many of them."""
    task: Any = delayed(function, pure=False)
    found = list(things)
    while len(found) > 1:
        found = [task(*found[i : i + at_once]) for i in range(0, len(found), at_once)]
    return found[0]


def bag(lists: Sequence[Delayed]) -> Any:
    """A Dask bag of lists that are tasks."""
    collected: Any = db.from_delayed
    return collected(lists)
