"""Keywords as priors over the columns of a desk: the words that were named, and the words that keep their
company.

A word with weight 0 says nothing and nothing spreads to it. Of two classes, words for the first speak against
the second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._typing import Bools, Floats
from ..knowledge.spread import WordVectors, spread
from ..labels import ClassLabels
from .corpus import TextColumns

NAMED, NEAR = 0, 1  # which prior is which

Keywords = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class KeywordPriors:
    """What keywords come to.

    Attributes
    ----------
    priors : array (n_problems, n_priors, n_terms)
        One for the words that were named, one for those near them where they spread; none without keywords.
    columns : dict class → word → columns of the word's terms
    """

    priors: Floats
    columns: dict[str, dict[str, list[int]]]

    @property
    def speaks(self) -> Bools:
        """For which problems something is known."""
        return np.asarray((self.priors != 0).any(axis=(1, 2)))

    @classmethod
    def of(
        cls, texts: TextColumns, keywords: Keywords, labels: ClassLabels, vectors: WordVectors | None = None
    ) -> KeywordPriors:
        """Of the keywords of each class; without vectors they do not spread."""
        names, n_terms = labels.text_names, texts.X.shape[1]
        weights, named = np.zeros((len(names), n_terms)), np.zeros((len(names), n_terms), dtype=bool)
        columns: dict[str, dict[str, list[int]]] = {name: {} for name in names}
        for k, name in enumerate(names):
            own = keywords.get(name, {})
            # What names a term outright wins over phrases and patterns that merely cover it.
            for word in sorted(own, key=lambda word: (word in texts.place, word)):
                found = texts.finder.find(word)
                columns[name][word] = [texts.place[term] for term in found]
                for term, share in found.items():
                    j = texts.place[term]
                    if word in texts.place or not named[k, j] or abs(own[word] * share) > abs(weights[k, j]):
                        weights[k, j], named[k, j] = own[word] * share, True
        if not weights.any():
            return cls(np.zeros((labels.n_problems, 0, n_terms)), columns)
        priors = [weights]
        if vectors is not None:
            near = spread(weights, vectors, named | named.any(axis=0))
            priors += [near] if near.any() else []
        stacked = np.stack(priors, axis=1)
        if labels.kind == "binary":
            stacked = stacked[1:] - stacked[:1]
        return cls(stacked, columns)
