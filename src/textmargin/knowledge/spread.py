"""Spread: keywords speak through the words that keep their company in the texts at hand.

Words are vectors: rows of VΣ of a truncated singular value decomposition of the texts' matrix (latent semantic analysis,
Deerwester et al. 1990), or those of a file, at unit length. A word t of which nothing is said for class c takes, from c's
keywords k of positive weight,

    v_c[t] = a · max(0, max over k of v_c[k] · (cos(t, k) − τ)/(1 − τ))        a = 0.3, τ = 0.5

beside which named words stay as they are. A word that is named with weight 0 is struck out: it takes nothing. The constants are
those of shared experience with two corpora; on six others they hardly matter (docs/unlabelled.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.extmath import randomized_svd

from .._typing import Bools, Floats

RANK = 100
MIN_TEXTS = 3  # that a word stands in
_MOST_TEXTS = 20_000  # that vectors are made from: more cost time, and words that stand in fewer say little
_SHARE, _LEAST_COSINE = 0.3, 0.5
_BLOCK = 4096  # words at a time


@dataclass(frozen=True)
class WordVectors:
    """Words as vectors of unit length, (n_terms, n_dimensions); 0 for a word of which too little is known."""

    vectors: Floats

    @classmethod
    def of(cls, X: Any, rank: int = RANK, min_texts: int = MIN_TEXTS) -> Self:
        """From the matrix of the texts at hand, (n_texts, n_terms), sparse.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> from textmargin.knowledge.spread import WordVectors
        >>> X = sp.csr_array([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
        >>> WordVectors.of(X, rank=2).cosines([0]).round(2) + 0.0
        array([[1., 1., 0., 0.]])
        """
        X = X.tocsr()
        if X.shape[0] > _MOST_TEXTS:
            X = X[np.linspace(0, X.shape[0] - 1, _MOST_TEXTS).astype(np.intp)]
        frequent = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= min_texts)
        rank = min(rank, X.shape[0], frequent.size)
        vectors = np.zeros((X.shape[1], rank))
        if rank:
            _, sizes, rows = randomized_svd(X[:, frequent], rank, n_iter=4, random_state=0)
            vectors[frequent] = (rows * sizes[:, None]).T
        return cls(_unit(vectors))

    def cosines(self, words: Any) -> Floats:
        """Of some words, by number, with all words, (n_words, n_terms)."""
        return np.asarray(self.vectors[words] @ self.vectors.T)


def spread(weights: Floats, vectors: WordVectors, named: Bools | None = None) -> Floats:
    """The weights of the words near the named ones, (n_classes, n_terms): 0 for those that are named themselves.

    Parameters
    ----------
    weights : array (n_classes, n_terms)
        What is known of each class; 0 where nothing is.
    vectors : WordVectors
    named : array (n_classes, n_terms) of bool, default=None
        The words of which something is said, were it that they say nothing; by default those with a weight.
    """
    named = weights != 0 if named is None else named
    taken = np.zeros_like(weights)
    for own, weight in zip(taken, weights, strict=True):
        words = np.flatnonzero(weight > 0)
        for start in range(0, words.size, _BLOCK):
            some = words[start : start + _BLOCK]
            near = weight[some, None] * np.maximum(vectors.cosines(some) - _LEAST_COSINE, 0) / (1 - _LEAST_COSINE)
            np.maximum(own, _SHARE * near.max(axis=0), out=own)
    return np.where(named, 0.0, taken)


def _unit(vectors: Floats) -> Floats:
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, sizes, out=np.zeros_like(vectors), where=sizes > 0)
