"""Bag of words: texts to sparse columns that keep their terms.

Weight of term t in text d, with n its count there, N the number of training texts and df those that contain
t:

    tf-idf       n · ln(N/df)            (Parrado-Hernández & Hardoon, Sec. 2.2)
    log-tf-idf   ln(1 + n) · ln(N/df)    (Lodhi et al., Sec. 5)
    count        n

No smoothing: a term that every text contains weighs nothing. Rows have unit length unless `norm=None`. What a
word is, `words.py` says; the papers' analyser (`analyzer="letters"`) and scikit-learn's own can be had
instead.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from .._sklearn import QuietCountVectorizer, StrOptions, fit_context
from .._typing import Floats
from ..errors import EmptyTextWarning, EmptyVocabularyError
from ..records import record
from ._analysis import LETTERS, PATTERNS, Analysis, ordered
from ._bow_parts import fit_parts, fitted_rows, transform_parts
from ._compiled import CompiledVectorizer
from ._function_words import FUNCTION_WORDS
from ._vocabulary import Vocabulary
from .languages import LANGUAGES, main_language
from .linear_scores import TF, LinearScorer, TermWeights, warn_of_unknown_terms
from .text_parts import TextParts, as_parts
from .texts import as_texts
from .words import WordTokenizer


@record("fixed_vocabulary_ idf_ language_ n_texts_ _vocabulary")
class BagOfWords(CompiledVectorizer, QuietCountVectorizer):
    """Turn texts into a sparse matrix of weighted words.

    Parameters
    ----------
    weight : {"tf-idf", "log-tf-idf", "count"}, default="log-tf-idf"
        How a word's count in a text is weighted; the module's docstring has the formulas.
    norm : {"l2", None}, default="l2"
        Whether each text is scaled to unit length.
    stop_words : "auto", the name of a language, list or None, default="auto"
        Words to leave out. "auto": the function words of the language found, if it is one of
        `languages.LANGUAGES`; "english" is scikit-learn's list, with words such as call and system.
    numbers : {"shape", "exact"}, default="shape"
        Whether a number is how many digits it has, `####`, or what it is.
    lowercase : bool, default=True
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
    token_pattern : str, default=None
        A regular expression of what a word is, as in scikit-learn, instead of our own idea of it.
    ngram_range : tuple (shortest, longest), default=(1, 1)
        Sequences of words to use as terms.
    analyzer : {"word", "letters", "char", "char_wb"} or callable, default="word"
        "letters" are the papers' words: two or more letters, and unless you say otherwise no English stop
        words. The others are scikit-learn's.
    preprocessor, tokenizer : callable or None, default=None
        Replace that step, as in scikit-learn's vectorisers.
    min_df, max_df : int (texts) or float (share of texts), default=1, 1.0
        Leave out terms that fewer, or more, texts contain.
    max_features : int, default=None
        Keep only the most frequent terms.
    vocabulary : mapping or iterable, default=None
        Terms to use instead of those found. One that no training text contains is weighted as if one did.
    extra_terms : sequence of str, default=()
        Terms to use beside those found, such as keywords: also where no training text has them, where they
        are stop words, or numbers.
    n_jobs : int, default=None
        Threads; None: all cores. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict, term → column
    fixed_vocabulary_ : bool
        Whether the vocabulary was given.
    idf_ : array (n_terms,)
        ln(N/df), or ones with `weight="count"`.
    n_texts_ : int
        N, the number of texts fitted on.
    language_ : str or None
        The language found; None if it is not known, or was not looked for.

    Examples
    --------
    >>> from textmargin import BagOfWords
    >>> words = BagOfWords(weight="count", norm=None)
    >>> words.fit_transform(["Wheat, wheat and corn!", "Corn prices rose 3%"]).toarray()
    array([[0., 1., 0., 0., 2.],
           [1., 1., 1., 1., 0.]])
    >>> words.get_feature_names_out()
    array(['#', 'corn', 'prices', 'rose', 'wheat'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **QuietCountVectorizer.constraints("input", "encoding", "decode_error", "binary", "dtype"),
        "weight": [StrOptions({"tf-idf", "log-tf-idf", "count"})],
        "norm": [StrOptions({"l2"}), None],
        "analyzer": [StrOptions({"word", "letters", "char", "char_wb"}), callable],
        "token_pattern": [str, None],
        "stop_words": [StrOptions({"auto", *LANGUAGES}), list, None],
        "numbers": [StrOptions({"shape", "exact"})],
        "extra_terms": [list, tuple],
        "n_jobs": [Integral, None],
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
        stop_words: str | list[str] | None = "auto",
        numbers: str = "shape",
        lowercase: bool = True,
        strip_accents: str | Callable[[str], str] | None = None,
        token_pattern: str | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: str | Callable[[str], Iterable[str]] = "word",
        preprocessor: Callable[[str], str] | None = None,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_features: int | None = None,
        vocabulary: Mapping[str, int] | Iterable[str] | None = None,
        extra_terms: Sequence[str] = (),
        n_jobs: int | None = None,
    ) -> None:
        self.weight = weight
        self.norm = norm
        self.stop_words = stop_words
        self.numbers = numbers
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
        self.extra_terms = extra_terms
        self.n_jobs = n_jobs

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the terms and their idf from texts, or from texts in parts (`TextParts`)."""
        raw_documents = as_parts(raw_documents)
        if isinstance(raw_documents, TextParts):
            self._fit_parts(raw_documents)
        else:
            self.fit_transform(raw_documents)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the terms and return the matrix (n_texts, n_terms): CSR, or a `BlockMatrix` of texts in
        parts.
        """
        raw_documents = as_parts(raw_documents)
        if isinstance(raw_documents, TextParts):
            self._fit_parts(raw_documents)
            return fitted_rows(self, raw_documents)
        texts = as_texts(raw_documents)
        self.language_ = self._language(texts)
        if not texts:
            raise EmptyVocabularyError("There are no texts to learn words from: the corpus is empty.")
        self.n_texts_ = len(texts)
        try:
            return (
                self._fit_compiled(texts)
                if self._is_compiled()
                else self._fit_counts(super().fit_transform(texts))
            )
        except ValueError as error:
            if "empty vocabulary" in str(error) or "no terms remain" in str(error).lower():
                raise EmptyVocabularyError(self._why_empty(texts, len(texts))) from error
            raise

    @fit_context(prefer_skip_nested_validation=True)
    def _fit_parts(self, parts: TextParts) -> None:
        fit_parts(self, parts)

    def transform(self, raw_documents: Any) -> Any:
        """The matrix (n_texts, n_terms) of new texts, CSR or a `BlockMatrix`; words that are not terms are
        ignored.
        """
        check_is_fitted(self, "idf_")
        raw_documents = as_parts(raw_documents)
        if isinstance(raw_documents, TextParts):
            return transform_parts(self, raw_documents)
        texts = as_texts(raw_documents)
        X = (
            sp.csr_matrix(self._look_up(texts, self.term_weights()))
            if self._analysis()
            else self._transform_counts(texts)
        )
        if texts and not X.nnz and not self.count_known_terms(texts).nnz:
            warn_of_unknown_terms(len(texts), stacklevel=3)
        return X

    def term_weights(self) -> TermWeights:
        """What a term's count in a text weighs."""
        return TermWeights(TF[self.weight], self.idf_, unit=self.norm is not None)

    def linear_scorer(self, coef: Floats, intercept: Floats) -> LinearScorer | None:
        """From texts to scores of a linear learner on their matrix, without making that; None if texts are
        prepared, or words found, in Python.
        """
        analysis = self._analysis()
        if analysis is None or self._prepares() or not isinstance(self._vocabulary, Vocabulary):
            return None
        unit = self.norm is not None
        return LinearScorer(
            analysis, self._vocabulary, self.weight, unit, self.idf_, coef.T, intercept, self.n_jobs
        )

    def _is_compiled(self) -> bool:
        return self.vocabulary is None and self._analysis() is not None

    def _fit_compiled(self, texts: list[str]) -> sp.csr_matrix:
        analysis = self._analysis()
        assert analysis is not None
        self.check_vocabulary()

        def weights_of(df: NDArray[np.int64], n_texts: int) -> TermWeights:
            self.idf_ = self._idf(df)
            return self.term_weights()

        return self._join_extra_terms(sp.csr_matrix(self._learn(analysis, texts, weights_of)))

    def _fit_counts(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        self.idf_ = self._idf(np.bincount(counts.indices, minlength=counts.shape[1]))
        return self._join_extra_terms(self.weight_counts(counts))

    def _transform_counts(self, texts: list[str]) -> sp.csr_matrix:
        return self.weight_counts(super().transform(texts))

    def _analysis(self) -> Analysis | None:
        if self.fallback_reason() is not None:
            return None
        words = self.analyzer == "word" and self.token_pattern is None
        if not words and self.analyzer != "letters":
            return super()._analysis()
        if self.analyzer == "letters":
            stop_words = ordered(self._letters().get_stop_words())
            return Analysis("pattern", *self._form(), self.token_pattern or LETTERS, stop_words)
        stop_words, shapes = ordered(self.get_stop_words()), self.numbers == "shape"
        return Analysis(
            "word", *self._form(), "", stop_words, shapes, ordered(self._named_numbers()) if shapes else ()
        )

    def fallback_reason(self) -> str | None:
        """Why words are found in Python, text by text; None where they are not."""
        if (reason := super().fallback_reason()) is not None:
            return reason
        return self._letters().fallback_reason() if self.analyzer == "letters" else None

    def _patterns(self) -> Iterable[str | None]:
        return (*PATTERNS, None)

    _sorts = _drops_zeros = True

    def _most_frequent(self, counts: NDArray[Any]) -> NDArray[np.intp]:
        """Of terms that are as frequent as the last the first in order: the same on every processor."""
        return np.argsort(-counts, kind="stable")[: self.max_features]

    def build_analyzer(self) -> Callable[[str], list[str]]:
        """The function from a text to its terms."""
        return super().build_analyzer() if self.analyzer != "letters" else self._letters().build_analyzer()

    def _letters(self) -> BagOfWords:
        """The papers' analyser as one of words."""
        words = BagOfWords(**self.get_params(deep=False))
        words.analyzer = "word"
        words.token_pattern = self.token_pattern or LETTERS
        words.stop_words = "english" if self.stop_words == "auto" else self.stop_words
        return words

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """The function from a text to its words."""
        if self.tokenizer is not None or self.token_pattern is not None:
            return super().build_tokenizer()
        return WordTokenizer(self.numbers, self._named_numbers())

    def build_keyword_analyzer(self) -> Callable[[str], list[str]]:
        """The function from a keyword or phrase to the words that it speaks through: of a phrase without its
        function words.
        """
        if self.analyzer not in ("word", "letters"):
            return self.build_analyzer()
        words = BagOfWords(**self.get_params(deep=False))
        words.stop_words, words.ngram_range, words.numbers = None, (1, 1), "exact"
        split = words.build_analyzer()

        def analyze(entry: str) -> list[str]:
            found = split(entry)
            return [
                word for word in found if not any(word in own for own in FUNCTION_WORDS.values())
            ] or found

        return analyze

    def get_stop_words(self) -> frozenset[str] | None:
        """The words that are left out: those of the list, less what is named as a term."""
        if self.stop_words == "auto":
            found = FUNCTION_WORDS.get(getattr(self, "language_", None) or "")
        elif isinstance(self.stop_words, str) and self.stop_words != "english":
            found = FUNCTION_WORDS[self.stop_words]
        else:
            found = super().get_stop_words()
        return found.difference(self._named_terms()) if found else None

    def _named_terms(self) -> list[str]:
        """The terms that somebody named, in place of those found or beside them."""
        return [*self.extra_terms, *(self.vocabulary or ())]

    def _named_numbers(self) -> list[str]:
        return [term for term in self._named_terms() if term.isdecimal()]

    def _language(self, texts: Sequence[str]) -> str | None:
        by_words = self.analyzer == "word" and self.tokenizer is None
        return main_language(texts) if by_words and texts else None

    def _join_extra_terms(self, X: sp.csr_matrix) -> sp.csr_matrix:
        """The matrix with columns for the extra terms too, all in order."""
        known = {} if self.fixed_vocabulary_ or not self.extra_terms else self.vocabulary_
        more = sorted({*self.extra_terms} - known.keys())
        if self.fixed_vocabulary_ or not more:
            return X
        names = list(self.get_feature_names_out())
        places = [bisect_left(names, term) for term in more]
        moved = np.delete(
            np.arange(len(names) + len(more), dtype=X.indices.dtype), np.add(places, np.arange(len(more)))
        )
        terms = np.insert(np.array(names, dtype=object), places, more)
        self.vocabulary_ = dict(zip(terms, range(terms.size), strict=True))
        self.idf_ = np.insert(self.idf_, places, self._idf(np.zeros(len(more), np.int64)))
        return sp.csr_matrix((X.data, moved[X.indices], X.indptr), shape=(X.shape[0], terms.size))

    def _why_empty(self, texts: list[str], n_texts: int) -> str:
        if self.vocabulary is not None:
            return (
                "The given vocabulary is empty; name the terms to use, or leave it out to use those of "
                "the texts."
            )
        if not any(text.strip() for text in texts):
            return f"All {n_texts} texts are empty, so there are no words to learn from."
        everything = BagOfWords(
            **{**self.get_params(), "stop_words": None, "min_df": 1, "max_df": 1.0}
        ).build_analyzer()
        found = sorted({term for text in texts for term in everything(text)})
        if not found:
            first = next(text for text in texts if text.strip())
            return (
                f"No words were found in {n_texts} texts, the first being {first!r:.60}; by default a "
                "word is two or more "
                f"letters or digits: change token_pattern, or use analyzer='char'."
            )
        analyze = self.build_analyzer()
        if not any(analyze(text) for text in texts):
            return (
                f"All words are stop words ({', '.join(map(repr, found[:5]))}); set stop_words=None or "
                "give your own list."
            )
        return (
            f"min_df={self.min_df!r} and max_df={self.max_df!r} leave none of {len(found)} terms in "
            f"{n_texts} texts; loosen them."
        )

    def _idf(self, df: NDArray[np.int64]) -> NDArray[np.float64]:
        if self.weight == "count":
            return np.ones(df.size)
        idf = np.log(self.n_texts_ / np.maximum(df, 1))
        if not idf.any():
            warnings.warn(
                f"Every term occurs in each of {self.n_texts_} texts, so that {self.weight} is 0 "
                "throughout; use weight='count'.",
                EmptyTextWarning,
                stacklevel=3,
            )
        return idf

    def weight_counts(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        """The weights of terms whose counts (n_texts, n_terms) are known."""
        X = sp.csr_matrix(counts, dtype=np.float64)
        X.data = TF[self.weight](X.data) * self.idf_[X.indices]
        X.eliminate_zeros()
        X.sort_indices()
        return normalize(X, norm="l2", copy=False) if self.norm else X
