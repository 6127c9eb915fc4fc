"""Priors that say nearly the same: columns of Z that are nearly parallel, two of them or in company.

Where trust is free, only the space that the columns of Z span matters, not which columns span it. Of nearly
parallel ones the difference is tiny, its coefficient huge, and the small pull that guards against undecided
coefficients would decide it. So such columns are posed as combinations of theirs that are as long as each
other and at right angles: Z η = (Z B) q with η = B q. What priors repeat of each other but for rounding gets
no column: of the η that say the same B q is the smallest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from .problem import Problem, typical_square

_NEARLY_PARALLEL = 1e-3  # the smallest eigenvalue of the columns' cosines below which they count as such
_TYPICAL = 1e-3  # of the mean square, that of a typical row
_REPEATED = 1e-8  # a singular value of columns of length 1 below which η would lose the digits of V η


def right_angles(problem: Problem, moves: NDArray[np.bool_]) -> Floats | None:
    """B (n_moving, rank), or None where no columns are nearly parallel; those of Z B have weighted squares
    that sum to 1.
    """
    if np.count_nonzero(moves) < 2:
        return None
    Z = problem.Z[np.ix_(problem.counted, moves)]
    root_costs = np.sqrt(problem.costs[problem.counted])[:, None]
    largest = np.abs(Z).max(axis=0)
    length = np.linalg.norm(root_costs * (Z / largest), axis=0) * largest
    unit = root_costs * (Z / length)
    if np.linalg.eigvalsh(unit.T @ unit)[0] > _NEARLY_PARALLEL:
        return None
    # Where a few rows are all of the length, angles say nothing of the others.
    if problem.costs.sum() * typical_square(Z / length).min() < _TYPICAL:
        return None
    _, values, vectors = np.linalg.svd(unit, full_matrices=False)
    new = values > _REPEATED
    return np.asarray(vectors[new].T / values[new] / length[:, None])
