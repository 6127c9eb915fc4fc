"""So many and no more."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import budget_by_sorting

from textmargin.decisions.budget import Budget, budget_outcome, budget_threshold
from textmargin.errors import LabelError, ScoreError, SettingError


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.integers(0, 30))
def test_threshold_accepts_as_many_as_fit(values, n_accept):
    scores, n_accept = np.array(values, dtype=float), min(n_accept, len(values))
    theta = budget_threshold(scores, n_accept, len(values))
    accepted = int(np.sum(scores >= theta))
    assert accepted <= n_accept
    higher = scores[scores < theta]
    # one more group of ties would be too many
    assert not higher.size or accepted + np.sum(scores == higher.max()) > n_accept


def test_threshold_delivers_the_number_on_new_texts():
    rng = np.random.default_rng(0)
    theta = budget_threshold(rng.normal(size=20_000), 200, 1500)
    assert np.mean(rng.normal(size=100_000) >= theta) * 1500 == pytest.approx(200, rel=0.05)


def test_rounding_does_not_decide_what_ties():
    scores = np.array([0.3, 0.1 + 0.2, 0.2, 0.1])
    assert np.sum(scores >= budget_threshold(scores, 1, 4)) == 0
    assert np.sum(scores >= budget_threshold(scores, 2, 4)) == 2
    assert np.sum(np.arange(10.0) >= budget_threshold(np.arange(10.0), 0.3 * 100, 100)) == 3


def test_weights_and_texts_without_a_score():
    scores = [4.0, 3.0, np.nan, 2.0, 1.0]
    assert budget_threshold(scores, 1, 2) == 2.5
    assert budget_threshold(scores, 1, 2, weight=[3, 1, 9, 1, 1]) == 3.5
    assert budget_threshold(scores, 1, 2, weight=[0, 1, 0, 1, 0]) == 2.5


def test_outcome_by_hand():
    outcome = budget_outcome([1, 1, 0, 1, 0, 0, 0, 0, 0, 0], np.arange(10.0)[::-1], 300, 1000)
    assert (outcome.precision, outcome.recall, outcome.hits) == pytest.approx((2 / 3, 2 / 3, 200))
    assert str(outcome) == "300 of 1,000: precision 0.67, 67% of all hits"


def test_outcome_keeps_to_the_decisions_own_threshold():
    outcome = budget_outcome([1, 1, 0, 0], [4.0, 3.0, 2.0, 1.0], 3, 4, threshold=2.5)
    assert (outcome.theta, outcome.n_accept, outcome.precision) == (2.5, 2, 1)


def test_outcome_of_nothing():
    outcome = budget_outcome([0, 0], [2.0, 1.0], 0, 10)
    assert np.isnan(outcome.precision)
    assert outcome.hits == 0


def test_weights_of_two_are_two_texts_in_the_rates():
    positive, scores = np.array([1, 0, 1, 0, 0]), np.arange(5.0)[::-1]
    once = budget_outcome(np.repeat(positive, 2), np.repeat(scores, 2), 2, 5)
    twice = budget_outcome(positive, scores, 2, 5, weight=np.full(5, 2.0))
    assert (twice.precision, twice.recall, twice.hits) == (once.precision, once.recall, once.hits)


@given(st.lists(st.tuples(st.integers(-3, 5), st.sampled_from("abc")), max_size=30), st.integers(0, 4))
def test_the_highest_of_each_group(rows, n):
    leads, groups = [lead / 3 for lead, _ in rows], [group for _, group in rows]
    assert Budget(n, by="day").select(leads, groups).tolist() == budget_by_sorting(leads, n, groups)


def test_a_whole_batch_and_ties_that_differ_in_rounding():
    assert Budget(2).select([0.3, -1.0, 0.1 + 0.2, 0.3, 0.2]).tolist() == [True, False, True, False, False]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: budget_threshold([1.0], 5, 2), SettingError, "n_accept"),
        (lambda: budget_threshold([1.0], -1, 2), SettingError, "n_accept"),
        (lambda: budget_threshold([1.0], 0, 0), SettingError, "n_texts"),
        (lambda: budget_threshold([[1.0]], 1, 2), ScoreError, "vectors of one length"),
        (lambda: budget_threshold([np.nan], 1, 2), ScoreError, "No text has a score"),
        (lambda: budget_threshold([np.inf], 1, 2), ScoreError, "finite"),
        (lambda: budget_outcome([1, 0], [1.0], 1, 2), LabelError, "each of the 1 scores"),
        (lambda: budget_outcome([2], [1.0], 1, 2), LabelError, "True or False"),
        (lambda: Budget(-1), SettingError, "n must be"),
        (lambda: Budget(2.5), SettingError, "whole number"),
        (lambda: Budget(2).select([0.1], groups=["Mon"]), SettingError, "whole batch"),
        (lambda: Budget(2, by="day").select([0.1]), SettingError, "'day' are needed"),
        (lambda: Budget(2, by="day").select([0.1], groups=["Mon", "Tue"]), ScoreError, "2 values"),
        (lambda: Budget(2).select([np.nan]), ScoreError, "without NaN"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()
