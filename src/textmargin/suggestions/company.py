"""Which company words keep in the texts at hand: how often they stand in texts that a model gives a class.

Of n texts with a word let a be given the class, and s be the class's share of all texts. By chance a would be n·s, and

    z = (a − n·s) / √(n·s(1 − s) + 1)

is how far beyond that it is, in standard deviations; the 1 in the root keeps rare words from a large z. A word that the
model knows decides on its own texts, and would be found in good company wherever it was named; so of a word that was named, a is
counted with the word left out of each score.
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

from .._system.stages import stage
from .._ties import descending_order
from .._typing import Bools, Floats, Indices
from ..classifier import TextClassifier
from ..errors import TextmarginError
from ..labels import ClassLabels

_SIDE = 40  # characters of a line on either side of a word


@dataclass(frozen=True)
class Company:
    """Texts as a model decides on them, and the words that are in them.

    Attributes
    ----------
    texts : list of str
    terms : array (n_terms,)
    labels : ClassLabels
    X : sparse matrix by columns (n_texts, n_terms)
    scores, accepted : arrays (n_texts, n_classes), as `decide` gives them
    coef : array (n_classes, n_terms), the model's weights
    analyze : callable, from a text to its terms
    """

    texts: list[str]
    terms: NDArray[Any]
    labels: ClassLabels
    X: sp.csc_array
    scores: Floats
    accepted: Bools
    coef: Floats
    analyze: Callable[[str], list[str]]

    @classmethod
    def of(cls, model: TextClassifier, texts: list[str]) -> Self:
        """Of a model with weights of words."""
        learner, representation = model.learner_, model.representation_
        if not hasattr(representation, "build_analyzer") or not hasattr(representation, "get_feature_names_out"):
            raise TextmarginError(
                f"suggest needs a model of words; this one has {type(representation).__name__}, which has none. Train one with a "
                f"bag of words."
            )
        if not hasattr(learner, "coef_"):
            raise TextmarginError(f"suggest needs weights of words; {type(learner).__name__} has none. Use PriorSVC.")
        with stage(f"deciding on {len(texts):,} texts"):
            X = sp.csc_array(representation.transform(texts))
            decided = model.decide(texts)
        X.eliminate_zeros()
        weights = np.atleast_2d(np.asarray(learner.coef_, dtype=np.float64))
        coef = np.vstack([-weights, weights]) if model.labels_.kind == "binary" else weights
        terms = np.asarray(representation.get_feature_names_out())
        return cls(texts, terms, model.labels_, X, decided.scores, decided.accepted, coef, representation.build_analyzer())

    @cached_property
    def n_texts(self) -> Indices:
        """In how many texts each term is."""
        return np.diff(self.X.indptr)

    def n_accepted(self, k: int) -> Indices:
        """In how many texts of a class each term is."""
        return np.add.reduceat(np.append(self.accepted[self.X.indices, k], 0), self.X.indptr[:-1]) * (self.n_texts > 0)

    def excess(self, k: int) -> Floats:
        """z of each term for a class."""
        return excess(self.n_accepted(k), self.n_texts, self.accepted[:, k].mean())

    def ratio(self, n_accepted: int, n_texts: int, k: int) -> float:
        """How many times as often a word is in texts of a class as in others, half a text added on either side."""
        n_class = int(self.accepted[:, k].sum())
        inside, outside = (n_accepted + 0.5) / (n_class + 1), (n_texts - n_accepted + 0.5) / (len(self.texts) - n_class + 1)
        return inside / outside

    def rows(self, term: int) -> Indices:
        """The texts with a word."""
        return self.X.indices[self.X.indptr[term] : self.X.indptr[term + 1]]

    def accepted_without(self, term: int) -> Bools:
        """Which classes the texts with a word, (n_texts with it, n_classes), would be given without it."""
        values = self.X.data[self.X.indptr[term] : self.X.indptr[term + 1]]
        return self.labels.accepted(self.scores[self.rows(term)] - values[:, None] * self.coef[:, term])

    def lines(self, term: int, rows: Indices, n: int = 2) -> tuple[str, ...]:
        """What stands around a word in the first of some texts."""
        return tuple(line_around(self.texts[row], str(self.terms[term])) for row in rows[:n])

    def words_between(self, first: Indices, second: Indices, without: int, n: int = 3) -> tuple[list[str], list[str]]:
        """The words that tell two groups of texts apart: those of the first, and those of the second."""
        both = sp.csr_array(self.X)[np.concatenate([first, second])]
        counts = np.bincount(both.indices, minlength=len(self.terms))
        own = np.bincount(both[: len(first)].indices, minlength=len(self.terms))
        found = []
        for part, size in ((own, len(first)), (counts - own, len(second))):
            z = np.where(is_word(self.terms), excess(part, counts, size / (len(first) + len(second))), 0.0)
            z[without] = 0.0
            order = descending_order(z)[:n]
            found.append([str(self.terms[j]) for j in order if z[j] > 1])
        return found[0], found[1]


def excess(n_accepted: Any, n_texts: Any, share: Any) -> Any:
    """z, by counts."""
    return (n_accepted - n_texts * share) / np.sqrt(n_texts * share * (1 - share) + 1)


def is_word(terms: NDArray[Any]) -> Bools:
    """Which terms have a letter: the others are how numbers look."""
    return np.array([any(map(str.isalpha, term)) for term in terms.tolist()], dtype=bool)


def line_around(text: str, word: str) -> str:
    """A part of a text on one line, with a word in it if it can be found."""
    line = " ".join(text.split())
    spelled = r"\W+".join(map(re.escape, word.split()))
    found = re.search(rf"(?<!\w){spelled}(?!\w)", line, re.IGNORECASE) or re.search(spelled, line, re.IGNORECASE)
    start = max(found.start() - _SIDE, 0) if found else 0
    end = (found.end() if found else _SIDE) + _SIDE
    return f"{'…' * (start > 0)}{line[start:end].strip()}{'…' * (end < len(line))}"
