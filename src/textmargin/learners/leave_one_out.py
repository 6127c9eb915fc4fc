"""Leave-one-out scores of a trained primal SVM, without training again.

Leaving text i out takes its row out of the linear system behind the last Newton step. As long as no other text crosses its
margin by that, its score becomes exactly (t = m∘y, h the leverage of `_exact.py`)

    f⁽⁻ⁱ⁾(xᵢ) = tᵢ − (tᵢ − fᵢ) / (1 − hᵢ)         for texts inside the margin; the others keep the score they have.

Conjugate gradients leave a small error in f, which 1 − h would blow up; so f is taken from the exact step as well. A text on its
margin, where a prior may just have lifted it, would be inside or not by rounding, and with it its leverage on the others. What
misses the margin by less than the solver's tolerance is outside.
"""

from __future__ import annotations

import numpy as np

from .._typing import Floats
from ..errors import TooLargeError
from ._exact import ExactStep, factor, size
from .matrix import Rows
from .objective import Objective, Point

# The side of the factored matrix: about 1 GB of doubles, twice. Far below this, refitted folds are cheaper (`_held_out_cost.py`).
MAX_SIZE = 12_000
_ROUNDING = 1e-9  # beside the margin


def leave_one_out(objective: Objective, point: Point, scores: Floats, tol: float) -> Floats:
    """The score of every text by the model trained on all others; `scores` are those by the model of all, and are changed."""
    rows = np.flatnonzero(point.shortfall > max(tol, _ROUNDING) * objective.margins.max())
    if size(objective, rows) > MAX_SIZE:
        raise TooLargeError(
            f"Leave-one-out scores need a dense matrix as large as the active set, {rows.size} texts inside the margin, "
            f"more than {MAX_SIZE}. Use scores of refitted folds: fold_decision_function()."
        )
    if rows.size:
        step = _factor(objective, rows)
        w, q = step.minimum()
        missed = objective.goal(rows) - objective.X[rows] @ w - objective.columns.Z[rows] @ q
        # A text that alone decides some direction has h = 1; rounding must not turn that into an infinite score.
        remaining = np.maximum(step.one_minus_leverage(), 1e-12)
        scores[rows] = objective.margins[rows] * objective.y[rows] - missed / remaining
    return scores


def _factor(objective: Objective, rows: Rows) -> ExactStep:
    """The exact step, or the nearest one that can be taken where the matrix is singular to machine precision."""
    for jitter in (0.0, 1e-12, 1e-9):
        try:
            return factor(objective, rows, jitter, single=True)
        except np.linalg.LinAlgError:
            continue
    return factor(objective, rows, 1e-6)
