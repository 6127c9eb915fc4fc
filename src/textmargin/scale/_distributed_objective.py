"""One topic's objective where texts lie in parts: the questions of `descend`, answered by sums over the parts.

`minimise` is a generator of requests (`_requests.py`); whoever runs it answers each of them, for many topics in one pass.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import Floats
from ..learners import newton
from ..learners.newton import CG_MAX_STEPS, Direction, Solution, View, descend
from ..learners.objective import ExtraColumns, Objective, Point, invert_block
from ._line_search import search_plane
from ._requests import (
    ActiveRowsRequest,
    Answer,
    DirectionRequest,
    GradientRequest,
    NormalEquationsRequest,
    PlaneRequest,
    ProductRequest,
    Request,
    ResultHandle,
    TopicSettings,
)

Requests: TypeAlias = Generator[Request, Any, Any]  # each request is answered by an Answer


@dataclass(frozen=True)
class Iterate:
    """Where Newton's method is: a `Point` without the numbers per text."""

    w: Floats
    q: Floats


@dataclass(frozen=True)
class _ActiveSums:
    """Sums over the active texts at an iterate, on the columns that these have."""

    handle: ResultHandle
    n_rows: int
    columns: NDArray[np.intp]
    positions: list[NDArray[np.intp]]  # per share, where its own columns are among these
    diagonal: Floats  # of X'CX
    XCe: Floats
    ZCX: Floats
    ZCe: Floats
    ZCZ: Floats

    @classmethod
    def of(cls, answer: Answer, n_features: int) -> _ActiveSums:
        own = [share[2] for share in answer.shares]
        present = np.zeros(n_features, dtype=bool)
        for some in own:
            present[some] = True
        columns, position = np.flatnonzero(present), present.cumsum() - 1
        positions = [position[some] for some in own]
        vectors = _sum_columns([share[3] for share in answer.shares], positions, columns.size)
        n_rows, ZCe, ZCZ = (sum(values[1:], values[0]) for values in (zip(*((s[1], *s[4:]) for s in answer.shares), strict=True)))
        return cls(answer.handle, n_rows, columns, positions, vectors[0], vectors[1], vectors[2:], ZCe, ZCZ)


def _stack(parts: Sequence[Any]) -> Any:
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


def _sum_columns(values: Sequence[Floats], positions: Sequence[NDArray[np.intp]], size: int) -> Floats:
    """The sum of what shares give on some columns each."""
    total = np.zeros((*values[0].shape[:-1], size))
    for some, where in zip(values, positions, strict=True):
        total[..., where] += some
    return total


class DistributedObjective:
    """One topic's objective, as the driver sees it, and how it is minimised."""

    def __init__(
        self, number: int, topic: TopicSettings, penalty: float, pull: Floats, target: Floats, offset: Floats | None
    ) -> None:
        self.number = number
        self.topic = topic
        self.penalty = penalty
        self.pull = pull  # of the columns, the intercept first
        self.target = target
        self.offset = offset  # Vη of the priors that are held
        self.value = np.nan  # J at the latest iterate
        self._latest: tuple[Iterate, float, ResultHandle] | None = None

    def minimise(self, start: Iterate | None, n_features: int, tol: float, max_iter: int) -> Requests:
        """Requests, until the optimum is reached; returns the Solution."""
        origin = Iterate(np.zeros(n_features), np.zeros(self.pull.size))
        answers: dict[Any, Any] = {
            newton.value: self._value,
            newton.look: self._look,
            newton.downhill: self._downhill,
            newton.exact: self._exact,
            newton.conjugate_gradients: self._conjugate_gradients,
            newton.search: self._search,
        }
        steps = descend(origin, start, tol=tol, max_iter=max_iter)
        answer = None
        while True:
            try:
                question, *given = steps.send(answer)
            except StopIteration as end:
                solution: Solution = end.value
                return solution
            answer = yield from answers[question](*given)

    def _evaluate(self, iterate: Iterate, full: bool) -> Requests:
        """J at an iterate and, if full, the sums over the active texts."""
        weights, intercept = self._scorer(iterate)
        weights = weights if self.offset is None else weights + self.offset
        answer = yield GradientRequest(self.number, weights if weights.any() else None, intercept, full)
        loss = sum(share[0] for share in answer.shares)
        shift = iterate.q - self.target
        value = 0.5 * float(self.penalty * (iterate.w @ iterate.w) + loss + self.pull @ (shift * shift))
        self._latest = iterate, value, answer.handle
        self.value = value
        return value, (_ActiveSums.of(answer, iterate.w.size) if full else None)

    def _scorer(self, iterate: Iterate | Direction) -> tuple[Floats, float]:
        """Weights and intercept that score texts as w and the columns together do."""
        q = iterate.q[1:] if self.topic.intercept else iterate.q
        return (iterate.w + q @ self.topic.V if q.any() else iterate.w), (float(iterate.q[0]) if self.topic.intercept else 0.0)

    def _value(self, iterate: Iterate) -> Requests:
        if self._latest is not None and self._latest[0] is iterate:
            return self._latest[1]
        return (yield from self._evaluate(iterate, full=False))[0]

    def _look(self, iterate: Iterate) -> Requests:
        value, active = yield from self._evaluate(iterate, full=True)
        return View(value, min(active.n_rows, iterate.w.size + iterate.q.size), active)

    def _downhill(self, iterate: Iterate, view: View) -> Requests:
        w = -self.penalty * iterate.w
        w[view.active.columns] += view.active.XCe
        return Direction(w, np.zeros_like(iterate.q), float(w @ w), exact=False)
        yield

    def _exact(self, iterate: Iterate, view: View) -> Requests:
        """By the in-memory step: on the active texts where they are few, or on as few texts as have the same normal equations."""
        active: _ActiveSums = view.active
        d = iterate.w.size
        if active.n_rows == 0:
            X, y, costs, Z, e = np.empty((0, d)), np.empty(0), np.empty(0), np.empty((0, iterate.q.size)), np.empty(0)
        elif active.n_rows <= view.size:
            (rows,) = (yield ActiveRowsRequest(self.number, active.handle)).total()
            X, y, costs, Z, e = (_stack(parts) for parts in zip(*rows, strict=True))
        else:
            (table,) = (yield NormalEquationsRequest(self.number, active.handle)).total()
            values, vectors = np.linalg.eigh(table)
            root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
            X, Z, e = np.ascontiguousarray(root[:, :d]), np.ascontiguousarray(root[:, d:-1]), root[:, -1]
            y = costs = np.ones(e.size)
        # Errors count from this iterate: without its own scores they are the goal.
        goal = e + X @ iterate.w + Z @ iterate.q
        columns = ExtraColumns(Z, self.pull, self.target)
        objective = Objective(X, y, costs, y * goal, columns, self.penalty)
        everything = View(view.value, view.size, np.arange(y.size))
        return newton.exact(objective, Point(iterate.w, iterate.q, y * e), everything)

    def _conjugate_gradients(self, iterate: Iterate, view: View, precision: float) -> Requests:
        """The twin of `newton.hpp`: X'C(1 − ZM⁻¹Z'C)X times a vector is one pass, with Z'CX known from the gradient."""
        at: _ActiveSums = view.active
        gradient_q = self.pull * (iterate.q - self.target) - at.ZCe
        M_inverse = invert_block(at.ZCZ + np.diag(self.pull))
        residual = at.XCe - self.penalty * iterate.w[at.columns] + (M_inverse @ gradient_q) @ at.ZCX
        downhill = residual.copy()
        diagonal = 1.0 / (self.penalty + at.diagonal)
        p, through = np.zeros_like(residual), np.zeros_like(gradient_q)
        direction = residual * diagonal
        norm = float(residual @ direction)
        enough = precision * precision * norm
        for _ in range(CG_MAX_STEPS):
            if not norm > enough:
                break
            answer = yield ProductRequest(self.number, at.handle, [direction[where] for where in at.positions])
            image = _sum_columns([share[0] for share in answer.shares], at.positions, direction.size)
            z = sum(share[1] for share in answer.shares)
            image += self.penalty * direction - (M_inverse @ z) @ at.ZCX
            t = norm / float(direction @ image)
            p += t * direction
            through += t * z
            residual -= t * image
            scaled = residual * diagonal
            previous, norm = norm, float(residual @ scaled)
            direction = scaled + (norm / previous) * direction
        w = -iterate.w  # where no active text has a column, only the penalty counts
        untouched = max(float(w @ w - w[at.columns] @ w[at.columns]), 0.0)
        w[at.columns] = p
        decrement = float(downhill @ p + gradient_q @ M_inverse @ gradient_q) + self.penalty * untouched
        return Direction(w, -(M_inverse @ (gradient_q + through)), decrement, exact=False)

    def _search(self, iterate: Iterate, direction: Direction | None = None) -> Requests:
        """The best iterate in the plane of a direction and the columns; whether a full step changed no text's side."""
        k = self.pull.size
        if direction is None and k == 0:
            return iterate, True
        if self._latest is None or self._latest[0] is not iterate:
            yield from self._evaluate(iterate, full=False)
        assert self._latest is not None
        handle = self._latest[2]
        gradient_q = self.pull * (iterate.q - self.target)
        if direction is None:
            g, A = gradient_q, np.diag(self.pull)
            along = yield DirectionRequest(self.number, handle, None, 0.0)
        else:
            cross = self.pull * direction.q
            g = np.concatenate([[self.penalty * (iterate.w @ direction.w) + gradient_q @ direction.q], gradient_q])
            A = np.block([[np.array([[self.penalty * (direction.w @ direction.w) + cross @ direction.q]]), cross[None]],
                          [cross[:, None], np.diag(self.pull)]])  # fmt: skip
            along = yield DirectionRequest(self.number, handle, *self._scorer(direction))
        plane = search_plane(along.total(), g, A)
        sums: Any = None
        while True:
            try:
                theta = plane.send(sums)
            except StopIteration as end:
                theta, stayed = end.value
                break
            sums = (yield PlaneRequest(self.number, handle, along.handle, theta)).total()
        if direction is None:
            return Iterate(iterate.w, iterate.q + theta), stayed
        t, shift = theta[0], theta[1:]
        return Iterate(iterate.w + t * direction.w, iterate.q + t * direction.q + shift), stayed
