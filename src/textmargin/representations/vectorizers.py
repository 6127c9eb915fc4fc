"""scikit-learn's vectorisers in compiled code: the same columns and bits, many times as fast.

    from textmargin import TfidfVectorizer        # in place of sklearn.feature_extraction.text

They have the parameters that compiled code knows. Another one, such as a tokenizer, is an error that names
scikit-learn's class.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.utils.validation import check_is_fitted

from .._sklearn import StrOptions, align_sparse, fit_context
from .._typing import Floats
from ..errors import SettingError
from ._analysis import PATTERNS, SKLEARN_WORDS, Analysis, ordered
from ._compiled import CompiledVectorizer
from .linear_scores import TermWeights
from .texts import as_texts


class CountVectorizer(CompiledVectorizer):
    """scikit-learn's `CountVectorizer`, compiled.

    Parameters
    ----------
    analyzer, lowercase, ngram_range, stop_words, token_pattern, min_df, max_df, max_features, binary
        As in scikit-learn; of terms that are as frequent as the last of `max_features` the first in order.
    n_jobs : int, default=None
        Threads; None: all cores. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict, term → column

    Examples
    --------
    >>> from textmargin import CountVectorizer
    >>> words = CountVectorizer()
    >>> words.fit_transform(["Wheat, wheat and corn!", "Corn prices rose"]).toarray()
    array([[1, 1, 0, 0, 2],
           [0, 1, 1, 1, 0]])
    >>> words.get_feature_names_out()
    array(['and', 'corn', 'prices', 'rose', 'wheat'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CompiledVectorizer._parameter_constraints,
        "analyzer": [StrOptions({"word", "char", "char_wb"})],
        "stop_words": [StrOptions({"english"}), list, None],
        "token_pattern": [StrOptions({*PATTERNS})],
        "binary": ["boolean"],
    }
    _dtype: type = np.int64

    def __init__(
        self,
        *,
        analyzer: str = "word",
        lowercase: bool = True,
        ngram_range: tuple[int, int] = (1, 1),
        stop_words: str | list[str] | None = None,
        token_pattern: str = SKLEARN_WORDS,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        binary: bool = False,
        n_jobs: int | None = None,
        **others: Any,
    ) -> None:
        self.analyzer = analyzer
        self.lowercase = lowercase
        self.ngram_range = ngram_range
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.binary = binary
        self.n_jobs = n_jobs
        for name in others:
            raise SettingError(
                name,
                f"is no parameter of this {type(self).__name__}; "
                f"sklearn.feature_extraction.text.{type(self).__name__} may have it.",
            )

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the terms."""
        self.fit_transform(raw_documents)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the terms and return the matrix (n_texts, n_terms)."""
        X = self._learn(self._analysis(), as_texts(raw_documents), self._weights_of)
        return align_sparse(X)

    def transform(self, raw_documents: Any) -> Any:
        """The matrix (n_texts, n_terms) of new texts; words that are not terms are ignored."""
        check_is_fitted(self, "_vocabulary")
        X = self._look_up(self._analysis(), as_texts(raw_documents), self._weights(len(self._vocabulary)))
        return align_sparse(X)

    def _analysis(self) -> Analysis:
        if self.analyzer != "word":
            return Analysis(self.analyzer, *self._form())
        stop_words = ENGLISH_STOP_WORDS if self.stop_words == "english" else self.stop_words
        return Analysis("pattern", *self._form(), self.token_pattern, ordered(stop_words))

    def _weights_of(self, df: NDArray[np.int64], n_texts: int) -> TermWeights:
        return self._weights(df.size)

    def _weights(self, n_terms: int) -> TermWeights:
        return TermWeights(self._tf, np.ones(n_terms), unit=False)

    def _tf(self, counts: Floats) -> Floats:
        return np.minimum(counts, 1.0) if self.binary else counts


class TfidfVectorizer(CountVectorizer):
    """scikit-learn's `TfidfVectorizer`, compiled.

    Parameters
    ----------
    norm : {"l2", None}, default="l2"
    use_idf, smooth_idf, sublinear_tf
        As in scikit-learn.
    analyzer, lowercase, ngram_range, stop_words, token_pattern, min_df, max_df, max_features, binary, n_jobs
        As in `CountVectorizer`.

    Attributes
    ----------
    vocabulary_ : dict, term → column
    idf_ : array (n_terms,)
        Ones unless `use_idf`.

    Examples
    --------
    >>> from textmargin import TfidfVectorizer
    >>> TfidfVectorizer().fit_transform(["wheat and corn", "corn prices"]).toarray().round(3)
    array([[0.632, 0.449, 0.   , 0.632],
           [0.   , 0.58 , 0.815, 0.   ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CountVectorizer._parameter_constraints,
        "norm": [StrOptions({"l2"}), None],
        "use_idf": ["boolean"],
        "smooth_idf": ["boolean"],
        "sublinear_tf": ["boolean"],
    }
    _dtype = np.float64

    def __init__(
        self,
        *,
        analyzer: str = "word",
        lowercase: bool = True,
        ngram_range: tuple[int, int] = (1, 1),
        stop_words: str | list[str] | None = None,
        token_pattern: str = SKLEARN_WORDS,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        binary: bool = False,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        n_jobs: int | None = None,
        **others: Any,
    ) -> None:
        super().__init__(
            analyzer=analyzer,
            lowercase=lowercase,
            ngram_range=ngram_range,
            stop_words=stop_words,
            token_pattern=token_pattern,
            min_df=min_df,
            max_df=max_df,
            max_features=max_features,
            binary=binary,
            n_jobs=n_jobs,
            **others,
        )
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def _weights_of(self, df: NDArray[np.int64], n_texts: int) -> TermWeights:
        """As scikit-learn's `TfidfTransformer` has them, to the bit."""
        smoothed = df.astype(np.float64) + float(self.smooth_idf)
        idf = np.full_like(smoothed, n_texts + int(self.smooth_idf)) / smoothed
        self.idf_ = np.log(idf) + 1.0 if self.use_idf else np.ones(df.size)
        return self._weights(df.size)

    def _weights(self, n_terms: int) -> TermWeights:
        return TermWeights(self._tf, self.idf_, unit=self.norm is not None)

    def _tf(self, counts: Floats) -> Floats:
        counts = super()._tf(counts)
        return (
            np.log(counts, out=np.full_like(counts, -1.0), where=counts > 0) + 1.0
            if self.sublinear_tf
            else counts
        )
