"""Labels and weights in parts: which classes there are, and which texts of each part are positive.

The classes are known only once every part was seen, so there are two passes: what stands in a part, then, with the classes
of all, its texts as signs. What is summed up on the way is all that costs and checks need to know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from dask.delayed import delayed
from distributed import Future
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from .._typing import Floats
from ..errors import LabelError, TextmarginError
from ..labels import ClassLabels
from ._blocks import Blocks, compute_parts
from ._client import client
from ._parts import align_parts
from ._spill import SpilledArrays


class Counts(NamedTuple):
    """Texts of positive weight, those of them that are positive, and the same as sums of weights."""

    n_texts: int
    n_positive: NDArray[np.int64]  # (n_problems,)
    weight: float
    positive_weight: Floats  # (n_problems,)


@dataclass(frozen=True)
class Targets:
    """Per part `SpilledArrays`: `positive` (n_problems, n_texts) and `weight` (n_texts,); the classes, and counts of all."""

    labels: ClassLabels
    parts: list[Any]  # futures
    counts: Counts


def read_targets(y: Any, sample_weight: Any, X: Blocks, learner: str) -> Targets:
    """The labels and weights of a matrix that is persisted."""
    at, sizes = client(), X.sizes or ()
    given = [y_part if isinstance(y_part, Future) else delayed(y_part, pure=False) for y_part in align_parts(y, X, "y")]
    weights = [None] * len(X) if sample_weight is None else align_parts(sample_weight, X, "sample_weight")
    kind_of, spill = delayed(_label_kind, pure=False), delayed(_spill, pure=False)
    kinds = at.gather(at.compute([kind_of(part, size, i) for i, (part, size) in enumerate(zip(given, sizes, strict=True))]))
    labels = _labels(kinds, learner)
    parts = compute_parts(
        [spill(part, weight, size, labels, i) for i, (part, weight, size) in enumerate(zip(given, weights, sizes, strict=True))]
    )
    per_part: list[Counts] = at.gather([at.submit(_count, part, pure=False) for part in parts])
    counts = Counts(*(sum(values[1:], values[0]) for values in zip(*per_part, strict=True)))
    labels.require_both_sides(counts.n_positive, counts.n_texts)
    return Targets(labels, parts, counts)


def _label_kind(y: Any, size: int, i: int) -> NDArray[Any] | int:
    """The classes of a part; for an indicator its number of columns."""
    y = _array(y)
    if len(y) != size:
        raise TextmarginError(
            f"Part {i} of y has {len(y)} rows, but this part of X has {size}; both must be cut at the same texts."
        )
    if y.ndim == 1:
        return np.unique(y)
    if not np.isin(y, (0, 1)).all():
        raise LabelError(f"Part {i} of y is a table with other values than 0 and 1; give classes, or an indicator matrix.")
    return int(y.shape[1])


def _labels(kinds: Sequence[NDArray[Any] | int], learner: str) -> ClassLabels:
    widths = {kind for kind in kinds if isinstance(kind, int)}
    if widths:
        if len(widths) > 1 or any(not isinstance(kind, int) for kind in kinds):
            raise LabelError(
                "Parts of y differ: each must be an indicator matrix with the same columns, or each a list of classes."
            )
        n_classes = widths.pop()
        return ClassLabels.of(np.arange(n_classes), multilabel=True)
    classes = np.unique(np.concatenate([kind for kind in kinds if np.size(kind)] or [np.empty(0)]))
    if classes.size < 2:
        raise LabelError(f"{learner} needs at least two classes; y has only {classes.size}: {classes.tolist()}.")
    kind = type_of_target(classes)
    if kind not in ("binary", "multiclass"):
        raise LabelError(f"Unknown label type: {kind}. {learner} takes classes, or a 0/1 indicator matrix for several per text.")
    return ClassLabels.of(classes, multilabel=False)


def _spill(y: Any, weight: Any, size: int, labels: ClassLabels, i: int) -> SpilledArrays:
    y = _array(y)
    weight = np.ones(size) if weight is None else np.asarray(weight, dtype=np.float64)
    if weight.shape != (size,):
        raise TextmarginError(f"Part {i} of sample_weight has shape {weight.shape}, but this part of X has {size} rows.")
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError(
            f"Part {i} of sample_weight has negative or infinite values, or NaN; weights are finite and not negative."
        )
    if labels.multilabel:
        positive = y.T != 0
    else:
        two = labels.kind == "binary"
        wanted = labels.names[1:] if two else labels.names
        positive = y[None, :] == wanted[:, None]
        known = positive.any(axis=0) | (y == labels.names[0]) if two else positive.any(axis=0)
        if not known.all():
            raise LabelError(
                f"Part {i} of y has {y[~known][0]!r}, which is none of the classes {labels.names[:8].tolist()}: are the parts "
                f"of one type, and the same each time they are computed?"
            )
    return SpilledArrays([positive, weight])


def _count(part: SpilledArrays) -> Counts:
    positive, weight = part.read(0), part.read(1)
    weighted = weight > 0
    return Counts(int(weighted.sum()), positive[:, weighted].sum(axis=1), float(weight.sum()), positive @ weight)


def _array(y: Any) -> NDArray[Any]:
    y = y.toarray() if sp.issparse(y) else np.asarray(y)
    return y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
