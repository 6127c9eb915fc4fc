"""What the driver asks of the parts: each request is about one topic, and its answer a sum over all texts.

| request   | gives, summed over the texts                                                                          |
|-----------|-------------------------------------------------------------------------------------------------------|
| `Look`    | at weights w: loss, number of active texts; with `full`, what Newton's quadratic is made of           |
| `Product` | the Hessian of the active texts times a direction                                                     |
| `Move`    | along a direction: slope and curvature in the plane of the direction and the columns, at its origin   |
| `Bend`    | the same elsewhere in that plane                                                                      |
| `Rows`    | the active texts themselves, where they are few                                                       |
| `Normal`  | the normal equations of the active texts, where the columns are few                                   |

`Look` and `Move` leave something behind on the workers, a number per text, for the requests that follow them. It can be had again
from the same weights, so nothing is lost for good with a worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeAlias

from .._typing import Floats


@dataclass(frozen=True)
class Topic:
    """What the parts must know of one topic: costs and margins of positive and negative texts, and the columns beside X."""

    costs: tuple[float, float]
    margins: tuple[float, float]
    intercept: bool
    V: Floats  # (n_moving, n_features): the priors whose trust is learnt


@dataclass(frozen=True)
class Kept:
    """Where a request's numbers per text are, and the columns of its active texts: which pass left them, in which places."""

    at: int
    place: int
    columns: int


@dataclass(frozen=True)
class Look:
    topic: int
    weights: Floats | None  # None for zeros; the priors' part is added in
    intercept: float
    full: bool


@dataclass(frozen=True)
class Product:
    topic: int
    look: Kept
    weights: Sequence[Floats]  # per share, on the columns that its active texts have


@dataclass(frozen=True)
class Move:
    topic: int
    look: Kept
    weights: Floats | None  # None: the plane of the columns alone
    intercept: float


@dataclass(frozen=True)
class Bend:
    topic: int
    look: Kept
    move: Kept
    theta: Floats


@dataclass(frozen=True)
class Rows:
    topic: int
    look: Kept


@dataclass(frozen=True)
class Normal:
    topic: int
    look: Kept


@dataclass(frozen=True)
class Answer:
    """What each share adds to the sums, in order, and where the numbers per text are that the request leaves."""

    shares: list[tuple[Any, ...]]
    kept: Kept

    def total(self) -> tuple[Any, ...]:
        """The sums over all shares."""
        return tuple(reduce(add, values) for values in zip(*self.shares, strict=True))


Request: TypeAlias = Look | Product | Move | Bend | Rows | Normal
