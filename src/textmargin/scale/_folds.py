"""Scores of refitted folds where texts lie in parts: the folds of the in-memory class, text by text, whatever the parts.

Which text is in which fold is drawn for all texts at once, a byte per text; each part then takes its own rows out, or only them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from .._typing import Floats
from ..decisions.held_out import Fitter
from ..labels import ClassLabels
from ._blocks import Blocks
from ._client import client
from ._spill import SpilledArrays, SpilledMatrix, load
from ._targets import Targets

_MOST = 250  # folds, so that their numbers are bytes


def fold_scores(fitter: Fitter, X: Blocks, targets: Targets, n_folds: int, random_state: int | None) -> Blocks:
    """Scores by models fitted without the text's fold, (n_texts, n_problems); NaN where the other folds lacked a class."""
    labels = targets.labels
    ends = np.cumsum(X.sizes or ()).tolist()
    fold, n_folds = _assign_folds(targets, ends[-1], min(n_folds, _MOST), random_state)
    own = [delayed(part, pure=False) for part in np.split(fold, ends[:-1])]
    per_fold = _learnable(labels, *_count_outside(targets, own, n_folds))
    models: list[tuple[int, NDArray[np.bool_], Blocks]] = []
    for j, learnable in enumerate(per_fold):
        if not learnable.any():
            continue
        if not learnable.all():
            fitter.refuse_settings_by_class(labels.names[~learnable][0])
        rest, held_out = (Blocks(X.delayed(_rows, own, [(j, out)] * len(X)), X.n_columns) for out in (False, True))
        y = _zip_each(_labels_of, targets.parts, own, j, labels, learnable)
        weight = {"sample_weight": _zip_each(_weights_of, targets.parts, own, j)} if fitter.weighs else {}
        model = clone(fitter.estimator).fit(rest, y, **weight)
        models.append((j, learnable, model.scores(held_out).persist()))
    join: Any = delayed(_join_scores, pure=False)
    parts = [
        join(part, labels.n_problems, [(j, learnable, scores.parts[i]) for j, learnable, scores in models])
        for i, part in enumerate(own)
    ]
    # Not `persist`, which has no place for NaN.
    return Blocks(client().compute(parts), labels.n_problems, X.sizes)


def as_labels(positive: NDArray[np.bool_], labels: ClassLabels) -> NDArray[Any]:
    """Classes, or an indicator matrix, from which texts are positive (n_problems, n_texts); a single column as plain labels."""
    if not labels.multilabel:
        return np.asarray(labels.names[_numbers(positive)])
    return positive.T.astype(np.uint8) if len(positive) > 1 else positive[0].astype(np.uint8)


def _assign_folds(targets: Targets, n_texts: int, n_folds: int, random_state: int | None) -> tuple[NDArray[np.uint8], int]:
    """The fold of each text, as the in-memory class assigns them."""
    if targets.labels.multilabel:
        n_folds = min(n_folds, n_texts)
        rows = np.broadcast_to(np.int8(0), n_texts)
        folds = KFold(n_folds, shuffle=True, random_state=random_state).split(rows)
    else:
        at = client()
        codes = np.concatenate(at.gather([at.submit(_codes, part, pure=False) for part in targets.parts]))
        n_folds = max(2, min(n_folds, int(np.bincount(codes)[np.unique(codes)].min())))  # as many as every class can fill
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=random_state).split(codes, codes)
    fold = np.empty(n_texts, dtype=np.uint8)
    for j, (_, held_out) in enumerate(folds):
        fold[held_out] = j
    return fold, n_folds


def _count_outside(targets: Targets, own: list[Any], n_folds: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per fold the texts, and the positives of each problem (n_folds, n_problems), that are in the others."""
    at = client()
    per_part = at.gather(at.compute(_zip_each(_count_folds, targets.parts, own, n_folds)))
    inside = np.sum(per_part, axis=0)
    outside = inside.sum(axis=0) - inside
    return outside[:, 0], outside[:, 1:]


def _learnable(labels: ClassLabels, n_texts: NDArray[np.int64], n_positive: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """Per fold, which problems can be learnt from the other folds (`decisions.held_out`)."""
    per_fold = []
    for n, positive in zip(n_texts, n_positive, strict=True):
        learnable = (positive > 0) & (positive < n)
        if not labels.multilabel and labels.n_problems > 1:
            learnable = positive > 0
            # Two classes that are left of three make a problem of another kind, with one score instead of two.
            learnable = learnable if learnable.sum() > 2 else np.zeros_like(learnable)
        per_fold.append(learnable)
    return per_fold


def _zip_each(function: Any, parts: Any, own: list[Any], *others: Any) -> list[Any]:
    task: Any = delayed(function, pure=False)
    return [task(part, fold, *others) for part, fold in zip(parts, own, strict=True)]


def _rows(matrix: Any, fold: NDArray[np.uint8], which: tuple[int, bool]) -> Any:
    """The rows of a fold, or of all others."""
    j, held_out = which
    return matrix[np.flatnonzero((fold == j) == held_out)]


def _codes(target: SpilledArrays) -> NDArray[np.int32]:
    return _numbers(target.read(0))


def _numbers(positive: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The number of each text's class."""
    return (positive[0] if len(positive) == 1 else positive.argmax(axis=0)).astype(np.int32)


def _count_folds(target: SpilledArrays, fold: NDArray[np.uint8], n_folds: int) -> NDArray[np.int64]:
    positive = target.read(0)
    inside = [np.append((fold == j).sum(), positive[:, fold == j].sum(axis=1)) for j in range(n_folds)]
    return np.asarray(inside, dtype=np.int64)


def _labels_of(
    target: SpilledArrays, fold: NDArray[np.uint8], j: int, labels: ClassLabels, learnable: NDArray[np.bool_]
) -> NDArray[Any]:
    """The labels of the texts outside a fold, as far as they can be learnt."""
    positive = target.read(0)[:, fold != j]
    return as_labels(positive[learnable] if labels.multilabel else positive, labels)


def _weights_of(target: SpilledArrays, fold: NDArray[np.uint8], j: int) -> Floats:
    return target.read(1)[fold != j]


def _join_scores(fold: NDArray[np.uint8], n_problems: int, scored: list[tuple[int, NDArray[np.bool_], Any]]) -> SpilledMatrix:
    """The scores of a part's texts, each from the model that has not seen it."""
    scores = np.full((fold.size, n_problems), np.nan)
    for j, learnable, part in scored:
        scores[np.ix_(fold == j, learnable)] = load(part)
    return SpilledMatrix(scores)
