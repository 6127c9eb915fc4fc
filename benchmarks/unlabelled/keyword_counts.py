"""Counting keywords: a class's score is how often its keywords occur in a text, whatever else is in it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from textmargin._typing import Bools, Floats, Indices


def keyword_counts(counts: sp.csr_matrix, keywords: Bools) -> Floats:
    """How often the keywords of each class occur, (n_texts, n_classes).

    Parameters
    ----------
    counts : matrix (n_texts, n_terms)
    keywords : array (n_classes, n_terms), which terms are whose
    """
    return np.asarray(counts @ keywords.T.astype(np.float64))


def clear_winners(scores: Floats, multilabel: bool) -> tuple[Indices, Indices]:
    """The texts that one class has more keywords in than any other, and 1 for that class: labels where there
    are none.

    Where texts may have any number of labels, one without a single keyword is a text of none.
    """
    first = scores == scores.max(axis=1, keepdims=True)  # whole numbers: equal is equal
    winner = (first.sum(axis=1) == 1)[:, None] & first
    rows = np.flatnonzero(winner.any(axis=1) | (multilabel & ~scores.any(axis=1)))
    return rows, winner[rows].astype(np.intp)
