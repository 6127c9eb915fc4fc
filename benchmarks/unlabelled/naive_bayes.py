"""Multinomial naive Bayes with labelled features and one EM step over unlabelled texts: DUALIST (Settles
2011, EMNLP).

    θ_ct = (1 + α·[t is a keyword of c] + Σᵢ P(c | xᵢ) wᵢ n_it) / Σ_t (the same)
    log P(x, c) = log π_c + Σ_t n_t log θ_ct

The first model is of the keywords alone: θ from the pseudo-counts, π uniform. It gives the unlabelled texts
their P(c | x); the second is learnt from the labelled texts, wᵢ = 1, and from those, wᵢ = .1. As published
there is no third.

The paper was not at hand. Checked with the author's program: pseudo-counts of 1, α = 50, the start from
keywords alone, the one step. Recalled and not checked: the weight .1. π is not smoothed, as in scikit-learn,
whose `MultinomialNB` this is with α = 0 and without unlabelled texts. Texts with any number of labels: a
model of two classes each, the rest without keywords (with those of the other topics its larger total makes
every long text without keywords one of the topic: half the precision on training texts).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp, softmax

from textmargin._typing import Bools, Floats, Indices

ALPHA, UNLABELLED_WEIGHT = 50.0, 0.1


@dataclass(frozen=True)
class NaiveBayes:
    """log θ (n_classes, n_terms) and log π (n_classes,)."""

    log_theta: Floats
    log_share: Floats

    @classmethod
    def estimate(cls, totals: Floats, shares: Floats) -> NaiveBayes:
        """From counts of terms in classes, with pseudo-counts."""
        return cls(np.log(totals) - np.log(totals.sum(axis=1, keepdims=True)), np.log(shares / shares.sum()))

    def joint_log_likelihood(self, counts: sp.csr_matrix) -> Floats:
        """log P(x, c), (n_texts, n_classes)."""
        return np.asarray(counts @ self.log_theta.T) + self.log_share

    def log_odds(self, counts: sp.csr_matrix) -> Floats:
        """log P(c | x) / P(not c | x), (n_texts, n_classes)."""
        joint = self.joint_log_likelihood(counts)
        rest = [logsumexp(np.delete(joint, k, axis=1), axis=1) for k in range(joint.shape[1])]
        return joint - np.column_stack(rest)


def fit_labelled_features(
    labelled: sp.csr_matrix,
    Y: Indices,
    unlabelled: sp.csr_matrix,
    keywords: Bools,
    alpha: float = ALPHA,
    unlabelled_weight: float = UNLABELLED_WEIGHT,
) -> NaiveBayes:
    """The model after one EM step.

    Parameters
    ----------
    labelled, unlabelled : matrices of counts (n_texts, n_terms)
    Y : array (n_labelled, n_classes), a 1 for the class of each
    keywords : array (n_classes, n_terms), which terms are whose
    alpha : float, the pseudo-count of a keyword
    unlabelled_weight : float, how much an unlabelled text counts
    """
    pseudo_counts = 1 + alpha * keywords
    start = NaiveBayes.estimate(pseudo_counts, np.ones(len(keywords)))
    guesses = unlabelled_weight * softmax(start.joint_log_likelihood(unlabelled), axis=1)
    totals = pseudo_counts + (labelled.T @ Y).T + (unlabelled.T @ guesses).T
    return NaiveBayes.estimate(totals, Y.sum(axis=0) + guesses.sum(axis=0))


def one_against_rest(
    labelled: sp.csr_matrix, Y: Indices, unlabelled: sp.csr_matrix, keywords: Bools, test: sp.csr_matrix
) -> Floats:
    """Log-odds of each class against the rest for test texts, (n_test, n_classes)."""
    columns = []
    for y, own in zip(Y.T, keywords, strict=True):
        pair = np.array([np.zeros_like(own), own])
        model = fit_labelled_features(labelled, np.column_stack([1 - y, y]), unlabelled, pair)
        columns.append(model.log_odds(test)[:, 1])
    return np.column_stack(columns)
