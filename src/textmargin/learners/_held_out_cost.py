"""What exact leave-one-out scores cost beside the training, estimated from counts.

Counts, not measured times, so that the same data are treated alike on every machine. The unit is a second of
one core. Constants were fitted (non-negative least squares of relative errors) to 128 random binary problems
on an AMD EPYC: 300 to 40,000 texts of 8 to 100 words, 150 to 30,000 terms, with and without wrong labels;
eight of ten estimates of training are within 0.8 and 1.1 of the time measured there, of leave-one-out within
0.7 and 1.15. Overhead per call was told from overhead per class by eye, so that Reuters' 90 topics came out
right. Classes that are learnt in step, and factors in single precision, came later; what they save was
measured on these topics.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .._typing import Bools
from . import leave_one_out
from ._batch import LEAST_ENTRIES
from .matrix import Matrix, row_counts

# of the training: what exact leave-one-out scores of a class may cost; refitted folds cost about as much
_WORTH = 3.0
# Up to so many seconds for all classes, more than that: folds know four fifths of few texts, and thresholds
# feel it.
_LITTLE, _LITTLE_WORTH = 0.3, 8.0
_IN_STEP = 0.4  # of the seconds of a class alone, where all are learnt in step


@dataclass(frozen=True)
class ProblemSize:
    """One class against the rest, in counts."""

    n_texts: int
    n_weights: int
    n_values: int  # that are not 0
    n_active: int  # texts inside the margin
    n_active_values: int
    in_step: bool = False  # whether all classes are learnt in step (`_batch.py`)

    @classmethod
    def of(cls, X: Matrix, inside: Bools) -> ProblemSize:
        """The size of a fitted problem; `inside` are the texts inside its margin."""
        row_values = row_counts(X)
        n_texts, n_weights = X.shape
        n_values = int(row_values.sum())
        in_step = not isinstance(X, np.ndarray) and n_values >= LEAST_ENTRIES
        return cls(n_texts, n_weights, n_values, int(inside.sum()), int(row_values[inside].sum()), in_step)

    @property
    def side(self) -> int:
        """Of the matrix that leave-one-out factors."""
        return min(self.n_active, self.n_weights)

    def training_seconds(self) -> float:
        alone = (
            1e-3
            + 4.5e-7 * self.n_texts
            + 1.4e-8 * self.n_values
            + 6.1e-8 * self.n_active_values
            + 2.7e-8 * self.n_weights
        )
        return _IN_STEP * alone if self.in_step else alone

    def leave_one_out_seconds(self) -> float:
        a, d, values = float(self.n_active), float(self.n_weights), float(self.n_active_values)
        if a <= d:  # the Gram matrix, its factor, the factor's inverse
            return 5e-4 + 2.6e-9 * self.n_values + 5.9e-11 * a * values + 1.5e-8 * a**2 + 9e-12 * a**3
        return 5e-4 + 3.2e-9 * self.n_values + 3.1e-9 * values**2 / a + 1.3e-11 * d**3 + 3.7e-11 * a * d**2


def leave_one_out_pays(sizes: Iterable[ProblemSize]) -> Bools:
    """Per class, whether exact leave-one-out scores fit memory and cost about as much as folds at most; of
    little work, all.
    """
    sizes = list(sizes)
    fits = np.array([size.side <= leave_one_out.MAX_SIZE for size in sizes])
    training = np.array([size.training_seconds() for size in sizes])
    held_out = np.array([size.leave_one_out_seconds() for size in sizes])
    together = 3e-3 + held_out.sum()  # with what a call costs
    if fits.all() and together <= min(_LITTLE, _LITTLE_WORTH * (7e-3 + training.sum())):
        return fits
    return np.asarray(fits & (held_out <= _WORTH * training))
