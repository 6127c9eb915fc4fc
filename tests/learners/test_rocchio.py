"""Rocchio: centroids, by hand."""

import numpy as np
import scipy.sparse as sp

from textmargin import Rocchio


def test_weights_are_the_difference_of_centroids():
    X = np.array([[1.0, 0], [0.8, 0.6], [0, 1]])
    model = Rocchio().fit(sp.csr_matrix(X), [1, 1, 0])
    centre, rest = X[:2].mean(axis=0), X[2]
    np.testing.assert_allclose(model.coef_[0], 16 * centre - 4 * rest)
    np.testing.assert_allclose(model.decision_function([centre]), -model.decision_function([rest]))
    assert model.predict([centre, rest]).tolist() == [1, 0]


def test_multilabel():
    Y = np.array([[1, 0], [1, 1], [0, 1]])
    assert Rocchio().fit(np.eye(3), Y).predict(np.eye(3)).shape == Y.shape
