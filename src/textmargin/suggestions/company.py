"""Which company words keep in the texts at hand: how often they stand in texts that a model gives a class.

Of n texts with a word let a be given the class, and s be the class's share of all texts. By chance a would be
n·s, and

    z = (a − n·s) / √(n·s(1 − s) + 1)

is how far beyond that it is, in standard deviations; the 1 in the root keeps rare words from a large z. A
word that the model knows decides on its own texts, and would be found in good company wherever it was named;
so of a word that was named, a is counted with the word left out of each score.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from .._sklearn import dense_coef
from .._system.stages import stage
from .._ties import descending_order
from .._typing import Bools, Floats, Indices
from ..classifier import TextClassifier
from ..errors import EmptyVocabularyError, TextmarginError
from ..labels import ClassLabels

MIN_TEXTS = 3  # that a word stands in
_SIDE = 40  # characters of a line on either side of a word


@dataclass(frozen=True)
class Company:
    """Texts as a model decides on them, and their words, also those that the model does not know.

    Attributes
    ----------
    texts : list of str
    terms : array (n_terms,), the words that enough of the texts have
    labels : ClassLabels
    counts : sparse matrix by columns (n_texts, n_terms), 1 where a text has a word
    scores, accepted : arrays (n_texts, n_classes), as `decide` gives them
    coef : array (n_classes, n_terms), the model's weights
    X : sparse matrix by columns (n_texts, n_terms), what they are multiplied with
    """

    texts: list[str]
    terms: NDArray[Any]
    labels: ClassLabels
    counts: sp.csc_array
    scores: Floats
    accepted: Bools
    coef: Floats
    X: sp.csc_array

    @classmethod
    def of(cls, model: TextClassifier, texts: list[str]) -> Self:
        """Of a model with weights of words."""
        learner, representation = model.learner_, model.representation_
        if not hasattr(representation, "build_analyzer") or not hasattr(
            representation, "get_feature_names_out"
        ):
            raise TextmarginError(
                f"suggest needs a model of words; this one has {type(representation).__name__}, which has "
                "none. Train one with a "
                f"bag of words."
            )
        if not hasattr(learner, "coef_"):
            raise TextmarginError(
                f"suggest needs weights of words; {type(learner).__name__} has none. Use PriorSVC."
            )
        with stage(f"deciding on {len(texts):,} texts"):
            decided = model.decide(texts)
        with stage(f"counting words in {len(texts):,} texts"):
            terms, counts = _count(texts, representation.build_analyzer())
        weights = dense_coef(learner)
        weights = np.vstack([-weights, weights]) if model.labels_.kind == "binary" else weights
        place = {term: j for j, term in enumerate(representation.get_feature_names_out().tolist())}
        known = np.flatnonzero([term in place for term in terms.tolist()])
        columns = [place[term] for term in terms[known].tolist()]
        coef = np.zeros((len(weights), len(terms)))
        coef[:, known] = weights[:, columns]
        select = sp.csc_array((np.ones(known.size), (columns, known)), shape=(len(place), len(terms)))
        X = sp.csc_array(representation.transform(texts) @ select)
        return cls(texts, terms, model.labels_, counts, decided.scores, decided.accepted, coef, X)

    @cached_property
    def n_texts(self) -> Indices:
        """In how many texts each term is."""
        return np.diff(self.counts.indptr)

    @cached_property
    def is_word(self) -> Bools:
        """Which terms have a letter: the others are how numbers look."""
        return np.array([any(map(str.isalpha, term)) for term in self.terms.tolist()], dtype=bool)

    def excess(self, k: int) -> Floats:
        """z of each term for a class."""
        own = self.accepted[:, k].astype(np.float64)
        return np.asarray(excess(self.counts.T @ own, self.n_texts, own.mean()))

    def ratio(self, n_accepted: int, n_texts: int, k: int) -> float:
        """How many times as often a word is in texts of a class as in others, half a text added on either
        side.
        """
        n_class = int(self.accepted[:, k].sum())
        inside, outside = (
            (n_accepted + 0.5) / (n_class + 1),
            (n_texts - n_accepted + 0.5) / (len(self.texts) - n_class + 1),
        )
        return inside / outside

    def rows(self, term: int) -> Indices:
        """The texts with a word."""
        return self.counts.indices[self.counts.indptr[term] : self.counts.indptr[term + 1]]

    def accepted_without(self, term: int) -> Bools:
        """Which classes the texts with a word, (n_texts with it, n_classes), would be given without it."""
        rows = self.rows(term)
        values = self.X[:, [term]].toarray()[rows]
        return self.labels.accepted(self.scores[rows] - values * self.coef[:, term])

    def lines(self, term: int, rows: Indices, n: int = 2) -> tuple[str, ...]:
        """What stands around a word in the first of some texts."""
        return tuple(line_around(self.texts[row], str(self.terms[term])) for row in rows[:n])

    def words_between(
        self, first: Indices, second: Indices, without: int, n: int = 3
    ) -> tuple[list[str], list[str]]:
        """The words that tell two groups of texts apart: those of the first, and those of the second."""
        both = self.counts[np.concatenate([first, second])].tocsr()
        counts = np.bincount(both.indices, minlength=len(self.terms))
        own = np.bincount(both[: len(first)].indices, minlength=len(self.terms))
        found = []
        for part, size in ((own, len(first)), (counts - own, len(second))):
            z = np.where(self.is_word, excess(part, counts, size / max(len(first) + len(second), 1)), 0.0)
            z[without] = 0.0
            order = descending_order(z)[:n]
            found.append([str(self.terms[j]) for j in order if z[j] > 1])
        return found[0], found[1]


def excess(n_accepted: Any, n_texts: Any, share: Any) -> Any:
    """z, by counts."""
    return (n_accepted - n_texts * share) / np.sqrt(n_texts * share * (1 - share) + 1)


def _count(texts: list[str], analyze: Callable[[str], list[str]]) -> tuple[NDArray[Any], sp.csc_array]:
    """The words that enough texts have, and which texts have them."""
    vectorizer = CountVectorizer(analyzer=analyze, binary=True, dtype=np.float64)
    try:
        counts = sp.csc_array(vectorizer.fit_transform(texts))
    except ValueError as error:  # an empty vocabulary
        raise EmptyVocabularyError(f"None of the {len(texts):,} texts has a word.") from error
    frequent = np.flatnonzero(np.diff(counts.indptr) >= MIN_TEXTS)
    counts = counts[:, frequent]
    counts.sort_indices()
    return vectorizer.get_feature_names_out()[frequent], counts


def line_around(text: str, word: str) -> str:
    """A part of a text on one line, with a word in it if it can be found."""
    line = " ".join(text.split())
    spelled = r"\W+".join(map(re.escape, word.split()))
    found = re.search(rf"(?<!\w){spelled}(?!\w)", line, re.IGNORECASE) or re.search(
        spelled, line, re.IGNORECASE
    )
    start = max(found.start() - _SIDE, 0) if found else 0
    end = (found.end() if found else _SIDE) + _SIDE
    return f"{'…' * (start > 0)}{line[start:end].strip()}{'…' * (end < len(line))}"
