"""Priors learnt from the training texts are weighed on texts that had no part in them."""

import numpy as np
import pytest
import scipy.sparse as sp

from textmargin import PriorFolds, PriorSVC
from textmargin.errors import TextmarginError
from textmargin.learners.evidence import select_priors

TIGHT = {"tol": 1e-12, "max_iter": 200}


def own_words(n=60, words=15, shared=400, seed=0):
    """Texts with labels by chance, and words of their own beside those that others have."""
    rng = np.random.default_rng(seed)
    X = np.hstack([(rng.random((n, shared)) < 0.05).astype(float), np.kron(np.eye(n), np.ones((1, words)))])
    return X / np.linalg.norm(X, axis=1, keepdims=True), np.arange(n) % 2


def memory(X, y):
    """What a prior that memorises its texts says: the words of each text for its class."""
    return (2.0 * y - 1) @ X


def folds_of(X, y, learn=memory, **judges):
    fold = PriorFolds.deal(y[:, None] > 0)
    return PriorFolds(
        fold, np.array([learn(X[fold != j], y[fold != j]) for j in range(5)])[:, None, None], **judges
    )


@pytest.mark.parametrize("sparse", [True, False])
def test_a_prior_that_memorises_its_texts_is_refused(sparse):
    """Evidence from the texts that it was learnt from believed it."""
    X, y = own_words()
    model, given = PriorSVC(prior=memory(X, y)), sp.csr_matrix(X) if sparse else X
    assert model.fit(given, y).verdict_[0].status == "supported"
    assert model.fit(given, y, prior_folds=folds_of(X, y)).verdict_[0].status in ("dropped", "contradicted")
    np.testing.assert_allclose(model.coef_, PriorSVC().fit(given, y).coef_)
    assert model.loo_decision_function().shape == y.shape  # it is not used


def signal(n=50, d=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, :5].sum(axis=1) + rng.standard_normal(n) > 0).astype(int)


def sifted(X, y):
    """A prior learnt from texts that is right: the signs of the five columns that decide."""
    return np.where(np.arange(X.shape[1]) < 5, (2.0 * y - 1) @ X, 0.0)


def test_a_prior_learnt_from_the_texts_that_helps_is_used():
    X, y = signal()
    model = PriorSVC(prior=sifted(X, y)).fit(X, y, prior_folds=folds_of(X, y, sifted))
    assert model.verdict_[0].status == "supported"
    # the prior of all texts
    np.testing.assert_allclose(model.coef_, PriorSVC(prior=sifted(X, y)).fit(X, y).coef_)


@pytest.mark.parametrize("trust", ["ridge", "nonneg", "auto"])
def test_a_fold_is_scored_with_the_prior_that_was_learnt_without_it(trust):
    X, y = signal()
    prior, folds = sifted(X, y), folds_of(X, y, sifted)
    model = PriorSVC(prior=prior, trust=trust, **TIGHT).fit(X, y, prior_folds=folds)
    scores = model.fold_decision_function()
    for j in range(5):
        rest, own = folds.fold != j, folds.priors[j, 0, 0]
        held = model.trust_[0, 0] if trust == "auto" else trust  # what auto decided
        cold = PriorSVC(prior=own * np.linalg.norm(prior) / np.linalg.norm(own), trust=held, **TIGHT).fit(
            X[rest], y[rest]
        )
        np.testing.assert_allclose(scores[~rest], cold.decision_function(X[~rest]), rtol=0.02, atol=0.02)
    assert model.held_out_method() == "cv"
    with pytest.raises(TextmarginError, match="fold_decision_function"):
        model.loo_decision_function()


def test_what_was_learnt_from_the_texts_needs_clear_evidence_of_its_own():
    """Other classes may speak for words that a person named; what these very texts taught, they have to
    confirm.
    """
    evidence = np.array([[3.0, 3.0], [3.0, 3.0], [0.4, 0.4]])
    assert select_priors(evidence, learnt=np.array([False, True])).tolist() == [
        [True, True],
        [True, True],
        [True, False],
    ]
    X, y = signal()
    named, own = np.where(np.arange(120) < 5, 1.0, 0.0), folds_of(X, y, sifted)
    both = PriorFolds(own.fold, np.concatenate([own.priors, np.tile(named, (5, 1, 1, 1))], axis=2))
    assert both.check(np.array([[sifted(X, y), named]]), 50).learnt.tolist() == [True, False]
