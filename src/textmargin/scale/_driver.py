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
from ._blocks import Blocks, share_out
from ._client import client, homes, large_tasks, sent
from ._course import Place, Way
from ._requests import Answer, Bend, Kept, Look, Move, Product, Request, Topic
from ._targets import Targets
from ._worker import answers_alone, packed, run_share

_MOST_BYTES = 200e6  # of vectors that a worker holds in one pass; more topics than that take turns


class Passes:
    """Answers requests by passes over the parts of a matrix and of its labels."""

    def __init__(self, X: Blocks, targets: Targets, topics: Sequence[Topic], verbose: int = 0) -> None:
        self.client = client()
        self.n_features = X.n_columns
        home = share_out(len(X), homes(self.client))
        starts = [i for i in range(len(X)) if i == 0 or home[i] != home[i - 1]]
        self.shares = [
            (home[start], list(X.parts[start:end]), targets.parts[start:end])
            for start, end in zip(starts, [*starts[1:], len(X)], strict=True)
        ]
        self.topics = sent(list(topics))
        self.kept: dict[int, list[Any]] = {}  # per pass and share, numbers per text
        self.verbose = verbose
        self.n_passes = 0
        self.seconds: list[float] = []  # of each pass

    def solve(self, ways: Sequence[Way], starts: Sequence[Place | None], *, tol: float, max_iter: int) -> list[Any]:
        """The solution of each topic, all of them going on together."""
        courses = [way.course(start, self.n_features, tol, max_iter) for way, start in zip(ways, starts, strict=True)]
        solutions: list[Any] = [None] * len(ways)
        asked: dict[int, Request] = {k: next(course) for k, course in enumerate(courses)}
        with threadpool_limits(limits=1, user_api="blas"):  # whose threads would be in the way of workers on this machine
            self._go(ways, courses, asked, solutions)
        return solutions

    def _go(self, ways: Sequence[Way], courses: Sequence[Any], asked: dict[int, Request], solutions: list[Any]) -> None:
        """Pass after pass, until every course has returned its solution."""
        while asked:
            batch = self._batch(asked)
            began = time.perf_counter()
            answers = self.run([asked[k] for k in batch])
            for k, answer in zip(batch, answers, strict=True):
                try:
                    asked[k] = courses[k].send(answer)
                except StopIteration as end:
                    solutions[k] = end.value
                    del asked[k]
            self._forget(asked.values())
            self.seconds.append(time.perf_counter() - began)
            self._tell(ways, len(asked))

    def run(self, requests: Sequence[Request]) -> list[Answer]:
        """What each request asks for, from each share, and where the numbers per text are that it leaves."""
        self.n_passes += 1
        light, common, own = packed(requests, len(self.shares))
        weights = sent(np.array(common)) if common else None
        needed = sorted({kept.at for request in requests for kept in _uses(request)})
        leaving = [request for request in requests if isinstance(request, Look | Move)]
        with large_tasks():
            done = [
                self.client.submit(
                    run_share if leaving else answers_alone,
                    *(parts, targets, self.topics, {at: self.kept[at][i] for at in needed}, weights, own[i], light),
                    workers=[home],
                    allow_other_workers=True,
                    pure=False,
                )
                for i, (home, parts, targets) in enumerate(self.shares)
            ]
        found = done
        if leaving:
            self.kept[self.n_passes] = [self.client.submit(itemgetter(1), share, pure=False) for share in done]
            found = [self.client.submit(itemgetter(0), share, pure=False) for share in done]
        try:
            answers = self.client.gather(found)
        except KilledWorker as error:
            raise ClusterError(
                f"Workers died again and again in pass {self.n_passes}: {error}. Most often their memory is too small for "
                f"{self.n_features} columns; give them more, or keep fewer terms (min_df, max_features)."
            ) from error
        except BaseException:  # interrupted, or an error: let the workers stop too
            self.client.cancel([*done, *found])
            raise
        places, columns = count(), count(len(leaving))
        return [
            Answer(
                [share[i] for share in answers],
                Kept(
                    self.n_passes,
                    next(places) if isinstance(request, Look | Move) else -1,
                    next(columns) if isinstance(request, Look) and request.full else -1,
                ),
            )
            for i, request in enumerate(requests)
        ]

    def _batch(self, asked: dict[int, Request]) -> list[int]:
        """As many topics as vectors of their requests have room for."""
        chosen: list[int] = []
        room = _MOST_BYTES
        for k, request in asked.items():
            n_vectors = {Look: 4, Product: 2, Move: 1}.get(type(request), 0)
            room -= 8 * self.n_features * n_vectors
            if chosen and room < 0:
                break
            chosen.append(k)
        return chosen

    def _forget(self, requests: Iterable[Request]) -> None:
        """Let go of numbers that nobody will ask for again."""
        used = {kept.at for request in requests for kept in _uses(request)}
        self.kept = {at: futures for at, futures in self.kept.items() if at in used}

    def _tell(self, ways: Sequence[Way], n_left: int) -> None:
        if self.verbose:
            objective = np.nansum([way.objective for way in ways])
            print(
                f"pass {self.n_passes}: objective {objective:.6g}, {n_left} of {len(ways)} topics go on, "
                f"{self.seconds[-1]:.2f} s",
                file=sys.stderr,
                flush=True,
            )


def _uses(request: Request) -> Iterator[Kept]:
    if not isinstance(request, Look):
        yield request.look
    if isinstance(request, Bend):
        yield request.move
