"""The texts of one class ranked by score where they lie in parts: each part sorts its own, then neighbours merge.

Texts of equal score keep their order, so that the last run is, to the bit, what sorting all texts at once gives,
whatever the parts. A text takes nine bytes of it. Counting texts per distinct score would take sixteen and more for each: scores
are doubles, and hardly ever equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from .._typing import Floats
from .tasks import tree_reduce

_AT_ONCE = 8  # runs that one task merges: fewer would move every text more often, more would need more memory at a time


class SortedScores(NamedTuple):
    """A sorted run: texts by score, the highest first."""

    score: Floats
    positive: NDArray[np.bool_]
    weight: Floats | None


def sort_scores(score: Floats, positive: NDArray[np.bool_], weight: Floats | None) -> SortedScores:
    """The texts of one part that have a score (NaN: none)."""
    rows = np.flatnonzero(~np.isnan(score))
    return _take(SortedScores(score, positive, weight), rows[_order(score[rows])])


def merge(*runs: SortedScores) -> SortedScores:
    """Neighbouring runs as one."""
    weighted = runs[0].weight is not None
    score, positive = (np.concatenate([run[i] for run in runs]) for i in (0, 1))
    weight = np.concatenate([run.weight for run in runs if run.weight is not None]) if weighted else None
    return _take(SortedScores(score, positive, weight), _order(score))


def merge_tree(runs: Sequence[Delayed], at_once: int = _AT_ONCE) -> Delayed:
    """The task that gives all of them as one run."""
    return tree_reduce(merge, runs, at_once)


def _order(score: Floats) -> NDArray[np.intp]:
    # NumPy's stable sort looks for runs that are sorted already: on sorted runs end to end it is a merge.
    return np.argsort(-score, kind="stable")


def _take(run: SortedScores, order: NDArray[np.intp]) -> SortedScores:
    return SortedScores(run.score[order], run.positive[order], None if run.weight is None else run.weight[order])
