"""Many objectives over one matrix, minimised in step: one pass over the matrix is for all of them
(`src/core/many.hpp`).

The core works in single precision. What it cannot do, or not to the tolerance asked for, `newton` ends in
double precision from where it stands: few rows or weights, dense matrices, many columns beside the weights,
tolerances near the rounding of single precision, and objectives that rounding keeps from falling (columns of
very different scale, a huge C). On the hardest of these the duality gap tells whether digits ran out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed
from threadpoolctl import threadpool_limits

from .. import core
from .._system.parallel import run_jobs
from .._system.threads import n_threads
from .._typing import Floats
from ..errors import TooLargeError
from ._grouping import Start, Task, split_groups
from ._objectives import Objectives, ObjectiveTable, ObjectiveTables
from .matrix import (
    COPY_SHARE,
    ENTRY_BYTES,
    BlockMatrix,
    Matrix,
    column_sizes,
    local_texts,
    row_counts,
    squared_lengths,
)
from .newton import EXACT_SIZE, Solution, duality_gap, newton, on_hard_scales
from .objective import Objective, Point, canonical

LEAST_ENTRIES = 30_000  # of the matrix; with fewer, exact steps are as fast
_MOST_LOADED = 50_000_000  # entries of a matrix elsewhere that is taken to memory for double precision
_LEAST_TOL = 1e-7  # that single precision is asked for
_LARGEST, _SMALLEST = 1e9, 1e-9  # sizes of a matrix's values whose squares single precision holds well
_UNEVEN = 1e3  # columns of which one has values so many times as large as others
_FEW = 0.01  # of the columns
_STEEPEST = 1e5  # c‖x‖²/λ of a typical text; beyond, the loss is a cliff to single precision
_LIGHTEST, _HEAVIEST = 1e-20, 1e20  # costs and penalty, which only their ratio matters of
_FURTHEST = 100.0  # beyond, the rounding of single precision is seen in margins of 1
_BACKGROUND_TOL = 1e-3
_NOT_ASKED_FOR: Floats = np.empty(0)  # shortfalls, which nobody needs of a minimum
_CONVERGED = 1  # of the ways in which the core leaves an objective


@dataclass(frozen=True)
class Batch:
    """How objectives are minimised.

    Parameters
    ----------
    tol, max_iter : as in `newton`
    n_jobs : int, threads of the core, and how many objectives `newton` has at a time, through joblib
    memory_share : float, of the memory given where texts lie elsewhere: for what the core holds of a group of
        objectives
    """

    tol: float
    max_iter: int
    n_jobs: int | None = None
    memory_share: float = 0.5

    def minimise(self, cases: Iterable[Task]) -> Iterator[Solution]:
        """The minimum of each objective, in their order; memory is that of a group of them."""
        texts = _TextsOnce()
        groups = split_groups(cases, self.memory_share, n_threads(self.n_jobs))
        while group := next(groups, None):
            solutions = iter(self._group(group, texts))
            del group  # before the next one is made
            yield from solutions

    def _group(self, cases: list[Task], texts: _TextsOnce) -> list[Solution]:
        solutions: list[Solution | None] = [None] * len(cases)
        together: dict[Any, list[int]] = {}
        tables = ObjectiveTables()
        for numbers in _in_blocks(cases):
            X, own = cases[numbers[0]][0].X, [cases[k] for k in numbers]
            for k, found in zip(numbers, X.minimise(own, self.tol, self.max_iter) or (), strict=False):
                solutions[k] = found
        for number, (objective, start) in enumerate(cases):
            if solutions[number] is not None:
                continue
            if _takes_single(objective, tables.of(objective), texts.look(objective.X)):
                key = id(objective.X), objective.penalty, len(objective.columns), start is None
                together.setdefault(key, []).append(number)
        for numbers in together.values():
            for number, solution in zip(
                numbers, self._in_step([cases[k] for k in numbers], texts), strict=True
            ):
                solutions[number] = solution
        left = [k for k, solution in enumerate(solutions) if solution is None or not self._ended(solution)]
        cases, left = self._in_double(cases, left, solutions, texts)
        for k, solution in zip(
            left, self._one_by_one([cases[k] for k in left], [solutions[k] for k in left]), strict=True
        ):
            solutions[k] = solution
        return [solution for solution in solutions if solution is not None]

    def _in_double(
        self, cases: list[Task], left: list[int], solutions: list[Solution | None], texts: _TextsOnce
    ) -> tuple[list[Task], list[int]]:
        """The cases that double precision has yet to end, their matrices in memory; what is too large for
        that stays as it is.
        """
        loaded = {id(cases[k][0].X): texts.in_double(cases[k][0].X) for k in left}
        cases, going_on = list(cases), []
        for k in left:
            objective, start = cases[k]
            if (X := loaded[id(objective.X)]) is not None:
                cases[k] = objective.on(X), start
                going_on.append(k)
            elif solutions[k] is None:
                raise TooLargeError(
                    f"{objective.X.shape[0]:,} texts in blocks are learnt from in single precision, which "
                    "these do not suit: "
                    f"columns of very different scale, a huge C or more than {core.MOST_EXTRA_COLUMNS} "
                    "columns beside the "
                    f"weights. Scale the columns, lower C, or train on fewer texts in memory."
                )
        return cases, going_on

    def _ended(self, solution: Solution) -> bool:
        return solution.converged or solution.n_iter >= self.max_iter

    def _in_step(self, cases: list[Task], texts: _TextsOnce) -> list[Solution]:
        """What the core finds; not converged where it leaves the rest to `newton`."""
        group = Objectives.of([objective for objective, _ in cases])
        warm = cases[0][1] is not None
        if warm:
            w = np.array([start.w for _, start in cases if start is not None], dtype=np.float32)
            q = np.array([start.q for _, start in cases if start is not None], dtype=np.float64).reshape(
                len(cases), -1
            )
        else:
            w, q = group.origin()
            if q.shape[1] == 0 and len(cases) > 3:
                w[:], warm = self._background(group, texts), True
        tol = max(self.tol, _LEAST_TOL)
        scores, gap, n_iter, converged = group.descend(
            *texts.of(group.X, self.n_jobs), w, q, warm, tol, self.max_iter, self.n_jobs
        )
        fine = converged & (self.tol >= _LEAST_TOL)
        return [
            Solution(Point(own_w, own_q, _NOT_ASKED_FOR), int(n), bool(ended), float(own_gap), own_scores)
            for own_w, own_q, own_scores, n, ended, own_gap in zip(
                w, q, scores, n_iter, fine, gap, strict=True
            )
        ]

    def _background(self, group: Objectives, texts: _TextsOnce) -> Any:
        """The weights of a class that no text has: what rare classes without intercept resemble."""
        nobody = group.nobody()
        w, q = nobody.origin()
        nobody.descend(
            *texts.of(group.X, self.n_jobs), w, q, False, _BACKGROUND_TOL, self.max_iter, self.n_jobs
        )
        return w

    def _one_by_one(self, cases: list[Task], before: list[Solution | None]) -> Iterator[Solution]:
        if not cases:
            return
        jobs = (
            delayed(_newton)(
                objective.X,
                replace(objective, X=None),
                start if reached is None else Start(reached.point.w, reached.point.q),
                self.tol,
                self.max_iter,
                0 if reached is None else reached.n_iter,
            )
            for (objective, start), reached in zip(cases, before, strict=True)
        )
        # BLAS keeps to one thread in each, where its own threads would only wait for one another.
        with threadpool_limits(limits=1, user_api="blas"):
            yield from run_jobs(jobs, self.n_jobs)


@dataclass
class _Texts:
    """A matrix as the core holds it, made when it is first asked for."""

    X: Matrix
    suits: bool  # whether single precision holds it well
    mean_square: float  # of the length of its rows
    n_entries: int
    single: core.SparseTexts | None = None
    double: Matrix | None = None


class _TextsOnce:
    """What is known of matrices, each looked at once."""

    def __init__(self) -> None:
        self._known: dict[int, _Texts] = {}

    def of(self, X: Matrix, n_jobs: int | None) -> tuple[core.SparseTexts, int]:
        """What the core takes, and the entries of active rows that it may copy at a time."""
        texts = self.look(X)
        if texts.single is None:
            texts.single = X.solver_texts() if isinstance(X, BlockMatrix) else local_texts(X)
        most = texts.n_entries * n_threads(n_jobs)
        return texts.single, int(min(most, X.work_memory * COPY_SHARE / ENTRY_BYTES)) if isinstance(
            X, BlockMatrix
        ) else most

    def look(self, X: Matrix) -> _Texts:
        if id(X) not in self._known:
            n_entries = int(row_counts(X).sum())
            sparse = not isinstance(X, np.ndarray)
            suits = (
                sparse and n_entries >= LEAST_ENTRIES and X.shape[1] < np.iinfo(np.int32).max and _is_even(X)
            )
            mean_square = float(squared_lengths(X).sum()) / X.shape[0] if suits else 0.0
            self._known[id(X)] = _Texts(X, suits, mean_square, n_entries)
        return self._known[id(X)]

    def in_double(self, X: Matrix) -> Matrix | None:
        """The matrix in memory and in double precision; None where it is too large."""
        texts = self.look(X)
        if not isinstance(X, BlockMatrix):
            return X
        if texts.n_entries > _MOST_LOADED:
            return None
        if texts.double is None:
            texts.double = canonical(X.take(np.arange(X.shape[0])))
        return texts.double


def _in_blocks(cases: list[Task]) -> Iterable[list[int]]:
    """The objectives over each matrix that lies elsewhere, by their numbers, with as many columns each."""
    numbers: dict[Any, list[int]] = {}
    for number, (objective, _) in enumerate(cases):
        if isinstance(objective.X, BlockMatrix):
            key = id(objective.X), objective.penalty, len(objective.columns)
            numbers.setdefault(key, []).append(number)
    return numbers.values()


def _is_even(X: Matrix) -> bool:
    """Whether the columns are of a like size, and none is out of reach: else steps in single precision lead
    astray.

    Of many columns a few may be as small as they like: words that only very long texts have.
    """
    counts, sizes = column_sizes(X)
    typical = sizes[counts > 0] / counts[counts > 0]
    typical = typical[typical > 0]
    if not typical.size:
        return False
    least, most = float(np.quantile(typical, _FEW, method="lower")), float(typical.max())
    return least > _SMALLEST and most < _LARGEST and most < _UNEVEN * least


def _takes_single(objective: Objective, table: ObjectiveTable, texts: _Texts) -> bool:
    if not texts.suits or len(objective.columns) > core.MOST_EXTRA_COLUMNS:
        return False
    n_counted, n_positive = table.counts(objective.held_out)
    if min(n_counted, objective.X.shape[1]) <= EXACT_SIZE or not 0 < n_positive < n_counted:
        return False
    if not all(_LIGHTEST < size < _HEAVIEST for size in (table.heaviest, objective.penalty)):
        return False
    steepness = texts.mean_square * table.heaviest / objective.penalty
    furthest = max(np.abs(objective.columns.Z).max(initial=0.0), table.furthest)
    return bool(steepness < _STEEPEST and furthest <= _FURTHEST)


def _newton(
    X: Matrix, objective: Objective, start: Start | None, tol: float, max_iter: int, n_before: int
) -> Solution:
    """One objective in double precision. The matrix is an argument of its own: all share it, and a worker
    gets it once.
    """
    objective = replace(objective, X=X)
    point = None if start is None else start.point(objective)
    found = newton(objective, start=point, tol=tol, max_iter=max_iter - n_before)
    found = replace(found, n_iter=found.n_iter + n_before)
    if not on_hard_scales(objective, found.point):
        return found
    gap = 2 * duality_gap(objective, found.point)
    return replace(found, gap=gap, converged=found.converged and gap <= tol)
