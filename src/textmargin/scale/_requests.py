"""What the driver asks of the parts: each request is about one topic, and its answer a sum over all texts.

| request                  | gives, summed over the texts                                                                       |
|--------------------------|----------------------------------------------------------------------------------------------------|
| `GradientRequest`        | at weights w: loss, number of active texts; with `full`, what Newton's quadratic is made of        |
| `ProductRequest`         | the Hessian of the active texts times a direction                                                  |
| `DirectionRequest`       | slope and curvature in the plane of a direction and the columns, at its origin                     |
| `PlaneRequest`           | the same elsewhere in that plane                                                                   |
| `ActiveRowsRequest`      | the active texts themselves, where they are few                                                    |
| `NormalEquationsRequest` | the normal equations of the active texts, where the columns are few                                |

`GradientRequest` and `DirectionRequest` have results on the workers, a number per text, for the requests that follow them.
These can be had again from the same weights, so nothing is lost for good with a worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeAlias

from .._typing import Floats


@dataclass(frozen=True)
class TopicSettings:
    """What the parts must know of one topic: costs and margins of positive and negative texts, and the columns beside X."""

    costs: tuple[float, float]
    margins: tuple[float, float]
    intercept: bool
    V: Floats  # (n_moving, n_features): the priors whose trust is learnt


@dataclass(frozen=True)
class ResultHandle:
    """The result of a request on the workers: of which pass, and which of its arrays are the numbers per text and the columns."""

    pass_number: int
    values: int
    columns: int


@dataclass(frozen=True)
class GradientRequest:
    topic: int
    weights: Floats | None  # None for zeros; the priors' part is added in
    intercept: float
    full: bool


@dataclass(frozen=True)
class ProductRequest:
    topic: int
    gradient: ResultHandle
    weights: Sequence[Floats]  # per share, on the columns that its active texts have


@dataclass(frozen=True)
class DirectionRequest:
    topic: int
    gradient: ResultHandle
    weights: Floats | None  # None: the plane of the columns alone
    intercept: float


@dataclass(frozen=True)
class PlaneRequest:
    topic: int
    gradient: ResultHandle
    direction: ResultHandle
    theta: Floats


@dataclass(frozen=True)
class ActiveRowsRequest:
    topic: int
    gradient: ResultHandle


@dataclass(frozen=True)
class NormalEquationsRequest:
    topic: int
    gradient: ResultHandle


@dataclass(frozen=True)
class Answer:
    """What each share adds to the sums, in order, and its result on the workers."""

    shares: list[tuple[Any, ...]]
    handle: ResultHandle

    def total(self) -> tuple[Any, ...]:
        """The sums over all shares."""
        return tuple(reduce(add, values) for values in zip(*self.shares, strict=True))


Request: TypeAlias = (
    GradientRequest | ProductRequest | DirectionRequest | PlaneRequest | ActiveRowsRequest | NormalEquationsRequest
)
