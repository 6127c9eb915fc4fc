"""One class against the rest, before anything is said about trust."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .._ties import ROUNDING
from .._typing import Bools, Floats, Indices
from .matrix import Matrix, Rows, column_presence, squared_lengths, times


@dataclass(frozen=True)
class FoldPriors:
    """Of one problem, what `PriorFolds` is of all."""

    fold: Indices  # (n_texts,)
    priors: Floats  # (n_folds, n_priors, n_features)
    judges: Bools  # (n_texts, n_priors)


@dataclass(frozen=True)
class Problem:
    """The rows of the texts, below them those of contrasts, if any; and the priors."""

    X: Matrix
    y: Floats
    costs: Floats
    margins: Floats
    penalty: float
    fit_intercept: bool
    V: Floats  # (n_priors, n_features)
    Z: Floats  # (n_rows, n_priors), the priors' scores XV'
    row_size: float  # median length of a text's row
    # of each contrast the text, −1 for none
    owners: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    folds: FoldPriors | None = None

    @property
    def n_texts(self) -> int:
        return self.y.size - self.owners.size

    @property
    def counted(self) -> Rows:
        """The texts of positive cost."""
        return np.flatnonzero(self.costs[: self.n_texts] > 0)

    @property
    def intercept_column(self) -> Floats:
        """1 for texts; a contrast is a difference of two, and has no intercept."""
        return _ones_and_zeros(self.n_texts, self.owners.size)

    @property
    def speaks(self) -> NDArray[np.bool_]:
        """Per prior, whether it says anything about the texts that count."""
        return np.asarray(self.Z[self.counted].any(axis=0))

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Per prior, whether no text has any of its terms."""
        if not len(self.V):
            return np.zeros(0, dtype=bool)
        return ~(self.V[:, column_presence(self.X)] != 0).any(axis=1)

    def with_contrasts_of(self, texts: Rows) -> Rows:
        """The rows of some texts and of their contrasts: what has to go when these are held out."""
        if not self.owners.size:
            return texts
        return np.concatenate([texts, self.n_texts + np.flatnonzero(np.isin(self.owners, texts))])

    def in_fold(self, number: int) -> Problem:
        """The same with the priors that were learnt without a fold, where these were learnt from training
        texts.
        """
        if self.folds is None:
            return self
        V = self.folds.priors[number]
        return replace(self, V=V, Z=prior_scores(self.X, V))

    def margin_scale(self) -> Floats:
        """Per prior, the η by which a text of nothing but its terms goes from one margin to the other; 0 for
        an empty prior.
        """
        y, margins = self.y[: self.n_texts], self.margins[: self.n_texts]
        width = sum(margins[y == side].max(initial=0.0) for side in (1.0, -1.0))
        size = self.row_size * np.linalg.norm(self.V, axis=1)
        return np.divide(width, size, out=np.zeros(len(self.V)), where=size > 0)

    def joint_margin_scale(self, trusted: NDArray[np.bool_]) -> Floats:
        """The same for several priors together: what they have in common counts once."""
        alone = np.where(trusted, self.margin_scale(), 0.0)
        size = np.linalg.norm(alone @ self.V)
        largest = np.linalg.norm(alone[:, None] * self.V, axis=1).max()
        return alone * (largest / size) if size > largest else alone


def typical_square(Z: Floats) -> Floats:
    """Per column, the median of its squares that are not 0."""
    return np.array([np.median(z[z != 0] ** 2) if z.any() else 0.0 for z in Z.T])


@lru_cache(maxsize=4)
def _ones_and_zeros(n_ones: int, n_zeros: int) -> Floats:
    """One array for all classes, which nobody may write to."""
    column = np.concatenate([np.ones(n_ones), np.zeros(n_zeros)])
    column.flags.writeable = False
    return column


def prior_scores(X: Matrix, prior: Floats) -> Floats:
    """XV', the priors' scores (n_rows, n_priors); exactly 0 where the terms of a row cancel but for
    rounding.
    """
    if not len(prior):
        return np.zeros((X.shape[0], 0))
    scores, sizes = times(X, prior), times(X, prior, sizes=True)
    return np.ascontiguousarray(np.where(np.abs(scores) > ROUNDING * sizes, scores, 0.0))


def median_length(X: Matrix, some: Bools) -> float:
    """The typical length of a row, of some rows that are not empty."""
    squares = squared_lengths(X)[some]
    return float(np.sqrt(np.median(squares[squares > 0]))) if squares.any() else 0.0
