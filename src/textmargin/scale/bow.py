"""Bag of words of texts in parts: the vocabulary and weights that all texts in one memory would give.

A term's weight depends on the other texts only through their number and how many of them contain it. So one pass counts, and
another turns each part into a sparse block by itself.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from dask.delayed import delayed
from sklearn.utils.validation import check_is_fitted

from .._sklearn import fit_context
from ..errors import EmptyVocabularyError
from ..representations import bow
from ..representations.languages import N_SAMPLE, sample_texts
from ._blocks import Blocks
from ._client import broadcast_pickled, client
from ._parts import is_partitioned, text_parts
from ._terms import count_terms, merge_terms
from .tasks import tree_reduce


class BagOfWords(bow.BagOfWords):
    """`textmargin.BagOfWords` for texts in parts: the same parameters, the same learnt attributes, the same numbers.

    `fit` and `transform` take a Dask bag of texts or a text column of a Dask dataframe; `transform` gives `Blocks`. Given texts
    in memory they do what that class does.

    Examples
    --------
    >>> import dask.bag
    >>> from distributed import Client
    >>> from textmargin.scale import BagOfWords
    >>> texts = dask.bag.from_sequence(["Wheat, wheat and corn!", "Corn prices rose 3%"], npartitions=2)
    >>> with Client(processes=False, dashboard_address=None):
    ...     BagOfWords(weight="count", norm=None).fit_transform(texts).compute().toarray()
    array([[0., 1., 0., 0., 2.],
           [1., 1., 1., 1., 0.]])
    """

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the terms and their idf."""
        return self._fit_parts(raw_documents) if is_partitioned(raw_documents) else super().fit(raw_documents)

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the terms; the matrix, in parts like the texts."""
        if not is_partitioned(raw_documents):
            return super().fit_transform(raw_documents)
        return self._fit_parts(raw_documents).transform(raw_documents)

    def transform(self, raw_documents: Any) -> Any:
        """The matrix (n_texts, n_terms), in parts like the texts; computed when it is needed."""
        if not is_partitioned(raw_documents):
            return super().transform(raw_documents)
        check_is_fitted(self, "idf_")
        words, weigh = broadcast_pickled(self.in_memory()), delayed(_block, pure=False)
        return Blocks([weigh(words, texts) for texts in text_parts(raw_documents)], self.idf_.size)

    def in_memory(self) -> bow.BagOfWords:
        """The same, fitted or not, as a `textmargin.BagOfWords`."""
        plain = bow.BagOfWords(**self.get_params(deep=False))
        plain.__dict__.update(vars(self))
        return plain

    @fit_context(prefer_skip_nested_validation=True)
    def _fit_parts(self, texts: Any) -> Self:
        self.check_vocabulary()
        parts, cluster = text_parts(texts), client()
        sample = delayed(sample_texts, pure=False)
        some = cluster.gather(cluster.compute([sample(part, max(1, N_SAMPLE // len(parts))) for part in parts]))
        self.language_ = self._language([text for own in some for text in own])
        words = broadcast_pickled(self.in_memory())
        if self.fixed_vocabulary_:
            count = delayed(_count_given, pure=False)
            counts_of_parts = cluster.gather(cluster.compute([count(words, part) for part in parts]))
            df, self.n_texts_ = sum(counts for counts, _ in counts_of_parts), sum(n for _, n in counts_of_parts)
            self._require(self.n_texts_ > 0, 0)
        else:
            count = delayed(count_terms, pure=False)
            terms = cluster.compute(tree_reduce(merge_terms, [count(words, part) for part in parts])).result()
            self._require(bool(terms.names), terms.n_texts)
            terms_within = terms.sort().limit(self.min_df, self.max_df, self.max_features)
            if not terms_within.names:
                raise EmptyVocabularyError(
                    f"min_df={self.min_df!r} and max_df={self.max_df!r} leave none of {len(terms.names)} terms in "
                    f"{terms.n_texts} texts; loosen them."
                )
            known = dict(zip(terms_within.names, terms_within.df, strict=True))
            names = sorted({*known, *self.extra_terms})
            self.vocabulary_ = {name: column for column, name in enumerate(names)}
            df, self.n_texts_ = np.array([known.get(name, 0) for name in names]), terms_within.n_texts
        self.idf_ = self._idf(df)
        return self

    def _require(self, any_terms: bool, n_texts: int) -> None:
        if n_texts == 0 and not any_terms:
            raise EmptyVocabularyError("There are no texts to learn words from: the corpus is empty.")
        if not any_terms:
            raise EmptyVocabularyError(
                f"No words were found in {n_texts} texts; by default a word is two or more letters or digits and no stop word: "
                f"change token_pattern or stop_words, or use analyzer='char'."
            )


def _block(words: bow.BagOfWords, texts: list[str]) -> sp.csr_matrix:
    counts = _counts(words, texts)
    return words.weight_counts(counts) if texts else counts


def _count_given(words: bow.BagOfWords, texts: list[str]) -> tuple[Any, int]:
    counts = _counts(words, texts)
    return np.bincount(counts.indices, minlength=counts.shape[1]), len(texts)


def _counts(words: bow.BagOfWords, texts: list[str]) -> sp.csr_matrix:
    """The counts of known terms; of texts without any, too, which is for the whole corpus to warn about."""
    if not texts:
        return sp.csr_matrix((0, len(words.vocabulary_)))
    return words.count_known_terms(texts)
