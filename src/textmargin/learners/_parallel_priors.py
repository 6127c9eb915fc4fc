"""Priors that say nearly the same: columns of Z that are nearly parallel.

Where trust is free, only the space that the columns of Z span matters, not which columns span it. Of nearly parallel ones the
difference is tiny, its coefficient huge, and the small pull that guards against undecided coefficients would decide it. So such
columns are posed as combinations of theirs that are as long as each other and at right angles: Z η = (Z B) q with η = B q.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from .problem import Problem, typical_square

_NEARLY_PARALLEL = 1e-3  # the smallest eigenvalue of the columns' cosines below which they count as such
_PARALLEL = 1e-12  # below which they are, but for rounding, or for rows too small to be seen beside others: the guard decides
_TYPICAL = 1e-3  # of the mean square, that of a typical row


def right_angles(problem: Problem, moves: NDArray[np.bool_]) -> Floats | None:
    """B (n_moving, n_moving), or None where no columns are nearly parallel; those of Z B have weighted squares that sum to 1."""
    if np.count_nonzero(moves) < 2:
        return None
    Z = problem.Z[np.ix_(problem.counted, moves)]
    length = np.sqrt(problem.costs[problem.counted] @ np.square(Z / np.abs(Z).max(axis=0))) * np.abs(Z).max(axis=0)
    unit = np.sqrt(problem.costs[problem.counted])[:, None] * (Z / length)
    eigenvalues, vectors = np.linalg.eigh(unit.T @ unit)
    if not _PARALLEL < eigenvalues[0] < _NEARLY_PARALLEL:
        return None
    # Where a few rows are all of the length, angles say nothing of the others.
    if problem.costs.sum() * typical_square(Z / length).min() < _TYPICAL:
        return None
    return np.asarray(vectors / length[:, None] / np.sqrt(eigenvalues))
