"""Bag of words: texts to sparse columns that keep their terms.

Weight of term t in text d, with n its count there, N the number of training texts and df those that contain t:

    tf-idf       n · ln(N/df)            (Parrado-Hernández & Hardoon, Sec. 2.2)
    log-tf-idf   ln(1 + n) · ln(N/df)    (Lodhi et al., Sec. 5)
    count        n

No smoothing: a term that every text contains weighs nothing. Rows have unit length unless `norm=None`. Tokenising is
scikit-learn's, with the papers' analyser as default: digits and punctuation separate words, lower case, stop words out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from .._sklearn import QuietCountVectorizer, StrOptions, fit_context
from ..errors import EmptyTextWarning, EmptyVocabularyError
from .texts import as_texts


class BagOfWords(QuietCountVectorizer):
    """Turn texts into a sparse matrix of weighted words.

    Parameters
    ----------
    weight : {"tf-idf", "log-tf-idf", "count"}, default="log-tf-idf"
        How a word's count in a text is weighted; the module's docstring has the formulas.
    norm : {"l2", None}, default="l2"
        Whether each text is scaled to unit length.
    stop_words : {"english"}, list or None, default="english"
        Words to leave out.
    lowercase : bool, default=True
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
    token_pattern : str, default=two or more letters
        What a word is. By default digits and punctuation separate words and single letters are dropped.
    ngram_range : tuple (shortest, longest), default=(1, 1)
        Sequences of words to use as terms.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
    preprocessor, tokenizer : callable or None, default=None
        Replace that step, as in scikit-learn's vectorisers.
    min_df, max_df : int (texts) or float (share of texts), default=1, 1.0
        Leave out terms that fewer, or more, texts contain.
    max_features : int, default=None
        Keep only the most frequent terms.
    vocabulary : mapping or iterable, default=None
        Terms to use instead of those found. One that no training text contains is weighted as if one did.

    Attributes
    ----------
    vocabulary_ : dict, term → column
    fixed_vocabulary_ : bool
        Whether the vocabulary was given.
    idf_ : array (n_terms,)
        ln(N/df), or ones with `weight="count"`.
    n_texts_ : int
        N, the number of texts fitted on.

    Examples
    --------
    >>> from textmargin import BagOfWords
    >>> words = BagOfWords(weight="count", norm=None)
    >>> words.fit_transform(["Wheat, wheat and corn!", "Corn prices rose 3%"]).toarray()
    array([[1., 0., 0., 2.],
           [1., 1., 1., 0.]])
    >>> words.get_feature_names_out()
    array(['corn', 'prices', 'rose', 'wheat'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **QuietCountVectorizer.constraints("input", "encoding", "decode_error", "binary", "dtype"),
        "weight": [StrOptions({"tf-idf", "log-tf-idf", "count"})],
        "norm": [StrOptions({"l2"}), None],
    }
    # No choice here: texts are strings, and their counts are what is weighted.
    input = "content"
    encoding = "utf-8"
    decode_error = "strict"
    binary = False
    dtype = np.float64

    def __init__(
        self,
        weight: str = "log-tf-idf",
        *,
        norm: str | None = "l2",
        stop_words: str | list[str] | None = "english",
        lowercase: bool = True,
        strip_accents: str | Callable[[str], str] | None = None,
        token_pattern: str | None = r"[^\W\d_]{2,}",
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: str | Callable[[str], Iterable[str]] = "word",
        preprocessor: Callable[[str], str] | None = None,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_features: int | None = None,
        vocabulary: Mapping[str, int] | Iterable[str] | None = None,
    ) -> None:
        self.weight = weight
        self.norm = norm
        self.stop_words = stop_words
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.vocabulary = vocabulary

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the terms and their idf from texts."""
        self.fit_transform(raw_documents)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, raw_documents: Any, y: Any = None) -> sp.csr_matrix:
        """Learn the terms and return the matrix (n_texts, n_terms)."""
        texts = as_texts(raw_documents)
        counts = self._count(texts)
        self.n_texts_ = len(texts)
        self.idf_ = self._idf(np.bincount(counts.indices, minlength=counts.shape[1]))
        return self.weight_counts(counts)

    def transform(self, raw_documents: Any) -> sp.csr_matrix:
        """The matrix (n_texts, n_terms) of new texts; words that are not terms are ignored."""
        check_is_fitted(self, "idf_")
        texts = as_texts(raw_documents)
        counts = super().transform(texts)
        n_empty = int((np.diff(counts.indptr) == 0).sum())
        if texts and n_empty == len(texts):
            warnings.warn(
                f"None of {n_empty} texts contains a single known term; their scores will be the intercept alone. "
                f"Are they in the language and form of the training texts?",
                EmptyTextWarning,
                stacklevel=2,
            )
        return self.weight_counts(counts)

    def _count(self, texts: list[str]) -> sp.csr_matrix:
        if not texts:
            raise EmptyVocabularyError("There are no texts to learn words from: the corpus is empty.")
        try:
            return super().fit_transform(texts)
        except ValueError as error:
            if "empty vocabulary" in str(error) or "no terms remain" in str(error).lower():
                raise EmptyVocabularyError(self._why_empty(texts)) from error
            raise

    def _why_empty(self, texts: list[str]) -> str:
        if self.vocabulary is not None:
            return "The given vocabulary is empty; name the terms to use, or leave it out to use those of the texts."
        if not any(text.strip() for text in texts):
            return f"All {len(texts)} texts are empty, so there are no words to learn from."
        everything = BagOfWords(**{**self.get_params(), "stop_words": None, "min_df": 1, "max_df": 1.0}).build_analyzer()
        found = sorted({term for text in texts for term in everything(text)})
        if not found:
            first = next(text for text in texts if text.strip())
            return (
                f"No words were found in {len(texts)} texts, the first being {first!r:.60}; by default a word is two or more "
                f"letters: change token_pattern, or use analyzer='char'."
            )
        analyze = self.build_analyzer()
        if not any(analyze(text) for text in texts):
            return f"All words are stop words ({', '.join(map(repr, found[:5]))}); set stop_words=None or give your own list."
        return (
            f"min_df={self.min_df!r} and max_df={self.max_df!r} leave none of {len(found)} terms in {len(texts)} texts; "
            f"loosen them."
        )

    def _idf(self, df: NDArray[np.int64]) -> NDArray[np.float64]:
        if self.weight == "count":
            return np.ones(df.size)
        idf = np.log(self.n_texts_ / np.maximum(df, 1))
        if not idf.any():
            warnings.warn(
                f"Every term occurs in each of {self.n_texts_} texts, so that {self.weight} is 0 throughout; use weight='count'.",
                EmptyTextWarning,
                stacklevel=3,
            )
        return idf

    def weight_counts(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        """The weights of terms whose counts (n_texts, n_terms) are known."""
        X = sp.csr_matrix(counts, dtype=np.float64)
        if self.weight == "log-tf-idf":
            np.log1p(X.data, out=X.data)
        X.data *= self.idf_[X.indices]
        X.eliminate_zeros()
        X.sort_indices()
        return normalize(X, norm="l2", copy=False) if self.norm else X
