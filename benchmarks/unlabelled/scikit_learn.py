"""scikit-learn's own: `SelfTrainingClassifier` around logistic regression, and `LabelSpreading` over nearest
neighbours.

Texts with any number of labels: one against rest. C, the threshold (against the k surest texts of each round)
and the number of neighbours (3 to 25) were chosen on the training texts of `desk`; what is not said is
scikit-learn's default.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from threadpoolctl import threadpool_limits

from textmargin._typing import Floats, Indices

C, THRESHOLD = 10.0, 0.75
N_NEIGHBOURS = 25
UNLABELLED = -1


def targets(Y: Indices, n_unlabelled: int, multilabel: bool) -> list[Indices]:
    """What scikit-learn learns from, labelled texts first: one column of classes, or one of 0 and 1 for each
    class.
    """
    columns = list(Y.T) if multilabel else [Y.argmax(axis=1)]
    return [np.concatenate([column, np.full(n_unlabelled, UNLABELLED)]) for column in columns]


def self_training(
    X: sp.csr_matrix, Y: Indices, unlabelled: sp.csr_matrix, test: sp.csr_matrix, multilabel: bool
) -> Floats:
    """Probabilities of test texts less one half: in each of ten rounds, unlabelled texts as sure as the
    threshold get labels.
    """
    both = sp.vstack([X, unlabelled], format="csr")
    learner = LogisticRegression(C=C, solver="liblinear") if multilabel else LogisticRegression(C=C)
    model, probabilities = SelfTrainingClassifier(learner, threshold=THRESHOLD), []
    with threadpool_limits(1):  # more only wait for each other in steps this small
        for target in targets(Y, unlabelled.shape[0], multilabel):
            probabilities.append(model.fit(both, target).predict_proba(test))
    return _scores(probabilities)


@dataclass(frozen=True)
class NeighbourGraph:
    """A 1 for the nearest texts of the pool, by cosine: of each of its own texts (itself is one) and of each
    test text.
    """

    pool: sp.csr_matrix
    test: sp.csr_matrix

    @classmethod
    def find(
        cls, pool: sp.csr_matrix, test: sp.csr_matrix, n_neighbors: int = N_NEIGHBOURS
    ) -> NeighbourGraph:
        # Euclidean: of unit rows the order of cosines
        nearest = NearestNeighbors(n_neighbors=n_neighbors).fit(pool)
        return cls(nearest.kneighbors_graph(pool), nearest.kneighbors_graph(test))


def label_spreading(graph: NeighbourGraph, rows: Indices, Y: Indices, multilabel: bool) -> Floats:
    """Probabilities of test texts less one half.

    The same as `LabelSpreading(kernel="knn")`, but for neighbours that are found once for all draws and
    classes, and texts that no label reaches: these are of every class alike.
    """
    others = np.setdiff1d(np.arange(graph.pool.shape[0]), rows)
    order = np.concatenate([rows, others])
    between = graph.pool[order][:, order]
    probabilities = []
    for target in targets(Y, others.size, multilabel):
        model = LabelSpreading(kernel=lambda *_: between).fit(order[:, None], target)
        totals = graph.test[:, order] @ model.label_distributions_
        sums = totals.sum(axis=1, keepdims=True)
        probabilities.append(
            np.where(sums > 0, totals / np.maximum(sums, np.finfo(float).tiny), 1 / totals.shape[1])
        )
    return _scores(probabilities)


def _scores(probabilities: list[Floats]) -> Floats:
    """Those of all classes, or of the second class of each pair, less one half."""
    columns = (
        probabilities[0] if len(probabilities) == 1 else np.column_stack([own[:, 1] for own in probabilities])
    )
    return columns - 0.5
