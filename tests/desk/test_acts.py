"""Every act says what is wrong with it, and is stored in one form."""

import pytest

from textmargin.desk.acts import KINDS, Act, new_id
from textmargin.errors import ActError

CONTENTS = {
    "label": {"text": 0, "labels": ["a"], "source": "random", "seconds": 2.5},
    "skip": {"text": 0, "source": "tie", "seconds": None},
    "mark": {"text": 0, "start": 2, "end": 5, "label": "a"},
    "unmark": {"text": 0, "start": 2, "end": 5, "label": "a"},
    "keyword": {"label": "a", "word": "invoice", "weight": -1, "source": "queue"},
    "class": {"name": "a"},
    "rename": {"name": "a", "to": "b"},
    "costs": {
        "costs": {"a": {"hit": 5.0, "false_alarm": -1.0, "miss": 0.0}},
        "minute": 0.5,
        "currency": "€",
        "budget": 20,
    },
    "settle": {"text": 0, "labels": ["a"]},
    "undo": {"act": "7"},
}


def normal(kind, **changes):
    content = {name: value for name, value in {**CONTENTS[kind], **changes}.items() if value is not ...}
    return Act("7", "anna", kind, content).normal().content


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_act_stays_as_it_is(kind):
    assert normal(kind) == CONTENTS[kind]
    assert list(normal(kind)) == list(KINDS[kind])


def test_fields_that_can_be_left_out():
    assert normal("label", source=..., seconds=...) == {
        "text": 0,
        "labels": ["a"],
        "source": "list",
        "seconds": None,
    }
    assert normal("keyword", weight=..., source=...)["weight"] == 1
    assert normal("costs", minute=..., currency=..., budget=...)["currency"] == "€"


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("label", {"text": -1}, "text of 'label' should be a whole number of at least 0; it is -1"),
        ("label", {"text": True}, "text of 'label' should be a whole number"),
        ("label", {"text": 1.5}, "whole number of at least 0; it is 1.5"),
        ("label", {"labels": "a"}, "labels of 'label' should be a list of names of classes; it is 'a'"),
        ("label", {"labels": ["a", "a"]}, "names 'a' twice"),
        ("label", {"labels": [3]}, "the name of a class; it is 3"),
        ("label", {"labels": ...}, "'label' lacks the field 'labels'"),
        ("label", {"source": "guess"}, 'one of "tie", "balanced"'),
        ("label", {"source": ["tie"]}, "one of"),
        ("label", {"seconds": -1}, "a number of at least 0, or null; it is -1"),
        ("label", {"seconds": float("nan")}, "should be a number; it is nan"),
        ("mark", {"end": 2}, "should end behind its start; it is 2 to 2"),
        ("keyword", {"weight": 2}, "one of 1, -1, 0, null; it is 2"),
        ("keyword", {"weight": True}, "one of 1, -1, 0, null; it is True"),
        ("keyword", {"word": "  "}, "a word or a phrase"),
        ("keyword", {"word": "/(/"}, "word of 'keyword': "),
        ("keyword", {"word": "\ud800"}, "text that UTF-8 can say"),
        ("class", {"name": " "}, "a name of 1 to 200 characters; it is ' '"),
        ("class", {"name": "*"}, "stands for all other classes"),
        ("class", {"name": "\udfff"}, "text that UTF-8 can say"),
        ("rename", {"to": "*"}, "stands for all other classes"),
        ("costs", {"costs": []}, "an object class → costs"),
        ("costs", {"costs": {"a": {"hit": 1}}}, "lack 'false_alarm'"),
        ("costs", {"costs": {"a": {"gain": 1}}}, "'gain', which is none of hit, false_alarm, miss, ask"),
        ("costs", {"costs": {"a": {"hit": 1, "false_alarm": 1, "miss": 0}}}, "make no sense together"),
        ("costs", {"costs": {"a": {"hit": 1, "false_alarm": -1, "miss": 0, "ask": 1}}}, "0 or less"),
        (
            "costs",
            {"costs": {"a": {"hit": "1", "false_alarm": -1, "miss": 0}}},
            "hit for 'a' should be a number; it is '1'",
        ),
        ("costs", {"budget": 1.5}, "budget of 'costs' should be a whole number"),
    ],
)
def test_a_wrong_value_is_shown_with_its_field(kind, changes, message):
    with pytest.raises(ActError, match=message):
        normal(kind, **changes)


def test_who_and_what_and_under_which_id():
    for id_, annotator, kind, message in [
        ("", "anna", "skip", "the id of an act should be"),
        ("a b", "anna", "skip", "the id of an act should be"),
        ("7", "", "skip", "annotator should be a name"),
        ("7", "file", "skip", "stands for the labels that came with the texts"),
        ("7", "anna", "lable", "there is no act 'lable'"),
        ("7", "anna", ["label"], "there is no act"),
    ]:
        with pytest.raises(ActError, match=message):
            Act(id_, annotator, kind, CONTENTS["skip"]).normal()
    with pytest.raises(ActError, match="should be an object; it is 3"):
        Act("7", "anna", "skip", 3).normal()
    assert Act("7", " anna ", "skip", CONTENTS["skip"]).normal().annotator == "anna"
    assert new_id() != new_id()


def test_words_are_in_lower_case_but_patterns_stay():
    assert normal("keyword", word="  Interest\n Rate ")["word"] == "interest rate"
    assert normal("keyword", word="Corn*")["word"] == "corn*"
    assert normal("keyword", word=r"/\Work/")["word"] == r"/\Work/"
