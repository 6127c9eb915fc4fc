"""What an estimator was fitted on, as one binary problem per class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import Bools, Floats
from ..labels import OneVsRest
from .contrasts import Contrasts
from .cross_fitting import PriorFolds
from .matrix import BlockMatrix, Matrix, stack
from .problem import FoldPriors, Problem, median_length, prior_scores
from .trust import Solver


@dataclass(frozen=True)
class StackedContrasts:
    """The texts, below them the contrasts, in one matrix that all classes share; and what the contrasts are
    examples of.
    """

    X: Matrix
    rows: Contrasts

    @classmethod
    def stack(cls, X: Matrix, contrasts: Contrasts, n_problems: int) -> StackedContrasts:
        """Contrasts, checked, below the texts X."""
        rows = contrasts.check(X, n_problems)
        return cls(stack(X, rows.X), rows)

    def below(self, problem: Problem, k: int, weight: Floats) -> Problem:
        """A class's problem with the contrasts; those of a text of weight 0 are as absent as the text."""
        text, sign = self.rows.text, self.rows.sign[:, k]
        costs = self.rows.cost * np.where(text >= 0, weight[text], 1.0) * np.abs(sign)
        return replace(
            problem,
            X=self.X,
            y=np.concatenate([problem.y, np.where(sign < 0, -1.0, 1.0)]),
            costs=np.concatenate([problem.costs, costs]),
            margins=np.concatenate([problem.margins, np.ones(text.size)]),
            Z=np.vstack([problem.Z, prior_scores(self.rows.X, problem.V)]),
            owners=text,
        )


@dataclass(frozen=True)
class Training:
    """What was fitted on, and how: all that held-out scores need. X is the caller's own matrix where it could
    be.
    """

    X: Matrix
    targets: OneVsRest
    weight: Floats
    prior: Floats  # (n_problems, n_priors, n_features)
    C: float
    margins: tuple[float, float]
    class_weight: Mapping[Any, float] | str | None
    fit_intercept: bool
    solver: Solver
    contrasts: StackedContrasts | None = None
    contrasted: Bools | None = None  # (n_problems,), which classes use the contrasts; by default all
    prior_folds: PriorFolds | None = None

    def problems(self) -> Iterator[Problem]:
        """One class against the rest, for each class, with the contrasts where they are used."""
        for k, problem in enumerate(self.plain_problems()):
            if self.contrasts is None or not (self.contrasted is None or self.contrasted[k]):
                yield problem
            else:
                yield self.contrasts.below(problem, k, self.weight)

    def plain_problems(self) -> Iterator[Problem]:
        """The same without contrasts."""
        row_size = median_length(self.X, self.weight > 0) if self.prior.size else 0.0
        # Texts that do not fit into memory are many: of each class there is no more than single precision
        # needs.
        kind: Any = np.float32 if isinstance(self.X, BlockMatrix) else np.float64
        for k, prior in enumerate(self.prior):
            y, folds = self.targets.signs(k).astype(kind), self.prior_folds
            yield Problem(
                X=self.X,
                y=y,
                costs=(self.weight * self.targets.costs(self.class_weight, k, self.weight)).astype(kind),
                margins=np.where(y > 0, *self.margins).astype(kind),
                penalty=1.0 / (2.0 * self.C),
                fit_intercept=self.fit_intercept,
                V=prior,
                Z=prior_scores(self.X, prior),
                row_size=row_size,
                folds=None if folds is None else FoldPriors(folds.fold, folds.priors[:, k], folds.judges),
            )
