"""Texts straight to the scores of a linear learner, without a matrix between them. Without scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._system.threads import n_threads
from .._typing import Bools, Floats
from ..errors import EmptyTextWarning
from ..records import record
from ._analysis import Analysis
from ._vocabulary import Vocabulary

if TYPE_CHECKING:
    from .. import core

# of a count
TF: dict[str, Callable[[Floats], Floats]] = {
    "tf-idf": np.positive,
    "log-tf-idf": np.log1p,
    "count": np.positive,
}
_USUAL_COUNTS = 1024  # of a term in a text; more are rare, and their weights made when they come


class TermWeights:
    """The weights of terms by their counts in a text, from NumPy, so that they are the same as without
    compiled code.

    Parameters
    ----------
    tf : function from counts 0, 1, … to weights
    idf : array (n_terms,)
    unit : bool
        Whether rows have length 1.
    """

    def __init__(self, tf: Callable[[Floats], Floats], idf: Floats, unit: bool) -> None:
        self.idf, self.unit = np.ascontiguousarray(idf), unit
        self._tf = tf
        self.tf = tf(np.arange(_USUAL_COUNTS, dtype=np.float64))

    def up_to(self, count: int) -> Floats:
        """The weights of counts up to this one at least."""
        tf = self.tf  # which another thread may replace meanwhile, here and below
        if count >= tf.size:
            tf = self.tf = self._tf(np.arange(count + 1, dtype=np.float64))
        return tf

    def apply(self, work: Callable[[Floats], tuple[Any, int]]) -> Any:
        """What `work` gives, which also tells the highest count: done again where that had no weight."""
        tf = self.tf
        result, most = work(tf)
        if most >= tf.size:
            result, most = work(self.up_to(2 * most))
        return result


@record()
class LinearScorer:
    """From texts to X·w + b, with X the matrix that a `BagOfWords` makes of them.

    Parameters
    ----------
    analysis : Analysis
        What terms are.
    vocabulary : Vocabulary
    weight : {"tf-idf", "log-tf-idf", "count"}
    unit : bool
        Whether rows of X have length 1.
    idf : array (n_terms,)
    coef : array (n_terms, n_problems)
        The weights of one term side by side. Not copied if they are so in memory.
    intercept : array (n_problems,)
    n_jobs : int, default=None
        Threads; None: all cores. The result does not depend on it.
    """

    def __init__(
        self,
        analysis: Analysis,
        vocabulary: Vocabulary,
        weight: str,
        unit: bool,
        idf: Floats,
        coef: Floats,
        intercept: Floats,
        n_jobs: int | None = None,
    ) -> None:
        self.analysis, self.vocabulary, self.weight, self.unit = analysis, vocabulary, weight, unit
        self.idf, self.n_jobs = idf, n_jobs
        self.coef = np.ascontiguousarray(coef, dtype=np.float64)
        self.intercept = np.ascontiguousarray(intercept, dtype=np.float64)
        self._weights = TermWeights(TF[weight], idf, unit)

    def __call__(self, texts: list[str] | core.Strings) -> tuple[Floats, Bools]:
        """The scores (n_texts, n_problems), and whether each text has any term."""
        terms, weights = self.vocabulary.compile(self.analysis), self._weights
        threads = n_threads(self.n_jobs)

        def score(tf: Floats) -> tuple[Any, int]:
            *scores, most = terms.scores(
                texts, weights.idf, tf, weights.unit, self.coef, self.intercept, threads
            )
            return scores, most

        scores, n_terms = weights.apply(score)
        return scores, n_terms > 0


def warn_of_unknown_terms(n_texts: int, stacklevel: int) -> None:
    """Texts of which nothing is known are told of, where there are no others."""
    warnings.warn(
        f"None of {n_texts} texts contains a single known term; their scores will be the intercept alone. "
        f"Are they in the language and form of the training texts?",
        EmptyTextWarning,
        stacklevel=stacklevel,
    )
