"""What one part adds to the sums that Newton's method needs: the formulas of `objective.py`, `newton.hpp` and `search.hpp`.

For one topic, with the shortfall s = m − yf of each text, S the active texts (s > 0), c their costs, e = y∘s and Z the columns
beside X (the intercept, and the scores of priors whose trust is learnt).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse import _sparsetools as sparse_loops  # Xᵀu added in place; SciPy's operators make a new vector each time

from .. import core
from .._typing import Floats
from ._requests import ActiveRowsRequest, DirectionRequest, GradientRequest, PlaneRequest, ProductRequest, Request, TopicSettings

_CHUNK = 1 << 15  # texts at a time where several numbers of each are needed: they stay in the processor's cache


@dataclass
class PartOfTopic:
    """The texts of one part, as one topic sees them."""

    topic: TopicSettings
    positive: NDArray[np.bool_]
    weight: Floats

    def shortfall(self, X: Any, weights: Floats | None, intercept: float) -> Floats:
        """m − yf; −∞ for a text that costs nothing."""
        scores = _times(X, weights) + intercept if weights is not None else np.full(self.positive.size, intercept)
        short = np.where(self.positive, *self.topic.margins) - np.where(self.positive, scores, -scores)
        short[self.costs(slice(None)) == 0] = -np.inf
        return short

    def costs(self, rows: Any) -> Floats:
        return self.weight[rows] * np.where(self.positive[rows], *self.topic.costs)

    def signs(self, rows: Any) -> Floats:
        return np.where(self.positive[rows], 1.0, -1.0)

    def columns(self, S: Any) -> Floats:
        """Z of some rows of X."""
        intercept = [np.ones(S.shape[0])] if self.topic.intercept else []
        return _side_by_side([*intercept, *(_times(S, v) for v in self.topic.V)], S.shape[0])


def zero_sums(request: Request, topic: TopicSettings, n_features: int) -> tuple[Any, ...]:
    """The sums over no text."""
    k = topic.intercept + len(topic.V)
    if isinstance(request, GradientRequest):
        if not request.full:
            return 0.0, 0
        return 0.0, 0, np.zeros((2 + k, n_features)), np.zeros(k), np.zeros((k, k))
    if isinstance(request, ProductRequest):
        return np.zeros(n_features), np.zeros(k)
    if isinstance(request, DirectionRequest | PlaneRequest):
        directed = request.weights is not None if isinstance(request, DirectionRequest) else request.theta.size > k
        return np.zeros(k + directed), np.zeros((k + directed, k + directed)), 0, 0.0
    if isinstance(request, ActiveRowsRequest):
        return ([],)
    return (np.zeros((n_features + k + 1, n_features + k + 1)),)


def add_gradient(sums: tuple[Any, ...], here: PartOfTopic, X: Any, shortfall: Floats, full: bool) -> tuple[Any, ...]:
    """Adds Σ c s², |S| and, if full, the rows [the diagonal of X'CX, X'Ce, Z'CX], Z'Ce and Z'CZ."""
    rows = np.flatnonzero(shortfall > 0)
    costs, gaps = here.costs(rows), shortfall[rows]
    loss, n_active, *rest = sums
    loss, n_active = loss + float(costs @ (gaps * gaps)), n_active + rows.size
    if not full:
        return loss, n_active
    vectors, ZCe, ZCZ = rest
    S = X[rows]
    Ce, Z = costs * here.signs(rows) * gaps, here.columns(S)
    CZ = costs[:, None] * Z
    _add_transposed(S, costs, vectors[0], squared=True)
    for column, out in zip([Ce, *CZ.T], vectors[1:], strict=True):
        _add_transposed(S, column, out)
    return loss, n_active, vectors, ZCe + Z.T @ Ce, ZCZ + CZ.T @ Z


def add_product(sums: tuple[Any, ...], here: PartOfTopic, X: Any, shortfall: Floats, direction: Floats) -> tuple[Any, ...]:
    """Adds X'CXd and Z'CXd."""
    rows = np.flatnonzero(shortfall > 0)
    S = X[rows]
    Cu = here.costs(rows) * _times(S, direction)
    image, through = sums
    _add_transposed(S, Cu, image)
    return image, through + here.columns(S).T @ Cu


def add_active_rows(sums: tuple[Any, ...], here: PartOfTopic, X: Any, shortfall: Floats) -> tuple[Any, ...]:
    """Adds the active texts: X, y, c, Z and e of them."""
    rows = np.flatnonzero(shortfall > 0)
    S, y = X[rows], here.signs(rows)
    return ([*sums[0], (S, y, here.costs(rows), here.columns(S), y * shortfall[rows])],)


def add_normal_equations(sums: tuple[Any, ...], here: PartOfTopic, X: Any, shortfall: Floats) -> tuple[Any, ...]:
    """Adds T'CT of the table T = [X, Z, e]."""
    rows = np.flatnonzero(shortfall > 0)
    S, e = X[rows], here.signs(rows) * shortfall[rows]
    table = np.hstack([S.toarray() if sp.issparse(S) else S, here.columns(S), e[:, None]])
    return (sums[0] + table.T @ (here.costs(rows)[:, None] * table),)


def score_changes(here: PartOfTopic, X: Any, weights: Floats | None, intercept: float) -> Floats:
    """How the scores change along a direction, if there is one, and along each prior: (n_texts, n_changes)."""
    own = [] if weights is None else [_times(X, weights) + intercept]
    return _side_by_side([*own, *(_times(X, v) for v in here.topic.V)], X.shape[0])


def add_plane(
    sums: tuple[Any, ...], here: PartOfTopic, shortfall: Floats, changes: Floats, theta: Floats | None
) -> tuple[Any, ...]:
    """Adds D'Cs', D'CD and s''Cs' over the texts active at s' = s − Dθ, D = y∘[changes, Z]; third, how many texts changed sides.

    Columns are ordered as the plane search has them: the direction, if there is one, the intercept, the priors.
    """
    slope, curvature, crossed, loss = sums
    directed = changes.shape[1] - len(here.topic.V)
    for start in range(0, shortfall.size, _CHUNK):
        rows = slice(start, start + _CHUNK)
        short, y = shortfall[rows], here.signs(rows)
        columns = [y * change for change in changes[rows].T]
        if here.topic.intercept:
            columns.insert(directed, y)
        D = np.array(columns).reshape(len(columns), y.size)
        after = short if theta is None else short - theta @ D
        active = after > 0
        crossed += int(np.count_nonzero(active != (short > 0)))
        D, gaps = D[:, active], after[active]
        costs = here.costs(rows)[active]
        CD = costs * D
        loss += float(costs @ (gaps * gaps))
        slope, curvature = slope + CD @ gaps, curvature + CD @ D.T
    return slope, curvature, crossed, loss


def _side_by_side(columns: list[Floats], n_rows: int) -> Floats:
    return np.array(columns).reshape(len(columns), n_rows).T


def _times(X: Any, v: Floats) -> Floats:
    return core.sparse_times(X.indptr, X.indices, X.data, v) if sp.issparse(X) else X @ v


def _add_transposed(X: Any, u: Floats, out: Floats, squared: bool = False) -> None:
    """out += X'u, or with every entry of X squared."""
    if not sp.issparse(X):
        out += (X * X if squared else X).T @ u
        return
    data = X.data * X.data if squared else X.data
    sparse_loops.csc_matvec(X.shape[1], X.shape[0], X.indptr, X.indices, data, u, out)
