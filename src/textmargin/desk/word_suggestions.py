"""Words to ask about: those that texts of a class have far more often than by chance, and that nobody has
judged.

The measure is that of `suggestions/company.py`, over the columns of the desk: what the model, or a person,
gives each text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._ties import descending_order
from .._typing import Bools
from ..labels import ClassLabels
from ..suggestions.company import MIN_TEXTS, excess
from .corpus import TextColumns
from .keywords import Keywords

_MOST_TEXTS = 20_000
_CLEAR = 2.0  # of z
_N_WORDS = 8


@dataclass(frozen=True)
class WordSuggestion:
    """A word that may speak for a class: in n_texts texts, n_class of which are given the class."""

    word: str
    n_texts: int
    n_class: int

    @property
    def why(self) -> str:
        return f"{self.n_class:,} of the {self.n_texts:,} texts with it are given this class."


def suggest_words(
    texts: TextColumns, labels: ClassLabels, accepted: Bools, keywords: Keywords
) -> dict[str, list[WordSuggestion]]:
    """Per class the words that claim it most; of one label a text, a word is suggested for one class alone.

    Parameters
    ----------
    texts, labels : of the desk
    accepted : array (n_texts, n_classes) of bool, what each text is given
    keywords : what was judged before, and is not suggested again
    """
    names = labels.text_names
    n = len(texts)
    rows = np.linspace(0, n - 1, min(n, _MOST_TEXTS)).astype(np.intp)
    X = texts.X[rows]
    has = sp.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
    member = accepted[rows].astype(float)
    with_term = np.asarray(has.sum(axis=0)).ravel()
    inside = np.asarray(has.T @ member)  # (n_terms, n_classes)
    shares = member.mean(axis=0)
    z = np.column_stack([excess(inside[:, k], with_term, shares[k]) for k in range(len(names))])
    if not labels.multilabel:
        z[z < z.max(axis=1, keepdims=True)] = -np.inf
    words = np.array([term.isalpha() and len(term) > 2 for term in texts.terms.tolist()], dtype=bool)
    z[~words | (with_term < MIN_TEXTS)] = -np.inf
    found = {}
    for k, name in enumerate(names):
        judged = {
            j
            for word in keywords.get(name, {})
            for term in texts.finder.find(word)
            for j in (texts.place[term],)
        }
        order = descending_order(z[:, k])[: _N_WORDS + len(judged)]
        chosen = [j for j in order.tolist() if z[j, k] >= _CLEAR and j not in judged][:_N_WORDS]
        found[name] = [
            WordSuggestion(str(texts.terms[j]), int(with_term[j]), int(inside[j, k])) for j in chosen
        ]
    return found
