"""Evidence for priors does not hang on rounding, on what a solver leaves undone, or on the scale of the
data.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import make_problem, make_texts
from reference import rank_gains_by_counting

from textmargin import KernelSVC, PriorSVC
from textmargin.learners.evidence import (
    evidence_of,
    hinge_gains,
    prior_evidence,
    rank_gains,
    select_priors,
    squared_gains,
    verdict,
)

SIZES = {"exact": (60, 8), "conjugate gradients": (600, 100)}


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("size", SIZES)
def test_rounding_made_evidence_for_a_prior_that_says_nothing(size, C, tol):
    """A constant column beside an intercept: gains of 2e-15 had an evidence of ±1, by the machine."""
    n, d = SIZES[size]
    X, y, _ = make_problem(n, d, skew=0.5)
    X, v = np.column_stack([X, np.full(n, 3.0)]), np.append(np.zeros(d), 1.0)
    (found,) = PriorSVC(C=C, prior=v, tol=tol, max_iter=200).fit(X, y).verdict_
    assert (found.evidence, found.gain, found.status) == (0.0, 0.0, "dropped")


@pytest.mark.parametrize("n", [400, 4000])  # leave-one-out scores, folds
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_a_tolerance_made_evidence_on_texts(n, tol):
    X, y = make_texts(n)
    X, v = sp.csr_matrix(sp.hstack([X, np.ones((n, 1))])), np.append(np.zeros(X.shape[1]), 1.0)
    (found,) = PriorSVC(prior=v, tol=tol).fit(X, y).verdict_
    assert (found.evidence, found.gain) == (0.0, 0.0)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
def test_evidence_knows_no_units(scale):
    """Columns in other units, with the C that goes with them, and weights of texts in others: the same
    gains.
    """
    X, y, direction = make_problem(80, 100)
    plain = PriorSVC(prior=direction).fit(X, y).verdict_[0]
    (units,) = PriorSVC(C=scale**-2, prior=direction).fit(scale * X, y).verdict_
    (weights,) = PriorSVC(C=1 / scale, prior=direction).fit(X, y, np.full(80, scale)).verdict_
    for found in (units, weights):
        assert (found.evidence, found.gain) == pytest.approx((plain.evidence, plain.gain), rel=1e-4)
        assert found.status == plain.status


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_kernel_machine_has_no_evidence_from_scores_that_say_nothing(scale, intercept):
    """Scores that move no text by more than the tolerance."""
    X, y, _ = make_problem(60, 4)
    z = np.random.default_rng(0).standard_normal(60)
    model = KernelSVC("rbf", scale, fit_intercept=intercept)
    losses = np.abs(z) * scale
    assert hinge_gains(losses, losses * (1 + 1e-9), np.full(60, scale), model.tol).tolist() == [0.0] * 60
    (found,) = model.fit(X, y, prior_scores=y - 0.5).verdict_
    assert found.evidence > 1


def test_a_kernel_machine_with_a_single_example_asks_no_rounding():
    X = np.eye(4)
    z = [0.1 + 0.2, 0.3, 0.3, 0.3]
    (found,) = KernelSVC(C=1.0, fit_intercept=False).fit(X, [1, 0, 0, 0], prior_scores=z).verdict_
    assert (found.evidence, found.status) == (0.0, "dropped")


def test_gains_that_mean_something_are_left_as_they_are():
    rng = np.random.default_rng(0)
    without = rng.random(50)
    with_prior = without * rng.uniform(0.5, 1.2, 50)
    gains = without - with_prior
    assert squared_gains(without, with_prior, 1e-6).tolist() == gains.tolist()
    assert hinge_gains(without, with_prior, np.ones(50), 1e-4).tolist() == gains.tolist()
    assert evidence_of(gains) == gains.sum() / np.linalg.norm(gains)


def test_one_text_among_many_is_evidence():
    """A word that a single text of ten thousand has."""
    losses = np.random.default_rng(0).random(10_000)
    better = losses.copy()
    better[7] = 0.0
    assert evidence_of(squared_gains(losses, better, 1e-6)) == pytest.approx(1.0)


@pytest.mark.parametrize("gain", np.random.default_rng(0).random(20))
def test_the_last_digit_made_a_single_text_unclear(gain):
    """Its evidence is d/√d², 1 or the number below it."""
    evidence = evidence_of(np.array([gain, 1e-17]))
    assert verdict("a", 0, evidence, 0.1, trusted=True).status == "supported"
    assert verdict("a", 0, -evidence, 0.1, trusted=False).status == "contradicted"
    below = np.nextafter(1.0, 0.0)
    assert select_priors(np.array([[below], [0.0]])).ravel().tolist() == [True, True]


def test_gains_that_cancel_are_no_evidence():
    assert evidence_of(np.array([0.1, 0.2, -0.3])) == 0.0
    assert not select_priors(np.array([[1e-15]])).any()


@pytest.mark.parametrize("seed", range(5))
def test_gains_in_rank_are_those_of_the_definition(seed):
    """Scores of one digit, so that many tie; the last digits of sums do not untie them."""
    rng = np.random.default_rng(seed)
    without, with_prior = rng.integers(-9, 10, (2, 40)) / 10
    positive, costs = np.arange(40) < 12, rng.random(40)
    (found,) = rank_gains(without + 1e-13 * rng.random(40), with_prior, positive, costs)
    np.testing.assert_allclose(found, costs[:12] * rank_gains_by_counting(without, with_prior, positive))
    (below,) = rank_gains(-without, -with_prior, ~positive, costs)  # the smaller side is ranked, from below
    np.testing.assert_allclose(below, found)


def test_the_smaller_evidence_counts():
    gains, up, down, level = (
        np.array([0.3, 0.4, -0.1]),
        np.array([0.1, 0.1]),
        np.array([-0.7, 0.0]),
        np.zeros(2),
    )
    assert prior_evidence(gains, [down]) == prior_evidence(gains, [up, down]) == -1.0
    assert prior_evidence(gains, [10 * up]) == min(evidence_of(gains), np.sqrt(2))
    # no rank changes
    assert prior_evidence(gains, [level]) == prior_evidence(gains, []) == evidence_of(gains)
    assert prior_evidence(np.zeros(3), [up]) == prior_evidence(np.zeros(3), [down]) == 0.0  # undecided


@pytest.mark.parametrize("n", [60, 61])  # sides of the same size, and not
def test_evidence_does_not_know_which_class_comes_first(n):
    X, _, direction = make_problem(n, 100)
    y = (
        np.argsort(np.argsort(X @ direction + np.random.default_rng(1).standard_normal(n))) >= n // 2
    ).astype(int)
    prior = direction + 2 * np.random.default_rng(0).standard_normal(100)
    (one,), (other,) = (
        PriorSVC(prior=sign * prior).fit(X, labels).verdict_ for sign, labels in ((1, y), (-1, 1 - y))
    )
    assert one.evidence == pytest.approx(other.evidence, rel=1e-4)


def test_a_prior_that_saves_loss_but_spoils_the_order_is_contradicted():
    """It lifts the texts of the class towards their margin, and some others further, past them."""
    y = np.arange(120) < 20
    X = np.random.default_rng(0).standard_normal((120, 60)) + 0.5 * y[:, None]
    z = np.where(y, 1.0, np.where(np.arange(120) % 20 == 0, 2.0, 0.0))
    linear = PriorSVC(C=0.01, prior=np.append(np.zeros(60), 1.0)).fit(np.column_stack([X, z]), y)
    kernel = KernelSVC("linear", C=0.01).fit(X, y, prior_scores=z)
    for model in (linear, kernel):
        (found,) = model.verdict_
        assert (found.status, found.gain > 0.1) == ("contradicted", True)
