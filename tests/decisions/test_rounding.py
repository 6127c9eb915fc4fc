"""Thresholds do not hang on the last digits of scores, which differ from machine to machine, nor on those of
costs.
"""

import numpy as np
import pytest

from textmargin import T11SU, FBeta, Utility, beta_gamma_threshold, select_beta_gamma, utility_curve
from textmargin.decisions.rule import DecisionRule
from textmargin.decisions.single_label import SingleLabelTexts
from textmargin.feedback.retune import feedback_threshold
from textmargin.labels import ClassLabels

UTILITIES = [Utility(), Utility(tp=0.7, fp=-0.1), T11SU, FBeta(1)]
SEEDS = range(5)


def ties(n=300):
    """Scores of texts that stand several times in the corpus, now in the class and now not."""
    rng = np.random.default_rng(0)
    score = rng.standard_normal(15)[rng.integers(0, 15, n)]
    return score + rng.standard_normal(n) > 0.8, score


def blurred(score, seed):
    return score * (1 + 4e-16 * np.random.default_rng(seed).integers(-2, 3, score.size))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("utility", UTILITIES, ids=repr)
def test_texts_that_are_the_same_but_for_rounding_are_one_group(utility, seed):
    y, score = ties()
    exact, other = (utility_curve(y, data, utility) for data in (score, blurred(score, seed)))
    assert other.utility.tolist() == exact.utility.tolist()
    assert (other.case, other.k_max) == (exact.case, exact.k_max)
    assert (other.theta_max, other.theta_zero) == pytest.approx((exact.theta_max, exact.theta_zero))


@pytest.mark.parametrize("costs", [(0.1, -0.3), (0.7, -0.1), (1e-3, -3e-3), (0.1, -0.2)])
def test_costs_that_do_not_add_up_exactly_hid_the_first_maximum(costs):
    """Three hits at 0.1 pay for one false alarm at 0.3, whichever way that is rounded."""
    tp, fp = costs
    whole = Utility(tp=round(tp / min(tp, -fp)), fp=round(fp / min(tp, -fp)))
    rng = np.random.default_rng(0)
    for _ in range(50):
        y, score = rng.random(40) < 0.6, rng.permutation(40)
        y[0] = True
        exact, other = utility_curve(y, score, whole), utility_curve(y, score, Utility(tp=tp, fp=fp))
        assert (other.k_max, other.theta_zero, other.case) == (exact.k_max, exact.theta_zero, exact.case)
        chosen, same = (
            select_beta_gamma(y, score, utility=utility) for utility in (whole, Utility(tp=tp, fp=fp))
        )
        assert (same.beta, same.gamma) == (chosen.beta, chosen.gamma)


def test_a_cost_that_is_small_beside_another_still_counts():
    curve = utility_curve([1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0], Utility(tp=1e6, fp=-1e-3))
    assert curve.theta_max == 3.0


def test_feedback_took_rounding_for_a_gain():
    """Three more hits and one more false alarm change nothing, so that the threshold stays."""
    y = [True] * 10 + [False] + [True] * 3
    found = feedback_threshold(y, -np.arange(14.0), theta=-13.0, utility=Utility(tp=0.1, fp=-0.3), least=5)
    assert found.theta == -13.0


def test_where_accepting_nothing_is_best_the_highest_score_was_accepted():
    """Its threshold was the next number above that score, and decisions forgive rounding."""
    y, score = np.array([0, 0, 1, 0, 0, 0]), np.array([2.0, 2.0, 1.0, 1.0, 0.0, -1.0])
    curve = utility_curve(y, score, Utility(tp=1, fp=-5))
    assert curve.case == "accepts nothing"
    labels = ClassLabels.of([0, 1], multilabel=False)
    for theta in (
        curve.theta_max,
        curve.best_middle,
        beta_gamma_threshold(y, score, 0.0, utility=Utility(tp=1, fp=-5)),
    ):
        rule = DecisionRule(labels, np.array([theta]), np.array([theta]))
        assert not rule.decide(score[:, None]).accepted[:, 1].any()


def test_thresholds_above_all_margins_of_one_label_turned_the_highest():
    texts = SingleLabelTexts(
        np.array([1, 1, 2]), np.array([[2.0, 1, 0], [2.0, 1, 0], [0, 0, 1]]), (Utility(tp=1, fp=-5),) * 3
    )
    thresholds = np.zeros(3)
    sweep = texts.sweep_class(0, texts.standing(thresholds), 0.0)
    thresholds[0] = sweep.threshold(0)
    assert texts.utility(thresholds) == sweep.utility[0]


def test_thresholds_below_all_margins_of_one_label_left_the_lowest_to_another_class():
    """By rounding it was at the threshold, where the first of equal classes wins."""
    texts = SingleLabelTexts(
        np.array([2, 2, 1]),
        np.array([[1.0, 0, 0], [0, 0, 3.0], [0, 1, 0]]),
        (Utility(tp=1, fp=-5),) * 3,
        True,
    )
    thresholds = np.zeros(3)
    sweep = texts.sweep_class(2, texts.standing(thresholds), 0.0)
    thresholds[2] = sweep.threshold(sweep.cuts.size - 1)
    assert texts.utility(thresholds) == sweep.utility[-1] == 2 - 5
