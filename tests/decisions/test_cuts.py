"""The rivals, each against its definition."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import make_problem

from textmargin import PriorSVC, Utility, pcut, rcut, scut, select_cost_factors, uneven_margin_threshold
from textmargin.errors import ScoreError

SCORES = np.array([[0.9, 0.1, 0.5], [0.2, 0.8, 0.7], [0.3, 0.2, 0.1]])


def test_rcut_gives_each_text_its_best_classes():
    assert rcut(SCORES).tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert rcut(SCORES, 2).sum(axis=1).tolist() == [2, 2, 2]
    with pytest.raises(ScoreError, match="t from 1 to n_classes"):
        rcut(SCORES, 4)


def test_pcut_gives_each_class_its_share():
    labels = pcut(SCORES, prior=[1 / 3, 2 / 3, 0], x=1.0)
    assert labels.sum(axis=0).tolist() == [1, 2, 0]
    assert labels[:, 1].tolist() == [0, 1, 1]
    with pytest.raises(ScoreError, match="a prior per class"):
        pcut(SCORES, [0.5, 0.5])


def test_scut_finds_the_gap_between_the_classes():
    y = np.repeat([1, 0], [20, 80])
    score = np.where(y == 1, 2.0, -2.0) + 0.01 * np.arange(100)
    theta = scut(y, score)
    np.testing.assert_array_equal(score >= theta, y == 1)


def test_scut_gives_up_hopeless_classes():
    rng = np.random.default_rng(0)
    y, score = np.arange(200) < 4, rng.standard_normal(200)
    assert scut(y, score, fbr=0.9) == np.inf
    assert scut(y, score, fbr=0.9, below="top") == score.max()
    assert np.isfinite(scut(y, score, fbr=0.0))
    with pytest.raises(ScoreError, match="below must be"):
        scut(y, score, below="bottom")
    assert np.isfinite(scut(np.arange(200) < 1, score))


@pytest.mark.parametrize("tau", [0.0, 0.4, 1.0, 3.0])
def test_uneven_margins_need_no_retraining(tau):
    """Decisions of a machine trained with margins (1, τ) are those of the plain one at the moved
    threshold.
    """
    X, y, _ = make_problem(n=200, skew=0.8)
    even, uneven = (PriorSVC(margins=margins, tol=1e-12).fit(X, y) for margins in ((1.0, 1.0), (1.0, tau)))
    shifted = even.decision_function(X) - uneven_margin_threshold(tau)
    np.testing.assert_allclose(uneven.decision_function(X), (1 + tau) / 2 * shifted, atol=1e-7)


def test_the_shift_of_the_paper():
    assert uneven_margin_threshold(0.4) == pytest.approx(-0.428571, abs=1e-6)
    with pytest.raises(ScoreError, match="cannot be negative"):
        uneven_margin_threshold(-1)


def test_cost_factors_follow_the_utility():
    X, y, _ = make_problem(n=300, skew=1.2)
    Y = np.column_stack([y, np.arange(300) == 7])  # the second has one positive: missing from one fold
    patient = select_cost_factors(PriorSVC(), X, Y.astype(int), utility=Utility(tp=0.5))
    eager = select_cost_factors(PriorSVC(), X, Y.astype(int), utility=Utility(tp=50))
    assert eager[0] > patient[0]
    np.testing.assert_array_equal(
        select_cost_factors(PriorSVC(), X, sp.csr_matrix(Y.astype(int)), utility=Utility(tp=50)), eager
    )
    with pytest.raises(ScoreError, match="indicator matrix"):
        select_cost_factors(PriorSVC(), X, y)


@pytest.mark.parametrize("cut", [lambda scores: rcut(scores), lambda scores: pcut(scores, [0.5, 0.5, 0.5])])
def test_scores_without_a_rank_are_refused(cut):
    with pytest.raises(ScoreError, match="NaN"):
        cut(np.where(SCORES > 0.8, np.nan, SCORES))
