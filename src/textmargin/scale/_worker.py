"""One worker's share of a pass: its parts, one after another, for all topics that asked for something.

Sums are taken part by part in their order, into the same vectors, so that memory holds one part and the vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ._partial_sums import PartOfTopic, bend, look, moved, normal, nothing, product, rows_of
from ._requests import Bend, Kept, Look, Move, Product, Request, Rows, Topic
from ._spill import Stored, opened


def run_share(
    parts: Sequence[Any],
    targets: Sequence[Stored],
    topics: Sequence[Topic],
    kept: Mapping[int, Stored],
    common: Floats,
    own: Sequence[Floats],
    requests: Sequence[Request],
) -> tuple[list[Any], Stored]:
    """The answers to all requests, and what `Look` and `Move` leave behind.

    In place of its weights a request holds a number: of a row of `common`, or for a `Product` of one of `own` (see `packed`).
    Left behind are the numbers per text of each `Look` and `Move`, and then the columns of each full `Look`, in their order.
    """
    n_features = parts[0].shape[1]
    asked = [_unpacked(request, common, own, kept, n_features) for request in requests]
    answers = [nothing(request, topics[request.topic], n_features) for request in asked]
    sizes = [part.shape[0] for part in parts]
    left = Stored()
    for request in asked:
        if isinstance(request, Look):
            left.add(float, (sum(sizes), 1))
        elif isinstance(request, Move):
            left.add(float, (sum(sizes), len(topics[request.topic].V) + (request.weights is not None)))
    start = 0
    for part, size, target in zip(parts, sizes, targets, strict=True):
        _add_part(answers, asked, part, target, topics, kept, left, slice(start, start + size))
        start += size
    for i, request in enumerate(asked):
        if isinstance(request, Look) and request.full:
            loss, n_active, vectors, *rest = answers[i]
            columns = np.flatnonzero(vectors[0]).astype(np.int32)
            left.write(left.add(columns.dtype, columns.shape), 0, columns)
            answers[i] = loss, n_active, columns, vectors[:, columns], *rest
        elif isinstance(request, Product):
            image, through = answers[i]
            answers[i] = image[_columns(kept, request.look)], through
    return answers, left


def _add_part(
    answers: list[Any],
    asked: Sequence[Any],
    part: Any,
    target: Stored,
    topics: Sequence[Topic],
    kept: Mapping[int, Stored],
    left: Stored,
    rows: slice,
) -> None:
    """Add what one part has to say to all answers."""
    # Slope and curvature in a plane need no text, only the numbers that are left of them.
    X = None if all(isinstance(request, Bend) for request in asked) else opened(part)
    positive, weight = target.read(0), target.read(1)
    places = iter(range(len(left)))
    for i, request in enumerate(asked):
        here = PartOfTopic(topics[request.topic], positive[request.topic], weight)
        if isinstance(request, Look):
            shortfall = here.shortfall(X, request.weights, request.intercept)
            left.write(next(places), rows.start, shortfall)
            answers[i] = look(answers[i], here, X, shortfall, request.full)
            continue
        shortfall = _numbers(kept, request.look)[rows, 0]
        match request:
            case Product():
                direction: Any = request.weights  # unpacked
                answers[i] = product(answers[i], here, X, shortfall, direction)
            case Move(weights=along, intercept=intercept):
                moves = moved(here, X, along, intercept)
                left.write(next(places), rows.start, moves)
                answers[i] = bend(answers[i], here, shortfall, moves, None)
            case Bend(move=move, theta=theta):
                answers[i] = bend(answers[i], here, shortfall, _numbers(kept, move)[rows], theta)
            case Rows():
                answers[i] = rows_of(answers[i], here, X, shortfall)
            case _:
                answers[i] = normal(answers[i], here, X, shortfall)


def packed(requests: Sequence[Request], n_shares: int) -> tuple[list[Any], list[Floats], list[list[Floats]]]:
    """Requests with a number in place of their weights; the weights that all shares need, and those of each share."""
    light: list[Any] = []
    common: list[Floats] = []
    own: list[list[Floats]] = [[] for _ in range(n_shares)]
    for request in requests:
        if isinstance(request, Product):
            light.append(replace(request, weights=len(own[0])))  # type: ignore[arg-type]
            for vectors, weights in zip(own, request.weights, strict=True):
                vectors.append(weights)
        elif isinstance(request, Look | Move) and request.weights is not None:
            light.append(replace(request, weights=len(common)))  # type: ignore[arg-type]
            common.append(request.weights)
        else:
            light.append(request)
    return light, common, own


def _unpacked(request: Any, common: Floats, own: Sequence[Floats], kept: Mapping[int, Stored], n_features: int) -> Any:
    if isinstance(request, Product):
        direction = np.zeros(n_features)
        direction[_columns(kept, request.look)] = own[request.weights]  # type: ignore[call-overload]
        return replace(request, weights=direction)  # type: ignore[arg-type]
    number = getattr(request, "weights", None)
    return request if number is None else replace(request, weights=common[number])


def _numbers(kept: Mapping[int, Stored], where: Kept) -> Floats:
    """The numbers per text that an earlier pass left."""
    return kept[where.at].read(where.place)


def _columns(kept: Mapping[int, Stored], where: Kept) -> NDArray[np.int32]:
    """The columns that the active texts have."""
    return kept[where.at].read(where.columns)


def answers_alone(*given: Any) -> list[Any]:
    """`run_share` where nothing is left behind."""
    return run_share(*given)[0]
