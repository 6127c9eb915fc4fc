"""Texts kept out of training: which, and what is said where that cannot be."""

from collections import Counter
from datetime import date, datetime

import numpy as np
import pytest

from textmargin import Corpus
from textmargin.errors import TableError
from textmargin.tables.holdout import split_at_random, split_by


def labelled(counts, several=False):
    labels = [name for name, n in counts.items() for _ in range(n)]
    return Corpus(
        "own",
        [f"text {row}" for row in range(len(labels))],
        [(one,) for one in labels] if several else labels,
    )


@pytest.mark.parametrize("several", [False, True])
def test_labels_have_their_shares_on_both_sides(several):
    counts = {"common": 100, "rare": 20, "few": 6, "once": 1}
    corpus = labelled(counts, several)
    train, held_out = split_at_random(corpus, 0.2)
    assert sorted([*train.ids, *held_out.ids]) == sorted(corpus.ids)
    found = Counter(one[0] if several else one for one in held_out.labels)
    assert len(held_out) == round(0.2 * 127)
    for name, n in counts.items():
        assert abs(found[name] - 0.2 * n) <= 1.5
    assert found["once"] == 0
    assert split_at_random(corpus, 0.2)[1].ids == held_out.ids


def test_every_label_keeps_a_text_to_learn_from():
    random = np.random.default_rng(0)
    names = np.array([f"topic {k}" for k in range(30)])
    labels = [tuple(random.choice(names, random.integers(0, 4), replace=False).tolist()) for _ in range(60)]
    corpus = Corpus("own", [f"text {row}" for row in range(60)], labels)
    for share in (0.1, 0.3, 0.5):
        assert split_at_random(corpus, share)[0].classes == corpus.classes


def test_a_text_that_occurs_twice_was_on_both_sides():
    texts = [f"text {row // 3}" + " " * (row % 2) for row in range(90)]
    train, held_out = split_at_random(Corpus("own", texts, ["ab"[row % 2] for row in range(90)]), 0.3)
    assert not {text.strip() for text in train.texts} & {text.strip() for text in held_out.texts}
    assert len(held_out) == 27


@pytest.mark.parametrize(
    ("values", "start"),
    [
        (["1987-02-26", "1987-03-01", "1986-12-31", "1987-03-02", "1987-02-27"], "1987-03-02"),
        (
            [
                "26-FEB-1987 15:01:01.79",
                "1-MAR-1987  15:01:02",
                "31-DEC-1986",
                " 2-mar-1987 00:00:00&#5;RM",
                "27-FEB-1987",
            ],
            " 2-mar",
        ),
        (
            [
                "1987-02-26T12:00Z",
                "1987-02-26T23:00+02:00",
                "1987-02-26 11:59",
                "1987-02-26T22:30",
                "1987-02-26",
            ],
            "1987-02-26T22:30",
        ),
        (
            ["26.02.1987", "01.03.1987 9:05", "31.12.1986, 23:59", "2.3.1987 00:00:01", "27.02.1987"],
            "2.3.1987",
        ),
        (["9", "10", "8.5", "1e3", "-4"], "1e3"),
        ([9, 10, 8.5, 1000, -4], "1000"),
        (
            [
                date(1987, 2, 26),
                datetime(1987, 2, 26, 1),
                date(1986, 1, 1),
                datetime(1987, 3, 1),
                date(1987, 1, 1),
            ],
            "1987-03-01",
        ),
    ],
)
def test_the_last_by_dates_or_numbers(values, start):
    corpus = Corpus("own", list("vwxyz"), ["a", "a", "b", "b", "a"], fields={"when": values})
    train, held_out, first = split_by(corpus, "when", 0.2)
    assert (held_out.texts, train.texts) == (["y"], list("vwxz"))
    assert str(first).startswith(start)
    assert "".join(split_by(corpus, "when", 0.4)[1].texts) == "wy"


def test_texts_of_one_day_are_on_one_side():
    corpus = Corpus("own", list("vwxyz"), ["a", "b", "a", "b", "b"], fields={"year": [1, 2, 2, 2, 1]})
    train, held_out, start = split_by(corpus, "year", 0.2)
    assert (train.texts, held_out.texts, start) == (["v", "z"], ["w", "x", "y"], 2)


@pytest.mark.parametrize(
    ("values", "share", "message"),
    [
        (["1", "2", "3", "soon"], 0.5, r"Line 3 of own: 'when' is 'soon', neither a number nor a date"),
        (["1", "2", "", "4"], 0.5, r"Line 2 of own: 'when' is '', neither"),
        (["1", None, "3", "4"], 0.5, r"Line 1 of own: 'when' is None, neither"),
        (["1", "2", "nan", "4"], 0.5, r"Line 2 of own: 'when' is 'nan', neither"),
        (["1", "2", "1987-02-30", "4"], 0.5, r"Line 2 of own: 'when' is '1987-02-30', neither"),
        (["1", "2", "1987-02-03", "4"], 0.5, r"Column 'when' of own has both numbers and dates"),
        (
            ["1", "1", "1", "1"],
            0.5,
            r"would leave no text to learn from: own has 4 texts, 4 of them with the first value",
        ),
        (["1", "2", "3", "4"], 0.1, r"would leave no text to evaluate on"),
        (
            ["4", "1", "3", "2"],
            0.5,
            r"All texts of 'a' are among the last 50% by 'when', so that there would be none to learn it",
        ),
        (["1", "2", "3", "4"], 1.0, r"holdout= is a share of the texts, more than 0 and less than 1; got 1"),
    ],
)
def test_what_cannot_be_split_by(values, share, message):
    corpus = Corpus("own", list("wxyz"), ["a", "b", "a", "b"], fields={"when": values})
    with pytest.raises(TableError, match=message):
        split_by(corpus, "when", share)


@pytest.mark.parametrize(
    ("share", "message"),
    [
        (0.0, "holdout= is a share of the texts, more than 0 and less than 1; got 0"),
        (float("nan"), "got nan"),
        (0.1, "holdout=0.1 of 4 different texts with 2 labels would leave none to evaluate on"),
        (0.75, "would leave a label without a text to learn from"),
    ],
)
def test_what_cannot_be_split_at_random(share, message):
    with pytest.raises(TableError, match=message):
        split_at_random(Corpus("own", list("wxyz"), ["a", "b", "a", "b"]), share)
