"""PriorSVC against independent solvers and its own invariants."""

import numpy as np
import pytest
from conftest import make_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import primal_svm
from sklearn.svm import LinearSVC

from textmargin import PriorSVC
from textmargin.learners import newton

TIGHT = {"tol": 1e-12, "max_iter": 200}


@pytest.fixture(params=["exact", "conjugate gradients"])
def way(request, monkeypatch):
    """Both ways to a Newton step, whatever the size of the problem."""
    monkeypatch.setattr(newton, "EXACT_SIZE", 10**9 if request.param == "exact" else 0)
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
    target = 1.4 / (np.median(np.linalg.norm(X, axis=1)) * np.linalg.norm(direction))  # from margin to margin
    w, eta, b, _ = primal_svm(X, signs, prior=direction, pull=5.0 / target**2, target=target, **reference)
    np.testing.assert_allclose(ridge.trust_[0], eta, atol=1e-4)
    np.testing.assert_allclose(ridge.coef_[0], w + eta @ direction[None], atol=1e-4)
    np.testing.assert_allclose(ridge.intercept_, b, atol=1e-4)


@pytest.mark.parametrize("tau", [0.0, 0.4, 2.0])
def test_uneven_margins_are_a_moved_threshold(tau):
    """With a free intercept the scores are (1+τ)/2 · f + (1−τ)/2, so zero moves to −(1 − τ)/(1 + τ)."""
    X, y, _ = make_problem(skew=0.7)
    even = PriorSVC(**TIGHT).fit(X, y).decision_function(X)
    uneven = PriorSVC(margins=(1.0, tau), **TIGHT).fit(X, y).decision_function(X)
    np.testing.assert_allclose(uneven, (1 + tau) / 2 * even + (1 - tau) / 2, atol=1e-8)


def test_a_fit_that_runs_out_of_digits_warns_with_what_it_may_be_off_by():
    """Values of 1e4 to 1e12 and a huge C: some fits stopped above the minimum in silence."""
    X = np.random.default_rng(0).standard_normal((40, 3)) * 10.0 ** np.arange(4, 13, 4)
    with pytest.warns(match=r"ran out of digits .* may still fall by .* of its value"):
        PriorSVC(C=1e12).fit(X, np.arange(40) % 2)
