"""Bag of words: texts to sparse columns that keep their terms.

Weight of term t in text d, with n its count there, N the number of training texts and df those that contain
t:

    tf-idf       n · ln(N/df)            (Parrado-Hernández & Hardoon, Sec. 2.2)
    log-tf-idf   ln(1 + n) · ln(N/df)    (Lodhi et al., Sec. 5)
    count        n

No smoothing: a term that every text contains weighs nothing. Rows have unit length unless `norm=None`. What a
word is, `words.py` says; the papers' analyser (`analyzer="letters"`), characters, or a function can be had
instead.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from .._sklearn import StrOptions, fit_context
from .._typing import Floats
from ..errors import EmptyTextWarning, EmptyVocabularyError, NotTextError, SettingError
from ..records import record
from ._analysis import LETTERS, Analysis, ordered
from ._bow_parts import fit_parts, fitted_rows, transform_parts
from ._compiled import CompiledVectorizer, counts_of
from ._function_words import FUNCTION_WORDS
from ._vocabulary import Vocabulary
from .languages import LANGUAGES, main_language
from .linear_scores import TF, LinearScorer, TermWeights, warn_of_unknown_terms
from .text_parts import TextParts, as_parts
from .texts import as_texts
from .words import WordTokenizer


@record("fixed_vocabulary_ idf_ language_ n_texts_ _vocabulary")
class BagOfWords(CompiledVectorizer):
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
    ngram_range : tuple (shortest, longest), default=(1, 1)
        Sequences of words to use as terms.
    analyzer : {"word", "letters", "char", "char_wb"} or callable, default="word"
        "letters" are the papers' words: two or more letters, and unless you say otherwise no English stop
        words. "char" and "char_wb" are scikit-learn's. A function takes a text and returns its terms; they
        are counted as they are, whatever `lowercase`, `ngram_range` and `stop_words` say.
    min_df, max_df : int (texts) or float (share of texts), default=1, 1.0
        Leave out terms that fewer, or more, texts contain.
    max_features : int, default=None
        Keep only the most frequent terms.
    vocabulary : list of str, default=None
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
        **CompiledVectorizer._parameter_constraints,
        "weight": [StrOptions({"tf-idf", "log-tf-idf", "count"})],
        "norm": [StrOptions({"l2"}), None],
        "analyzer": [StrOptions({"word", "letters", "char", "char_wb"}), callable],
        "stop_words": [StrOptions({"auto", *LANGUAGES}), list, None],
        "numbers": [StrOptions({"shape", "exact"})],
        "vocabulary": ["array-like", None],
        "extra_terms": [list, tuple],
    }
    _as_met = False
    _drops_zeros = True

    def __init__(
        self,
        weight: str = "log-tf-idf",
        *,
        norm: str | None = "l2",
        stop_words: str | list[str] | None = "auto",
        numbers: str = "shape",
        lowercase: bool = True,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: str | Callable[[str], list[str]] = "word",
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_features: int | None = None,
        vocabulary: Sequence[str] | None = None,
        extra_terms: Sequence[str] = (),
        n_jobs: int | None = None,
    ) -> None:
        self.weight = weight
        self.norm = norm
        self.stop_words = stop_words
        self.numbers = numbers
        self.lowercase = lowercase
        self.ngram_range = ngram_range
        self.analyzer = analyzer
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
        self.check_vocabulary()
        try:
            return self._join_extra_terms(self._fit_texts(texts))
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
        X = self.rows(texts)
        if texts and not X.nnz and not self.count_known_terms(texts).nnz:
            warn_of_unknown_terms(len(texts), stacklevel=3)
        return X

    def rows(self, texts: list[str]) -> sp.csr_matrix:
        """The matrix of new texts, without a warning where none has a known term."""
        analysis = self._analysis()
        if analysis is None:
            return self.weight_counts(self.count_known_terms(texts))
        return sp.csr_matrix(self._look_up(analysis, texts, self.term_weights()))

    def count_known_terms(self, texts: list[str]) -> sp.csr_matrix:
        """The counts (n_texts, n_terms) of the vocabulary's terms."""
        analysis = self._analysis()
        if analysis is not None:
            return sp.csr_matrix(self._look_up(analysis, texts, counts_of(len(self._vocabulary))))
        return _count(self.build_analyzer(), texts, self.vocabulary_)[1]

    def count_new_terms(self, texts: list[str]) -> tuple[dict[str, int], sp.csr_matrix]:
        """All terms that the analyser in Python finds, in order, with their columns; and the counts."""
        found, counts = _count(self.build_analyzer(), texts, None)
        for term in found:
            if not isinstance(term, str):
                raise NotTextError(f"Terms are strings; the analyzer gave {term!r:.60}.")
        names = sorted(found)
        counts = counts[:, [found[name] for name in names]]
        counts.sort_indices()
        return dict(zip(names, range(len(names)), strict=True)), counts

    def check_vocabulary(self) -> None:
        """Take the terms that are given, if any; an error if one is there twice."""
        self.fixed_vocabulary_ = self.vocabulary is not None
        if self.vocabulary is not None:
            names = as_texts(self.vocabulary)
            if not names:
                raise EmptyVocabularyError(
                    "The given vocabulary is empty; name the terms to use, or leave it out to use those of "
                    "the texts."
                )
            twice = next((name for name, n in Counter(names).items() if n > 1), None)
            if twice is not None:
                raise SettingError("vocabulary", f"names {twice!r:.60} more than once.")
            self._vocabulary = Vocabulary.of(names)

    def term_weights(self) -> TermWeights:
        """What a term's count in a text weighs."""
        return TermWeights(TF[self.weight], self.idf_, unit=self.norm is not None)

    def linear_scorer(self, coef: Floats, intercept: Floats) -> LinearScorer | None:
        """From texts to scores of a linear learner on their matrix, without making that; None where terms are
        found in Python.
        """
        analysis = self._analysis()
        if analysis is None:
            return None
        unit = self.norm is not None
        return LinearScorer(
            analysis, self._vocabulary, self.weight, unit, self.idf_, coef.T, intercept, self.n_jobs
        )

    def _fit_texts(self, texts: list[str]) -> sp.csr_matrix:
        analysis = self._analysis()
        if analysis is not None and not self.fixed_vocabulary_:

            def weights_of(df: NDArray[np.int64], n_texts: int) -> TermWeights:
                self.idf_ = self._idf(df)
                return self.term_weights()

            return sp.csr_matrix(self._learn(analysis, texts, weights_of))
        if self.fixed_vocabulary_:
            counts = self.count_known_terms(texts)
        else:
            names, counts = self.count_new_terms(texts)
            total = np.asarray(counts.sum(axis=0), dtype=np.int64).ravel()
            columns = np.flatnonzero(self._select(_text_frequencies(counts), total, len(texts)))
            self._vocabulary = Vocabulary.of(np.array([*names], dtype=object)[columns].tolist())
            counts = counts[:, columns]
        self.idf_ = self._idf(_text_frequencies(counts))
        return self.weight_counts(counts)

    def _analysis(self) -> Analysis | None:
        """What terms are; None if a function in Python finds them."""
        if callable(self.analyzer):
            return None
        if self.analyzer in ("char", "char_wb"):
            return Analysis(self.analyzer, *self._form())
        stop_words = ordered(self.get_stop_words())
        if self.analyzer == "letters":
            return Analysis("pattern", *self._form(), LETTERS, stop_words)
        shapes = self.numbers == "shape"
        return Analysis(
            "word", *self._form(), "", stop_words, shapes, ordered(self._named_numbers()) if shapes else ()
        )

    def build_analyzer(self) -> Callable[[str], list[str]]:
        """The function from a text to its terms."""
        if callable(self.analyzer):
            return self.analyzer
        stop_words = self.get_stop_words()
        words = self.analyzer == "word"
        analyze: Callable[[str], list[str]] = CountVectorizer(
            lowercase=self._form()[0],
            ngram_range=self.ngram_range,
            analyzer=self.analyzer if self.analyzer.startswith("char") else "word",
            stop_words=stop_words and sorted(stop_words),
            tokenizer=WordTokenizer(self.numbers, self._named_numbers()) if words else None,
            token_pattern=None if words else LETTERS,
        ).build_analyzer()
        return analyze

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
        found: Iterable[str] | None
        name = self.stop_words
        if name == "auto":
            name = "english" if self.analyzer == "letters" else None
            found = FUNCTION_WORDS.get(getattr(self, "language_", None) or "")
        if name == "english":
            found = ENGLISH_STOP_WORDS
        elif isinstance(name, str):
            found = FUNCTION_WORDS[name]
        elif self.stop_words != "auto":
            found = name
        return frozenset(found).difference(self._named_terms()) if found else None

    def _named_terms(self) -> list[str]:
        """The terms that somebody named, in place of those found or beside them."""
        return [*self.extra_terms, *(self.vocabulary or ())]

    def _named_numbers(self) -> list[str]:
        return [term for term in self._named_terms() if term.isdecimal()]

    def _language(self, texts: Sequence[str]) -> str | None:
        return main_language(texts) if self.analyzer == "word" and texts else None

    def _join_extra_terms(self, X: sp.csr_matrix) -> sp.csr_matrix:
        """The matrix with columns for the extra terms too, all in order."""
        more = {*self.extra_terms} - self.vocabulary_.keys()
        if self.fixed_vocabulary_ or not more:
            return X
        names = sorted([*self.vocabulary_, *more])
        place = dict(zip(names, range(len(names)), strict=True))
        moved = np.array([place[name] for name in self.vocabulary_], dtype=X.indices.dtype)
        idf = np.full(len(names), 1.0 if self.weight == "count" else np.log(self.n_texts_))
        idf[moved] = self.idf_
        self._vocabulary, self.idf_ = Vocabulary.of(names), idf
        return sp.csr_matrix((X.data, moved[X.indices], X.indptr), shape=(X.shape[0], len(names)))

    def _why_empty(self, texts: list[str], n_texts: int) -> str:
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
                f"letters or digits: use analyzer='char', or a function of your own."
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


def _count(
    analyze: Callable[[str], Iterable[str]], texts: list[str], vocabulary: Mapping[str, int] | None
) -> tuple[dict[str, int], sp.csr_matrix]:
    """Terms counted in Python: those of a vocabulary, or all in the order in which they are met."""
    columns = dict(vocabulary or {})
    ends, indices, counts = [0], list[int](), list[int]()
    for text in texts:
        for term, n in Counter(analyze(text)).items():
            column = columns.setdefault(term, len(columns)) if vocabulary is None else columns.get(term)
            if column is not None:
                indices.append(column)
                counts.append(n)
        ends.append(len(indices))
    X = sp.csr_matrix((np.array(counts, np.float64), indices, ends), shape=(len(texts), len(columns)))
    X.sort_indices()
    return columns, X


def _text_frequencies(counts: sp.csr_matrix) -> NDArray[np.int64]:
    """How many texts have each term (n_terms,)."""
    return np.bincount(counts.indices, minlength=counts.shape[1])
