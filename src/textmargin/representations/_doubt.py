"""Which values in single precision may have lost what they consist of: on a GPU, as `Doubt` of
src/core/gram.hpp in the core.

States are no smaller than what they come to in the end, but for the weights of lengths, so that a value well
above the least numbers of single precision is sound. One below is computed again in double precision, unless
texts so short have none as small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._backends import KernelSpec

_LEAST = 2.0**-90


@dataclass(frozen=True)
class Doubt:
    """When a value is in doubt.

    Parameters
    ----------
    limit : float, values from here on are sound
    n_symbols : float, of both texts together, up to which no value but 0 is below the limit
    shortest : int, symbols of a text, below which its values are exactly 0 or made of single symbols
    """

    limit: float
    n_symbols: float
    shortest: int

    @classmethod
    def of(cls, spec: KernelSpec, exponent: int) -> Doubt:
        """Of values that stand for 2^exponent times as much."""
        weighted = spec.weights.size > 0
        limit = _LEAST * float(spec.weights.max(initial=1.0))
        log_gap, log_match = np.log2(spec.gap.min()), np.log2(spec.match)
        left = np.log2(limit) + exponent - spec.length * log_match
        n_symbols = left / log_gap if log_gap < 0 else np.inf if left <= 0 else -1.0
        return cls(limit, float(n_symbols), 2 if weighted else spec.length)

    def about(self, K: Any, n_s: NDArray[np.int64], n_t: NDArray[np.int64], half: bool) -> Any:
        """Whether each value is, on the device of K; of a half, those above the diagonal."""
        import cupy

        # As sides of one comparison, so that no sum of lengths has a matrix of its own.
        rest = np.where(n_s < self.shortest, np.inf, self.n_symbols - n_s)
        other = np.where(n_t < self.shortest, -np.inf, n_t.astype(np.float64))
        found = cupy.asarray(other)[None, :] > cupy.asarray(rest)[:, None]
        found &= self.limit > K
        return cupy.triu(found, 1) if half else found
