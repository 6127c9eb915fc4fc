"""Agreement, conflicts and pace, worked out by hand."""

import pytest

from textmargin.desk.acts import Act
from textmargin.desk.people import agreement, pace
from textmargin.desk.state import State


def state_of(*labels, classes=("a", "b", "c"), multilabel=False, given=()):
    """A state from (annotator, text, labels, seconds)."""
    header = {"classes": list(classes), "multilabel": multilabel, "n_texts": 20, "given": list(given)}
    acts = []
    for number, (name, text, own, seconds) in enumerate(labels, start=1):
        content = {"text": text, "labels": list(own), "source": "random", "seconds": seconds}
        acts.append(Act(str(number), name, "label", content, "", number))
    return State.replay(header, acts)


def pair(first, second, *names):
    return [
        (name, text, own, None)
        for name, every in zip(names, (first, second), strict=True)
        for text, own in enumerate(every)
    ]


def test_kappa_of_two_people_is_cohens():
    """Ten texts; "a": both 4, only anna 1, only ben 2, nobody 3. p_o = .7, p_e = .5 · .6 + .5 · .4 = .5, κ =
    .4.
    """
    state = state_of(*pair("aaaaabbbbb", "aaaabaabbb", "anna", "ben"), classes="ab")
    found = {one["class"]: one for one in agreement(state)}
    assert found["a"] == {
        "class": "a",
        "n_both": 10,
        "agreement": pytest.approx(0.7),
        "kappa": pytest.approx(0.4),
    }
    assert found["b"]["kappa"] == pytest.approx(0.4)  # of two classes one says what the other does


def test_several_pairs_are_added_up():
    """anna and ben on two texts agree by half, p_e = .5: 0 of 1; anna and carl on two agree wholly, p_e = .5:
    1 of 1.
    """
    labels = [("anna", 0, "a"), ("anna", 1, "b"), ("anna", 2, "a"), ("anna", 3, "b")]
    labels += [("ben", 0, "a"), ("ben", 1, "a"), ("carl", 2, "a"), ("carl", 3, "b")]
    state = state_of(*((*one, None) for one in labels), classes="ab")
    first = agreement(state)[0]
    assert first["n_both"] == 4
    assert first["agreement"] == pytest.approx(3 / 4)
    assert first["kappa"] == pytest.approx((2 * (0.5 - 0.5) + 2 * (1 - 0.5)) / (2 * 0.5 + 2 * 0.5))


def test_a_class_that_nobody_gave_has_no_kappa_and_one_person_no_agreement():
    state = state_of(*pair("ab", "ab", "anna", "ben"))
    assert agreement(state)[2] == {"class": "c", "n_both": 2, "agreement": 1.0, "kappa": None}
    state = state_of(("anna", 0, "a", None))
    assert agreement(state)[0] == {"class": "a", "n_both": 0, "agreement": None, "kappa": None}


def test_the_file_is_no_person_but_may_disagree():
    state = state_of(("anna", 0, "b", 4.0), given=[("a",), ("a",)])
    assert agreement(state)[0]["n_both"] == 0
    assert [one["name"] for one in pace(state)] == ["anna"]
    assert state.conflicts() == [0]


def test_pace_is_the_median_of_labels_that_hold():
    labels = [
        ("anna", 0, "a", 2.0),
        ("anna", 1, "a", 10.0),
        ("anna", 1, "b", 4.0),
        ("anna", 2, "b", None),
        ("ben", 0, "a", None),
    ]
    state = state_of(*labels)
    assert pace(state) == [
        {"name": "anna", "n_labels": 3, "seconds_median": 3.0},
        {"name": "ben", "n_labels": 1, "seconds_median": None},
    ]
