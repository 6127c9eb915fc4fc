"""What an estimator was fitted on, as one binary problem per class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._ties import ROUNDING
from .._typing import Floats
from ..labels import OneVsRest
from .objective import Matrix
from .trust import Problem, Solver


@dataclass(frozen=True)
class Training:
    """What was fitted on, and how: all that leave-one-out scores need. X is the caller's own matrix where it could be."""

    X: Matrix
    targets: OneVsRest
    weight: Floats
    prior: Floats  # (n_problems, n_priors, n_features)
    C: float
    margins: tuple[float, float]
    class_weight: Mapping[Any, float] | str | None
    fit_intercept: bool
    solver: Solver

    def problems(self) -> Iterator[Problem]:
        """One class against the rest, for each class."""
        row_size = _median_length(self.X[self.weight > 0]) if self.prior.size else 0.0
        for k, prior in enumerate(self.prior):
            y = self.targets.signs(k)
            yield Problem(
                X=self.X,
                y=y,
                costs=self.weight * self.targets.costs(self.class_weight, k, self.weight),
                margins=np.where(y > 0, *self.margins),
                penalty=1.0 / (2.0 * self.C),
                fit_intercept=self.fit_intercept,
                V=prior,
                Z=prior_scores(self.X, prior),
                row_size=row_size,
            )


def prior_scores(X: Matrix, prior: Floats) -> Floats:
    """XV', the priors' scores (n_texts, n_priors); exactly 0 where the terms of a text cancel but for rounding."""
    if not len(prior):
        return np.zeros((X.shape[0], 0))
    scores, sizes = X @ prior.T, abs(X) @ np.abs(prior.T)
    return np.ascontiguousarray(np.where(np.abs(scores) > ROUNDING * sizes, scores, 0.0))


def _median_length(X: Matrix) -> float:
    """Of the rows that are not empty."""
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    return float(np.sqrt(np.median(squares[squares > 0]))) if squares.any() else 0.0
