"""Leave-one-out scores of a trained primal SVM, without training again.

Leaving text i out takes its row out of the linear system behind the last Newton step. As long as no other text crosses its
margin by that, its score becomes exactly (MATHS §1; t = m∘y, h the leverage of `_exact.py`)

    f⁽⁻ⁱ⁾(xᵢ) = tᵢ − (tᵢ − fᵢ) / (1 − hᵢ)         for texts inside the margin; the others keep the score they have.
"""

from __future__ import annotations

import numpy as np

from ..errors import TooLargeError
from ._exact import factor, size
from ._objective import Floats, Objective, Point

# The side of the factored matrix: 3 GB of doubles. Past this, refitted folds are cheaper as well.
_MAX_SIZE = 20_000


def leave_one_out(objective: Objective, point: Point) -> Floats:
    """The score of every text by the model trained on all others."""
    scores = objective.scores(point)
    rows = objective.active(point)
    if size(objective, rows) > _MAX_SIZE:
        raise TooLargeError(
            f"Leave-one-out scores need a dense matrix as large as the active set, {rows.size} texts inside the margin, "
            f"more than {_MAX_SIZE}. Use cross-validated scores: cross_val_predict(model, X, y, method='decision_function')."
        )
    if rows.size:
        missed = objective.errors(point, rows)
        # A text that alone decides some direction has h = 1; rounding must not turn that into an infinite score.
        scores[rows] += missed - missed / np.maximum(factor(objective, rows).one_minus_leverage(), 1e-12)
    return scores
