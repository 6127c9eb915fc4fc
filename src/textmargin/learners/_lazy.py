"""A kernel matrix whose columns are computed when first asked for, each entry once."""

from __future__ import annotations

import numpy as np

from .._typing import Floats, Indices
from ..gram.protocol import Pairs


class LazyGram:
    """K over a list of texts, a few columns at a time.

    Attributes
    ----------
    n_evaluations : int
        How many pairs were computed; (i, j) and (j, i) are one pair.
    """

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.n_evaluations = 0
        self._batches: list[Floats] = []  # columns that were computed together, as rows
        self._batch = np.full(len(pairs), -1, dtype=np.intp)  # that has a text's column
        self._place = np.zeros(len(pairs), dtype=np.intp)  # of the column in its batch

    def __len__(self) -> int:
        return len(self.pairs)

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """K between the texts of these numbers, (n_rows, n_columns)."""
        self.compute(columns)
        values = np.empty((rows.size, columns.size))
        for k, columns_of in enumerate(self._batches):
            here = self._batch[columns] == k
            values[:, here] = columns_of[np.ix_(self._place[columns[here]], rows)].T
        return values

    def times(self, columns: Indices, weights: Floats) -> Floats:
        """Σ weights·K over some columns, for all texts."""
        self.compute(columns)
        total = np.zeros(len(self))
        for k, columns_of in enumerate(self._batches):
            here = self._batch[columns] == k
            if here.any():
                spread = np.zeros(len(columns_of))
                spread[self._place[columns[here]]] = weights[here]
                total += spread @ columns_of
        return total

    def compute(self, columns: Indices) -> None:
        """See that these columns are known. What other columns tell of them by symmetry is copied."""
        new = np.unique(columns[self._batch[columns] < 0])
        if new.size == 0:
            return
        known = np.flatnonzero(self._batch >= 0)
        others = np.setdiff1d(np.flatnonzero(self._batch < 0), new)
        values = np.empty((new.size, len(self)))
        values[:, known] = self.block(new, known)
        values[:, new] = self.pairs.block(new)
        if others.size:
            values[:, others] = self.pairs.block(others, new).T
        self._require_finite(values, new)
        self._batch[new], self._place[new] = len(self._batches), np.arange(new.size)
        self._batches.append(values)
        self.n_evaluations += new.size * (new.size + 1) // 2 + others.size * new.size

    def _require_finite(self, values: Floats, new: Indices) -> None:
        if not np.isfinite(values.sum()):
            j, i = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(
                f"The kernel of texts number {i} and {new[j]} is {values[j, i]}; it must be finite."
            )
