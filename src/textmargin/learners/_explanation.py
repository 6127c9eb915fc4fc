"""Where a score comes from, term by term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
        order = np.argsort(-np.abs(self.total), kind="stable")[:n]
        return [(self.terms[j], float(self.total[j])) for j in order]
