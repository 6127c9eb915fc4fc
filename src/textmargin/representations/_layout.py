"""How the recurrence is cut for a GPU: columns of a lane and of a group, by what registers hold and the range
of floats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from .._typing import Floats
from ._backends import KernelSpec

LANES = 32
_REGISTERS = 65536 // LANES  # of a multiprocessor, for each lane of its warps
_OTHER_REGISTERS = 36  # of a lane, beside states, symbols and weights
_WIDEST = 32
# c of a column, the largest state and 1/gap together stay within the range of the type.
_LEAST_C = {4: 2.0**-60, 8: 2.0**-400}
_GROWTH_BITS = {4: 40.0, 8: 600.0}


@dataclass(frozen=True)
class Layout:
    """What ssk.cu is compiled for."""

    real: type[np.float32] | type[np.float64]
    levels: int
    columns: int
    group: int
    weighted: bool
    uniform: bool
    warps: int

    @classmethod
    def of(cls, spec: KernelSpec, double: bool) -> Layout:
        """As many columns as registers hold, and as many warps, for others to go on while one waits."""
        real = np.float64 if double else np.float32
        levels, weighted, uniform = (
            spec.length - 1,
            spec.weights.size > 0,
            bool((spec.gap == spec.gap[0]).all()),
        )
        words = np.dtype(real).itemsize // 4
        each = words * (levels + (0 if uniform else 2)) + 1
        for warps in (12, 8):
            most = int((_REGISTERS // warps // 8 * 8 - _OTHER_REGISTERS - 4 * words * levels) // each)
            if most >= 4:
                break
        columns, group = _widths(
            levels, min(max(most, 2), _WIDEST), float(spec.gap.min()), _LEAST_C[4 * words]
        )
        return cls(real, levels, columns, group, weighted, uniform, warps)

    @property
    def row(self) -> np.dtype[Any]:
        """Two rows of a text, as ssk.cu has them."""
        return np.dtype(
            [("symbol", "<i4", 2), ("gap", self.real, 2), *([] if self.uniform else [("q", self.real, 2)])]
        )

    @property
    def edge_bytes(self) -> int:
        """Of what a tile leaves at its right, a step."""
        return -(-2 * max(self.levels, 1) * np.dtype(self.real).itemsize // 16) * 16

    @property
    def options(self) -> tuple[str, ...]:
        """For the compiler."""
        name = "double" if self.real is np.float64 else "float"
        numbers = {"LEVELS": self.levels, "COLUMNS": self.columns, "GROUP": self.group, "WARPS": self.warps}
        numbers |= {"WEIGHTED": int(self.weighted), "UNIFORM": int(self.uniform)}
        return ("-std=c++17", f"-DREAL={name}", *(f"-D{key}={value}" for key, value in numbers.items()))

    def halvings(self, spec: KernelSpec, n_s: int, n_t: int) -> int:
        """How many times to halve each match, so that no state can overflow whatever texts of these lengths
        say.
        """
        largest = float(spec.gap.max())
        reach = [min(n, 1 / (1 - largest) if largest < 1 else math.inf) for n in (n_s, n_t)]
        bits = _GROWTH_BITS[np.dtype(self.real).itemsize] - math.log2(max(1.0, spec.weights.max(initial=0.0)))
        i = np.arange(1, spec.length)
        if i.size == 0 or min(n_s, n_t) == 0:
            return 0
        geometric = i * (math.log2(reach[0]) + math.log2(reach[1]))
        chosen = sum(_log2_choose(n, i) for n in (n_s, n_t))
        return max(0, math.ceil(float(np.max((np.minimum(geometric, chosen) - bits) / i))))

    def compiled_in(self, spec: KernelSpec, halve: int) -> tuple[str, ...]:
        """Options for what all symbols have in common."""
        if not self.uniform:
            return ()
        gap = float(spec.gap[0])
        return (f"-DGAP={gap.hex()}", f"-DRATIO={(spec.match * 2.0**-halve / gap).hex()}")

    def constants(self, spec: KernelSpec, halve: int) -> NDArray[Any]:
        """The kernel's first argument: weights of the lengths, the last being 1."""
        found = np.zeros((), dtype=np.dtype([("weights", self.real, max(self.levels, 1) + 1)]))
        if self.weighted:
            found["weights"][: spec.length] = np.ldexp(
                spec.weights, halve * (np.arange(spec.length) + 1 - spec.length)
            )
        return found

    def column_weights(
        self, spec: KernelSpec, symbol: NDArray[np.int32], at: Any
    ) -> tuple[NDArray[Any], ...]:
        """c and 1/c of each column of each lane, and of each group the product of gaps of the one before;
        empty if uniform.
        """
        if self.uniform:
            return (np.empty((0, 1), self.real),) * 3
        gap = np.ones(symbol.shape)
        gap[at] = spec.gap[symbol[at]]
        products = np.cumprod(gap.reshape(len(gap), -1, self.group), axis=2)
        c = np.concatenate([np.ones((*products.shape[:2], 1)), products[:, :, :-1]], axis=2).reshape(
            gap.shape
        )
        past = np.roll(products[:, :, -1].ravel(), 1).reshape(products.shape[:2])
        return c.astype(self.real), (1 / c).astype(self.real), past.astype(self.real)

    def round_gaps(self, gap: Floats, n: int) -> NDArray[Any]:
        """n gaps, or n times one, in the states' precision: up and down in such turns that errors do not add
        up over rows.
        """
        nearest: NDArray[Any] = gap.astype(self.real)
        if (nearest == gap).all():
            return np.broadcast_to(nearest, n).copy()
        down = np.where(nearest > gap, np.nextafter(nearest, self.real(0)), nearest)
        up = np.nextafter(down, self.real(2))
        share, k = (gap - down) / (up - down.astype(np.float64)), np.arange(n)
        return np.where(np.floor((k + 1) * share) > np.floor(k * share), up, down)


def _widths(levels: int, most: int, gap: float, least: float) -> tuple[int, int]:
    """Columns of a lane and of a group: the fewest instructions beyond those that every cell takes."""
    fitting = max(1, math.floor(math.log(least) / math.log(gap))) if gap < 1 else most
    choices = [
        (c, max(g for g in range(1, min(c, fitting) + 1) if c % g == 0)) for c in range(2, most + 1, 2)
    ]
    # A lane's edge takes about ten instructions a level for two rows, and the edge of a group within it two.
    return min(
        choices,
        key=lambda choice: (
            5 * (levels + 4) / choice[0] + (levels / choice[1] if choice[1] < choice[0] else 0)
        ),
    )


def _log2_choose(n: int, i: NDArray[np.int64]) -> Floats:
    """log₂ of n over i, 0 where i ≥ n."""
    found = gammaln(n + 1) - gammaln(i + 1) - gammaln(np.maximum(n - i, 0) + 1)
    return np.where(i >= n, 0.0, found) / math.log(2)
