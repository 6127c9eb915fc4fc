"""Transductive linear SVM with class shares: multi-switch (Sindhwani & Keerthi 2006, after Joachims 1999),
one against rest.

Minimises over w, b and the signs y_u of the unlabelled texts, of which a given share r is positive,

    ½‖w‖² + C Σ_labelled ℓ(yᵢ f(xᵢ)) + C′ Σ_unlabelled ℓ(y_u f(x_u))        ℓ(z) = max(0, 1 − z)²

Given the signs it is an SVM; given f the best signs are + for the r·n texts of the highest scores (any pair
that is the other way round costs less when it is switched: all such pairs at once). Both in turn until no
sign changes, for C′ from C/10,000 to C, so that the labelled texts lead first. Signs of all classes are
switched, and their SVMs learnt, side by side.

From memory of the papers: Joachims' C′ doubles, here it grows tenfold; his two C′ for the two signs are left
out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from textmargin import PriorSVC
from textmargin._ties import descending_order
from textmargin._typing import Floats, Indices

# C′ / C; the last as in Joachims: an unlabelled text costs as much as a labelled one
STEPS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
MAX_SWITCHES = 10  # rounds of switching at each C′


@dataclass(frozen=True)
class Transduction:
    """A learnt SVM, and the signs it gave the unlabelled texts as 0 or 1, (n_unlabelled, n_classes)."""

    model: PriorSVC
    labels: Indices


def top_share(scores: Floats, shares: Floats) -> Indices:
    """A 1 for the texts of the highest scores of each class, as many as its share says, but one at least."""
    numbers = np.maximum(1, np.rint(shares * len(scores))).astype(np.intp)
    labels = np.zeros(scores.shape, dtype=np.intp)
    for k, order in enumerate(descending_order(scores.T)):
        labels[order[: numbers[k]], k] = 1
    return labels


def transductive_svm(
    X: sp.csr_matrix, Y: Indices, unlabelled: sp.csr_matrix, shares: Floats, C: float = 1.0
) -> Transduction:
    """Learn from labelled and unlabelled texts.

    Parameters
    ----------
    X, unlabelled : matrices (n_texts, n_terms)
    Y : array (n_labelled, n_classes) of 0 and 1
    shares : array (n_classes,), of the unlabelled texts that are of each class
    C : float
    """
    model = PriorSVC(C, warm_start=True).fit(X, Y)
    both = sp.vstack([X, unlabelled], format="csr")
    labels = top_share(model.decision_function(unlabelled), shares)
    for step in STEPS:
        weights = np.repeat([1.0, step], [X.shape[0], unlabelled.shape[0]])
        for _ in range(MAX_SWITCHES):
            model.fit(both, np.vstack([Y, labels]), sample_weight=weights)
            before, labels = labels, top_share(model.decision_function(unlabelled), shares)
            if np.array_equal(before, labels):
                break
    return Transduction(model, labels)
