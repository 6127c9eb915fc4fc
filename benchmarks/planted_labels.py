"""Shape twins of public sets with many labels: texts, terms, labels and entries as many as theirs, and labels
that can be learnt.

Terms follow Zipf's law, and so do labels; a text has a quarter of its words from the own words of its labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

_N_OWN, _FROM_LABELS = 20, 0.25


@dataclass(frozen=True)
class Shape:
    """What a set is like."""

    n_texts: int
    n_terms: int
    n_labels: int
    n_entries: int
    labels_a_text: float


EURLEX = Shape(15_449, 186_104, 3_956, 4_190_000, 5.3)
DELICIOUS = Shape(16_105, 500, 983, 295_000, 19.0)


def make_twin(shape: Shape, seed: int = 0) -> tuple[sp.csr_matrix, np.ndarray]:
    """X of unit rows, log tf-idf, and Y, 0 or 1; entries within 3 % of the shape's."""
    Y = _labels(shape, np.random.default_rng([seed, 0]))
    n_words = round(shape.n_entries / shape.n_texts)
    for _ in range(6):  # words that come twice are one entry
        counts = _counts(shape, Y, n_words, np.random.default_rng([seed, 1]))
        if abs(counts.nnz / shape.n_entries - 1) < 0.03:
            break
        n_words = max(1, round(n_words * shape.n_entries / counts.nnz))
    present = np.bincount(counts.indices, minlength=shape.n_terms)
    counts.data = (1 + np.log(counts.data)) * np.log(shape.n_texts / np.maximum(present, 1))[counts.indices]
    return normalize(counts, copy=False), Y


def _labels(shape: Shape, rng: np.random.Generator) -> np.ndarray:
    """Each label has a text at least, each text has a label."""
    share = 1 / (10 + np.arange(shape.n_labels))
    Y = np.zeros((shape.n_texts, shape.n_labels), np.uint8)
    Y[np.arange(shape.n_texts), np.arange(shape.n_texts) % shape.n_labels] = 1
    n_more = rng.poisson(shape.labels_a_text - 1, shape.n_texts)
    Y[
        np.repeat(np.arange(shape.n_texts), n_more),
        rng.choice(shape.n_labels, n_more.sum(), p=share / share.sum()),
    ] = 1
    return Y[rng.permutation(shape.n_texts)]


def _counts(shape: Shape, Y: np.ndarray, n_words: int, rng: np.random.Generator) -> sp.csr_matrix:
    # log-uniform ranks
    words = np.exp(rng.random((shape.n_texts, n_words)) * np.log(shape.n_terms)).astype(np.int32) - 1
    own = rng.choice(shape.n_terms, (shape.n_labels, _N_OWN)).astype(np.int32)
    texts, labels = np.nonzero(Y)
    starts, counts = np.searchsorted(texts, np.arange(shape.n_texts)), Y.sum(axis=1)
    rows, places = np.nonzero(rng.random(words.shape) < _FROM_LABELS)
    label = labels[starts[rows] + (rng.random(rows.size) * counts[rows]).astype(np.int64)]
    words[rows, places] = own[label, rng.integers(_N_OWN, size=rows.size)]
    edges = np.arange(0, words.size + 1, n_words)
    X = sp.csr_matrix((np.ones(words.size), words.ravel(), edges), shape=(shape.n_texts, shape.n_terms))
    X.sum_duplicates()
    return X
