"""Decisions on scores are those of their definition, text by text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textmargin.decisions.calibration import Calibration
from textmargin.decisions.rule import DecisionRule, shift
from textmargin.errors import ScoreError
from textmargin.labels import ClassLabels

eighths = st.integers(-24, 24).map(lambda n: n / 8)  # differences of which are exact, so that ties are ties
NOISE = st.sampled_from([0.0, 3e-16, -3e-16])  # below rounding, so that it must not matter


def accepted_and_unsure(rule, row):
    """What one text is given, and what is left open, by the words of the table in `rule.py`."""
    labels, names = rule.labels, rule.labels.text_names
    if labels.kind == "multiclass":
        above = [s - t for s, t in zip(row, rule.thresholds, strict=True)]
        best = names[above.index(max(above))]
        return ({best}, set()) if max(above) >= 0 or rule.always_answer else (set(), {best})
    given, left = set(), set()
    for k, (upper, lower) in enumerate(zip(rule.thresholds, rule.ask_thresholds, strict=True)):
        own, other = (
            (names[labels.positive], names[1 - labels.positive])
            if labels.kind == "binary"
            else (names[k], None)
        )
        score = labels.sign * row[k]
        if score >= upper:
            given.add(own)
        elif score >= lower:
            left.add(own if other is None or score >= (upper + lower) / 2 else other)
        elif other is not None:
            given.add(other)
    return given, left


@st.composite
def rules(draw):
    kind = draw(st.sampled_from(["binary", "multiclass", "multilabel"]))
    n = {"binary": 2, "multiclass": draw(st.integers(3, 5)), "multilabel": draw(st.integers(1, 4))}[kind]
    labels = ClassLabels(
        np.array(["a", "b", "c", "d", "e"][:n]), kind, positive=draw(st.integers(0, 1)) if n == 2 else 1
    )
    thresholds = np.array(draw(st.lists(eighths, min_size=labels.n_problems, max_size=labels.n_problems)))
    widths = np.array(draw(st.lists(st.integers(0, 9), min_size=thresholds.size, max_size=thresholds.size)))
    return DecisionRule(
        labels,
        thresholds,
        thresholds - (0 if kind == "multiclass" else widths / 4),
        always_answer=draw(st.booleans()),
    )


@given(rules(), st.data())
def test_equals_its_definition(rule, data):
    row = data.draw(st.lists(eighths, min_size=rule.labels.n_problems, max_size=rule.labels.n_problems))
    given_to, left = accepted_and_unsure(rule, row)
    decided = rule.decide(np.array([row]) + data.draw(NOISE))
    assert ({*decided.labels[0]}, {*decided.guesses[0]}) == (given_to, left)
    assert not left or rule.can_be_unsure


@given(rules(), st.data())
def test_without_thresholds_the_learner_decides(rule, data):
    labels = ClassLabels.of(rule.labels.names, rule.labels.multilabel)
    columns = np.array([data.draw(st.lists(eighths, min_size=labels.n_problems, max_size=labels.n_problems))])
    alone = DecisionRule(labels)
    decided = alone.decide(columns)
    np.testing.assert_array_equal(decided.accepted, labels.membership(labels.decide(columns)))
    assert not decided.unsure.any()
    assert not alone.can_be_unsure


@pytest.mark.parametrize("threshold", [0.0, 0.3, -7e5, np.inf, -np.inf])
def test_at_a_threshold_is_what_differs_from_it_by_rounding(threshold):
    near = threshold * (1 + 2e-16) if threshold else 2e-16
    columns = np.array([[near], [threshold + 1e-9 * max(abs(threshold), 1)], [1e9]])
    at = [True, False, False] if np.isfinite(threshold) else [False] * 3
    with np.errstate(invalid="ignore"):
        shifted = shift(columns, np.array([threshold]), 1.0)
    assert (shifted[:, 0] == 0).tolist() == at


@pytest.mark.parametrize("positive", [0, 1])
def test_probabilities_of_two_classes_are_those_of_the_positive_one_and_the_rest(positive):
    labels = ClassLabels(np.array(["ham", "spam"]), "binary", positive=positive)
    calibration = Calibration(
        "binary", np.array([2.0]), np.array([-0.5]), np.empty(0), np.empty(0), np.zeros(2, dtype=np.intp)
    )
    found = DecisionRule(labels, np.zeros(1), np.zeros(1), calibration=calibration).decide(
        np.array([[1.5]]), probabilities=True
    )
    expected = 1 / (1 + np.exp(-(2 * labels.sign * 1.5 - 0.5)))
    assert found.probabilities[0, positive] == pytest.approx(expected)
    assert found.probabilities.sum() == pytest.approx(1)


def test_no_probabilities_without_held_out_scores():
    with pytest.raises(ScoreError, match="no held-out scores"):
        DecisionRule(ClassLabels.of(["a", "b"], multilabel=False)).decide(
            np.zeros((1, 1)), probabilities=True
        )
