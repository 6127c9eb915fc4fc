"""Passes over all parts: what all topics ask for at a time goes out as one task per share, and comes back as sums.

Vectors go out as the argument of a task of their own: a worker that is lost takes nothing with it that the scheduler could not
have computed again, and Dask does so by itself.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from operator import itemgetter
from typing import Any

import numpy as np
from distributed import KilledWorker
from threadpoolctl import threadpool_limits

from ..errors import ClusterError
from ._blocks import Blocks, assign_homes
from ._client import broadcast, client, homes, large_tasks
from ._distributed_objective import DistributedObjective, Iterate
from ._requests import (
    Answer,
    DirectionRequest,
    GradientRequest,
    PlaneRequest,
    ProductRequest,
    Request,
    ResultHandle,
    TopicSettings,
)
from ._targets import Targets
from ._worker import answer_share, answers_only, pack

_MOST_BYTES = 200e6  # of vectors that a worker holds in one pass; more topics than that take turns


class Passes:
    """Answers requests by passes over the parts of a matrix and of its labels."""

    def __init__(self, X: Blocks, targets: Targets, topics: Sequence[TopicSettings], verbose: int = 0) -> None:
        self.client = client()
        self.n_features = X.n_columns
        home = assign_homes(len(X), homes(self.client))
        starts = [i for i in range(len(X)) if i == 0 or home[i] != home[i - 1]]
        self.shares = [
            (home[start], list(X.parts[start:end]), targets.parts[start:end])
            for start, end in zip(starts, [*starts[1:], len(X)], strict=True)
        ]
        self.topics = broadcast(list(topics))
        self.results: dict[int, list[Any]] = {}  # of each pass, per share
        self.verbose = verbose
        self.n_passes = 0
        self.seconds: list[float] = []  # of each pass

    def solve(
        self, objectives: Sequence[DistributedObjective], starts: Sequence[Iterate | None], *, tol: float, max_iter: int
    ) -> list[Any]:
        """The solution of each topic, all of them going on together."""
        minimisers = [
            objective.minimise(start, self.n_features, tol, max_iter) for objective, start in zip(objectives, starts, strict=True)
        ]
        solutions: list[Any] = [None] * len(objectives)
        pending: dict[int, Request] = {k: next(minimiser) for k, minimiser in enumerate(minimisers)}
        with threadpool_limits(limits=1, user_api="blas"):  # whose threads would be in the way of workers on this machine
            self._run_passes(objectives, minimisers, pending, solutions)
        return solutions

    def _run_passes(
        self,
        objectives: Sequence[DistributedObjective],
        minimisers: Sequence[Any],
        pending: dict[int, Request],
        solutions: list[Any],
    ) -> None:
        """Pass after pass, until every minimisation has returned its solution."""
        while pending:
            batch = self._batch(pending)
            began = time.perf_counter()
            answers = self.run([pending[k] for k in batch])
            for k, answer in zip(batch, answers, strict=True):
                try:
                    pending[k] = minimisers[k].send(answer)
                except StopIteration as end:
                    solutions[k] = end.value
                    del pending[k]
            self._release(pending.values())
            self.seconds.append(time.perf_counter() - began)
            self._log(objectives, len(pending))

    def run(self, requests: Sequence[Request]) -> list[Answer]:
        """What each request asks for, from each share, and its result on the workers."""
        self.n_passes += 1
        light, common, own = pack(requests, len(self.shares))
        weights = broadcast(np.array(common)) if common else None
        needed = sorted({handle.pass_number for request in requests for handle in _handles(request)})
        storing = [request for request in requests if isinstance(request, GradientRequest | DirectionRequest)]
        with large_tasks():
            shares = [
                self.client.submit(
                    answer_share if storing else answers_only,
                    *(parts, targets, self.topics, {k: self.results[k][i] for k in needed}, weights, own[i], light),
                    workers=[home],
                    allow_other_workers=True,
                    pure=False,
                )
                for i, (home, parts, targets) in enumerate(self.shares)
            ]
        futures = shares
        if storing:
            self.results[self.n_passes] = [self.client.submit(itemgetter(1), share, pure=False) for share in shares]
            futures = [self.client.submit(itemgetter(0), share, pure=False) for share in shares]
        try:
            answers = self.client.gather(futures)
        except KilledWorker as error:
            raise ClusterError(
                f"Workers died again and again in pass {self.n_passes}: {error}. Most often their memory is too small for "
                f"{self.n_features} columns; give them more, or keep fewer terms (min_df, max_features)."
            ) from error
        except BaseException:  # interrupted, or an error: let the workers stop too
            self.client.cancel([*shares, *futures])
            raise
        values, columns = count(), count(len(storing))
        return [
            Answer(
                [share[i] for share in answers],
                ResultHandle(
                    self.n_passes,
                    next(values) if isinstance(request, GradientRequest | DirectionRequest) else -1,
                    next(columns) if isinstance(request, GradientRequest) and request.full else -1,
                ),
            )
            for i, request in enumerate(requests)
        ]

    def _batch(self, pending: dict[int, Request]) -> list[int]:
        """As many topics as vectors of their requests have room for."""
        chosen: list[int] = []
        room = _MOST_BYTES
        for k, request in pending.items():
            n_vectors = {GradientRequest: 4, ProductRequest: 2, DirectionRequest: 1}.get(type(request), 0)
            room -= 8 * self.n_features * n_vectors
            if chosen and room < 0:
                break
            chosen.append(k)
        return chosen

    def _release(self, requests: Iterable[Request]) -> None:
        """Let go of results that nobody will ask for again."""
        used = {handle.pass_number for request in requests for handle in _handles(request)}
        self.results = {number: futures for number, futures in self.results.items() if number in used}

    def _log(self, objectives: Sequence[DistributedObjective], n_left: int) -> None:
        if self.verbose:
            total = np.nansum([objective.value for objective in objectives])
            print(
                f"pass {self.n_passes}: objective {total:.6g}, {n_left} of {len(objectives)} topics go on, "
                f"{self.seconds[-1]:.2f} s",
                file=sys.stderr,
                flush=True,
            )


def _handles(request: Request) -> Iterator[ResultHandle]:
    if not isinstance(request, GradientRequest):
        yield request.gradient
    if isinstance(request, PlaneRequest):
        yield request.direction
