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
from ._partial_sums import (
    PartOfTopic,
    add_active_rows,
    add_gradient,
    add_normal_equations,
    add_plane,
    add_product,
    score_changes,
    zero_sums,
)
from ._requests import (
    ActiveRowsRequest,
    DirectionRequest,
    GradientRequest,
    PlaneRequest,
    ProductRequest,
    Request,
    ResultHandle,
    TopicSettings,
)
from ._spill import SpilledArrays, load


def answer_share(
    parts: Sequence[Any],
    targets: Sequence[SpilledArrays],
    topics: Sequence[TopicSettings],
    results: Mapping[int, SpilledArrays],
    common: Floats,
    own: Sequence[Floats],
    packed_requests: Sequence[Request],
) -> tuple[list[Any], SpilledArrays]:
    """The answers to all requests, and the results for later passes.

    In place of its weights a request holds a number: of a row of `common`, or for a `ProductRequest` of one of `own` (`pack`).
    Results are the numbers per text of each `GradientRequest` and `DirectionRequest`, and then the columns of each full
    `GradientRequest`, in their order.
    """
    n_features = parts[0].shape[1]
    requests = [_unpack(request, common, own, results, n_features) for request in packed_requests]
    answers = [zero_sums(request, topics[request.topic], n_features) for request in requests]
    sizes = [part.shape[0] for part in parts]
    output = SpilledArrays()
    for request in requests:
        if isinstance(request, GradientRequest):
            output.add(float, (sum(sizes), 1))
        elif isinstance(request, DirectionRequest):
            output.add(float, (sum(sizes), len(topics[request.topic].V) + (request.weights is not None)))
    start = 0
    for part, size, target in zip(parts, sizes, targets, strict=True):
        _add_part(answers, requests, part, target, topics, results, output, slice(start, start + size))
        start += size
    for i, request in enumerate(requests):
        if isinstance(request, GradientRequest) and request.full:
            loss, n_active, vectors, *rest = answers[i]
            columns = np.flatnonzero(vectors[0]).astype(np.int32)
            output.write(output.add(columns.dtype, columns.shape), 0, columns)
            answers[i] = loss, n_active, columns, vectors[:, columns], *rest
        elif isinstance(request, ProductRequest):
            image, through = answers[i]
            answers[i] = image[_columns(results, request.gradient)], through
    return answers, output


def _add_part(
    answers: list[Any],
    requests: Sequence[Any],
    part: Any,
    target: SpilledArrays,
    topics: Sequence[TopicSettings],
    results: Mapping[int, SpilledArrays],
    output: SpilledArrays,
    rows: slice,
) -> None:
    """Add what one part has to say to all answers."""
    # Slope and curvature in a plane need no text, only the results of earlier passes.
    X = None if all(isinstance(request, PlaneRequest) for request in requests) else load(part)
    positive, weight = target.read(0), target.read(1)
    slots = iter(range(len(output)))
    for i, request in enumerate(requests):
        here = PartOfTopic(topics[request.topic], positive[request.topic], weight)
        if isinstance(request, GradientRequest):
            shortfall = here.shortfall(X, request.weights, request.intercept)
            output.write(next(slots), rows.start, shortfall)
            answers[i] = add_gradient(answers[i], here, X, shortfall, request.full)
            continue
        shortfall = _numbers(results, request.gradient)[rows, 0]
        match request:
            case ProductRequest():
                direction: Any = request.weights  # unpacked
                answers[i] = add_product(answers[i], here, X, shortfall, direction)
            case DirectionRequest(weights=along, intercept=intercept):
                changes = score_changes(here, X, along, intercept)
                output.write(next(slots), rows.start, changes)
                answers[i] = add_plane(answers[i], here, shortfall, changes, None)
            case PlaneRequest(direction=along, theta=theta):
                answers[i] = add_plane(answers[i], here, shortfall, _numbers(results, along)[rows], theta)
            case ActiveRowsRequest():
                answers[i] = add_active_rows(answers[i], here, X, shortfall)
            case _:
                answers[i] = add_normal_equations(answers[i], here, X, shortfall)


def pack(requests: Sequence[Request], n_shares: int) -> tuple[list[Any], list[Floats], list[list[Floats]]]:
    """Requests with a number in place of their weights; the weights that all shares need, and those of each share."""
    light: list[Any] = []
    common: list[Floats] = []
    own: list[list[Floats]] = [[] for _ in range(n_shares)]
    for request in requests:
        if isinstance(request, ProductRequest):
            light.append(replace(request, weights=len(own[0])))  # type: ignore[arg-type]
            for vectors, weights in zip(own, request.weights, strict=True):
                vectors.append(weights)
        elif isinstance(request, GradientRequest | DirectionRequest) and request.weights is not None:
            light.append(replace(request, weights=len(common)))  # type: ignore[arg-type]
            common.append(request.weights)
        else:
            light.append(request)
    return light, common, own


def _unpack(request: Any, common: Floats, own: Sequence[Floats], results: Mapping[int, SpilledArrays], n_features: int) -> Any:
    if isinstance(request, ProductRequest):
        direction = np.zeros(n_features)
        direction[_columns(results, request.gradient)] = own[request.weights]  # type: ignore[call-overload]
        return replace(request, weights=direction)  # type: ignore[arg-type]
    number = getattr(request, "weights", None)
    return request if number is None else replace(request, weights=common[number])


def _numbers(results: Mapping[int, SpilledArrays], handle: ResultHandle) -> Floats:
    """The numbers per text of an earlier pass."""
    return results[handle.pass_number].read(handle.values)


def _columns(results: Mapping[int, SpilledArrays], handle: ResultHandle) -> NDArray[np.int32]:
    """The columns that the active texts have."""
    return results[handle.pass_number].read(handle.columns)


def answers_only(*given: Any) -> list[Any]:
    """`answer_share` where no later pass needs a result."""
    return answer_share(*given)[0]
