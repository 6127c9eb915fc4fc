"""What holds is the fold of the acts that are not undone, whichever way it is reached."""

import pytest
from desk.logs import GIVEN, HEADER, SEVERAL, Log, held

from textmargin.desk.acts import Act
from textmargin.desk.state import Label, Mark, State
from textmargin.errors import ActError


def test_labels_in_use_are_those_that_all_agree_on():
    log = Log()
    log.label("anna", 0, "a", source="random", seconds=3.0)
    assert log.state.labels == {0: {"anna": Label(("a",), "random", 3.0, 1)}}
    assert log.state.answer(0) == ("a",)
    assert log.state.answer(1) is None
    log.label("ben", 0, "a")
    assert log.state.answers() == {0: ("a",)}
    log.label("ben", 0, "b")
    assert (log.state.answer(0), log.state.conflicts()) == (None, [0])
    log.do("anna", "settle", text=0, labels=["b"])
    assert (log.state.answer(0), log.state.conflicts()) == (("b",), [])
    log.label("carl", 0, "c")  # after the last word
    assert log.state.answer(0) == ("b",)


def test_labels_of_the_file_count_as_an_annotators():
    log = Log(GIVEN)
    assert log.state.answers() == {0: ("a",), 2: ("b",)}
    log.label("anna", 0, "a", source="random")
    log.label("anna", 2, "c")
    assert log.state.answers() == {0: ("a",)}
    assert log.state.conflicts() == [2]
    assert log.state.random_texts() == frozenset()  # chance did not choose what the file has labels for
    assert log.state.annotators() == ["anna"]


def test_several_labels_are_a_set_in_the_order_of_the_classes():
    log = Log(SEVERAL)
    log.label("anna", 0, "c", "a")
    log.label("ben", 0, "a", "c")
    log.label("anna", 1)
    assert log.state.answers() == {0: ("a", "c"), 1: ()}


def test_the_random_sample_is_what_was_first_drawn_at_random():
    log = Log()
    first = log.label("anna", 0, "a", source="tie")
    log.label("ben", 0, "a", source="random")
    log.label("anna", 1, "a", source="random")
    log.label("anna", 1, "b", source="disagreement")
    assert log.state.random_texts() == {1}
    log.undo("anna", first)
    assert log.state.random_texts() == {0, 1}


def test_marks_keywords_and_costs():
    log = Log()
    log.do("anna", "mark", text=0, start=1, end=4, label="a")
    log.do("ben", "mark", text=0, start=1, end=4, label="a")
    log.do("ben", "mark", text=0, start=6, end=8, label="b")
    assert log.state.marks == {0: [Mark(1, 4, "a"), Mark(6, 8, "b")]}
    log.do("anna", "unmark", text=0, start=1, end=4, label="a")
    assert log.state.marks == {0: [Mark(6, 8, "b")]}
    log.do("anna", "keyword", label="a", word="Corn")
    log.do("anna", "keyword", label="a", word="oil", weight=0)
    log.do("ben", "keyword", label="b", word="corn", weight=-1)
    assert log.state.keywords == {"a": {"corn": 1.0, "oil": 0.0}, "b": {"corn": -1.0}}
    log.do("anna", "keyword", label="b", word="corn", weight=None)
    assert log.state.keywords == {"a": {"corn": 1.0, "oil": 0.0}}
    table = {"*": {"hit": 1.0, "false_alarm": -2.0, "miss": -3.0}}
    log.do("anna", "costs", costs=table, minute=0.4, budget=30, currency="$")
    assert (log.state.costs, log.state.minute, log.state.budget, log.state.currency) == (table, 0.4, 30, "$")
    log.do("anna", "costs", costs={})
    assert (log.state.costs, log.state.minute, log.state.budget) == ({}, None, None)


def test_another_name_for_a_class_reaches_everything():
    log = Log({**GIVEN, "multilabel": True})
    log.label("anna", 1, "a", "b")
    log.label("ben", 3, "a")
    log.label("anna", 3, "b")
    log.do("anna", "settle", text=3, labels=["a"])
    log.do("anna", "mark", text=1, start=0, end=2, label="a")
    log.do("anna", "keyword", label="a", word="x")
    log.do("anna", "costs", costs={name: {"hit": 1, "false_alarm": -1, "miss": 0} for name in ("a", "*")})
    before = held(log.state)
    rename = log.do("anna", "rename", name="a", to="z")
    state = log.state
    assert state.classes == ["z", "b", "c"]
    assert state.answers() == {0: ("z",), 1: ("z", "b"), 2: ("b",), 3: ("z",)}
    assert state.labels[0]["file"].labels == ("z",)
    assert state.labels[3]["ben"].labels == ("z",)
    assert state.marks[1][0].label == "z"
    assert list(state.keywords) == ["z"]
    assert list(state.costs) == ["z", "*"]
    log.undo("anna", rename)
    assert held(log.state) == before


def test_steps_back_and_forth():
    log = Log()
    first, second = log.label("anna", 0, "a"), log.do("anna", "keyword", label="a", word="x")
    log.label("ben", 1, "b")
    assert log.state.last("anna").id == second  # not another's act
    log.undo("anna", second)
    assert log.state.last("anna").id == first
    log.undo("anna", first)
    assert log.state.last("anna") is None
    assert log.state.last("carl") is None


def test_what_somebody_built_on_cannot_be_undone():
    log = Log()
    made = log.do("anna", "class", name="d")
    log.label("ben", 0, "d")
    with pytest.raises(ActError, match=r"ben built on it: text 1: d\. Undo that first"):
        log.undo("anna", made)
    rename = log.do("anna", "rename", name="a", to="z")
    keyword = log.do("anna", "keyword", label="z", word="x")
    with pytest.raises(ActError, match="anna built on it: x for z"):
        log.undo("anna", rename)
    log.undo("anna", keyword)
    undo = log.undo("anna", rename)
    log.do("ben", "class", name="z")
    # with the rename there would be two of this name
    with pytest.raises(ActError, match="built on it: class z added"):
        log.undo("anna", undo)


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("label", {"text": 6, "labels": ["a"]}, "there is no text 6; they are numbered 0 to 5"),
        ("label", {"text": 0, "labels": ["bb"]}, "'bb' is none of the classes .a, b, c.; did you mean 'b'"),
        ("label", {"text": 0, "labels": ["xyz"]}, "add it first"),
        ("label", {"text": 0, "labels": []}, "has one label; got .*Choose one, or skip"),
        ("label", {"text": 0, "labels": ["a", "b"]}, "has one label"),
        ("settle", {"text": 0, "labels": ["a", "b"]}, "has one label"),
        (
            "unmark",
            {"text": 0, "start": 1, "end": 2, "label": "a"},
            "no passage 1 to 2 that is marked for 'a'",
        ),
        ("keyword", {"label": "d", "word": "x"}, "none of the classes"),
        ("class", {"name": "a"}, "there is a class 'a' already"),
        ("rename", {"name": "a", "to": "b"}, "there is a class 'b' already"),
        ("class", {"name": "A"}, "there is a class 'a' already, and 'A' differs from it in capitals alone"),
        ("rename", {"name": "a", "to": "B"}, "there is a class 'b' already, and 'B' differs"),
        (
            "costs",
            {"costs": {"a": {"hit": 1, "false_alarm": -1, "miss": 0}}},
            "costs say nothing of 'b'; give its own, or those of all other",
        ),
        ("rename", {"name": "d", "to": "e"}, "none of the classes"),
        ("costs", {"costs": {"d": {"hit": 1, "false_alarm": -1, "miss": 0}}}, "none of the classes"),
        ("undo", {"act": "nothing"}, "there is no act 'nothing' to undo"),
    ],
)
def test_an_act_that_does_not_fit_is_refused(kind, content, message):
    log = Log()
    with pytest.raises(ActError, match=message):
        log.do("anna", kind, **content)
    assert len(log.state.acts) == 0


def test_only_ones_own_acts_and_each_once():
    log = Log()
    label = log.label("anna", 0, "a")
    with pytest.raises(ActError, match="this 'label' is anna's; only anna can undo it"):
        log.undo("ben", label)
    log.undo("anna", label)
    with pytest.raises(ActError, match="undone already; to bring it back, undo the undo"):
        log.undo("anna", label)


def test_undos_of_undos_may_be_nested_deeper_than_calls():
    log = Log()
    act = log.label("anna", 0, "a")
    acts = list(log.acts)
    for number in range(2, 5002):
        acts.append(Act(f"act-{number}", "anna", "undo", {"act": act}, "", number))
        act = f"act-{number}"
    assert State.replay(HEADER, acts).answers() == {0: ("a",)}
    assert State.replay(HEADER, acts[:-1]).answers() == {}


def test_of_two_classes_costs_may_name_one():
    log = Log({**HEADER, "classes": ["a", "b"]})
    log.do("anna", "costs", costs={"b": {"hit": 1, "false_alarm": -1, "miss": 0}})
    assert list(log.state.costs) == ["b"]
