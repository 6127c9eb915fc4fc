"""What learners choose is the same where only the last digits of the data differ, as they do from machine to
machine.
"""

import numpy as np
import pytest
from conftest import make_problem

from textmargin import KernelSVC, PriorSVC
from textmargin.learners._training import prior_scores
from textmargin.learners.explanation import Explanation

SEEDS = range(5)


def blurred(X, seed):
    return X * (1 + 4e-16 * np.random.default_rng(seed).integers(-2, 3, X.shape))


@pytest.mark.parametrize("seed", SEEDS)
def test_terms_that_cancel_say_nothing(seed):
    """0.1 + 0.2 − 0.3: a prior whose scores are rounding was trusted as any other."""
    X = np.random.default_rng(0).random((30, 1)) * [0.1, 0.2, 0.3]
    assert not prior_scores(blurred(X, seed), np.array([[1.0, 1.0, -1.0]])).any()
    y = np.arange(30) % 2
    X = np.column_stack([X, y + 0.1])
    for trust in ("free", "nonneg", "auto"):
        assert PriorSVC(prior=[1.0, 1.0, -1.0, 0.0], trust=trust).fit(
            blurred(X, seed), y
        ).trust_.tolist() == [[0.0]]


@pytest.mark.parametrize("tol", [1e-6, 1e-12])
@pytest.mark.parametrize("seed", SEEDS)
def test_of_equal_priors_the_first_is_let_in(seed, tol):
    X, y, direction = make_problem(200, 20)
    V = np.array([direction, direction, 2 * direction])
    trust = PriorSVC(prior=V, trust="nonneg", tol=tol).fit(blurred(X, seed), y).trust_[0]
    assert trust[0] > 0
    assert trust[1:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_text_on_its_margin_gave_the_others_its_leverage_or_not(seed):
    """Texts of a single word, which the prior lifts from one margin to the other."""
    X = np.zeros((12, 14))
    X[np.arange(12), np.arange(12) % 2] = 1.0
    X[8:, 2:6] = np.eye(4)
    y = np.arange(12) % 2 == 1
    exact, other = (
        PriorSVC(prior=np.eye(14)[1], trust="ridge").fit(data, y) for data in (X, blurred(X, seed))
    )
    np.testing.assert_allclose(other.loo_decision_function(), exact.loo_decision_function(), atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_same_texts_support_a_kernel_machine(seed, intercept):
    """Texts that stand twice, and in another class: who supports, and how many comparisons that took."""
    X, y, _ = make_problem(120, 3)
    X, y = np.vstack([X, X[:20]]), np.append(y, 1 - y[:20])
    exact, other = (
        KernelSVC("rbf", chunk_size=10, fit_intercept=intercept).fit(data, y)
        for data in (X, blurred(X, seed))
    )
    assert other.support_.tolist() == exact.support_.tolist()
    assert other.n_kernel_evaluations_ == exact.n_kernel_evaluations_


def test_terms_that_say_as_much_are_told_in_their_order():
    terms, data = np.array(list("abcd")), np.array([0.3, 0.1 + 0.2, -0.3, 0.5])
    for signs in (1, -1):
        explanation = Explanation("x", 0.0, 0.0, terms, signs * data, np.zeros((0, 4)))
        assert [one.feature for one in explanation.contributions(4)] == ["d", "a", "b", "c"]
