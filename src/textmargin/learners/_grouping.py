"""Which objectives are minimised together: as many as there is memory for, since each group goes over all
texts.

Refits of one class without a fold each differ in nothing else. They come one after the other, stay together,
and share what is known of the texts for that class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby

import numpy as np

from .._typing import Floats
from .matrix import BlockMatrix
from .objective import Objective, Point

_GROUP_BYTES = 400e6  # of what the core holds of a group of objectives over texts in memory
_LEAST, _MOST = 8, 512  # objectives of such a group; of any group
_OWN_BYTES = 25  # of each text and objective, in memory
_TABLE_BYTES = 21  # of each text and table, of texts elsewhere: signs, costs and margins, and the core's


@dataclass(frozen=True)
class Start:
    """Where to start from: weights, and the coefficients of the columns."""

    w: Floats
    q: Floats

    def point(self, objective: Objective) -> Point:
        return objective.point(np.asarray(self.w, dtype=np.float64), self.q)


Task = tuple[Objective, Start | None]  # what to minimise, and from where


def split_groups(tasks: Iterable[Task], memory_share: float, n_threads: int) -> Iterator[list[Task]]:
    """Tasks in groups, in their order.

    Parameters
    ----------
    tasks : iterable of Task
    memory_share : float, of the memory given where texts lie elsewhere
    n_threads : int
        Of refits a group has a multiple of so many tables, where it has more: each thread takes one at a
        time. Other groups do not depend on it, since where a class starts from depends on its group.
    """
    group: list[list[Task]] = []
    for piece in _pieces(tasks, memory_share):
        while group and not _fits([*group, piece], memory_share):
            rest = len(group) % n_threads if len(group) > n_threads and len(group[0]) > 1 else 0
            yield list(chain(*group[: len(group) - rest]))
            group = group[len(group) - rest :]
        group.append(piece)
    if group:
        yield list(chain(*group))


def table_key(objective: Objective) -> tuple[int, ...]:
    """The same for objectives that share what is known of the texts."""
    offset = objective.offset
    return (
        id(objective.y),
        id(objective.costs),
        id(objective.margins),
        0 if isinstance(offset, float) else id(offset),
    )


def _pieces(tasks: Iterable[Task], memory_share: float) -> Iterator[list[Task]]:
    """Tasks that share a table, no more than there is room for."""
    for _, some in groupby(tasks, key=lambda task: table_key(task[0])):
        piece: list[Task] = []
        for task in some:
            if piece and not _fits([[*piece, task]], memory_share):
                yield piece
                piece = []
            piece.append(task)
        yield piece


def _fits(pieces: list[list[Task]], memory_share: float) -> bool:
    """Whether there is room for some pieces at a time; objectives over one matrix take as much each."""
    n, one = sum(map(len, pieces)), pieces[0][0][0]
    return n <= _MOST and len(pieces) * _table_bytes(one) + n * _objective_bytes(one) <= _room(
        one, memory_share
    )


def _objective_bytes(objective: Objective) -> float:
    X = objective.X
    n, d = X.shape
    own = (
        X.bytes_per_text + 4 * max(len(objective.columns) - 1, 0)
        if isinstance(X, BlockMatrix)
        else _OWN_BYTES
    )
    return own * n + 16 * d


def _table_bytes(objective: Objective) -> float:
    if not isinstance(objective.X, BlockMatrix):
        return 0
    # with the scores of priors, twice
    return (_TABLE_BYTES + 16 * max(len(objective.columns) - 1, 0)) * objective.X.shape[0]


def _room(objective: Objective, memory_share: float) -> float:
    if isinstance(objective.X, BlockMatrix):
        return memory_share * objective.X.work_memory
    return max(_GROUP_BYTES, _LEAST * _objective_bytes(objective))
