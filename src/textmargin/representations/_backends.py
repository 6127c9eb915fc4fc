"""What a backend takes and gives, and which one compares texts: the compiled core or a GPU. But for rounding
they agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .._system.memory import machine_memory
from .._typing import Floats
from ..errors import TooLargeError
from .encode import Sequences

Report = Callable[[float], object] | None

# Cells from which backend="auto" takes a GPU: about two seconds of a processor's work, and more than loading
# CuPy takes.
AUTO_CELLS = 2e10
# A GPU compares all in double precision where gaps or matches count less, or all matches of a text with
# itself together: that is beyond the range of single. Otherwise it looks at each value, as the compiled core
# does, and compares again where it is tiny.
SINGLE_GAP = 1e-3
SINGLE_MATCHES = 2.0**-60

LEAST_EXPONENT = -1000  # of a text with itself: 1/√K is a float


@dataclass(frozen=True)
class KernelSpec:
    """What is to be computed: K of `length`, or Σ weights[i − 1]·K_i, with what skipping and matching a
    symbol is worth.

    The paper's kernel has gap λ; its match λ² is a factor λ²ⁱ of K_i that the caller applies where it would
    underflow here.
    """

    length: int
    gap: Floats  # of each symbol
    match: float  # of any, at most 1
    weights: Floats  # of the lengths from 1, the last being 1; empty: the last alone counts


@dataclass(frozen=True)
class Diagonal:
    """K of each text with itself, fraction · 2^exponent: it may be beyond the range of a float."""

    fraction: Floats
    exponent: NDArray[np.int64]

    @classmethod
    def none(cls) -> Diagonal:
        """No diagonal: nothing is normalised."""
        return cls(np.empty(0), np.empty(0, np.int64))

    def take(self, rows: NDArray[np.intp] | slice) -> Diagonal:
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


class Backend(Protocol):
    """Compares texts."""

    def diagonal(self, spec: KernelSpec, X: Sequences, report: Report = None) -> Diagonal:
        """K of each text with itself."""
        ...

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
        ...


def choose(
    name: str, double: bool, n_jobs: int | None, spec: KernelSpec, X: Sequences, Y: Sequences
) -> Backend:
    """The backend of a name; of "auto", a GPU where there is one and enough to do.

    Parameters
    ----------
    name : "auto", "cpu" or "cuda"
    double : bool, whether states are kept in double precision
    n_jobs : int, threads of the compiled core
    spec, X, Y : what is to be compared
    """
    if name == "cuda" or (name == "auto" and _gpu_pays(spec, X, Y)):
        from ._cuda import Cuda

        small = (
            min(float(spec.gap.min()), spec.match) < SINGLE_GAP or spec.match**spec.length < SINGLE_MATCHES
        )
        return Cuda(double=double or small)
    try:
        from ._cpu import Cpu
    except ImportError as error:
        raise ImportError(
            "backend='cpu' needs the compiled core, which is not in this installation: pip install "
            "textmargin, or use "
            "backend='cuda'."
        ) from error
    return Cpu(double=double, n_jobs=n_jobs)


def _gpu_pays(spec: KernelSpec, X: Sequences, Y: Sequences) -> bool:
    if float(X.codes.size) * Y.codes.size < AUTO_CELLS and find_spec("textmargin.core") is not None:
        return False
    from ._cuda import MOST_LENGTH, missing

    return spec.length <= MOST_LENGTH and missing() is None


def check_result_size(n_rows: int, n_columns: int) -> None:
    """Whether the result fits into this machine."""
    needed, there = 8.0 * n_rows * n_columns, machine_memory()
    if needed > there:
        raise TooLargeError(
            f"The kernel matrix of {n_rows:,} × {n_columns:,} texts takes {needed / 1e9:,.0f} GB, and "
            "this machine has "
            f"{there / 1e9:,.0f} GB; compare fewer texts at a time."
        )
