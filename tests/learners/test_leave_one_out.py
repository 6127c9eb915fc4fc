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
