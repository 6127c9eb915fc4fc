"""Objectives over one matrix as the core takes them: what is known of the texts in single precision, in
tables.

Objectives that differ only in the rows they are learnt without share a table; the rows are told apart by the
number of a fold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import core
from .._system.levels import vector_level
from .._system.threads import n_threads
from .._typing import Floats, Indices
from ._grouping import table_key
from .matrix import Matrix, Rows
from .objective import Objective

_CONVERGED = 1  # of the ways in which the core leaves an objective
_MOST_FOLDS = np.iinfo(np.int16).max


@dataclass(frozen=True)
class ObjectiveTable:
    """What some objectives have in common: signs, costs, and where scores should be."""

    y: Floats
    costs: Floats
    heaviest: float
    furthest: float  # goal
    n_counted: int
    n_positive: int

    @classmethod
    def of(cls, objective: Objective) -> ObjectiveTable:
        heaviest, furthest = float(objective.costs.max()), float(np.abs(_goal(objective)).max(initial=0.0))
        return cls(objective.y, objective.costs, heaviest, furthest, *_counts(objective.y, objective.costs))

    def counts(self, held_out: Rows | None) -> tuple[int, int]:
        """Rows that have a say, and those of them that are positive."""
        if held_out is None:
            return self.n_counted, self.n_positive
        without, positive = _counts(self.y[held_out], self.costs[held_out])
        return self.n_counted - without, self.n_positive - positive


class ObjectiveTables:
    """The tables of some objectives, each worked out once."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Objective, ObjectiveTable]] = {}

    def of(self, objective: Objective) -> ObjectiveTable:
        """That of an objective."""
        key = table_key(objective)
        if key not in self._known:
            self._known[key] = objective, ObjectiveTable.of(objective)
        return self._known[key][1]


@dataclass(frozen=True)
class Objectives:
    """Objectives over one matrix as the core takes them (`Problems` in `many.hpp`)."""

    X: Matrix
    weight: Any
    table: Any  # (n_objectives,), which row of the next three is an objective's
    sign: Any
    goal: Any
    costs: Any
    fold: Any  # (n_rows,), of rows that some objective is without; empty: there are none
    held_out: Any  # (n_objectives,), the fold that each is without, −1 for none
    shared: Any  # a column that all objectives have, such as that of the intercept; empty: none
    own: Any
    pull: Floats
    target: Floats
    penalty: float

    @classmethod
    def of(cls, objectives: list[Objective]) -> Objectives:
        objectives = _with_disjoint_folds(objectives)
        first = objectives[0]
        n, n_columns = first.X.shape[0], len(first.columns)
        distinct = {table_key(one): one for one in objectives}
        numbers = {key: number for number, key in enumerate(distinct)}
        shape = len(numbers), n
        sign, goal, costs = np.empty(shape, np.int8), np.empty(shape, np.float32), np.empty(shape, np.float32)
        for k, one in enumerate(distinct.values()):
            sign[k], costs[k], goal[k] = one.y, one.costs, _goal(one)
        fold, held_out = _number_folds(objectives)
        is_shared = n_columns > 0 and all(_same_first(one, first) for one in objectives)
        own = np.empty((len(objectives), n_columns - is_shared, n), np.float32)
        for k, one in enumerate(objectives):
            own[k] = one.columns.Z[:, int(is_shared) :].T
        return cls(
            first.X,
            first.costs.astype(np.float32),
            np.array([numbers[table_key(one)] for one in objectives], np.int32),
            sign,
            goal,
            costs,
            fold,
            held_out,
            np.ascontiguousarray(first.columns.Z[:, 0], dtype=np.float32)
            if is_shared
            else np.empty(0, np.float32),
            own,
            np.array([one.columns.pull for one in objectives]).reshape(len(objectives), n_columns),
            np.array([one.columns.target for one in objectives]).reshape(len(objectives), n_columns),
            first.penalty,
        )

    def descend(
        self,
        texts: core.SparseTexts,
        most_copied: int,
        w: Any,
        q: Floats,
        warm: bool,
        tol: float,
        max_iter: int,
        n_jobs: int | None,
    ) -> tuple[Any, Floats, Indices, Any]:
        """Minimise all from w and q, which are moved: scores, the last decrements, numbers of steps, and
        which converged.
        """
        scores, _, gap, n_iter, outcome = core.fit_classes(
            texts,
            vector_level(),
            self.weight,
            self.table,
            self.sign,
            self.goal,
            self.costs,
            self.fold,
            self.held_out,
            self.shared,
            self.own,
            self.pull,
            self.target,
            self.penalty,
            w,
            q,
            warm,
            tol,
            max_iter,
            n_threads(n_jobs),
            most_copied,
        )
        return scores, gap, n_iter.astype(np.intp), outcome == _CONVERGED

    def origin(self) -> tuple[Any, Floats]:
        """No weights, and no coefficients of columns."""
        return np.zeros((len(self.table), self.X.shape[1]), np.float32), np.zeros(self.pull.shape)

    def nobody(self) -> Objectives:
        """One objective: every text is outside the class, at the margin that texts outside most often
        have.
        """
        inside = self.sign[0] > 0
        margin = np.median(np.abs(self.goal[0][~inside])) if not inside.all() else 1.0
        sign = np.full_like(self.sign[:1], -1)
        first: dict[str, Any] = {name: getattr(self, name)[:1] for name in ("own", "pull", "target")}
        alone: dict[str, Any] = {
            "table": np.zeros(1, np.int32),
            "fold": np.empty(0, np.int16),
            "held_out": np.full(1, -1, np.int16),
        }
        return replace(
            self, sign=sign, goal=sign * np.float32(margin), costs=self.weight[None], **first, **alone
        )


def _goal(objective: Objective) -> NDArray[np.float32]:
    """m∘y − offset; 0 where the cost is."""
    counted = objective.costs > 0
    return np.where(
        counted, np.where(counted, objective.margins, 0) * objective.y - objective.offset, 0
    ).astype(np.float32)


def _counts(y: Floats, costs: Floats) -> tuple[int, int]:
    counted = costs > 0
    return int(np.count_nonzero(counted)), int(np.count_nonzero(counted & (y > 0)))


def _with_disjoint_folds(objectives: list[Objective]) -> list[Objective]:
    """The same, where sets of rows that are held out overlap or are too many with the rows left out of the
    costs instead.
    """
    sets = {id(one.held_out): one.held_out for one in objectives if one.held_out is not None}
    held_out = np.zeros(objectives[0].X.shape[0], dtype=bool)
    for rows in sets.values():
        held_out[rows] = True
    if len(sets) < _MOST_FOLDS and np.count_nonzero(held_out) == sum(rows.size for rows in sets.values()):
        return objectives
    return [
        one if one.held_out is None else replace(one, held_out=None).without(one.held_out)
        for one in objectives
    ]


def _number_folds(objectives: list[Objective]) -> tuple[Any, Any]:
    """The fold of each row, and the fold that each objective is without."""
    numbers: dict[int, int] = {}
    fold = np.empty(0, np.int16)
    held_out = np.full(len(objectives), -1, np.int16)
    for k, one in enumerate(objectives):
        if one.held_out is None:
            continue
        if not fold.size:
            fold = np.full(one.X.shape[0], -2, np.int16)  # which no objective is without
        held_out[k] = numbers.setdefault(id(one.held_out), len(numbers))
        fold[one.held_out] = held_out[k]
    return fold, held_out


def _same_first(one: Objective, other: Objective) -> bool:
    Z, others = one.columns.Z, other.columns.Z
    return Z.base is others.base is not None or np.array_equal(Z[:, 0], others[:, 0])
