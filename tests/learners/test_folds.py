"""Scores by refitted folds: those of models that never saw the fold, at any number of texts per class."""

import pickle

import numpy as np
import pytest
from conftest import make_problem, make_texts
from sklearn.base import clone

from textmargin import KernelSVC, PriorSVC
from textmargin.errors import TextmarginError
from textmargin.learners._folds import deal_folds


def cold_folds(model, X, y, n_folds=5, weight=None):
    """The definition: per fold, a clone trained on the others from nothing."""
    weight = np.ones(len(y)) if weight is None else weight
    counted = np.flatnonzero(weight > 0)
    positive = (
        (y != 0)[counted].reshape(counted.size, -1)
        if y.ndim == 2 or y.max() < 2
        else y[counted, None] == np.unique(y)
    )
    dealt = deal_folds(positive, n_folds, 0)
    scores = model.decision_function(X)
    for j in range(n_folds):
        rest, held_out = counted[dealt != j], counted[dealt == j]
        scores[held_out] = clone(model).fit(X[rest], y[rest], weight[rest]).decision_function(X[held_out])
    return scores


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_no_held_out_text_is_left_in_a_warm_start(C, noise):
    """Warm folds at a tolerance of 1e-3 beside cold ones at 1e-12: the label of a text does not show in its
    score.
    """
    X, y = make_texts(n=900)
    rng = np.random.default_rng(1)
    y = np.where(rng.random(len(y)) < noise, rng.integers(2, size=len(y)), y)
    model = PriorSVC(C=C).fit(X, y)
    cold = cold_folds(PriorSVC(C=C, tol=1e-12, max_iter=300).fit(X, y), X, y)
    error = model.fold_decision_function() - cold
    assert np.sqrt(np.mean(error**2)) < 0.02 * cold.std()
    signs = 2 * y - 1
    assert abs(np.mean(signs * error)) < 0.01 * np.mean(signs * (model.decision_function(X) - cold))


@pytest.mark.parametrize("trust", ["free", "nonneg", 0.5])
def test_priors_weights_costs_and_margins_count_in_folds(trust):
    X, y, direction = make_problem(80, 120)
    weight = np.random.default_rng(1).random(80) + 0.5
    weight[[5, 17]] = 0
    settings = {
        "prior": direction,
        "trust": trust,
        "class_weight": {1: 3.0},
        "margins": (1.0, 0.4),
        "tol": 1e-12,
        "max_iter": 200,
    }
    model = PriorSVC(**settings).fit(X, y, weight)
    scores = model.fold_decision_function(n_folds=4)
    np.testing.assert_allclose(scores, cold_folds(model, X, y, 4, weight), rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(scores[[5, 17]], model.decision_function(X[[5, 17]]))


@pytest.mark.parametrize("learner", [PriorSVC(), KernelSVC()], ids=["primal", "kernel"])
def test_one_set_of_folds_shaped_like_the_decision_function(learner):
    X, y, _ = make_problem()
    for target in (y, y + (X[:, 0] > 0), np.column_stack([y, X[:, 1] > 0, X[:, 2] > 0])):
        model = clone(learner).fit(X, target)
        scores = model.fold_decision_function()
        assert scores.shape == model.decision_function(X).shape
        np.testing.assert_allclose(scores, cold_folds(model, X, np.asarray(target)), atol=2e-3)


@pytest.mark.parametrize("learner", [PriorSVC(), KernelSVC()], ids=["primal", "kernel"])
def test_a_class_with_too_few_positives_has_scores_where_it_can(learner):
    X, _ = make_texts(n=60, d=300)
    Y = np.zeros((60, 3), dtype=int)
    Y[11, 0] = Y[[3, 40], 1] = Y[::2, 2] = 1
    scores = clone(learner).fit(X, Y).fold_decision_function()
    dealt = deal_folds(Y != 0, 5, 0)
    np.testing.assert_array_equal(np.isnan(scores[:, 0]), dealt == dealt[11])
    assert np.isfinite(scores[:, 1:]).all()
    assert dealt[3] != dealt[40]


def test_folds_are_even_in_every_class():
    rng = np.random.default_rng(0)
    y = rng.choice(6, 1000, p=[0.5, 0.3, 0.1, 0.06, 0.03, 0.01])
    for positive in (y[:, None] == np.arange(6), y[:, None] == 5, rng.random((1000, 8)) < 0.05):
        dealt = deal_folds(positive, 7, 0)
        sizes = np.bincount(dealt, minlength=7)
        per_class = np.array([np.bincount(dealt[members], minlength=7) for members in positive.T])
        assert np.ptp(sizes) <= 3
        assert np.ptp(per_class, axis=1).max() <= 3
        if positive.sum(axis=1).max() == 1:
            assert np.ptp(per_class, axis=1).max() <= 1


@pytest.mark.parametrize("learner", [PriorSVC(), KernelSVC()], ids=["primal", "kernel"])
def test_a_loaded_model_says_what_is_missing(learner):
    X, y, _ = make_problem()
    model = pickle.loads(pickle.dumps(clone(learner).fit(X, y)))
    with pytest.raises(TextmarginError, match="call fit again first"):
        model.fold_decision_function()


def test_kernel_folds_hold_prior_scores_and_absent_texts():
    X, y, direction = make_problem(80, 20)
    weight = np.ones(80)
    weight[[4, 9]] = 0
    z = X @ direction + 3.0
    model = KernelSVC("rbf", trust=0.5).fit(X, y, weight, prior_scores=z)
    scores = model.fold_decision_function()
    np.testing.assert_allclose(scores[[4, 9]], model.decision_function(X[[4, 9]], prior_scores=z[[4, 9]]))
    counted = np.flatnonzero(weight)
    dealt = deal_folds(y[counted, None] > 0, 5, 0)
    for j in range(5):
        rest, held_out = counted[dealt != j], counted[dealt == j]
        fold = clone(model).fit(X[rest], y[rest], prior_scores=z[rest])
        np.testing.assert_allclose(
            scores[held_out], fold.decision_function(X[held_out], prior_scores=z[held_out]), atol=1e-3
        )
