"""scikit-learn's vectorisers in compiled code: the same parameters, columns and bits, many times as fast.

    from textmargin import TfidfVectorizer        # in place of sklearn.feature_extraction.text

What is your own (a tokenizer, an analyzer, a pattern that compiled code does not know) runs as it does there;
`fallback_reason()` tells.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction import text as sklearn_text
from sklearn.utils.validation import check_is_fitted

from .._sklearn import align_sparse, fit_context
from .._typing import Floats
from ._analysis import SKLEARN_WORDS
from ._compiled import CompiledVectorizer
from .linear_scores import TermWeights

_THREADS = {"n_jobs": [Integral, None]}


class CountVectorizer(CompiledVectorizer, sklearn_text.CountVectorizer):
    """scikit-learn's `CountVectorizer`, compiled.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words,
        token_pattern, ngram_range, \
analyzer, max_df, min_df, max_features, vocabulary, binary, dtype
        As in scikit-learn.
    n_jobs : int, default=None
        Threads; None: all cores. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict, term → column
        Made when it is asked for.
    fixed_vocabulary_ : bool
        Whether the vocabulary was given.

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
        **sklearn_text.CountVectorizer._parameter_constraints,
        **_THREADS,
    }

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: str | Callable[[str], str] | None = None,
        lowercase: bool = True,
        preprocessor: Callable[[str], str] | None = None,
        tokenizer: Callable[[str], list[str]] | None = None,
        stop_words: str | list[str] | None = None,
        token_pattern: str | None = SKLEARN_WORDS,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: str | Callable[[str], list[str]] = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.int64,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            analyzer=analyzer,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
        )
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the terms and return their counts (n_texts, n_terms)."""
        analysis = self._analysis()
        # which decides what is frequent
        overflows = self.max_features is not None and np.dtype(self.dtype).itemsize < 4
        if analysis is None or overflows or self.vocabulary is not None or isinstance(raw_documents, str):
            return super().fit_transform(raw_documents)
        self.check_vocabulary()
        return align_sparse(
            self._learn(
                analysis, raw_documents, lambda df, _: TermWeights(self._tf, np.ones(df.size), unit=False)
            )
        )

    def _tf(self, counts: Floats) -> Floats:
        return np.ones_like(counts) if self.binary else counts


class TfidfVectorizer(CompiledVectorizer, sklearn_text.TfidfVectorizer):
    """scikit-learn's `TfidfVectorizer`, compiled.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, analyzer, stop_words,
        token_pattern, \
ngram_range, max_df, min_df, max_features, vocabulary, binary, dtype, norm, use_idf, smooth_idf, sublinear_tf
        As in scikit-learn.
    n_jobs : int, default=None
        Threads; None: all cores. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict, term → column
        Made when it is asked for.
    fixed_vocabulary_ : bool
        Whether the vocabulary was given.
    idf_ : array (n_terms,)
        Where `use_idf`.

    Examples
    --------
    >>> from textmargin import TfidfVectorizer
    >>> TfidfVectorizer().fit_transform(["wheat and corn", "corn prices"]).toarray().round(3)
    array([[0.632, 0.449, 0.   , 0.632],
           [0.   , 0.58 , 0.815, 0.   ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **sklearn_text.TfidfVectorizer._parameter_constraints,
        **_THREADS,
    }

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: str | Callable[[str], str] | None = None,
        lowercase: bool = True,
        preprocessor: Callable[[str], str] | None = None,
        tokenizer: Callable[[str], list[str]] | None = None,
        analyzer: str | Callable[[str], list[str]] = "word",
        stop_words: str | list[str] | None = None,
        token_pattern: str | None = SKLEARN_WORDS,
        ngram_range: tuple[int, int] = (1, 1),
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.float64,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            analyzer=analyzer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
            norm=norm,
            use_idf=use_idf,
            smooth_idf=smooth_idf,
            sublinear_tf=sublinear_tf,
        )
        self.n_jobs = n_jobs

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the terms and their idf."""
        self.fit_transform(raw_documents)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the terms and return their weights (n_texts, n_terms)."""
        analysis, plain = self._analysis(), self.dtype == np.float64 and self.norm in ("l2", None)
        if analysis is None or not plain or self.vocabulary is not None or isinstance(raw_documents, str):
            return super().fit_transform(raw_documents)
        self.check_vocabulary()
        self._tfidf = sklearn_text.TfidfTransformer(
            norm=self.norm, use_idf=self.use_idf, smooth_idf=self.smooth_idf, sublinear_tf=self.sublinear_tf
        )
        return align_sparse(self._learn(analysis, raw_documents, self._weights_of))

    def transform(self, raw_documents: Any) -> Any:
        """The weights (n_texts, n_terms) of new texts; words that are not terms are ignored."""
        check_is_fitted(self, msg="The TF-IDF vectorizer is not fitted")
        plain = (
            self.dtype == np.float64
            and self._tfidf.norm in ("l2", None)
            and hasattr(self._tfidf, "n_features_in_")
        )
        # not of a term given, and met nowhere, if smooth_idf=False
        finite = np.isfinite(getattr(self._tfidf, "idf_", 1.0)).all()
        if self._analysis() is None or not plain or not finite or isinstance(raw_documents, str):
            return super().transform(raw_documents)
        self._check_vocabulary()
        X = align_sparse(self._look_up(raw_documents, self._weights()))
        return X if X.shape[0] else self._tfidf.transform(X)  # which has scikit-learn's message

    def _weights_of(self, df: NDArray[np.int64], n_texts: int) -> TermWeights:
        """As `TfidfTransformer.fit` has them, which counts what is known already."""
        own = self._tfidf
        own.n_features_in_ = df.size
        if own.use_idf:
            smoothed = df.astype(np.float64) + float(own.smooth_idf)
            idf = np.full_like(smoothed, fill_value=n_texts + int(own.smooth_idf))
            idf /= smoothed
            np.log(idf, out=idf)
            own.idf_ = idf + 1.0
        return self._weights()

    def _weights(self) -> TermWeights:
        own = self._tfidf
        idf = own.idf_ if hasattr(own, "idf_") else np.ones(own.n_features_in_)
        return TermWeights(self._tf, idf, unit=own.norm is not None)

    def _tf(self, counts: Floats) -> Floats:
        if self.binary:
            counts = np.minimum(counts, 1.0)
        if not self._tfidf.sublinear_tf:
            return counts
        logs = counts.copy()
        np.log(counts[1:], logs[1:])
        logs[1:] += 1.0
        return logs
