"""PriorSVC against independent solvers and its own invariants (MATHS §1 and §3)."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import make_problem, make_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import primal_svm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from textmargin import PriorSVC
from textmargin.learners import _newton

TIGHT = {"tol": 1e-12, "max_iter": 200}


@pytest.fixture(params=["exact", "conjugate gradients"])
def way(request, monkeypatch):
    """Both ways to a Newton step, whatever the size of the problem."""
    monkeypatch.setattr(_newton, "EXACT_SIZE", 10**9 if request.param == "exact" else 0)
    return request.param


def test_fact_1_free_trust_is_one_more_unpenalised_column(way):
    """Against L-BFGS on the objective itself; V'w = 0 at the optimum."""
    X, y, direction = make_problem()
    v = direction + 1.0
    model = PriorSVC(C=0.7, prior=v, trust="free", **TIGHT).fit(X, y)
    w, eta, b, _ = primal_svm(X, 2 * y - 1, C=0.7, prior=v)
    np.testing.assert_allclose(model.coef_[0], w + eta @ v[None], atol=1e-6)
    np.testing.assert_allclose(model.trust_, [eta], atol=1e-6)
    np.testing.assert_allclose(model.intercept_, b, atol=1e-6)
    assert (model.coef_[0] - model.trust_[0] @ model.prior_[0]) @ v == pytest.approx(0, abs=1e-7)


@settings(max_examples=20, deadline=None)
@given(factor=st.floats(1e-3, 1e3), sign=st.sampled_from([-1, 1]))
def test_fact_1_free_trust_ignores_sign_and_size_of_the_prior(factor, sign):
    X, y, direction = make_problem()
    model = PriorSVC(prior=direction, trust="free", **TIGHT).fit(X, y)
    scaled = PriorSVC(prior=sign * factor * direction, trust="free", **TIGHT).fit(X, y)
    np.testing.assert_allclose(scaled.coef_, model.coef_, atol=1e-6)
    np.testing.assert_allclose(scaled.trust_ * sign * factor, model.trust_, atol=1e-6)


@pytest.mark.parametrize("sign", [1, -1])
def test_fact_2_nonnegative_trust_is_free_or_plain(sign, way):
    X, y, direction = make_problem()
    v = sign * direction
    model = PriorSVC(prior=v, trust="nonneg", **TIGHT).fit(X, y)
    other = PriorSVC(prior=v, trust="free", **TIGHT) if sign > 0 else PriorSVC(**TIGHT)
    np.testing.assert_allclose(model.coef_, other.fit(X, y).coef_, atol=1e-7)
    assert (model.trust_ > 0) if sign > 0 else (model.trust_ == 0)


@pytest.mark.parametrize("seed", [39, 41, 70])
def test_fact_2_many_priors_that_say_nearly_the_same_reach_the_bounded_optimum(seed):
    """Here priors that were let in leave again on the way."""
    X, y, direction = make_problem(n=30, d=8, seed=seed)
    rng = np.random.default_rng(seed)
    n_priors = rng.integers(3, 9)
    base = rng.standard_normal((2, 8))
    V = rng.standard_normal((n_priors, 2)) @ base + 0.05 * rng.standard_normal((n_priors, 8))
    V = V if seed == 70 else V + direction
    model = PriorSVC(C=0.05, prior=V, trust="nonneg", **TIGHT).fit(X, y)
    _, _, _, best = primal_svm(X, 2 * y - 1, C=0.05, prior=V, nonneg=True)
    w = model.coef_[0] - model.trust_[0] @ V
    missed = np.maximum(0, 1 - (2 * y - 1) * model.decision_function(X))
    assert (model.trust_ >= 0).all()
    assert 5 * w @ w + 0.5 * missed @ missed <= best * (1 + 1e-6)  # L-BFGS-B itself stops a little early on some of these


@pytest.mark.parametrize("seed", range(4))
def test_fact_2_several_nonnegative_priors_reach_the_bounded_optimum(seed):
    """Against L-BFGS-B with the bound η ≥ 0."""
    X, y, direction = make_problem(seed=seed)
    V = np.random.default_rng(seed).standard_normal((4, X.shape[1])) + [[1.0], [0], [0], [-1]] * direction
    model = PriorSVC(prior=V, trust="nonneg", **TIGHT).fit(X, y)
    w, eta, _, _ = primal_svm(X, 2 * y - 1, prior=V, nonneg=True)
    np.testing.assert_allclose(model.coef_[0], w + eta @ V, atol=1e-5)
    np.testing.assert_allclose(model.trust_[0], eta, atol=1e-5)
    assert (model.trust_ >= 0).all()


@pytest.mark.parametrize("trust", ["free", "nonneg", "ridge", "auto"])
@pytest.mark.parametrize("silent", ["zero", "constant"])
def test_fact_3_a_prior_that_says_nothing_leaves_the_plain_svm(trust, silent, way):
    """v = 0, and Xv constant beside an intercept."""
    X, y, _ = make_problem()
    if silent == "constant":
        X = np.column_stack([X, np.full(len(X), 3.0)])
    v = np.zeros(X.shape[1])
    v[-1] = 1.0 if silent == "constant" else 0.0
    model = PriorSVC(prior=v, trust=trust, **TIGHT).fit(X, y)
    plain = PriorSVC(**TIGHT).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-6)
    if trust != "ridge":  # which is drawn to its target where the data do not mind
        np.testing.assert_allclose(model.trust_, 0, atol=1e-6)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_fact_4_without_a_prior_it_is_linear_svc(C, way):
    """C = 1/(2λ): scikit-learn's C; no intercept, so that both minimise the very same function."""
    X, y, _ = make_problem()
    model = PriorSVC(C=C, fit_intercept=False, **TIGHT).fit(X, y)
    peer = LinearSVC(C=C, fit_intercept=False, dual=False, tol=1e-12, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-6)


def test_fact_4_with_a_free_intercept(way):
    """LinearSVC penalises its intercept less the larger `intercept_scaling` is."""
    X, y, _ = make_problem(skew=1.0)
    model = PriorSVC(**TIGHT).fit(X, y)
    peer = LinearSVC(dual=False, intercept_scaling=1e4, tol=1e-12, max_iter=10**6).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-4)


def test_fact_5_an_infinite_penalty_leaves_only_the_priors():
    """Two priors, intercept and sample weights; u → Vη as λ → ∞."""
    X, y, direction = make_problem()
    V = np.array([direction, np.roll(direction, 1)])
    weight = np.random.default_rng(0).random(len(y)) + 0.5
    model = PriorSVC(C=1e-9, prior=V, trust="free", **TIGHT).fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, model.trust_ @ V, atol=1e-6)
    _, eta, _, _ = primal_svm(X, 2 * y - 1, C=1e-9, prior=V, costs=weight)
    np.testing.assert_allclose(model.trust_[0], eta, atol=1e-4)


def test_fact_5_holds_for_any_kernel():
    """With the columns of a square root of an RBF kernel in place of words the same code is a kernel machine."""
    X, y, _ = make_problem(n=40, d=3)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0))
    V = np.random.default_rng(0).standard_normal((2, 40))
    model = PriorSVC(prior=V, trust="free", **TIGHT).fit(root, y)
    _, _, _, value = primal_svm(root, 2 * y - 1, prior=V)
    w = model.coef_[0] - model.trust_[0] @ V
    missed = np.maximum(0, 1 - (2 * y - 1) * model.decision_function(root))
    assert 0.25 * w @ w + 0.5 * missed @ missed == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_costs_margins_ridge_and_fixed_trust_against_lbfgs(seed, way):
    X, y, direction = make_problem(seed=seed)
    signs = 2 * y - 1
    weight = np.random.default_rng(seed).random(len(y)) + 0.2
    common = {"C": 0.4, "class_weight": {1: 3.0}, "margins": (1.0, 0.4), **TIGHT}
    reference = {"C": 0.4, "costs": weight * np.where(y == 1, 3.0, 1.0), "margins": (1.0, 0.4)}

    fixed = PriorSVC(prior=direction, trust=0.7, **common).fit(X, y, weight)
    w, eta, b, _ = primal_svm(X, signs, prior=direction, pull=1e9, target=0.7, **reference)
    np.testing.assert_allclose(fixed.coef_[0], w + eta @ direction[None], atol=1e-4)

    ridge = PriorSVC(prior=direction, trust="ridge", trust_strength=5.0, **common).fit(X, y, weight)
    plain = PriorSVC(**common).fit(X, y, weight)
    target = np.linalg.norm(plain.coef_) / np.linalg.norm(direction)  # the prior knows every column
    w, eta, b, _ = primal_svm(X, signs, prior=direction, pull=5.0 / target**2, target=target, **reference)
    np.testing.assert_allclose(ridge.trust_[0], eta, atol=1e-5)
    np.testing.assert_allclose(ridge.coef_[0], w + eta @ direction[None], atol=1e-5)
    np.testing.assert_allclose(ridge.intercept_, b, atol=1e-5)


@pytest.mark.parametrize("tau", [0.0, 0.4, 2.0])
def test_uneven_margins_are_a_moved_threshold(tau):
    """MATHS §3: with a free intercept the scores are (1+τ)/2 · f + (1−τ)/2, so zero moves to −(1 − τ)/(1 + τ)."""
    X, y, _ = make_problem(skew=0.7)
    even = PriorSVC(**TIGHT).fit(X, y).decision_function(X)
    uneven = PriorSVC(margins=(1.0, tau), **TIGHT).fit(X, y).decision_function(X)
    np.testing.assert_allclose(uneven, (1 + tau) / 2 * even + (1 - tau) / 2, atol=1e-8)


def test_both_ways_meet_on_texts(monkeypatch):
    X, y = make_texts(skew=0.9)
    by_gradients = PriorSVC(C=3.0, **TIGHT).fit(X, y)
    monkeypatch.setattr(_newton, "EXACT_SIZE", 10**9)
    exact = PriorSVC(C=3.0, **TIGHT).fit(X, y)
    np.testing.assert_allclose(by_gradients.coef_, exact.coef_, atol=1e-6)


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
    peer = LinearSVC(class_weight="balanced", dual=False, intercept_scaling=1e4, tol=1e-12, max_iter=10**6).fit(X, y)
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
    np.testing.assert_allclose(model.fit(X[:, :3], 1 - y + 5).coef_, PriorSVC().fit(X[:, :3], 1 - y).coef_, atol=1e-9)


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
    """The exact step's matrix is singular to machine precision there; it once went unnoticed and half the texts went wrong."""
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


@pytest.mark.parametrize("trust", ["free", "ridge", "auto"])
def test_a_prior_that_speaks_only_of_a_text_of_weight_zero_says_nothing(trust):
    X, y, _ = make_problem(200, 5)
    X = np.column_stack([X, np.zeros(200)])
    X[7, 5] = 1
    weight = np.ones(200)
    weight[7] = 0
    model = PriorSVC(prior=[0, 0, 0, 0, 0, 1.0], trust=trust).fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, PriorSVC().fit(np.delete(X, 7, 0), np.delete(y, 7)).coef_, atol=1e-9)


def test_one_very_long_text_does_not_weaken_a_prior():
    X, y, direction = make_problem(100)
    plain = PriorSVC(prior=direction, trust="free", **TIGHT).fit(X, y)
    X[np.argmax((2 * y - 1) * plain.decision_function(X))] *= 1e6  # far outside the margin, so that it has no say
    np.testing.assert_allclose(PriorSVC(prior=direction, trust="free", **TIGHT).fit(X, y).trust_, plain.trust_, rtol=1e-3)


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
    largest = explanation.top(1)[0]
    assert abs(largest[1]) == pytest.approx(np.abs(explanation.total).max())


def test_explanation_of_a_chosen_class():
    X, y, _ = make_problem()
    y = y + (X[:, 0] > 0.5)
    model = PriorSVC().fit(X, y)
    scores = model.decision_function(X[:1])[0]
    assert model.explain(sp.csr_matrix(X[:1])).target == scores.argmax()
    assert model.explain(X[0], target=1).score == pytest.approx(scores[1])
    with pytest.raises(ValueError, match="target 7 is not among the classes"):
        model.explain(X[0], target=7)
    two = PriorSVC().fit(X, np.where(y > 0, "spam", "ham"))
    assert two.explain(X[0]).target == "spam"
    assert two.explain(X[0], target="ham").score == pytest.approx(-two.explain(X[0], target="spam").score)
    with pytest.raises(ValueError, match="target 'eggs' is not among the classes"):
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
