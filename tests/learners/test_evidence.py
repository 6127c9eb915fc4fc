"""Evidence for priors does not hang on rounding, on what a solver leaves undone, or on the scale of the
data.
"""

import numpy as np
import pytest
from conftest import make_problem
from reference import rank_gains_by_counting

from textmargin import KernelSVC, PriorSVC
from textmargin.learners.evidence import evidence_of, prior_evidence, rank_gains


@pytest.mark.parametrize(("n", "d"), [(60, 8), (600, 100)], ids=["exact", "conjugate gradients"])
@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_rounding_made_evidence_for_a_prior_that_says_nothing(n, d, tol):
    """A constant column beside an intercept: gains of 2e-15 had an evidence of ±1, by the machine."""
    X, y, _ = make_problem(n, d, skew=0.5)
    X, v = np.column_stack([X, np.full(n, 3.0)]), np.append(np.zeros(d), 1.0)
    (found,) = PriorSVC(prior=v, tol=tol, max_iter=200).fit(X, y).verdict_
    assert (found.evidence, found.gain, found.status) == (0.0, 0.0, "dropped")


@pytest.mark.parametrize("scale", [1e-3, 1e3])
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
