"""Which code compares texts: vector level, whole or shortened texts, threads. But for rounding the values do not depend on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import core
from .._sklearn import effective_n_threads
from ..errors import TooLargeError
from ._encode import Sequences

Floats = NDArray[np.float64]
Report = Callable[[float], object] | None

# Texts over a large alphabet are shortened to what a pair has in common where that leaves fewer than this share of the cells.
SHORTEN_BELOW = 0.15
# Memory of all threads beyond the result, and of one comparison at most, in bytes.
THREADS_MEMORY, PAIR_MEMORY = 96e6, 1e9


@dataclass(frozen=True)
class Diagonal:
    """K of each text with itself, fraction · 2^exponent: it may be beyond the range of a float."""

    fraction: Floats
    exponent: NDArray[np.int64]

    @classmethod
    def none(cls) -> Diagonal:
        """No diagonal: nothing is normalised."""
        return cls(np.empty(0), np.empty(0, np.int64))

    def take(self, rows: NDArray[np.intp]) -> Diagonal:
        """Of some of the texts."""
        return Diagonal(self.fraction[rows], self.exponent[rows])

    def put(self, rows: NDArray[np.intp], values: Diagonal) -> None:
        """Set those of some texts."""
        self.exponent[rows] = values.exponent
        self.fraction[rows] = values.fraction  # last: where it is not NaN, all is known

    def inverse_roots(self) -> Floats:
        """1/√K of each text; 0 where K is."""
        known = self.fraction > 0
        logs = np.log2(self.fraction, out=np.zeros_like(self.fraction), where=known) + self.exponent
        return np.where(known, np.exp2(-logs / 2), 0.0)

    def values(self) -> Floats:
        """As floats; infinite where too large."""
        with np.errstate(over="ignore"):
            return np.ldexp(self.fraction, np.clip(self.exponent, -5000, 5000).astype(np.int32))


@dataclass(frozen=True)
class Cpu:
    """The compiled core.

    Parameters
    ----------
    double : bool, whether states are kept in double precision
    n_jobs : int, threads; None: all cores, within the limits that OpenMP and joblib have been given
    level : str, the vector level; None: the widest
    shorten : bool, whether pairs are shortened to what they have in common; None: where it pays
    """

    double: bool = False
    n_jobs: int | None = None
    level: str | None = None
    shorten: bool | None = None

    def diagonal(self, recipe: core.Recipe, X: Sequences, report: Report = None) -> Diagonal:
        """K of each text with itself."""
        level, n_threads = self._means(recipe, X, X, float((X.lengths.astype(float) ** 2).sum()))
        return Diagonal(*core.subsequence_diagonal(recipe, X.codes, X.starts, level, self.double, n_threads, report))

    def gram(
        self,
        recipe: core.Recipe,
        X: Sequences,
        Y: Sequences | None,
        diagonals: tuple[Diagonal, Diagonal],
        factor: float,
        report: Report = None,
    ) -> Floats:
        """K of all pairs times a factor, normalised where there are diagonals."""
        other = X if Y is None else Y
        check_result_size(len(X), len(other))
        level, n_threads = self._means(recipe, X, other, float(X.codes.size) * other.codes.size)
        shorten = self.shorten
        if shorten is None:
            shorten = core.share_of_common_cells(recipe, X.codes, X.starts, other.codes, other.starts) < SHORTEN_BELOW
        double = self.double or shorten  # a step over all that stood between two shared words may leave the range of single
        rows, columns = diagonals
        return core.subsequence_gram(
            recipe,
            X.codes,
            X.starts,
            None if Y is None else Y.codes,
            None if Y is None else Y.starts,
            rows.fraction,
            rows.exponent,
            columns.fraction,
            columns.exponent,
            factor,
            level,
            double,
            shorten,
            n_threads,
            report,
        )

    def _means(self, recipe: core.Recipe, X: Sequences, Y: Sequences, n_cells: float) -> tuple[str, int]:
        """The level, and as many threads as memory and work allow."""
        level = self.level or core.levels()[0]
        n_rows = min(X.lengths.max(initial=0), Y.lengths.max(initial=0))
        each = core.scratch_bytes(recipe, level, self.double, n_rows)
        if each > PAIR_MEMORY:
            i = int(X.lengths.argmax())
            raise TooLargeError(
                f"Text number {i} has {X.lengths[i]:,} symbols; comparing it with one of {n_rows:,} takes {each / 1e9:.1f} GB of "
                f"memory and {float(X.lengths[i]) * float(n_rows):.0e} steps. Cut long texts into passages, or compare words."
            )
        if n_cells < 1e6:  # less than starting a thread takes
            return level, 1
        return level, max(1, min(effective_n_threads(self.n_jobs), int(THREADS_MEMORY // max(each, 1))))


def check_result_size(n_rows: int, n_columns: int) -> None:
    """Whether the result fits into this machine."""
    needed, there = 8.0 * n_rows * n_columns, float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    if needed > there:
        raise TooLargeError(
            f"The kernel matrix of {n_rows:,} × {n_columns:,} texts takes {needed / 1e9:,.0f} GB, and this machine has "
            f"{there / 1e9:,.0f} GB; compare fewer texts at a time."
        )
