"""A matrix whose rows stay on the workers of a Dask cluster, and Newton's method by passes over them.

A pass is one task per share of the rows, where these are; its sums are added up here. All classes share a
pass: one for the scores of their directions, and one for each step of conjugate gradients, on the rows that
miss the margin of some class. Dask makes the rows of a worker that is lost anew.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._system.memory import machine_memory
from .._typing import Floats, Indices
from ..learners.matrix import BlockMatrix, column_sizes, row_counts, squared_lengths, times
from ..learners.newton import Direction, Solution, search
from ..learners.objective import NEGLIGIBLE, Objective, Point, invert_block

_PRECISION, _MOST_STEPS = 0.1, 250  # of conjugate gradients


class WorkerBlocks(BlockMatrix):
    """Rows in single precision, a share of them per thread of the cluster.

    Parameters
    ----------
    client : Dask client
    parts : sequence of futures of CSR matrices, one below the other
    n_columns : int
    """

    bytes_per_text = 60

    def __init__(self, client: Any, parts: Sequence[Any], n_columns: int) -> None:
        self._client, self.memory = client, machine_memory() / 2
        threads = [address for address, n in sorted(client.nthreads().items()) for _ in range(n)]
        cuts = np.linspace(0, len(parts), min(len(threads), len(parts)) + 1).astype(int)
        self._homes = threads[: len(cuts) - 1]
        groups = [parts[start:end] for start, end in pairwise(cuts)]
        self._shares = self._submit(_stack, groups)
        self._starts = np.cumsum([0, *(len(counts) for counts in self._each(row_counts))])
        self.shape = int(self._starts[-1]), n_columns

    def _submit(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Futures of a function of some arguments for each share, where its rows are."""
        submit = partial(self._client.submit, function, allow_other_workers=True, pure=False)
        places = zip(self._homes, *arguments, strict=True)
        return [submit(*own, workers=[home]) for home, *own in places]

    def _each(self, function: Callable[..., Any], *arguments: Sequence[Any], shares: Any = None) -> list[Any]:
        """What a function gives for each share."""
        own = self._shares if shares is None else shares
        results: list[Any] = self._client.gather(self._submit(function, own, *arguments))
        return results

    def _to_all(self, W: Any) -> list[Any]:
        """An array that all workers have, once each."""
        return [self._client.scatter(np.asarray(W, np.float32), broadcast=True, hash=False)] * len(
            self._homes
        )

    def _cut(self, rows: Any) -> list[Any]:
        rows = np.asarray(rows, np.float32)
        return [rows[start:end] for start, end in pairwise(self._starts)]

    def times(self, W: Floats, *, sizes: bool = False) -> Floats:
        """XW' (n_texts, k)."""
        parts = self._each(partial(times, sizes=sizes), self._to_all(W))
        return np.concatenate(parts, dtype=np.float64)

    def transposed_times(self, A: Floats) -> Floats:
        """A'X (k, n_columns)."""
        return _sum(self._each(_transposed_times, self._cut(A)))

    def squared_lengths(self) -> Floats:
        """Of each row."""
        return np.concatenate(self._each(squared_lengths), dtype=np.float64)

    def row_counts(self) -> Indices:
        """Values in each row."""
        return np.concatenate(self._each(row_counts))

    def column_sizes(self) -> tuple[Indices, Floats]:
        """Rows that have each column, and the sum of the sizes of its values."""
        counts, sizes = zip(*self._each(column_sizes), strict=True)
        return np.sum(counts, axis=0), np.sum(sizes, axis=0)

    def take(self, rows: Indices) -> sp.csr_matrix:
        """Some rows, in memory and in double precision."""
        order = np.argsort(rows, kind="stable")
        cuts = np.searchsorted(rows[order], self._starts)
        wanted = [
            rows[order[a:b]] - first for (a, b), first in zip(pairwise(cuts), self._starts, strict=False)
        ]
        stacked = sp.vstack(self._each(operator.getitem, wanted), format="csr", dtype=np.float64)
        return sp.csr_matrix(stacked[np.argsort(order)])

    def stacked(self, below: sp.csr_matrix) -> WorkerBlocks:
        """The same with some rows below."""
        more = self._client.submit(_stack, [sp.csr_matrix(below)], pure=False)
        return WorkerBlocks(self._client, [*self._shares, more], self.shape[1])

    def minimise(self, tasks: Sequence[Any], tol: float, max_iter: int) -> list[Solution]:
        """The minimum of each objective, all in step; a task is one, and where to start or None."""
        objectives = [one if one.held_out is None else one.without(one.held_out) for one, _ in tasks]
        starts = [
            one.point() if at is None else at.point(one)
            for one, (_, at) in zip(objectives, tasks, strict=True)
        ]
        points = [search(one, at)[0] for one, at in zip(objectives, starts, strict=True)]
        negligible = [NEGLIGIBLE * one.value(one.point()) for one in objectives]
        gaps, n_iter = np.full(len(points), np.inf), np.zeros(len(points), int)
        alive = list(range(len(points)))
        while alive and n_iter.max() < max_iter:
            found = self._directions([objectives[k] for k in alive], [points[k] for k in alive], gaps[alive])
            moves = self.times(np.array([direction.w for direction in found]))
            for k, direction, move in zip(alive, found, moves.T, strict=True):
                value = max(objectives[k].value(points[k]), negligible[k])
                points[k], _ = search(objectives[k], points[k], direction, move)
                gaps[k], n_iter[k] = max(direction.decrement, 0.0) / value, n_iter[k] + 1
            alive = [k for k in alive if gaps[k] > tol]
        raw = self.times(np.array([point.w for point in points])).T
        return [
            Solution(point, int(n), bool(gap <= tol), float(gap), own + one.columns.Z @ point.q)
            for one, point, n, gap, own in zip(objectives, points, n_iter, gaps, raw, strict=True)
        ]

    def _directions(self, objectives: list[Objective], points: list[Point], gaps: Floats) -> list[Direction]:
        """Newton's, by conjugate gradients in the weights, the extra columns eliminated."""
        (n, d), penalty = self.shape, objectives[0].penalty
        k, n_extra = len(objectives), len(objectives[0].columns)
        costs, errors, Z = np.zeros((n, k)), np.zeros((n, k)), np.zeros((n_extra, n, k))
        down_q, inverse = np.zeros((k, n_extra)), np.zeros((k, n_extra, n_extra))
        for i, (one, at) in enumerate(zip(objectives, points, strict=True)):
            rows, columns = one.active(at), one.columns
            costs[rows, i], errors[rows, i] = one.costs[rows], one.errors(at, rows)
            Z[:, :, i] = columns.Z.T
            CZ = costs[:, i, None] * columns.Z
            down_q[i] = CZ.T @ errors[:, i] - columns.pull * (at.q - columns.target)
            inverse[i] = invert_block(CZ.T @ columns.Z + np.diag(columns.pull))
        down = self.transposed_times(costs * errors) - penalty * np.array([point.w for point in points])
        cross = np.zeros((k, n_extra, d))
        for e in range(n_extra):
            cross[:, e] = self.transposed_times(costs * Z[e])
        shares = self._submit(_activate, self._shares, self._cut(costs))
        diagonal = penalty + _sum(self._each(_squares, shares=shares))
        residual = down - np.einsum("ked,kef,kf->kd", cross, inverse, down_q)
        w, towards = np.zeros((k, d)), residual / diagonal
        size = (residual * towards).sum(axis=1)
        goal = np.minimum(_PRECISION, np.sqrt(gaps)) ** 2 * size
        for _ in range(_MOST_STEPS):
            on = np.flatnonzero((size > goal) & (size > 0))
            if not on.size:
                break
            image = _sum(self._each(_product, self._to_all(towards[on]), [on] * len(shares), shares=shares))
            pulled = np.einsum("ked,kd->ke", cross[on], towards[on])
            image += penalty * towards[on] - np.einsum("ked,kef,kf->kd", cross[on], inverse[on], pulled)
            length = (size[on] / np.maximum((towards[on] * image).sum(axis=1), 1e-300))[:, None]
            w[on] += length * towards[on]
            residual[on] -= length * image
            scaled, before = residual[on] / diagonal[on], size[on]
            size[on] = (residual[on] * scaled).sum(axis=1)
            towards[on] = scaled + (size[on] / before)[:, None] * towards[on]
        q = np.einsum("kef,kf->ke", inverse, down_q - np.einsum("ked,kd->ke", cross, w))
        decrements = (down * w).sum(axis=1) + (down_q * q).sum(axis=1)
        return [Direction(*own, False) for own in zip(w, q, decrements.tolist(), strict=True)]


def _sum(parts: Sequence[Any]) -> Floats:
    return np.asarray(sum(parts[1:], parts[0].astype(np.float64)))


# What a worker does with its share of the rows


def _stack(parts: Sequence[Any]) -> sp.csr_matrix:
    return sp.csr_matrix(sp.vstack(parts, format="csr"), dtype=np.float32)


def _transposed_times(X: Any, A: Any) -> Any:
    return (X.T @ A).T


def _activate(X: Any, costs: Any) -> tuple[Any, Any]:
    rows = np.flatnonzero(costs.any(axis=1))
    return X[rows], costs[rows]


def _squares(active: tuple[Any, Any]) -> Any:
    return (active[0].power(2).T @ active[1]).T


def _product(active: tuple[Any, Any], W: Any, classes: Indices) -> Any:
    X, costs = active
    return (X.T @ (costs[:, classes] * (X @ W.T))).T
