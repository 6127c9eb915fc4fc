"""PriorSVC in use: every kind of matrix and target, warm starts, explanations, and what once went wrong."""

import pickle
import warnings

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


def test_class_weights_of_several_classes_weigh_the_positive_side():
    X, y, _ = make_problem(n=90)
    y = y + (X[:, 0] > 0.5)
    model = PriorSVC(class_weight={2: 5.0}, **TIGHT).fit(X, y)
    alone = PriorSVC(class_weight={True: 5.0}, **TIGHT).fit(X, y == 2)
    np.testing.assert_allclose(model.coef_[2], alone.coef_[0], atol=1e-9)


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


def test_warm_start_begins_anew_on_other_columns_or_classes():
    X, y, _ = make_problem()
    model = PriorSVC(warm_start=True).fit(X, y)
    np.testing.assert_allclose(model.fit(X[:, :3], y).coef_, PriorSVC().fit(X[:, :3], y).coef_, atol=1e-9)
    np.testing.assert_allclose(
        model.fit(X[:, :3], 1 - y + 5).coef_, PriorSVC().fit(X[:, :3], 1 - y).coef_, atol=1e-9
    )


def test_stopping_early_warns_with_what_to_try():
    X, y = make_texts()
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 .*class 1.*Scale the columns, lower C"):
        PriorSVC(max_iter=2).fit(X, y)


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_converges_for_any_c_and_scale(C, scale):
    X, y, _ = make_problem(n=200, d=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PriorSVC(C=C).fit(X * scale, y)
    assert np.isfinite(model.coef_).all()


def test_separable_data_with_a_perfect_prior_needs_no_weights():
    """The prior and the intercept alone reach every margin: J = 0, nothing is active, and nothing breaks."""
    X, y, direction = make_problem()
    y = (X @ direction > 0).astype(int)
    model = PriorSVC(C=1e-6, prior=direction, trust="free").fit(X, y)
    assert model.score(X, y) == 1.0
    np.testing.assert_allclose(model.coef_[0] - model.trust_[0] * direction, 0, atol=1e-3)


def test_repeated_columns_at_a_large_c_do_not_pass_for_converged():
    """The exact step's matrix is singular to machine precision there; it once went unnoticed and half the
    texts went wrong.
    """
    rng = np.random.default_rng(0)
    pay = rng.normal(5e4, 1e4, 200)
    X = np.column_stack([pay, 12 * pay, np.ones(200), rng.standard_normal(200)])
    y = (X[:, 3] + 0.5 * rng.standard_normal(200) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = PriorSVC(C=1e4).fit(X, y)
    assert model.score(X, y) > 0.8
    assert np.isfinite(model.loo_decision_function()).all()
    tripled = np.tile(make_problem(200, 5)[0] * 1e4, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert np.isfinite(PriorSVC(C=1e6).fit(tripled, y).coef_).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_a_fixed_prior_that_reaches_every_margin_leaves_nothing_to_do(intercept):
    X, _, direction = make_problem()
    X = X[np.abs(X @ direction) > 0.1]
    model = PriorSVC(prior=100 * direction, trust="fixed", fit_intercept=intercept).fit(X, X @ direction > 0)
    np.testing.assert_allclose(model.coef_[0], 100 * direction)


def test_warm_start_takes_another_number_of_priors():
    X, y, direction = make_problem()
    model = PriorSVC(warm_start=True, trust="free").fit(X, y)
    for prior in (direction, np.array([direction, np.roll(direction, 1)])):
        warm = model.set_params(prior=prior).fit(X, y)
        np.testing.assert_allclose(warm.coef_, clone(model).fit(X, y).coef_, atol=1e-6)


@pytest.mark.parametrize("trust", ["free", "nonneg", "auto"])
def test_a_prior_that_speaks_only_of_a_text_of_weight_zero_says_nothing(trust):
    X, y, _ = make_problem(200, 5)
    X = np.column_stack([X, np.zeros(200)])
    X[7, 5] = 1
    weight = np.ones(200)
    weight[7] = 0
    model = PriorSVC(prior=[0, 0, 0, 0, 0, 1.0], trust=trust).fit(X, y, weight)
    np.testing.assert_allclose(
        model.coef_, PriorSVC().fit(np.delete(X, 7, 0), np.delete(y, 7)).coef_, atol=1e-9
    )


def test_one_very_long_text_does_not_weaken_a_prior():
    X, y, direction = make_problem(100)
    plain = PriorSVC(prior=direction, trust="free", **TIGHT).fit(X, y)
    # far outside the margin, so that it has no say
    X[np.argmax((2 * y - 1) * plain.decision_function(X))] *= 1e6
    np.testing.assert_allclose(
        PriorSVC(prior=direction, trust="free", **TIGHT).fit(X, y).trust_, plain.trust_, rtol=1e-3
    )


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


def test_explanation_of_a_chosen_class():
    X, y, _ = make_problem()
    y = y + (X[:, 0] > 0.5)
    model = PriorSVC().fit(X, y)
    scores = model.decision_function(X[:1])[0]
    assert model.explain(sp.csr_matrix(X[:1])).target == scores.argmax()
    assert model.explain(X[0], target=1).score == pytest.approx(scores[1])
    with pytest.raises(ValueError, match="There is no class 7: it is not among"):
        model.explain(X[0], target=7)
    two = PriorSVC().fit(X, np.where(y > 0, "spam", "ham"))
    assert two.explain(X[0]).target == "spam"
    assert two.explain(X[0], target="ham").score == pytest.approx(-two.explain(X[0], target="spam").score)
    with pytest.raises(ValueError, match="There is no class 'eggs'"):
        two.explain(X[0], target="eggs")
    with pytest.raises(ValueError, match="one text at a time"):
        model.explain(X[:2])


def test_a_pickled_model_predicts_but_keeps_no_training_data():
    X, y, _ = make_problem()
    model = PriorSVC().fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    with pytest.raises(Exception, match="without its training data"):
        copy.loo_decision_function()
