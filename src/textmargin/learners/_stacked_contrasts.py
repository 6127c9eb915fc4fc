"""Contrasts below the texts, in one matrix that all classes share."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._typing import Floats
from .contrasts import Contrasts
from .matrix import Matrix, stack
from .problem import Problem, prior_scores


@dataclass(frozen=True)
class StackedContrasts:
    """The texts, below them the contrasts; and of these what they are examples of."""

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
