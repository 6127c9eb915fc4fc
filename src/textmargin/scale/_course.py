"""One topic's way to its optimum where texts lie in parts: the questions of `descend`, answered by sums over the parts.

`course` is a generator of requests (`_requests.py`); whoever runs it answers each of them, for many topics in one pass.
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
from ..learners.objective import Columns, Objective, Point, invert_block
from ._line_search import search_plane
from ._requests import Answer, Bend, Kept, Look, Move, Normal, Product, Request, Rows, Topic

Asking: TypeAlias = Generator[Request, Any, Any]  # each request is answered by an Answer


@dataclass(frozen=True)
class Place:
    """A point, without the texts."""

    w: Floats
    q: Floats


@dataclass(frozen=True)
class _Active:
    """Sums over the active texts at a place, on the columns that these have."""

    kept: Kept
    n_rows: int
    columns: NDArray[np.intp]
    positions: list[NDArray[np.intp]]  # per share, where its own columns are among these
    diagonal: Floats  # of X'CX
    XCe: Floats
    ZCX: Floats
    ZCe: Floats
    ZCZ: Floats

    @classmethod
    def of(cls, answer: Answer, n_features: int) -> _Active:
        own = [share[2] for share in answer.shares]
        present = np.zeros(n_features, dtype=bool)
        for some in own:
            present[some] = True
        columns, place = np.flatnonzero(present), present.cumsum() - 1
        positions = [place[some] for some in own]
        vectors = _spread([share[3] for share in answer.shares], positions, columns.size)
        n_rows, ZCe, ZCZ = (sum(values[1:], values[0]) for values in (zip(*((s[1], *s[4:]) for s in answer.shares), strict=True)))
        return cls(answer.kept, n_rows, columns, positions, vectors[0], vectors[1], vectors[2:], ZCe, ZCZ)


def _stacked(parts: Sequence[Any]) -> Any:
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


def _spread(values: Sequence[Floats], positions: Sequence[NDArray[np.intp]], size: int) -> Floats:
    """The sum of what shares give on some columns each."""
    total = np.zeros((*values[0].shape[:-1], size))
    for some, where in zip(values, positions, strict=True):
        total[..., where] += some
    return total


class Way:
    """One topic's objective, as the driver sees it, and the way down."""

    def __init__(self, number: int, topic: Topic, penalty: float, pull: Floats, target: Floats, offset: Floats | None) -> None:
        self.number = number
        self.topic = topic
        self.penalty = penalty
        self.pull = pull  # of the columns, the intercept first
        self.target = target
        self.offset = offset  # Vη of the priors that are held
        self.objective = np.nan  # J where it was looked at last
        self._last: tuple[Place, float, Kept] | None = None

    def course(self, start: Place | None, n_features: int, tol: float, max_iter: int) -> Asking:
        """Requests, until the optimum is reached; returns the Solution."""
        origin = Place(np.zeros(n_features), np.zeros(self.pull.size))
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

    def _seen(self, place: Place, full: bool) -> Asking:
        """J at a place and, if full, the sums over the active texts."""
        weights, intercept = self._scorer(place)
        weights = weights if self.offset is None else weights + self.offset
        answer = yield Look(self.number, weights if weights.any() else None, intercept, full)
        loss = sum(share[0] for share in answer.shares)
        pulled = place.q - self.target
        value = 0.5 * float(self.penalty * (place.w @ place.w) + loss + self.pull @ (pulled * pulled))
        self._last = place, value, answer.kept
        self.objective = value
        return value, (_Active.of(answer, place.w.size) if full else None)

    def _scorer(self, place: Place | Direction) -> tuple[Floats, float]:
        """Weights and intercept that score texts as w and the columns together do."""
        q = place.q[1:] if self.topic.intercept else place.q
        return (place.w + q @ self.topic.V if q.any() else place.w), (float(place.q[0]) if self.topic.intercept else 0.0)

    def _value(self, place: Place) -> Asking:
        if self._last is not None and self._last[0] is place:
            return self._last[1]
        return (yield from self._seen(place, full=False))[0]

    def _look(self, place: Place) -> Asking:
        value, active = yield from self._seen(place, full=True)
        return View(value, min(active.n_rows, place.w.size + place.q.size), active)

    def _downhill(self, place: Place, view: View) -> Asking:
        w = -self.penalty * place.w
        w[view.active.columns] += view.active.XCe
        return Direction(w, np.zeros_like(place.q), float(w @ w), exact=False)
        yield

    def _exact(self, place: Place, view: View) -> Asking:
        """By the in-memory step: on the active texts where they are few, or on as few texts as have the same normal equations."""
        active: _Active = view.active
        d = place.w.size
        if active.n_rows == 0:
            X, y, costs, Z, e = np.empty((0, d)), np.empty(0), np.empty(0), np.empty((0, place.q.size)), np.empty(0)
        elif active.n_rows <= view.size:
            (found,) = (yield Rows(self.number, active.kept)).total()
            X, y, costs, Z, e = (_stacked(parts) for parts in zip(*found, strict=True))
        else:
            (table,) = (yield Normal(self.number, active.kept)).total()
            values, vectors = np.linalg.eigh(table)
            root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
            X, Z, e = np.ascontiguousarray(root[:, :d]), np.ascontiguousarray(root[:, d:-1]), root[:, -1]
            y = costs = np.ones(e.size)
        # Errors count from this place: without its own scores they are the goal.
        goal = e + X @ place.w + Z @ place.q
        columns = Columns(Z, self.pull, self.target)
        objective = Objective(X, y, costs, y * goal, columns, self.penalty)
        everything = View(view.value, view.size, np.arange(y.size))
        return newton.exact(objective, Point(place.w, place.q, y * e), everything)

    def _conjugate_gradients(self, place: Place, view: View, precision: float) -> Asking:
        """The twin of `newton.hpp`: X'C(1 − ZM⁻¹Z'C)X times a vector is one pass, with Z'CX known from the look."""
        at: _Active = view.active
        gradient_q = self.pull * (place.q - self.target) - at.ZCe
        M_inverse = invert_block(at.ZCZ + np.diag(self.pull))
        residual = at.XCe - self.penalty * place.w[at.columns] + (M_inverse @ gradient_q) @ at.ZCX
        downhill = residual.copy()
        diagonal = 1.0 / (self.penalty + at.diagonal)
        p, through = np.zeros_like(residual), np.zeros_like(gradient_q)
        direction = residual * diagonal
        norm = float(residual @ direction)
        enough = precision * precision * norm
        for _ in range(CG_MAX_STEPS):
            if not norm > enough:
                break
            answer = yield Product(self.number, at.kept, [direction[where] for where in at.positions])
            image = _spread([share[0] for share in answer.shares], at.positions, direction.size)
            z = sum(share[1] for share in answer.shares)
            image += self.penalty * direction - (M_inverse @ z) @ at.ZCX
            t = norm / float(direction @ image)
            p += t * direction
            through += t * z
            residual -= t * image
            scaled = residual * diagonal
            previous, norm = norm, float(residual @ scaled)
            direction = scaled + (norm / previous) * direction
        w = -place.w  # where no active text has a column, only the penalty counts
        untouched = max(float(w @ w - w[at.columns] @ w[at.columns]), 0.0)
        w[at.columns] = p
        decrement = float(downhill @ p + gradient_q @ M_inverse @ gradient_q) + self.penalty * untouched
        return Direction(w, -(M_inverse @ (gradient_q + through)), decrement, exact=False)

    def _search(self, place: Place, direction: Direction | None = None) -> Asking:
        """The best place in the plane of a direction and the columns; whether a full step changed no text's side."""
        k = self.pull.size
        if direction is None and k == 0:
            return place, True
        if self._last is None or self._last[0] is not place:
            yield from self._seen(place, full=False)
        assert self._last is not None
        kept = self._last[2]
        pulled = self.pull * (place.q - self.target)
        if direction is None:
            g, A = pulled, np.diag(self.pull)
            move = yield Move(self.number, kept, None, 0.0)
        else:
            cross = self.pull * direction.q
            g = np.concatenate([[self.penalty * (place.w @ direction.w) + pulled @ direction.q], pulled])
            A = np.block([[np.array([[self.penalty * (direction.w @ direction.w) + cross @ direction.q]]), cross[None]],
                          [cross[:, None], np.diag(self.pull)]])  # fmt: skip
            move = yield Move(self.number, kept, *self._scorer(direction))
        plane = search_plane(move.total(), g, A)
        bent: Any = None
        while True:
            try:
                theta = plane.send(bent)
            except StopIteration as end:
                theta, stayed = end.value
                break
            bent = (yield Bend(self.number, kept, move.kept, theta)).total()
        if direction is None:
            return Place(place.w, place.q + theta), stayed
        t, shift = theta[0], theta[1:]
        return Place(place.w + t * direction.w, place.q + t * direction.q + shift), stayed
