"""`BagOfWords` on texts in parts: the vocabulary and the weights that all texts in one memory would give."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ..errors import EmptyVocabularyError, NotTextError
from ._analysis import encode
from ._vocabulary import Vocabulary
from .languages import TextSample
from .linear_scores import warn_of_unknown_terms
from .term_counts import PartCounts, TermCounts
from .text_parts import TextParts

if TYPE_CHECKING:
    from ..learners.matrix import BlockMatrix
    from .bow import BagOfWords


def count_part(words: BagOfWords, texts: list[str], number: int) -> PartCounts:
    """The terms of one part; of a given vocabulary, those that are in it."""
    return PartCounts(_count_terms(words, texts), TextSample.draw(texts))


def _count_terms(words: BagOfWords, texts: list[str]) -> TermCounts:
    analysis = words._analysis()
    if words.fixed_vocabulary_ or analysis is None:
        return _count_in_python(words, texts)
    compiled = analysis.compile()
    compiled.add(texts, 1)
    df, total, _ = compiled.join(1)
    met = df > 0  # 0: words of which only sequences are wanted
    numbers = np.where(met, np.cumsum(met) - 1, -1).astype(np.int32)
    compiled.set_columns(numbers, int(met.sum()))
    return TermCounts(*compiled.block(), df[met], total[met], len(texts))


def _count_in_python(words: BagOfWords, texts: list[str]) -> TermCounts:
    """Of counts that have their columns already, given or as Python met them."""
    names: list[Any]
    if words.fixed_vocabulary_:
        counts = words.count_known_terms(texts) if texts else None
        names = list(words.get_feature_names_out()) if texts else []
    else:
        vocabulary, counts = words.count_new_terms(texts)
        names = sorted(vocabulary, key=vocabulary.__getitem__)
    if counts is None:
        counts = sp.csr_matrix((len(texts), 0))
    df = np.bincount(counts.indices, minlength=len(names))
    total = np.bincount(counts.indices, counts.data, minlength=len(names)).astype(np.int64)
    met = np.flatnonzero(df)
    encoded = _encode([names[column] for column in met])
    order = met[sorted(range(met.size), key=encoded.__getitem__)].astype(np.int64)
    block, ends = Vocabulary.of([names[column] for column in order]).block
    return TermCounts(block, ends, df[order].astype(np.int64), total[order], len(texts))


def _encode(names: list[Any]) -> list[bytes]:
    for name in names:
        if not isinstance(name, str):
            raise NotTextError(f"Of texts in parts all terms are strings; the analyzer gave {name!r:.60}.")
    return [encode(name) for name in names]


def fit_parts(words: BagOfWords, parts: TextParts) -> None:
    """Learn the terms and their idf."""
    words.check_vocabulary()
    # Which language all texts are in is known once all were read; stop words must be known before. So the
    # first texts tell it, and in the rare case that all texts tell another one they are read again.
    first: list[str] = next((texts for texts in map(parts.read, range(len(parts))) if texts), [])
    words.language_ = words._language(first)
    counts = parts.count(partial(count_part, words))
    language = words._language(counts.sample.texts)
    if language != words.language_:
        stop_words = words.get_stop_words()
        words.language_ = language
        if words.get_stop_words() != stop_words:
            counts = parts.count(partial(count_part, words))
    _learn(words, counts.terms, counts.sample.texts)


def _settings(words: BagOfWords) -> dict[str, Any]:
    own = {name: value for name, value in words.get_params(deep=False).items() if name != "n_jobs"}
    return {**own, "language_": words.language_}


def _learn(words: BagOfWords, terms: TermCounts, sample: list[str]) -> None:
    words.n_texts_ = terms.n_texts
    if not terms.n_texts:
        raise EmptyVocabularyError("There are no texts to learn words from: the corpus is empty.")
    if words.fixed_vocabulary_:
        df = np.zeros(len(words._vocabulary), np.int64)
        columns = [words.vocabulary_[name] for name in Vocabulary(terms.block, terms.ends).names]
        df[columns] = terms.df
        words.idf_ = words._idf(df)
        return
    if not terms.df.size:
        raise EmptyVocabularyError(words._why_empty(sample, terms.n_texts))
    try:
        terms = terms.take(words._select(terms.df, terms.total, terms.n_texts))
    except ValueError as error:
        if "no terms remain" not in str(error):
            raise
        raise EmptyVocabularyError(
            f"min_df={words.min_df!r} and max_df={words.max_df!r} leave none of {terms.df.size} terms in "
            f"{terms.n_texts} texts; "
            f"loosen them."
        ) from error
    words._vocabulary = Vocabulary(terms.block, terms.ends)
    words.idf_ = words._idf(terms.df)
    words._join_extra_terms(sp.csr_matrix((0, terms.df.size)))


def fitted_rows(words: BagOfWords, parts: TextParts) -> BlockMatrix:
    """The matrix of the texts that the words were learnt from."""
    return parts.transform(partial(_rows, words), words.idf_.size, words.n_jobs, _settings(words))


def transform_parts(words: BagOfWords, parts: TextParts) -> BlockMatrix:
    """The matrix of new texts; as in memory there is a warning where none of all has a known term."""
    X = parts.transform(partial(_rows, words), words.idf_.size, words.n_jobs)
    if parts.n_texts and not X.row_counts().any() and not _any_known(words, parts):
        warn_of_unknown_terms(parts.n_texts, stacklevel=4)
    return X


def _any_known(words: BagOfWords, parts: TextParts) -> bool:
    return any(words.count_known_terms(texts).nnz for texts in map(parts.read, range(len(parts))) if texts)


def _rows(words: BagOfWords, texts: list[str]) -> Any:
    return words.rows(texts)
