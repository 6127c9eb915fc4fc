"""Where a score comes from, term by term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._ties import descending_order


@dataclass(frozen=True)
class Explanation:
    """One score, taken apart: score = intercept + Σ data + Σ priors.

    Attributes
    ----------
    target : the class whose score this is.
    score, intercept : float
    terms : array (n_terms,), the terms of the text (names, or column numbers where the names are not known).
    data : array (n_terms,), what each term adds through the weights learnt from the data.
    priors : array (n_priors, n_terms), what each term adds through each prior, as far as it is trusted.
    """

    target: Any
    score: float
    intercept: float
    terms: NDArray[Any]
    data: NDArray[np.float64]
    priors: NDArray[np.float64]

    @property
    def total(self) -> NDArray[np.float64]:
        """What each term adds in all."""
        return self.data + self.priors.sum(axis=0)

    def top(self, n: int = 10) -> list[tuple[Any, float]]:
        """The n terms that move the score most, either way."""
        order = descending_order(np.abs(self.total))[:n]
        return [(self.terms[j], float(self.total[j])) for j in order]


@dataclass(frozen=True)
class KernelExplanation:
    """One score of a kernel machine, taken apart: score = intercept + prior + Σ data, and Σ data = Σ matches + rest.

    Attributes
    ----------
    target : the class whose score this is.
    score, intercept : float
    prior : float, what the prior score adds.
    support : array (n_support,), numbers of the training texts that support the class.
    similarities : array (n_support,), the kernel of the text with each.
    data : array (n_support,), what each adds.
    matches : list, what shared subsequences add through all support vectors together, the largest first; empty for kernels that
        cannot tell.
    rest : float, what all other subsequences add; None where there are no matches.
    """

    target: Any
    score: float
    intercept: float
    prior: float
    support: NDArray[np.intp]
    similarities: NDArray[np.float64]
    data: NDArray[np.float64]
    matches: list[Any]
    rest: float | None

    def top(self, n: int = 10) -> list[tuple[int, float]]:
        """The n support vectors that move the score most, either way: their numbers, and what they add."""
        order = np.argsort(-np.abs(self.data), kind="stable")[:n]
        return [(int(self.support[j]), float(self.data[j])) for j in order]
