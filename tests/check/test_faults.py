"""Faults that were planted one by one, and what is no fault."""

import numpy as np
import pytest

from textmargin.check.contents import odd_contents
from textmargin.check.copies import copies, leaks
from textmargin.check.giveaways import giveaway_columns, giveaway_words
from textmargin.check.label_names import label_rows, odd_label_names
from textmargin.check.near_duplicates import near_duplicates

DARK = "The screen of my laptop stays dark since the update of this morning"
PAPER = "There has been no paper in tray two of the printer since Monday"


def kinds(findings):
    return [(one.kind, one.rows) for one in findings]


def spelt(counts):
    labels = [name for name, n in counts.items() for _ in range(n)]
    return {
        (one.label, one.suggestion)
        for one in odd_label_names(label_rows(labels))
        if one.kind == "label-spelling"
    }


def test_copies_and_their_labels():
    texts = [DARK, PAPER, DARK, DARK.replace("laptop", "laptops"), PAPER + "!"]
    found = list(copies(near_duplicates(texts), ["a", "b", "a", "c", "b"]))
    assert kinds(found) == [
        ("repeated", (0, 2)),
        ("near-duplicate", (0, 3)),
        ("contradiction", (0, 2, 3)),
        ("near-duplicate", (1, 4)),
    ]
    assert found[2].suggestion == "a"
    assert found[2].score == found[1].score < 1


def test_a_tie_of_contradicting_labels_suggests_nothing_and_a_missing_label_contradicts_none():
    found = list(copies(near_duplicates([DARK, DARK, PAPER, PAPER]), ["a", "b", "c", ""]))
    assert [(one.kind, one.suggestion) for one in found if one.kind == "contradiction"] == [
        ("contradiction", "")
    ]


def test_leaks_are_told_with_both_labels_the_same_texts_first():
    train, test = [DARK, PAPER], ["quite another text", PAPER + " and Tuesday", DARK.replace(" ", "  ")]
    found = list(leaks(near_duplicates([*train, *test]), ["a", "b"], ["a", "b", "c"]))
    assert [(one.rows, one.test_rows) for one in found] == [((0,), (2,)), ((1,), (1,))]
    assert "'a' in training, 'c' in test" in found[0].reason
    assert "'b' on both sides" in found[1].reason


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ({"billing": 30, "Billing": 2, "billing ": 1}, {("Billing", "billing"), ("billing ", "billing")}),
        ({"billing": 30, "biling": 1, "bililng": 1}, {("biling", "billing"), ("bililng", "billing")}),
        ({"e-mail": 9, "e mail": 9}, {("e-mail", "e mail")}),
        ({"grain": 30, "train": 25}, set()),  # two words that both are common
        ({"level1": 100, "level2": 1}, set()),  # digits are no slips
        ({"cat": 100, "car": 1}, set()),
    ],
)
def test_labels_that_may_be_one(counts, wanted):
    assert spelt(counts) == wanted


def test_labels_with_few_texts_are_named_once():
    found = list(odd_label_names(label_rows([*["billing"] * 40, "biling", *["other"] * 3, ""])))
    assert [(one.kind, one.label) for one in found] == [("label-spelling", "biling"), ("few-texts", "other")]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        (f"<p>{DARK}<br/></p>", "markup"),
        (f'{DARK} <A HREF="x">here</A>', "markup"),
        (f"{DARK}&nbsp;&amp; more", "markup"),
        (f"{DARK} fÃ¼r MÃ¼ller", "mojibake"),
        (f"{DARK}, itâ€™s dark", "mojibake"),
        (f"{DARK} caf\ufffd", "mojibake"),
    ],
)
def test_odd_contents(text, kind):
    assert [one.kind for one in odd_contents([text])] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        DARK,
        "für Müller, déjà vu à Paris, Ça va",
        "a < b and c > d",
        "<BAC> and <PRE> rose",
        "Â la carte",
        "P&L; AT&T",
        "日本語",
    ],
)
def test_what_is_no_fault(text):
    assert list(odd_contents([text])) == []


@pytest.fixture
def labels():
    return np.random.default_rng(0).choice(["a", "b", "c"], 200, p=[0.6, 0.3, 0.1]).tolist()


def told(labels, values):
    return [one.label for one in giveaway_columns(labels, {"column": values})]


def test_columns_that_tell_the_label(labels):
    queues = {"a": "first line", "b": "second line", "c": "third line"}
    assert told(labels, [queues[label] for label in labels]) == ["column"]
    assert told(labels, [f"{queues[label][:3]}-{row}" for row, label in enumerate(labels)]) == ["column"]
    assert told(sorted(labels), list(range(200))) == ["column"]  # ids along a sorted file


def test_columns_that_do_not(labels):
    assert told(labels, list(range(200))) == []  # ids that are all different
    assert told(labels, [f"id-{row}" for row in range(200)]) == []
    assert told(labels, ["x"] * 200) == []
    assert told(labels, [None] * 200) == []
    assert told(labels, np.random.default_rng(1).permutation(labels).tolist()) == []
    assert told(["a"] * 200, ["x", "y"] * 100) == []


def test_words_that_tell_the_label():
    texts = [f"[SPAM] win number {n}" if n % 2 else f"see you at {n}" for n in range(40)]
    found = list(giveaway_words(texts, ["spam" if n % 2 else "ham" for n in range(40)]))
    assert ("spam", "[spam]") in {(one.label, one.suggestion) for one in found}
    noisy = [text.replace("[SPAM]", "[SPAM]" if n % 3 else "") for n, text in enumerate(texts)]
    assert "[spam]" not in {
        one.suggestion for one in giveaway_words(noisy, ["spam" if n % 2 else "ham" for n in range(40)])
    }
