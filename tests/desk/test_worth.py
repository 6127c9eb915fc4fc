"""What the next labels are worth."""

from __future__ import annotations

import re

import numpy as np
import pytest

from textmargin.desk.corpus import TextColumns
from textmargin.desk.keywords import KeywordPriors
from textmargin.desk.learning import learn
from textmargin.desk.learning_curve import LearningCurve, learning_curve
from textmargin.desk.worth import next_worth

from .tickets import COSTS, TRAIN, answers

SIZES = np.array([20, 40, 80, 160])
PLAIN = {"n_sample": 6, "n_left": 1000, "money": True, "currency": "€", "seconds": 6.0, "minute": 0.5}


def curve_of(values, n_texts=400, best=1.0):
    """A sample whose mean worth at each size is a value: so many of its texts are right."""
    rights = np.arange(n_texts)[:, None] < np.round(np.array(values) * n_texts)
    return LearningCurve(SIZES, rights.astype(float), best)


def test_a_rising_curve_is_continued():
    found = curve_of(1 - 2.0 / np.sqrt(SIZES)).gain(20)
    wanted = 2 / np.sqrt(160) - 2 / np.sqrt(180)
    assert found.low <= wanted <= found.high
    assert found.value == pytest.approx(wanted, abs=0.005)


def test_points_off_a_smooth_curve_widen_what_one_step_may_bring():
    smooth, rough = curve_of([0.5, 0.6, 0.7, 0.8]).gain(20), curve_of([0.5, 0.7, 0.6, 0.8]).gain(20)
    assert rough.high - rough.low > 2 * (smooth.high - smooth.low)
    assert rough.low < 0 < rough.high
    assert rough.most < rough.high


def test_a_sample_without_a_mistake_does_not_say_that_there_are_none():
    found = curve_of([0.9, 1.0, 1.0, 1.0], n_texts=50).gain(20)
    assert found.value == pytest.approx(0, abs=1e-9)
    assert 0 < found.high <= 1 / 50


def test_the_sentence_says_worth_minutes_and_for_how_many_texts():
    found = next_worth(curve_of(1 - 2.0 / np.sqrt(SIZES)), **PLAIN)
    assert found.minutes == pytest.approx(2.0)
    assert found.price == pytest.approx(1.0)
    assert not found.stop
    assert "1,000 texts without a label" in found.text
    assert "2 minutes (1.00 €)" in found.text
    assert re.search(r"90 % of the time between −?[\d.]+ € and [\d.]+ €", found.text)


def test_it_says_stop_when_the_upper_end_does_not_pay():
    found = next_worth(curve_of([0.7, 0.7, 0.7, 0.7]), **PLAIN)
    assert found.stop
    assert found.text.endswith("More labels would not pay.")


def test_too_few_random_texts_are_told_and_no_figure_is_made_up():
    found = next_worth(None, **PLAIN)
    assert (found.gain, found.low, found.high) == (None, None, None)
    assert "Too early to say" in found.text
    assert not found.stop


def test_fewer_texts_than_the_next_labels_are_told():
    few = next_worth(curve_of([0.7, 0.7, 0.7, 0.7]), **{**PLAIN, "n_left": 17})
    assert (few.n, few.gain, few.stop) == (17, None, False)
    assert few.text.startswith("17 texts are without a label")
    assert next_worth(None, **{**PLAIN, "n_left": 0}).stop


@pytest.fixture(scope="module")
def texts():
    return TextColumns(TRAIN.texts, n_jobs=1)


def test_the_curve_of_real_labels_rises_and_ends_at_all_of_them(texts):
    given = answers(160, sample=0.5)
    knowledge = KeywordPriors.of(texts, {}, given.labels)
    learnt = learn(texts, given, knowledge, np.arange(0), n_jobs=1)
    curve = learning_curve(texts, given, knowledge, learnt, np.arange(0), {})
    points = curve.points
    assert points[-1].n_labels == 160
    assert points[-1].value > points[0].value + 0.1
    assert all(one.low <= one.value <= one.high for one in points)
    with_costs = learning_curve(texts, given, knowledge, learnt, np.arange(0), COSTS)
    assert with_costs.best == pytest.approx(5.0)
    assert (with_costs.worths <= 5.0).all()
