"""PriorSVC in use: every kind of matrix and target, warm starts, explanations, and what once went wrong."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import make_problem, make_texts
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from textmargin import PriorSVC

TIGHT = {"tol": 1e-12, "max_iter": 200}


@pytest.mark.parametrize("skew", [0.5, 0.95])
def test_sparse_equals_dense(skew):
    X, y = make_texts(n=150, d=200, skew=skew)
    v = np.random.default_rng(0).standard_normal(200)
    for trust in ("free", "fixed", "auto"):
        sparse = PriorSVC(prior=v, trust=trust, **TIGHT).fit(X, y)
        dense = PriorSVC(prior=v, trust=trust, **TIGHT).fit(X.toarray(), y)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-7)


def test_explicit_zeros_and_repeated_entries_change_nothing():
    X, y = make_texts(n=100, d=200)
    model = PriorSVC().fit(X, y)
    zeros = X.copy()
    zeros.data[::7] = 0.0
    with_zeros, without = PriorSVC().fit(zeros, y), PriorSVC().fit(sp.csr_matrix(zeros.toarray()), y)
    np.testing.assert_allclose(with_zeros.coef_, without.coef_, atol=1e-12)

    halves = sp.csr_matrix((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)
    before = halves.data.copy()
    repeated = PriorSVC().fit(halves, y)
    np.testing.assert_allclose(repeated.coef_, model.coef_, atol=1e-12)
    np.testing.assert_array_equal(halves.data, before)


def test_64_bit_indices_are_the_same_matrix():
    X, y = make_texts(n=300, d=500)
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    np.testing.assert_array_equal(PriorSVC().fit(wide, y).coef_, PriorSVC().fit(X, y).coef_)


def test_several_classes_are_one_against_the_rest():
    X, y, _ = make_problem(n=90)
    y = np.array(["ant", "bee", "cow"])[(y + (X[:, 0] > 0.5)).astype(int)]
    model = PriorSVC(n_jobs=2).fit(X, y)
    assert list(model.classes_) == ["ant", "bee", "cow"]
    for k, name in enumerate(model.classes_):
        alone = PriorSVC().fit(X, y == name)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], atol=1e-9)
    assert set(model.predict(X)) <= {"ant", "bee", "cow"}
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_an_indicator_matrix_makes_it_multilabel(kind):
    X, y, _ = make_problem()
    Y = np.column_stack([y, X[:, 0] > 1, np.arange(len(y)) == 5])  # the last class has one positive
    model = PriorSVC().fit(X, kind(Y.astype(int)))
    assert model.decision_function(X).shape == Y.shape
    np.testing.assert_array_equal(model.predict(X), (model.decision_function(X) >= 0).astype(int))
    for k in range(3):
        np.testing.assert_allclose(model.coef_[k], PriorSVC().fit(X, Y[:, k]).coef_[0], atol=1e-9)
    assert model.decision_function(X)[:, 2].argmax() == 5


def test_balanced_weights_give_both_sides_the_same_total():
    X, y, _ = make_problem(skew=1.0)
    share = y.mean()
    balanced = PriorSVC(class_weight="balanced", **TIGHT).fit(X, y)
    by_hand = PriorSVC(class_weight={1: 0.5 / share, 0: 0.5 / (1 - share)}, **TIGHT).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, atol=1e-9)
    peer = LinearSVC(
        class_weight="balanced", dual=False, intercept_scaling=1e4, tol=1e-12, max_iter=10**6
    ).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, peer.coef_, atol=1e-4)


def test_warm_start_goes_on_from_the_last_solution():
    X, y = make_texts(skew=0.9)
    prior = np.random.default_rng(0).standard_normal(X.shape[1])
    model = PriorSVC(warm_start=True, prior=prior, trust="free", tol=1e-9).fit(X, y)
    cold = model.n_iter_[0]
    coef = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_[0] < cold
    np.testing.assert_allclose(model.coef_, coef, atol=1e-4)
    model.set_params(C=1.5).fit(X, y)
    np.testing.assert_allclose(model.coef_, clone(model).fit(X, y).coef_, atol=1e-4)


def test_stopping_early_warns_with_what_to_try():
    X, y = make_texts()
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 .*class 1.*Scale the columns, lower C"):
        PriorSVC(max_iter=2).fit(X, y)


def test_separable_data_with_a_perfect_prior_needs_no_weights():
    """The prior and the intercept alone reach every margin: J = 0, nothing is active, and nothing breaks."""
    X, y, direction = make_problem()
    y = (X @ direction > 0).astype(int)
    model = PriorSVC(C=1e-6, prior=direction, trust="free").fit(X, y)
    assert model.score(X, y) == 1.0
    np.testing.assert_allclose(model.coef_[0] - model.trust_[0] * direction, 0, atol=1e-3)


def test_a_failed_refit_leaves_the_model_as_it_was():
    X, y, direction = make_problem()
    model = PriorSVC(prior=direction, trust="free").fit(X, y)
    before = model.explain(X[0])
    with pytest.raises(ValueError, match="class_weight"):
        model.set_params(prior=np.ones((3, 8)), class_weight={9: 1.0}).fit(X, y)
    np.testing.assert_array_equal(model.explain(X[0]).priors, before.priors)


def test_explanation_adds_up_to_the_score():
    X, y, direction = make_problem()
    V = np.array([direction, np.roll(direction, 2)])
    model = PriorSVC(prior=V, trust="free").fit(X, y)
    explanation = model.explain(X[3])
    total = explanation.intercept + explanation.data.sum() + explanation.priors.sum()
    assert total == pytest.approx(model.decision_function(X[3:4])[0])
    assert explanation.score == pytest.approx(total)
    assert explanation.target == 1
    np.testing.assert_allclose(explanation.priors, model.trust_[0][:, None] * V * X[3])
    (largest,) = explanation.contributions(1)
    assert abs(largest.contribution) == pytest.approx(np.abs(explanation.total).max())


def test_a_pickled_model_predicts_but_keeps_no_training_data():
    X, y, _ = make_problem()
    model = PriorSVC().fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    with pytest.raises(Exception, match="without its training data"):
        copy.loo_decision_function()
