"""Held-out scores of all texts in one memory, or of a sample that fits there.

A sample has every text of the rare classes, and of the others every so manieth by a number made from its row, with a weight for
those that are left out: so it does not depend on how the texts are cut into parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from dask.delayed import delayed

from .._typing import Bools, Floats, Indices
from ..decisions.scores import HeldOutScores, Method
from ..labels import ClassLabels
from ._blocks import Blocks
from ._client import client
from ._spill import SpilledArrays, load
from ._targets import Targets

_MOST_ENTRIES = 50_000_000  # texts times classes: 400 MB of scores
_RARE = 2_000  # texts of a class that are all taken


class _Rows(NamedTuple):
    positive: Bools
    scores: Floats
    training: Floats
    weight: Floats


def gather_scores(
    held_out: Blocks,
    training: Blocks,
    targets: Targets,
    labels: ClassLabels,
    method: Method,
    few_positives: int,
    weighted: bool,
) -> HeldOutScores:
    """What thresholds are set on, from scores in parts."""
    cluster, sizes = client(), held_out.sizes or ()
    starts = np.cumsum([0, *sizes])[:-1]
    n_texts = int(sum(sizes))
    share = min(1.0, _MOST_ENTRIES / max(1, n_texts * labels.n_problems))
    rare = targets.counts.n_positive <= _RARE
    take = delayed(_take, pure=False)
    parts = zip(held_out.parts, training.parts, targets.parts, starts.tolist(), strict=True)
    found: list[_Rows] = cluster.gather(cluster.compute([take(*part, labels.sign, share, rare) for part in parts]))
    positive, scores, trained, weight = (np.concatenate(column) for column in zip(*found, strict=True))
    own_weight = weight if weighted or share < 1 else None
    return HeldOutScores.of(positive, scores, trained, method, labels, few_positives, own_weight)


def _take(held_out: object, training: object, target: SpilledArrays, start: int, sign: float, share: float, rare: Bools) -> _Rows:
    """The rows of a part that are wanted."""
    given, weight = np.asarray(target.read(0)).T, target.read(1)
    positive: Bools = given if sign > 0 else ~given
    rows: Indices = np.arange(len(positive))
    factor = np.ones(rows.size)
    if share < 1:
        always = given[:, rare].any(axis=1)
        number = (np.uint64(start) + rows.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)  # wraps: as good as random
        rows = np.flatnonzero(always | (number < np.uint64(share * 2**63) * np.uint64(2)))
        factor = np.where(always, 1.0, 1 / share)[rows]
    return _Rows(positive[rows], load(held_out)[rows], load(training)[rows], weight[rows] * factor)
