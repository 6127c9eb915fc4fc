"""Spread: keywords speak through the words that keep their company in the texts at hand.

Words are vectors: rows of VΣ of a truncated singular value decomposition of the texts' matrix (latent
semantic analysis, Deerwester et al. 1990), or those of a file, at unit length. A word t of which nothing is
said for class c takes, from c's keywords k of positive weight,

    v_c[t] = a · max(0, max over k of v_c[k] · (cos(t, k) − τ)/(1 − τ))        a = 0.3, τ = 0.5

beside which named words stay as they are. A word that is named with weight 0 is struck out: it takes nothing.
The constants are those of a prototype on two corpora; on others they hardly matter (docs/unlabelled.md).
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

from .._typing import Bools, Floats
from ..errors import PriorError

RANK = 100
MIN_TEXTS = 3  # that a word stands in
_MOST_TEXTS = 20_000  # that vectors are made from: more cost time, and words that stand in fewer say little
_SHARE, _LEAST_COSINE = 0.3, 0.5
_CELLS = 10_000_000  # cosines at a time: 80 MB, twice while one block follows another


@dataclass(frozen=True)
class WordVectors:
    """Words as vectors of unit length, (n_terms, n_dimensions); 0 for a word of which too little is known."""

    vectors: Floats

    @classmethod
    def of(cls, X: Any, rank: int | None = None, min_texts: int = MIN_TEXTS) -> Self:
        """From the matrix of the texts at hand, (n_texts, n_terms), sparse; by default of rank 100, or less
        where these are few.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> from textmargin.knowledge.spread import WordVectors
        >>> X = sp.csr_array([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1],
        ...                   [0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
        >>> WordVectors.of(X, rank=2).cosines([0]).round(2) + 0.0
        array([[1., 1., 0., 0.]])
        """
        X = X.tocsr()
        if X.shape[0] > _MOST_TEXTS:
            X = X[np.linspace(0, X.shape[0] - 1, _MOST_TEXTS).astype(np.intp)]
        frequent = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= min_texts)
        fewer = min(X.shape[0], frequent.size)
        # near to full rank, every word would be on its own
        rank = min(max(fewer // 4, 1), RANK) if rank is None else rank
        rank = min(rank, fewer)
        vectors = np.zeros((X.shape[1], rank))
        if rank:
            # a busy machine's threads would wait for one another: ten times
            with threadpool_limits(limits=1, user_api="blas"):
                _, sizes, Vt = randomized_svd(X[:, frequent], rank, n_iter=4, random_state=0)
            vectors[frequent] = (sizes[:, None] * Vt).T
        return cls(_unit(vectors))

    @classmethod
    def from_file(cls, path: str | Path, terms: Iterable[str]) -> Self:
        """From vectors that somebody learnt elsewhere, in the text format of GloVe or word2vec: a word and
        its numbers a line.

        Their mean, which all words have in common, is taken off.

        Parameters
        ----------
        path : str or Path
            Of a UTF-8 file; one that ends in .gz is unpacked on the way.
        terms : the terms of a representation, `get_feature_names_out()`
            Only their rows are read; of a word that the file does not have nothing is known.
        """
        place = {term: j for j, term in enumerate(terms)}
        rows: dict[int, Floats] = {}
        try:
            with (gzip.open if str(path).endswith(".gz") else open)(
                path, "rt", encoding="utf-8", newline="\n"
            ) as lines:
                n_numbers = 0
                for number, line in enumerate(lines, start=1):
                    # word2vec says how many words and numbers follow
                    if number == 1 and re.fullmatch(r"\d+ \d+\s*", line):
                        n_numbers = int(line.split()[1])
                        continue
                    n_numbers = n_numbers or len(line.split()) - 1
                    j = place.get(line.partition(" ")[0])
                    if j is not None and j not in rows:
                        rows[j] = _numbers(line, n_numbers, f"line {number} of {path}")
        except (OSError, EOFError) as error:
            raise PriorError(
                f"The word vectors {path} cannot be read: {getattr(error, 'strerror', None) or error}."
            ) from error
        except UnicodeDecodeError as error:
            raise PriorError(
                f"The word vectors {path} are not UTF-8 text; word2vec's binary format is not read."
            ) from error
        if not rows:
            raise PriorError(
                f"The word vectors {path} have none of the {len(place):,} words of the texts; is it their "
                "language?"
            )
        vectors = np.zeros((len(place), n_numbers))
        known = _unit(np.array([*rows.values()]))
        vectors[[*rows]] = _unit(known - known.mean(axis=0))
        return cls(vectors)

    def cosines(self, words: Any) -> Floats:
        """Of some words, by number, with all words, (n_words, n_terms)."""
        return np.asarray(self.vectors[words] @ self.vectors.T)


def spread(weights: Floats, vectors: WordVectors, named: Bools | None = None) -> Floats:
    """The weights of the words near the named ones, (n_classes, n_terms): 0 for those that are named
    themselves.

    Parameters
    ----------
    weights : array (n_classes, n_terms)
        What is known of each class; 0 where nothing is.
    vectors : WordVectors
    named : array (n_classes, n_terms) of bool, default=None
        The words of which something is said, were it that they say nothing; by default those with a weight.
    """
    named = weights != 0 if named is None else named
    taken, block = np.zeros_like(weights), max(_CELLS // weights.shape[1], 1)
    for own, weight in zip(taken, weights, strict=True):
        words = np.flatnonzero(weight > 0)
        for start in range(0, words.size, block):
            some = words[start : start + block]
            near = vectors.cosines(some)
            near -= _LEAST_COSINE
            np.maximum(near, 0, out=near)
            near *= weight[some, None] / (1 - _LEAST_COSINE)
            np.maximum(own, _SHARE * near.max(axis=0), out=own)
    return np.where(named, 0.0, taken)


def _numbers(line: str, n_numbers: int, where: str) -> Floats:
    """The vector of a line."""
    parts = line.split()[1:]
    if len(parts) != n_numbers or not parts:
        raise PriorError(f"{where} has {len(parts)} numbers, where the first has {n_numbers}.")
    try:
        vector = np.array(parts, dtype=np.float64)
    except ValueError as error:
        raise PriorError(f"{where}: {error}.") from error
    if not np.isfinite(vector).all():
        raise PriorError(f"{where} has a number that is not finite.")
    return vector


def _unit(vectors: Floats) -> Floats:
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, sizes, out=np.zeros_like(vectors), where=sizes > 0)
