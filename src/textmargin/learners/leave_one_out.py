"""Leave-one-out scores of a trained primal SVM, without training again.

Leaving text i out takes its row out of the linear system behind the last Newton step. As long as no other
text crosses its margin by that, its score becomes exactly (t = m∘y, h the leverage of `_exact.py`)

    f⁽⁻ⁱ⁾(xᵢ) = tᵢ − (tᵢ − fᵢ) / (1 − hᵢ)    for texts inside the margin; the others keep their score.

Conjugate gradients leave a small error in f, which 1 − h would blow up; so f is taken from the exact step as
well. A text on its margin, where a prior may just have lifted it, would be inside or not by rounding, and
with it its leverage on the others. What misses the margin by less than the solver's tolerance is outside.

Where others do cross their margins, the formula is an estimate: good where the score moves little, and
without bound where the text decides a direction nearly alone. Two facts bound it. Training without a text
never makes its own score better,

    yᵢ f⁽⁻ⁱ⁾(xᵢ) ≤ yᵢ f(xᵢ),

and the model without it is no worse on the others than the model of all, J⁽⁻ⁱ⁾ ≤ J, so that ‖w‖ ≤ R = √(2J/λ)
and no other text j misses its margin by more than √(2J/cⱼ): with the intercept from a text of the same side,

    yᵢ f⁽⁻ⁱ⁾(xᵢ) ≥ mⱼ − √(2J/cⱼ) − (‖xᵢ‖ + ‖xⱼ‖)R.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from .._ties import descending_order
from .._typing import Floats
from ..errors import TooLargeError
from ._exact import factor, size
from .matrix import Rows, row_counts, squared_lengths
from .objective import Objective, Point

# The side of the factored matrix: about 1 GB of doubles, twice. Far below this, refitted folds are cheaper
# (`_held_out_cost.py`).
MAX_SIZE = 12_000
# of the way from one margin to the other: a score that moves further is suspicious where a prior's trust is
# free
_FAR = 0.05
# texts that are refitted however large the matrix; values of the matrix times refits
_LEAST_REFITS, _REFIT_VALUES = 20, 5e6
_ROUNDING = 1e-9  # beside the margin


def leave_one_out(objective: Objective, point: Point, scores: Floats, tol: float) -> Floats:
    """The score of every text by the model trained on all others; `scores` are those by the model of all, and
    are changed.
    """
    rows = np.flatnonzero(point.shortfall > max(tol, _ROUNDING) * objective.margins.max())
    if size(objective, rows) > MAX_SIZE:
        raise TooLargeError(
            f"Leave-one-out scores need a dense matrix as large as the active set, {rows.size} texts "
            "inside the margin, "
            f"more than {MAX_SIZE}. Use scores of refitted folds: fold_decision_function()."
        )
    if rows.size:
        step = _factor(objective, rows)
        w, q = step.minimum()
        missed = objective.goal(rows) - objective.X[rows] @ w - objective.columns.Z[rows] @ q
        # A text that alone decides some direction has h = 1; rounding must not turn that into an infinite
        # score.
        remaining = np.maximum(step.one_minus_leverage(), 1e-12)
        estimate = objective.margins[rows] * objective.y[rows] - missed / remaining
        y = objective.y[rows]
        # Of the exact step's own score, which conjugate gradients come close to.
        own = y * objective.goal(rows) - y * missed + y * _of_rows(objective.offset, rows)
        scores[rows] = y * np.clip(y * estimate, np.minimum(_reach(objective, point, rows), own), own)
    return scores


def suspicious(objective: Objective, trained: Floats, held_out: Floats) -> Rows:
    """Texts whose estimate moved by a twentieth of the way between the margins or more, furthest first, as
    many as are cheap.
    """
    wide = sum(objective.margins[objective.y == side].max(initial=0.0) for side in (1.0, -1.0))
    moved = np.abs(held_out - trained)
    rows = np.flatnonzero(objective.counted & (moved > _FAR * wide))
    n_values = max(int(row_counts(objective.X).sum()), 1)
    return rows[descending_order(moved[rows])][: max(_LEAST_REFITS, int(_REFIT_VALUES / n_values))]


def _reach(objective: Objective, point: Point, rows: Rows) -> Floats:
    """The least y·f that a model without each of the rows can have; −∞ where a trust is free, or no other has
    its side.
    """
    columns, y, counted = objective.columns, objective.y, objective.costs > 0
    if len(columns) > 1 or (len(columns) == 1 and columns.pull[0] > 0):
        return np.full(rows.size, -np.inf)
    twice = 2 * objective.value(point)
    longest = np.sqrt(squared_lengths(objective.X) * (twice / objective.penalty))  # ‖x‖R
    offset = y * objective.offset
    if not len(columns):
        return np.asarray(offset[rows] - longest[rows])
    least = np.full(y.size, -np.inf)
    least[counted] = (objective.margins - offset - longest)[counted] - np.sqrt(
        twice / objective.costs[counted]
    )
    reach = np.full(rows.size, -np.inf)
    for side in (1.0, -1.0):
        others = np.flatnonzero((y == side) & (columns.Z[:, 0] != 0))
        # two, for the first of them has no use for itself
        best = others[np.argsort(-least[others], kind="stable")[:2]]
        for j in best[::-1]:
            reach = np.where((y[rows] == side) & (rows != j), least[j] + offset[rows] - longest[rows], reach)
    return reach


def _of_rows(values: Floats | float, rows: Rows) -> Floats | float:
    return values if isinstance(values, float) else values[rows]


def _factor(objective: Objective, rows: Rows) -> Any:
    """The exact step, or the nearest one that can be taken where the matrix is singular to machine
    precision.
    """
    for jitter in (0.0, 1e-12, 1e-9):
        with suppress(np.linalg.LinAlgError):
            return factor(objective, rows, jitter)
    return factor(objective, rows, 1e-6)
