"""The objective of the primal SVM: posed here, solved by `newton.py`.

Over word weights w and a few further coefficients q (the intercept, and the trust η in each prior)

    J(w, q) = ½λ‖w‖² + ½ Σᵢ cᵢ max(0, mᵢ − yᵢfᵢ)² + ½ Σₖ ρₖ(qₖ − q⁰ₖ)²        f = Xw + Zq + offset

The columns of Z are few and dense: ones for the intercept, Xv for a prior v. What is decided beforehand (a
prior of given trust) stands in the offset. Only the *active* rows, those that miss their margin, shape the
next step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from .. import core
from .._typing import Bools, Floats
from .matrix import Matrix, Rows

NEGLIGIBLE = 1e-9  # an objective this small beside that of scoring nothing at all counts as zero


@dataclass(frozen=True)
class ExtraColumns:
    """Z with the pull ρ of each column towards its target q⁰ (ρ = 0: free)."""

    Z: Floats  # (n_texts, n_columns)
    pull: Floats  # (n_columns,)
    target: Floats  # (n_columns,)

    def __len__(self) -> int:
        return self.Z.shape[1]

    @classmethod
    def join(cls, *parts: ExtraColumns) -> ExtraColumns:
        return cls(
            np.hstack([part.Z for part in parts]),
            np.concatenate([part.pull for part in parts]),
            np.concatenate([part.target for part in parts]),
        )


@dataclass(frozen=True)
class Point:
    """Where the solver stands; `shortfall` is m − yf, by how much each text misses its margin."""

    w: Floats
    q: Floats
    shortfall: Floats


@dataclass(frozen=True)
class Objective:
    """One binary problem. Rows of cost 0 get margin −∞ so that they are never active."""

    X: Matrix
    y: Floats  # ±1
    costs: Floats
    margins: Floats
    columns: ExtraColumns
    penalty: float  # λ
    offset: Floats | float = 0.0
    # rows that are left out all the same: many refits of large data share the arrays above
    held_out: Rows | None = None

    def __post_init__(self) -> None:
        counted = self.costs > 0
        if not np.isneginf(self.margins[~counted]).all():  # where they are, refits go on sharing them
            object.__setattr__(
                self, "margins", np.where(counted, self.margins, self.margins.dtype.type(-np.inf))
            )

    def on(self, X: Matrix) -> Objective:
        """The same over a matrix that is in memory, in double precision."""
        y, costs, margins = (
            np.asarray(values, dtype=np.float64) for values in (self.y, self.costs, self.margins)
        )
        found = replace(self, X=X, y=y, costs=costs, margins=margins, held_out=None)
        return found if self.held_out is None else found.without(self.held_out)

    def without(self, rows: Rows) -> Objective:
        """The objective over all rows but these."""
        costs = self.costs.copy()
        costs[rows] = 0.0
        return replace(self, costs=costs)

    @property
    def counted(self) -> Bools:
        """Which rows have a say."""
        counted = self.costs > 0
        if self.held_out is not None:
            counted[self.held_out] = False
        return np.asarray(counted)

    def times(self, w: Floats) -> Floats:
        """Xw."""
        X = self.X
        return core.sparse_times(X.indptr, X.indices, X.data, w) if sp.issparse(X) else X @ w

    def point(self, w: Floats | None = None, q: Floats | None = None) -> Point:
        """The point (w, q), or the origin."""
        scores = np.zeros(self.X.shape[0]) + self.offset
        if w is None:
            w = np.zeros(self.X.shape[1])
        else:
            scores += self.times(w)
        if q is None:
            q = np.zeros(len(self.columns))
        else:
            scores += self.columns.Z @ q
        return Point(w, q, self.margins - self.y * scores)

    def active(self, point: Point) -> Rows:
        """The texts that miss their margin."""
        return np.flatnonzero(point.shortfall > 0)

    def errors(self, point: Point, rows: Rows) -> Floats:
        """m∘y − f of active rows: where the score should be less where it is."""
        return self.y[rows] * point.shortfall[rows]

    def goal(self, rows: Rows) -> Floats:
        """What Xw + Zq should reach on active rows: m∘y less the offset."""
        return self.margins[rows] * self.y[rows] - (
            self.offset if isinstance(self.offset, float) else self.offset[rows]
        )

    def value(self, point: Point) -> float:
        """J at a point."""
        missed = np.maximum(point.shortfall, 0)
        pulled = point.q - self.columns.target
        loss = self.penalty * (point.w @ point.w) + self.costs @ (missed * missed)
        return 0.5 * float(loss + self.columns.pull @ (pulled * pulled))

    def value_of_nothing(self) -> float:
        """J where every score is 0, less the pull of the columns."""
        counted = self.costs > 0
        return 0.5 * float(self.costs[counted] @ self.margins[counted] ** 2)

    def scores(self, point: Point) -> Floats:
        """f at a point; also where the cost is 0 and `shortfall` cannot tell."""
        return self.times(point.w) + self.columns.Z @ point.q + self.offset


def canonical(X: Matrix) -> Matrix:
    """X with every entry in one place; a matrix handed in is not changed."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def invert_block(M: Floats) -> Floats:
    """Inverse of the small block of the columns; a column that no active row has stays where it is."""
    idle = np.flatnonzero(M.diagonal() == 0)
    M[idle, idle] = 1.0
    try:
        return np.asarray(np.linalg.inv(M), dtype=np.float64)
    except (
        np.linalg.LinAlgError
    ):  # columns that say the same on the active rows: whichever of them moves, scores are the same
        size = np.sqrt(M.diagonal())
        return np.asarray(
            np.linalg.pinv(M / np.outer(size, size), hermitian=True) / np.outer(size, size), dtype=np.float64
        )
