"""Leave-one-out scores against training again without each text."""

import numpy as np
import pytest
from conftest import make_problem, make_texts
from sklearn.base import clone

from textmargin import PriorSVC
from textmargin.errors import TooLargeError
from textmargin.learners import leave_one_out

TIGHT = {"tol": 1e-12, "max_iter": 200}


def retrained(model, X, y, weight=None):
    """The definition: for each text, the score by a model that never saw it; and whether only its own side
    changed.
    """
    scores, stayed = np.empty(len(y)), np.empty(len(y), dtype=bool)
    signs = 2 * y - 1
    active = signs * model.decision_function(X) < 1
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        weights = None if weight is None else weight[rest]
        other = clone(model).set_params(trust=model.trust).fit(X[rest], y[rest], weights)
        scores[i] = other.decision_function(X[i : i + 1])[0]
        stayed[i] = (active[rest] == (signs[rest] * other.decision_function(X[rest]) < 1)).all()
    return scores, stayed


@pytest.mark.parametrize("trust", ["free", "ridge", 0.5])
@pytest.mark.parametrize("shape", [(50, 6), (40, 120)], ids=["fewer weights", "fewer texts"])
def test_equals_retraining_where_the_active_set_stays(shape, trust):
    X, y, direction = make_problem(*shape)
    # a prior that is only half right
    direction = direction + 3 * np.random.default_rng(2).standard_normal(len(direction))
    weight = np.random.default_rng(1).random(len(y)) + 0.5
    model = PriorSVC(C=0.05, prior=direction, trust=trust, trust_strength=1e3, **TIGHT).fit(X, y, weight)
    scores = model.loo_decision_function()
    truth, stayed = retrained(model, X, y, weight)
    assert stayed.any()
    # The target of `ridge` goes by the median length of a row, so that leaving one out moves it a little.
    np.testing.assert_allclose(scores[stayed], truth[stayed], atol=5e-2 if trust == "ridge" else 1e-6)
    assert np.corrcoef(scores, truth)[0, 1] >= 0.99


@pytest.mark.parametrize("skew", [0.5, 0.9])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_is_close_to_retraining_on_texts(skew, C):
    X, y = make_texts(n=120, d=400, skew=skew)
    model = PriorSVC(C=C, **TIGHT).fit(X, y)
    truth, _ = retrained(model, X, y)
    assert np.corrcoef(model.loo_decision_function(), truth)[0, 1] >= 0.99


def test_both_forms_agree():
    """By rows and by weights: the same leverage."""
    from textmargin.learners import _exact
    from textmargin.learners.problem import Problem
    from textmargin.learners.trust import _pose, trust_setting

    X, y, direction = make_problem(30, 9)
    signs = 2.0 * y - 1
    problem = Problem(
        X,
        signs,
        np.linspace(0.5, 2, 30),
        np.ones(30),
        0.3,
        True,
        direction[None],
        (X @ direction)[:, None],
        1.0,
    )
    objective = _pose(problem, trust_setting(problem, "free", np.ones(1), 1.0))
    rows = np.arange(0, 30, 2)
    by_rows, by_weights = (
        _exact._ByRows.factor(objective, rows, 0.0, False),
        _exact._ByWeights.factor(objective, rows),
    )
    np.testing.assert_allclose(by_rows.one_minus_leverage(), by_weights.one_minus_leverage(), atol=1e-7)
    for a, b in zip(by_rows.minimum(), by_weights.minimum(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_texts_outside_the_margin_keep_their_score():
    X, y, _ = make_problem(80)
    model = PriorSVC().fit(X, y)
    scores = model.decision_function(X)
    outside = (2 * y - 1) * scores > 1
    assert outside.any()
    np.testing.assert_allclose(model.loo_decision_function()[outside], scores[outside])


def test_a_text_of_weight_zero_is_scored_by_the_model_that_never_saw_it():
    X, y, _ = make_problem()
    weight = np.ones(len(y))
    weight[7] = 0
    model = PriorSVC().fit(X, y, weight)
    assert model.loo_decision_function()[7] == pytest.approx(model.decision_function(X[7:8])[0])


def test_a_class_with_one_positive_has_finite_scores():
    X, _ = make_texts(n=60, d=300)
    y = (np.arange(60) == 11).astype(int)
    scores = PriorSVC().fit(X, y).loo_decision_function()
    assert np.isfinite(scores).all()
    assert scores[11] < 0, "nothing else speaks for the class"


def test_changing_a_parameter_after_fit_changes_no_score():
    X, y, _ = make_problem()
    model = PriorSVC().fit(X, y)
    before = model.loo_decision_function()
    model.set_params(C=100.0, margins=(1.0, 0.2), class_weight={1: 5.0})
    np.testing.assert_array_equal(model.loo_decision_function(), before)


def test_a_large_c_at_the_default_tolerance():
    """1 − h is tiny there, and would blow up what conjugate gradients leave over."""
    X, y = make_texts(n=150, d=600, skew=0.8)
    loose, tight = PriorSVC(C=1e4).fit(X, y), PriorSVC(C=1e4, **TIGHT).fit(X, y)
    assert np.corrcoef(loose.loo_decision_function(), tight.loo_decision_function())[0, 1] > 0.999


def test_shaped_like_the_decision_function():
    X, y, _ = make_problem()
    for target in (y, y + (X[:, 0] > 0), np.column_stack([y, 1 - y])):
        model = PriorSVC().fit(X, target)
        assert model.loo_decision_function().shape == model.decision_function(X).shape


def test_too_large_an_active_set_says_what_to_use(monkeypatch):
    monkeypatch.setattr(leave_one_out, "MAX_SIZE", 3)
    X, y, _ = make_problem()
    with pytest.raises(TooLargeError, match="fold_decision_function"):
        PriorSVC().fit(X, y).loo_decision_function()


def noisy_problem(seed):
    """Few texts, many of them at fault, and priors that are of little use: leaving one out moves the
    others.
    """
    rng = np.random.default_rng([7, seed])
    X, y = (
        rng.standard_normal((24, int(rng.integers(2, 20)))) * (rng.random((24, 1)) < 0.9),
        np.arange(24) % 3 == 0,
    )
    X += 0.5 * np.outer(y, rng.standard_normal(X.shape[1]))
    return X, y.astype(int), rng.standard_normal((2, X.shape[1])), float(10 ** rng.uniform(-2, 2))


@pytest.mark.parametrize("trust", ["free", "nonneg"])
@pytest.mark.parametrize("seed", range(4))
def test_a_free_trust_gave_scores_of_the_wrong_sign_and_of_any_size(seed, trust):
    """Single errors were in the thousands: a text that decides η nearly alone, and others that cross their
    margins without it.
    """
    X, y, V, C = noisy_problem(seed)
    model = PriorSVC(C=C, prior=V, trust=trust, **TIGHT).fit(X, y)
    scores, (truth, _) = model.loo_decision_function(), retrained(model, X, y)
    np.testing.assert_allclose(scores, truth, atol=0.1)
    clear = np.abs(truth) > 0.1
    assert (np.sign(scores) == np.sign(truth))[clear].all()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_an_estimate_is_within_what_a_refit_can_reach(seed, intercept, monkeypatch):
    """No better than the score of the model of all texts; no worse than the objective allows, where refits
    are as well.
    """
    X, y, _, C = noisy_problem(seed)
    signs = 2 * y - 1
    reached = []
    reach = leave_one_out._reach
    monkeypatch.setattr(
        leave_one_out, "_reach", lambda *of: reached.append((of[2], reach(*of))) or reached[-1][1]
    )
    model = PriorSVC(C=100 * C, fit_intercept=intercept, **TIGHT).fit(X, y)
    scores, (truth, _) = model.loo_decision_function(), retrained(model, X, y)
    (rows, least), own = reached[0], signs * model.decision_function(X)
    assert np.isfinite(least).all()
    for found in (scores, truth):
        assert (signs * found <= own + 1e-6).all()
        assert (signs[rows] * found[rows] >= least - 1e-6).all()
