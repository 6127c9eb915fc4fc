"""The methods that `bench_unlabelled` stands beside ours, held to what others compute, and to what they
promise.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.unlabelled.naive_bayes import fit_labelled_features, one_against_rest
from benchmarks.unlabelled.scikit_learn import NeighbourGraph, label_spreading
from benchmarks.unlabelled.transductive import transductive_svm
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading

from textmargin import PriorSVC

N_CLASSES, N_TERMS = 3, 30


@pytest.fixture
def counts():
    """40 texts of three classes, each with ten words of its own; and a 1 for the class of each."""
    rng = np.random.default_rng(0)
    classes = rng.integers(N_CLASSES, size=40)
    rates = np.where(np.arange(N_TERMS) // 10 == classes[:, None], 1.0, 0.3)
    return sp.csr_matrix(rng.poisson(rates).astype(float)), np.eye(N_CLASSES, dtype=int)[classes]


def test_without_keywords_and_unlabelled_texts_it_is_multinomial_nb(counts):
    X, Y = counts
    nothing = np.zeros((N_CLASSES, N_TERMS), dtype=bool)
    model = fit_labelled_features(X, Y, X[:0], nothing, alpha=0)
    expected = MultinomialNB().fit(X, Y.argmax(axis=1))
    np.testing.assert_allclose(model.log_theta, expected.feature_log_prob_)
    np.testing.assert_allclose(model.joint_log_likelihood(X), expected.predict_joint_log_proba(X))
    log_probability = expected.predict_log_proba(X)
    np.testing.assert_allclose(
        model.log_odds(X), log_probability - np.log1p(-np.exp(log_probability)), rtol=1e-6
    )


def test_a_keyword_teaches_naive_bayes_the_words_beside_it():
    """No labels: `wheat` is named, `flour` stands beside it in the unlabelled texts, and decides where it
    stands alone.
    """
    wheat, flour, bank, rate = sp.eye(1000, format="csr")[:4]  # and 996 words that no text has
    texts = sp.vstack([wheat + flour, 2 * wheat + flour, bank + rate, bank + 2 * rate], format="csr")
    keywords = sp.vstack([wheat, bank]).toarray() > 0
    model = fit_labelled_features(texts[:0], np.zeros((0, 2)), texts, keywords)
    assert model.log_odds(flour).argmax() == 0
    assert model.log_odds(rate).argmax() == 1
    scores = one_against_rest(
        texts[:0], np.zeros((0, 2)), texts, keywords, sp.vstack([flour, rate], format="csr")
    )
    # of the two texts the one that each topic ranks first
    np.testing.assert_array_equal(scores.argmax(axis=0), [0, 1])


def test_transductive_svm_keeps_its_shares(counts):
    """As many unlabelled texts of each class as its share says, and labels at which nothing is left to
    switch.
    """
    X, Y = counts
    shares = np.array([0.2, 0.5, 0.3])
    found = transductive_svm(X[:10], Y[:10], X[10:], shares)
    np.testing.assert_array_equal(found.labels.sum(axis=0), [6, 15, 9])
    scores = found.model.decision_function(X[10:])
    for own, score in zip(found.labels.T, scores.T, strict=True):
        assert score[own == 1].min() >= score[own == 0].max()
    # in the end an unlabelled text costs as much as a labelled one
    again = PriorSVC().fit(X, np.vstack([Y[:10], found.labels]))
    np.testing.assert_allclose(found.model.coef_, again.coef_, atol=1e-3)


@pytest.mark.parametrize("multilabel", [False, True])
def test_label_spreading_is_that_of_scikit_learn(counts, multilabel):
    """With neighbours found beforehand as with its own; labelled rows wherever they stand in the pool."""
    X, Y = normalize(counts[0]), counts[1]
    rows, others, test = np.arange(1, 30, 2), np.arange(0, 30, 2), X[30:]
    found = label_spreading(NeighbourGraph.find(X[:30], test, 7), rows, Y[rows], multilabel)
    both = sp.vstack([X[rows], X[others]])
    for k in range(N_CLASSES):
        target = Y[rows, k] if multilabel else Y[rows].argmax(axis=1)
        expected = LabelSpreading(kernel="knn").fit(both, [*target, *[-1] * others.size]).predict_proba(test)
        np.testing.assert_allclose(found[:, k] + 0.5, expected[:, 1 if multilabel else k])
