"""A kernel matrix whose columns are computed when first asked for, each entry once."""

from __future__ import annotations

import numpy as np

from .._pairs import Floats, Numbers, Pairs


class LazyGram:
    """K over a list of texts, a column at a time.

    Attributes
    ----------
    n_evaluations : int
        How many pairs were computed; (i, j) and (j, i) are one pair.
    """

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.n_evaluations = 0
        self._place = np.full(len(pairs), -1, dtype=np.intp)  # of each text's column among those that are known
        self._columns = np.empty((0, len(pairs)))  # as rows; more than are known, so that there is room to grow
        self._n_known = 0

    def __len__(self) -> int:
        return len(self.pairs)

    def block(self, rows: Numbers, columns: Numbers) -> Floats:
        """K between the texts of these numbers, (n_rows, n_columns)."""
        self.compute(columns)
        return np.ascontiguousarray(self._columns[np.ix_(self._place[columns], rows)].T)

    def compute(self, columns: Numbers) -> None:
        """See that these columns are known. What other columns tell of them by symmetry is copied."""
        new = np.unique(columns[self._place[columns] < 0])
        if new.size == 0:
            return
        known = np.flatnonzero(self._place >= 0)
        others = np.setdiff1d(np.flatnonzero(self._place < 0), new)
        values = np.empty((new.size, len(self)))
        values[:, known] = self._columns[np.ix_(self._place[known], new)].T
        values[:, new] = self.pairs.block(new)
        if others.size:
            values[:, others] = self.pairs.block(others, new).T
        self._require_finite(values, new)
        self._keep(new, values)
        self.n_evaluations += new.size * (new.size + 1) // 2 + others.size * new.size

    def _keep(self, new: Numbers, values: Floats) -> None:
        needed = self._n_known + new.size
        if needed > len(self._columns):
            grown = np.empty((min(len(self), max(needed, 2 * len(self._columns))), len(self)))
            grown[: self._n_known] = self._columns[: self._n_known]
            self._columns = grown
        self._columns[self._n_known : needed] = values
        self._place[new] = np.arange(self._n_known, needed)
        self._n_known = needed

    def _require_finite(self, values: Floats, new: Numbers) -> None:
        bad = np.argwhere(~np.isfinite(values))
        if bad.size:
            j, i = bad[0]
            raise ValueError(f"The kernel of texts number {i} and {new[j]} is {values[j, i]}; it must be finite.")
