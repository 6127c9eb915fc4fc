"""The compiled core: vector level, whole or shortened texts, threads. But for rounding the values do not
depend on them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import core
from .._sklearn import effective_n_threads
from .._system.levels import vector_level
from .._typing import Floats
from ..errors import TooLargeError
from ._backends import Diagonal, KernelSpec, Report, check_result_size
from .encode import Sequences

# Texts over a large alphabet are shortened to what a pair has in common where that leaves fewer than this
# share of the cells.
SHORTEN_BELOW = 0.15
# Memory of all threads beyond the result, and of one comparison at most, in bytes.
THREADS_MEMORY, PAIR_MEMORY = 96e6, 1e9


@dataclass(frozen=True)
class Cpu:
    """The compiled core.

    Parameters
    ----------
    double : bool, whether states are kept in double precision
    n_jobs : int, threads; None: all cores, within the limits that OpenMP and joblib have been given
    level : str, the vector level; None: what the environment variable TEXTMARGIN_LEVEL says, or else the
        widest
    shorten : bool, whether pairs are shortened to what they have in common; None: where it pays
    """

    double: bool = False
    n_jobs: int | None = None
    level: str | None = None
    shorten: bool | None = None

    def diagonal(self, spec: KernelSpec, X: Sequences, report: Report = None) -> Diagonal:
        """K of each text with itself."""
        what = _compile(spec)
        level, n_threads = self._means(what, X, X, float((X.lengths.astype(float) ** 2).sum()))
        return Diagonal(
            *core.subsequence_diagonal(what, X.codes, X.starts, level, self.double, n_threads, report)
        )

    def gram(
        self,
        spec: KernelSpec,
        X: Sequences,
        Y: Sequences | None,
        diagonals: tuple[Diagonal, Diagonal],
        factor: float,
        report: Report = None,
    ) -> Floats:
        """K of all pairs times a factor, normalised where there are diagonals."""
        other = X if Y is None else Y
        check_result_size(len(X), len(other))
        what = _compile(spec)
        level, n_threads = self._means(what, X, other, float(X.codes.size) * other.codes.size)
        shorten = self.shorten
        if shorten is None:
            shorten = (
                core.share_of_common_cells(what, X.codes, X.starts, other.codes, other.starts) < SHORTEN_BELOW
            )
        # a step over all that stood between two shared words may leave the range of single
        double = self.double or shorten
        rows, columns = diagonals
        return core.subsequence_gram(
            what,
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

    def _means(self, what: core.Recipe, X: Sequences, Y: Sequences, n_cells: float) -> tuple[str, int]:
        """The level, and as many threads as memory and work allow."""
        level = self.level or vector_level()
        n_rows = min(X.lengths.max(initial=0), Y.lengths.max(initial=0))
        each = core.scratch_bytes(what, level, self.double, n_rows)
        if each > PAIR_MEMORY:
            i = int(X.lengths.argmax())
            raise TooLargeError(
                f"Text number {i} has {X.lengths[i]:,} symbols; comparing it with one of {n_rows:,} takes "
                f"{each / 1e9:.1f} GB of "
                f"memory and {float(X.lengths[i]) * float(n_rows):.0e} steps. Cut long texts into "
                "passages, or compare words."
            )
        if n_cells < 1e6:  # less than starting a thread takes
            return level, 1
        return level, max(1, min(effective_n_threads(self.n_jobs), int(THREADS_MEMORY // max(each, 1))))


def _compile(spec: KernelSpec) -> core.Recipe:
    return core.Recipe(spec.length, spec.gap, np.full(spec.gap.size, spec.match), spec.weights)
