"""Leave-one-out scores where texts lie in parts.

Only the texts inside the margin have other scores than the fitted model gives them, and these depend on nothing but such texts
(`learners/leave_one_out.py`). Per class they are brought together on one worker; there must be no more of them than the
in-memory class could take, and the others are never moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from dask.delayed import delayed
from numpy.typing import NDArray

from .._typing import Floats
from ..errors import ScoreError, TooLargeError
from ..labels import ClassLabels, OneVsRest
from ..learners.leave_one_out import MAX_SIZE
from ..learners.problem import Problem
from ..learners.trust import Fit, Solver
from ._blocks import Blocks
from ._client import client
from ._spill import SpilledArrays, load
from ._targets import Targets
from .primal import PriorSVC

_MODES = ("plain", "fixed", "ridge")  # the others would have to look at texts outside the margin as well


class _Sides(NamedTuple):
    """What one class asks of its positive and of its other texts."""

    costs: tuple[float, float]
    margins: tuple[float, float]


class _Inside(NamedTuple):
    """The texts of a part that are inside the margin."""

    X: Any
    y: Floats
    costs: Floats
    margins: Floats


def leave_one_out_scores(estimator: Any, X: Blocks, targets: Targets, trained: Blocks) -> Blocks:
    """The score of every text by the model trained on all others, (n_texts, n_problems)."""
    if not isinstance(estimator, PriorSVC):
        raise ScoreError(f"{type(estimator).__name__} has no leave-one-out scores on parts; use scores='cv'.")
    modes = sorted(set(estimator.trust_mode_) - set(_MODES))
    if modes:
        raise ScoreError(f"Leave-one-out scores on parts cannot be had with trust={modes[0]!r}; use scores='cv'.")
    labels, cluster = targets.labels, client()
    sides = [_sides(estimator, targets, k) for k in range(labels.n_problems)]
    both = list(zip(trained.parts, targets.parts, strict=True))
    counts = np.array(cluster.gather(cluster.compute([delayed(_count, pure=False)(*part, sides) for part in both])))
    _refuse_many(counts.sum(axis=0), labels)
    inside, solve, put = (delayed(function, pure=False) for function in (_inside, _solve, _put))
    solver = Solver(estimator.trust_strength, estimator.tol, estimator.max_iter)
    columns = []
    for k, fit in enumerate(estimator.fits()):
        settings = {"penalty": 1.0 / (2.0 * estimator.C), "fit_intercept": estimator.fit_intercept, "V": estimator.prior_[k]}
        inside_parts = [inside(part, *rest, k, sides[k]) for part, rest in zip(X.parts, both, strict=True)]
        columns.append(cluster.compute(solve(inside_parts, solver, fit, settings)))
    starts = np.cumsum(counts, axis=0) - counts
    parts = [put(*part, sides, own, columns) for part, own in zip(both, starts.tolist(), strict=True)]
    return Blocks(parts, labels.n_problems, X.sizes)


def _sides(estimator: PriorSVC, targets: Targets, k: int) -> _Sides:
    """Costs and margins of the positive and the other texts of a class, before the texts' own weights."""
    labels, total, own = targets.labels, targets.counts.weight, float(targets.counts.positive_weight[k])
    both = OneVsRest(labels, np.repeat([[True], [False]], labels.n_problems, axis=1))
    costs = np.zeros(2) + both.costs(estimator.class_weight, k, np.array([own, total - own]))
    margins = estimator.margin_pair()
    return _Sides((float(costs[0]), float(costs[1])), margins)


def _refuse_many(counts: NDArray[np.int64], labels: ClassLabels) -> None:
    most = int(counts.argmax())
    if counts[most] > MAX_SIZE:
        raise TooLargeError(
            f"Leave-one-out scores of class {labels.name(most)!r} need a dense matrix as large as the {counts[most]} texts "
            f"inside its margin, more than {MAX_SIZE}; use scores='cv'."
        )


def _inside_margin(
    scores: Floats, target: SpilledArrays, k: int, sides: _Sides
) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
    """Which of a part's texts are inside the margin; signs, costs and margins of all."""
    positive = target.read(0)[k]
    y = np.where(positive, 1.0, -1.0)
    costs = np.where(positive, *sides.costs) * target.read(1)
    margins = np.where(positive, *sides.margins)
    return np.flatnonzero((costs > 0) & (margins - y * scores[:, k] > 0)), y, costs, margins


def _count(scores: Any, target: SpilledArrays, sides: Sequence[_Sides]) -> NDArray[np.int64]:
    """Per class, how many texts are inside the margin."""
    scores = load(scores)
    return np.array([_inside_margin(scores, target, k, side)[0].size for k, side in enumerate(sides)], dtype=np.int64)


def _inside(part: Any, scores: Any, target: SpilledArrays, k: int, sides: _Sides) -> _Inside:
    rows, y, costs, margins = _inside_margin(load(scores), target, k, sides)
    return _Inside(load(part)[rows], y[rows], costs[rows], margins[rows])


def _solve(parts: Sequence[_Inside], solver: Solver, fit: Fit, settings: dict[str, Any]) -> Floats:
    """The scores of the texts inside the margin, in the order of the parts."""
    blocks, *columns = zip(*parts, strict=True)
    X = sp.vstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.vstack(blocks)
    if X.shape[0] == 0:
        return np.empty(0)
    y, costs, margins = (np.concatenate(column) for column in columns)
    Z = np.ascontiguousarray(X @ settings["V"].T)
    # The median length of a text would tell how far a prior lifts; here that is known.
    return solver.leave_one_out(Problem(X=X, y=y, costs=costs, margins=margins, Z=Z, row_size=0.0, **settings), fit)


def _put(scores: Any, target: SpilledArrays, sides: Sequence[_Sides], starts: Sequence[int], columns: Sequence[Floats]) -> Floats:
    """A part's scores with those of the texts inside the margin put in their places."""
    trained = np.asarray(load(scores))
    held_out = trained.copy()
    for k, (side, start, column) in enumerate(zip(sides, starts, columns, strict=True)):
        rows = _inside_margin(trained, target, k, side)[0]
        held_out[rows, k] = column[start : start + rows.size]
    return held_out
