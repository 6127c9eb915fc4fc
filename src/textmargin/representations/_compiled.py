"""What the vectorisers share: terms found, counted and weighted in compiled code, by all cores."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from .._sklearn import Interval
from .._system.threads import n_threads
from ..errors import SettingError
from ._analysis import Analysis
from ._vocabulary import Vocabulary
from .linear_scores import TermWeights

_LONGEST = 1 << 30  # sequences: no text is as long, and compiled code counts with 32 bits
_FREQUENCY = [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="both")]


class CompiledVectorizer(TransformerMixin, BaseEstimator):
    """From texts to a matrix of their terms; a subclass says what terms are and what they weigh."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lowercase": ["boolean"],
        "ngram_range": [tuple],
        "min_df": _FREQUENCY,
        "max_df": _FREQUENCY,
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }
    lowercase: bool
    ngram_range: tuple[int, int]
    min_df: int | float
    max_df: int | float
    max_features: int | None
    n_jobs: int | None
    _vocabulary: Vocabulary
    # whether the entries of a row are in the order in which its terms were met, as scikit-learn has them
    _as_met = True
    _drops_zeros = False
    _dtype: type = np.float64

    def _form(self) -> tuple[bool, tuple[int, int]]:
        """Whether texts become lower case, and how long sequences of tokens are."""
        shortest, longest = self.ngram_range
        if not 1 <= shortest <= longest:
            raise SettingError(
                "ngram_range", f"must be (shortest, longest), from 1; got {self.ngram_range!r:.60}."
            )
        return bool(self.lowercase), (min(shortest, _LONGEST), min(longest, _LONGEST))

    def _learn(
        self,
        analysis: Analysis,
        texts: list[str],
        weights_of: Callable[[NDArray[np.int64], int], TermWeights],
    ) -> sp.csr_array:
        """The matrix (n_texts, n_terms) of texts; sets the vocabulary. `weights_of` is told how many texts
        have each term, and how many there are.
        """
        threads = n_threads(self.n_jobs)
        terms = analysis.compile()
        terms.add(texts, threads)
        df, total, most = terms.join(threads)
        selection = self._select(df, total, len(texts))
        columns = np.where(selection, np.cumsum(selection) - 1, -1).astype(np.int32)
        weights = weights_of(df[selection], len(texts))
        parts = terms.rows(
            columns, weights.idf, weights.up_to(most), weights.unit, self._as_met, self._drops_zeros, threads
        )
        self._vocabulary = Vocabulary.from_compiled(analysis, terms, weights.idf.size)
        return _csr(parts, weights.idf.size, self._dtype)

    def _select(self, df: NDArray[np.int64], total: NDArray[np.int64], n_texts: int) -> NDArray[np.bool_]:
        """The terms that `min_df`, `max_df` and `max_features` leave; of terms that are as frequent as the
        last the first in order.
        """
        if not df.any():
            raise ValueError("empty vocabulary; perhaps the documents only contain stop words")
        high: Any = self.max_df if isinstance(self.max_df, Integral) else self.max_df * n_texts
        low: Any = self.min_df if isinstance(self.min_df, Integral) else self.min_df * n_texts
        selection = (df > 0) & (df <= high) & (df >= low)  # 0: words of which only sequences are wanted
        if self.max_features is not None and selection.sum() > self.max_features:
            found = np.flatnonzero(selection)
            counts = df if getattr(self, "binary", False) else total
            places = found[np.argsort(-counts[found], kind="stable")[: self.max_features]]
            selection = np.zeros_like(selection)
            selection[places] = True
        if not selection.any():
            raise ValueError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
        return selection

    def _look_up(self, analysis: Analysis, texts: list[str], weights: TermWeights) -> sp.csr_array:
        """The matrix of new texts."""
        terms, threads = self._vocabulary.compile(analysis), n_threads(self.n_jobs)
        parts = weights.apply(
            lambda tf: terms.transform(texts, weights.idf, tf, weights.unit, self._drops_zeros, threads)
        )
        return _csr(parts, weights.idf.size, self._dtype)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each term."""
        if "_vocabulary" not in vars(self):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute 'vocabulary_'")
        return self._vocabulary.mapping

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The terms, in the order of columns."""
        return np.array([*self.vocabulary_, ""], dtype=object)[:-1]

    def __sklearn_tags__(self) -> Any:
        """Texts in, sparse rows out."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags


def counts_of(n_terms: int) -> TermWeights:
    """Weights that leave counts as they are."""
    return TermWeights(np.positive, np.ones(n_terms), unit=False)


def _csr(parts: tuple[Any, Any, Any], n_columns: int, dtype: type) -> sp.csr_array:
    """A matrix as scikit-learn makes it: indices of 32 bits as long as these do."""
    indptr, indices, data = parts
    data = data.astype(dtype, copy=False)  # before it is a matrix, which would be sorted
    if indptr[-1] <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    else:
        indices = indices.astype(np.int64)
    return sp.csr_array((data, indices, indptr), shape=(indptr.size - 1, n_columns))
