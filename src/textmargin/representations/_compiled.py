"""What the vectorisers share: terms found, counted and weighted in compiled code, with scikit-learn's results
to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._sklearn import OpenVectorizer, align_sparse
from .._system.threads import n_threads
from ._analysis import PATTERNS, Analysis, ordered
from ._vocabulary import Vocabulary
from .linear_scores import TermWeights

if TYPE_CHECKING:
    from .. import core

# What a subclass may have changed.
_STEPS = (
    "build_analyzer",
    "build_tokenizer",
    "build_preprocessor",
    "decode",
    "_word_ngrams",
    "_char_ngrams",
    "_char_wb_ngrams",
)
_TEXTS_AT_ONCE = 1 << 14
_LONGEST = 1 << 30  # sequences: no text is as long, and compiled code counts with 32 bits


class CompiledVectorizer(OpenVectorizer):
    """A mixin before a vectoriser of scikit-learn: its own methods remain for what compiled code does not
    know.
    """

    n_jobs: int | None
    _vocabulary: Vocabulary | dict[Any, int]  # what is no string is looked up in Python
    if TYPE_CHECKING:  # what scikit-learn's class has

        def __getattr__(self, name: str) -> Any: ...

    def fallback_reason(self) -> str | None:
        """Why words are found in Python, text by text: a step of your own takes the place of ours. None where
        they are not.

        A preprocessor, or accents to strip, is Python's work too, and leaves the rest to compiled code.
        """
        for step in _STEPS:
            owner = next(cls for cls in type(self).__mro__ if step in vars(cls))
            if step in vars(self) or not owner.__module__.startswith(("sklearn.", "textmargin.")):
                return f"{type(self).__name__}.{step} is your own"
        if callable(self.analyzer):
            return f"analyzer={self.analyzer!r:.60} is your own"
        if self.ngram_range[0] < 1:
            return f"ngram_range={self.ngram_range!r:.60} asks for sequences of nothing"
        if self.analyzer != "word":
            return None
        if self.tokenizer is not None:
            return f"tokenizer={self.tokenizer!r:.60} is your own"
        if self.token_pattern not in self._patterns():
            return f"token_pattern={self.token_pattern!r:.60} is your own"
        return None

    def _patterns(self) -> Iterable[str | None]:
        return PATTERNS

    def _analysis(self) -> Analysis | None:
        """What terms are; None where Python must find them."""
        if self.fallback_reason() is not None:
            return None
        if self.analyzer != "word":
            return Analysis(self.analyzer, *self._form())
        return Analysis("pattern", *self._form(), self.token_pattern, ordered(self.get_stop_words()))

    def _form(self) -> tuple[bool, tuple[int, int]]:
        """Whether compiled code makes lower case, which Python does before whatever it does itself; how long
        sequences are.
        """
        shortest, longest = (min(int(n), _LONGEST) for n in self.ngram_range)
        return bool(self.lowercase) and not self._prepares(), (shortest, longest)

    def _prepares(self) -> bool:
        return self.preprocessor is not None or self.strip_accents is not None

    def _texts(self, raw_documents: Any) -> Iterator[list[str]]:
        """Strings, with everything done to them that comes before words are looked for, but for lower case;
        in portions where somebody else does not have them all at once anyway.
        """
        if isinstance(raw_documents, str):
            raise ValueError("Iterable over raw text documents expected, string object received.")
        at_hand = isinstance(raw_documents, list) and not self._prepares()
        texts = iter(raw_documents)
        while portion := raw_documents if at_hand else list(islice(texts, _TEXTS_AT_ONCE)):
            yield self._strings(portion)
            if at_hand:
                return

    def _strings(self, documents: list[Any]) -> list[str]:
        if self.input != "content" or not {*map(type, documents)} <= {str}:
            documents = [self.decode(text) for text in documents]
        if self._prepares():
            documents = list(map(self.build_preprocessor(), documents))
        for text in documents if not {*map(type, documents)} <= {str} else ():
            if not isinstance(text, str):
                self.build_analyzer()(text)  # which has scikit-learn's message
                raise TypeError(f"Expected texts, got {type(text).__name__}: {text!r:.60}.")
        return documents

    def _learn(
        self,
        analysis: Analysis,
        raw_documents: Any,
        weights_of: Callable[[NDArray[np.int64], int], TermWeights],
    ) -> sp.csr_array:
        """The matrix (n_texts, n_terms) of texts; sets the vocabulary. `weights_of` is told how many texts
        have each term, and how many there are.
        """
        terms, df, total, most, n_texts = self._count(analysis, raw_documents)
        selection = self._select(df, total, n_texts)
        columns = np.where(selection, np.cumsum(selection) - 1, -1).astype(np.int32)
        weights = weights_of(df[selection], n_texts)
        threads = n_threads(self.n_jobs)
        parts = terms.rows(
            columns,
            weights.idf,
            weights.up_to(most),
            weights.unit,
            not self._sorts,
            self._drops_zeros,
            threads,
        )
        self._vocabulary = Vocabulary.from_compiled(analysis, terms, weights.idf.size)
        return _csr(parts, weights.idf.size, self.dtype)

    def _count(
        self, analysis: Analysis, raw_documents: Any
    ) -> tuple[core.Terms, NDArray[np.int64], NDArray[np.int64], int, int]:
        """All terms of texts; per term texts that have it, and occurrences; the highest count; the number of
        texts.
        """
        self.build_analyzer()  # which warns of stop words that no text has
        terms, n_texts = analysis.compile(), 0
        for texts in self._texts(raw_documents):
            terms.add(texts, n_threads(self.n_jobs))
            n_texts += len(texts)
        df, total, most = terms.join(n_threads(self.n_jobs))
        if not df.any():
            raise ValueError("empty vocabulary; perhaps the documents only contain stop words")
        return terms, df, total, most, n_texts

    # whether a row's entries are in the order of columns, not in that in which scikit-learn met them
    _sorts = False
    _drops_zeros = False

    def _select(self, df: NDArray[np.int64], total: NDArray[np.int64], n_texts: int) -> NDArray[np.bool_]:
        """The terms that `min_df`, `max_df` and `max_features` leave."""
        high: Any = self.max_df if isinstance(self.max_df, Integral) else self.max_df * n_texts
        low: Any = self.min_df if isinstance(self.min_df, Integral) else self.min_df * n_texts
        if high < low:
            raise ValueError("max_df corresponds to < documents than min_df")
        selection = (df > 0) & (df <= high) & (df >= low)  # 0: words of which only sequences are wanted
        if self.max_features is not None and selection.sum() > self.max_features:
            sums = np.empty(0, self.dtype).sum().dtype  # of ties the type decides which come first
            counts = (df if self.binary else total).astype(sums)
            places = np.flatnonzero(selection)[self._most_frequent(counts[selection])]
            selection = np.zeros_like(selection)
            selection[places] = True
        if not selection.any():
            raise ValueError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
        return selection

    def _most_frequent(self, counts: NDArray[Any]) -> NDArray[np.intp]:
        return (-counts).argsort()[: self.max_features]

    def _look_up(self, raw_documents: Any, weights: TermWeights) -> sp.csr_array:
        """The matrix of new texts."""
        analysis = self._analysis()
        assert analysis is not None
        assert isinstance(self._vocabulary, Vocabulary)
        terms, threads = self._vocabulary.compile(analysis), n_threads(self.n_jobs)
        n_columns = weights.idf.size

        def rows(texts: list[str]) -> Any:
            return weights.apply(
                lambda tf: terms.transform(texts, weights.idf, tf, weights.unit, self._drops_zeros, threads)
            )

        parts = [_csr(rows(texts), n_columns, self.dtype) for texts in self._texts(raw_documents)]
        if len(parts) == 1:
            return parts[0]
        return sp.vstack(parts, format="csr") if parts else sp.csr_array((0, n_columns), dtype=self.dtype)

    def count_terms(self, raw_documents: Any, fixed_vocabulary: bool) -> tuple[Any, Any] | None:
        """The vocabulary, in the order its terms are met where it is not fixed, and the counts; None to leave
        it to Python.
        """
        analysis = self._analysis()
        if analysis is None or (fixed_vocabulary and isinstance(self._vocabulary, dict)):
            return None
        if fixed_vocabulary:
            self.build_analyzer()
            X = self._look_up(raw_documents, _counts(len(self._vocabulary)))
            return {}, align_sparse(X)  # which nobody asks for, and which would have to be made
        terms, df, _, most, _ = self._count(analysis, raw_documents)
        columns = np.full(df.size, -1, dtype=np.int32)
        met = np.flatnonzero(df)
        columns[met[np.argsort(terms.order()[met])]] = np.arange(met.size)
        weights = _counts(met.size)
        X = _csr(
            terms.rows(
                columns, weights.idf, weights.up_to(most), False, False, False, n_threads(self.n_jobs)
            ),
            met.size,
            self.dtype,
        )
        return Vocabulary.from_compiled(analysis, terms, met.size).mapping, align_sparse(X)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each term."""
        if "_vocabulary" not in vars(self):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute 'vocabulary_'")
        return self._vocabulary if isinstance(self._vocabulary, dict) else self._vocabulary.mapping

    @vocabulary_.setter
    def vocabulary_(self, terms: dict[Any, int]) -> None:
        self._vocabulary = Vocabulary.of(terms) if all(isinstance(term, str) for term in terms) else terms

    def _check_vocabulary(self) -> None:
        if "_vocabulary" not in vars(self) or not len(self._vocabulary):
            super()._check_vocabulary()  # type: ignore[misc]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The terms, in the order of columns."""
        self._check_vocabulary()
        if isinstance(self._vocabulary, dict):
            return super().get_feature_names_out(input_features)  # type: ignore[misc]
        names = np.empty(len(self._vocabulary), dtype=object)
        names[:] = self._vocabulary.names
        return names

    def __getstate__(self) -> dict[str, Any]:
        """Terms as one block of bytes, and what they are in plain values."""
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        if isinstance(own := state.pop("_vocabulary", None), Vocabulary):
            state["_term_block"], state["_term_ends"] = own.block
        elif own is not None:
            state["_vocabulary"] = own
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "_term_block" in state:
            state["_vocabulary"] = Vocabulary(state.pop("_term_block"), state.pop("_term_ends"))
        super().__setstate__(state)  # type: ignore[misc]


def _counts(n_terms: int) -> TermWeights:
    return TermWeights(lambda counts: counts, np.ones(n_terms), unit=False)


def _csr(parts: tuple[Any, Any, Any], n_columns: int, dtype: Any = np.float64) -> sp.csr_array:
    """A matrix as scikit-learn makes it: indices of 32 bits as long as these do."""
    indptr, indices, data = parts
    data = data.astype(dtype, copy=False)  # before it is a matrix, which would be sorted
    if indptr[-1] <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    else:
        indices = indices.astype(np.int64)
    return sp.csr_array((data, indices, indptr), shape=(indptr.size - 1, n_columns))
