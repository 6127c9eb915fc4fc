"""Measures of decisions: the papers' definitions, and their use as scorers."""

import numpy as np
import pytest
from conftest import make_problem
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import fbeta_score
from sklearn.model_selection import cross_val_score

from textmargin import (
    T10SU,
    T10U,
    T11SU,
    FBeta,
    PriorSVC,
    Utility,
    macro_average,
    micro_average,
    utility_score,
    utility_scorer,
)

counts = st.integers(0, 50)


def test_accepting_nothing_is_a_third_and_perfection_one():
    assert T11SU(0, 0, 7, 90) == pytest.approx(1 / 3)
    assert T11SU(7, 0, 0, 90) == 1
    assert T11SU(0, 90, 7, 0) == 0
    assert T10SU(7, 0, 0, 90) == 1
    assert T10SU(0, 0, 7, 90) == pytest.approx(100 / 114)


def test_undefined_without_positives():
    for measure in (T11SU, T10SU, FBeta(1)):
        assert np.isnan(measure(0, 3, 0, 9))
    assert T10U(0, 3, 0, 9) == -3


@given(tp=counts, fp=counts, fn=counts, tn=counts)
def test_scaled_utility_lies_between_zero_and_one(tp, fp, fn, tn):
    value = T11SU(tp, fp, fn, tn)
    assert np.isnan(value) if tp + fn == 0 else 0 <= value <= 1


@given(y=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2), beta=st.sampled_from([0.5, 1.0, 2.0]))
def test_f_beta_is_scikit_learns(y, beta):
    y_true, y_pred = np.array(y).T
    if y_true.any():
        tp, fp, fn, tn = (
            (a & b).sum()
            for a, b in [(y_true, y_pred), (~y_true, y_pred), (y_true, ~y_pred), (~y_true, ~y_pred)]
        )
        assert FBeta(beta)(tp, fp, fn, tn) == pytest.approx(
            fbeta_score(y_true, y_pred, beta=beta, zero_division=0)
        )


def test_averages_say_how_many_classes_were_undefined():
    y_true = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]])
    y_pred = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 0]])
    macro = macro_average(y_true, y_pred, T11SU)
    assert (macro.n_classes, macro.n_undefined) == (3, 1)
    assert macro.value == pytest.approx((1 + (2 / 4 + 0.5) / 1.5) / 2)
    assert micro_average(y_true, y_pred, T10U).value == 2 * 3 - 1


def test_scorers_work_in_cross_validation():
    X, y, _ = make_problem(n=90)
    scores = cross_val_score(PriorSVC(), X, y, scoring=utility_scorer(T11SU), cv=3)
    assert ((scores > 1 / 3) & (scores <= 1)).all()
    assert utility_score(y, y) == 1
    assert utility_score(np.array(["ham", "spam"]), np.array(["ham", "spam"]), T10U) == 2, (
        "of the second class"
    )
    assert utility_score([0, 1, 2], [0, 1, 1], T11SU) == pytest.approx((1 + (0.5 + 0.5) / 1.5 + 1 / 3) / 3)


def test_a_fold_without_the_class_is_undefined_not_perfect():
    assert np.isnan(utility_score([0, 0, 0], [0, 0, 0]))
    assert utility_score([0, 0, 0], [0, 1, 0], T10U) == -1
    assert utility_score([0, 0, 1, 1], [0, 0, 1, 2]) == macro_average([0, 0, 1, 1], [0, 0, 1, 2]).value
    assert utility_score(["a", "b"], ["a", "b"], T10U, pos_label="a") == 2


@pytest.mark.parametrize("worth", [{"tp": np.nan}, {"tp": -1.0, "fp": 0.5}, {"tp": 2.0, "fp": 1.0}])
def test_a_utility_that_rewards_mistakes_is_refused(worth):
    with pytest.raises(ValueError, match="right decision worth more than a wrong one"):
        Utility(**worth)


@pytest.mark.parametrize("beta", [0, -1, np.inf])
def test_a_beta_that_is_no_weight_is_refused(beta):
    with pytest.raises(ValueError, match="must be a positive number"):
        FBeta(beta)
