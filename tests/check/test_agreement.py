"""Krippendorff's α, by hand and by its definition."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference import alpha_by_definition

from textmargin.check.agreement import agreement


def rows_of(units):
    """Items, annotators and labels, a row per judgement."""
    judged = [
        (item, f"annotator {who}", value) for item, unit in enumerate(units) for who, value in enumerate(unit)
    ]
    return ([row[k] for row in judged] for k in range(3))


def test_worked_by_hand():
    """Units aa, ab, bb, b b a, and one label alone, which does not count.

    Values a: 2 + 1 + 0 + 1 = 4, b: 0 + 1 + 2 + 2 = 5, n = 9. Disagreement within units: ab 2/1, bba (2·2·1)/2
    = 2; in all 4. Expected: 2·4·5 / (9 − 1) = 5. α = 1 − 4/5.
    """
    found = agreement(*rows_of([["a", "a"], ["a", "b"], ["b", "b"], ["b", "b", "a"], ["c"]]))
    assert found.alpha == pytest.approx(0.2)
    assert found.n_items == 4
    assert {one.label: one.alpha and round(one.alpha, 12) for one in found.labels} == {
        "a": 0.2,
        "b": 0.2,
        "c": None,
    }


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=4), min_size=1, max_size=12))
def test_equals_its_definition(units):
    values = [value for unit in units if len(unit) > 1 for value in unit]
    assume(len(set(values)) > 1)
    found = agreement(*rows_of(units))
    assert found.alpha == pytest.approx(alpha_by_definition(units))
    for one in found.labels:
        if 0 < values.count(one.label) < len(values):
            assert one.alpha == pytest.approx(
                alpha_by_definition([[value == one.label for value in unit] for unit in units])
            )
        else:
            assert one.alpha is None


def test_intervals_hold_the_value_and_shrink_with_more_texts():
    few, many = (agreement(*rows_of([["a", "a"], ["a", "b"], ["b", "b"]] * n)) for n in (4, 40))
    assert few.low <= few.alpha <= few.high
    assert many.high - many.low < few.high - few.low


def test_several_labels_a_text():
    """Whether each label is given is judged by itself; together their disagreements are summed."""
    found = agreement(
        *rows_of([[("a", "b"), ("a",)], [("b",), ("b",)], [(), ("a",)], [("a", "b"), ("a", "b")]])
    )
    a, b = [[1, 1], [0, 0], [0, 1], [1, 1]], [[1, 0], [1, 1], [0, 0], [1, 1]]
    assert [one.alpha for one in found.labels] == pytest.approx(
        [alpha_by_definition(a), alpha_by_definition(b)]
    )
    assert found.alpha == pytest.approx(alpha_by_definition(a, b))


def test_who_differs_comes_first():
    found = agreement(*rows_of([["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"]]))
    assert found.annotators[0].annotator == "annotator 2"
    assert found.annotators[0].different == pytest.approx(4 / 6)
    assert [one.n_compared for one in found.annotators] == [6, 6, 6]
