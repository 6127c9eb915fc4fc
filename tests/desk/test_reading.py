"""From a pointer over a text to fixations and measures, worked out by hand."""

from itertools import pairwise

import numpy as np
import pytest
from desk.readings import GOOD, PATH, STARTS, TEXT, sampled
from hypothesis import given
from hypothesis import strategies as st

from textmargin import reading_measures
from textmargin.desk.reading import (
    GAP,
    LONGEST,
    MOST_SAMPLES,
    SHORTEST,
    check_reading,
    fixations_from_samples,
    pointer_reading,
    sentence_numbers,
    split_words,
)
from textmargin.errors import ActError


def test_fixations_by_hand():
    """Of 100 ms on "is" it is a sweep; the last run ends with its own last sample."""
    assert fixations_from_samples(sampled(PATH)) == {
        "word": [0, 1, 3, 1, 3, -1, 4, 6],
        "duration": [200, 400, 300, 250, 175, 200, 225, 175],
        "x": [10, 60, 140, 50, 150, 400, 200, 310],
        "onset": [0, 200, 700, 1000, 1250, 1425, 1625, 1850],
    }


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("skipped", [0, 0, 1, 0, 0, 1, 0]),
        ("fixcount", [1, 2, 0, 2, 1, 0, 1]),
        ("firstfixDur", [200, 400, 0, 300, 225, 0, 175]),
        ("totalFixDur", [200, 650, 0, 475, 225, 0, 175]),
        ("prevFixDur", [0, 200, 0, 400, 200, 0, 225]),
        ("nextFixDur", [400, 300, 0, 250, 175, 0, 0]),
        ("firstSaccLen", [0, 50, 0, 80, 200, 0, 110]),
        ("landingPos", [10, 20, 0, 10, 10, 0, 10]),
        ("nRegressFrom", [0, 0, 0, 1, 0, 0, 0]),
        ("regressLen", [0, 0, 0, 250, 0, 0, 0]),
        ("regressDur", [0, 250, 0, 0, 0, 0, 0]),
        ("P2stFixation", [0, 0, 0, 0, 0, 0, 0]),
    ],
)
def test_measures_by_hand(measure, expected):
    content = pointer_reading({"text": 0, **sampled(PATH), "word_starts": STARTS}, [TEXT])
    assert [TEXT[start:end] for start, end in content["words"]] == TEXT.split()
    assert content["sentences"] == [0, 0, 0, 0, 1, 1, 1]
    found = reading_measures(content["fixations"], content["word_starts"], content["sentences"])
    assert found[measure].tolist() == pytest.approx(expected)


def test_a_gap_ends_a_fixation_where_it_was_last_seen():
    """The page was hidden for a minute: nobody knows what was read meanwhile."""
    times = [0, 100, 200, 60_000, 60_100, 60_200, 60_300]
    found = fixations_from_samples({"time": times, "word": [2] * 7, "x": [0] * 7})
    assert (found["duration"], found["onset"]) == ([200, 300], [0, 60_000])
    just = fixations_from_samples({"time": [0, GAP, 2 * GAP], "word": [2, 2, 3], "x": [0] * 3})
    assert just["duration"] == [2 * GAP]


def test_who_rests_on_a_word_for_long_is_not_reading_it():
    still = fixations_from_samples(sampled([(0, 300, 0), (1, LONGEST + 25, 0), (2, 300, 0), (3, 25, 0)]))
    assert still["word"] == [0, 2]


def test_the_way_to_the_text_and_from_it_is_not_reading():
    found = fixations_from_samples(
        sampled([(-1, 400, 0), (1, 300, 0), (-1, 200, 0), (2, 300, 0), (-1, 400, 0)])
    )
    assert found["word"] == [1, -1, 2]
    assert fixations_from_samples(sampled([(-1, 400, 0)]))["word"] == []


words_under = st.lists(st.tuples(st.floats(0, 400), st.integers(-1, 6), st.floats(-50, 900)), max_size=60)


@given(words_under)
def test_fixations_take_no_more_time_than_there_was(steps):
    times = np.cumsum([0.0, *(gap for gap, _, _ in steps)])[1:].tolist()
    sent = {"time": times, "word": [word for _, word, _ in steps], "x": [x for *_, x in steps]}
    content = pointer_reading({"text": 0, **sent, "word_starts": STARTS}, [TEXT])
    found = content["fixations"]
    span = times[-1] - times[0] if times else 0.0
    assert sum(found["duration"]) <= span + 1e-9
    assert set(found["word"]) <= set(sent["word"])
    assert all(SHORTEST <= one <= LONGEST for one in found["duration"])
    ends = [onset + duration for onset, duration in zip(found["onset"], found["duration"], strict=True)]
    assert all(end <= onset + 1e-9 for end, onset in zip(ends, found["onset"][1:], strict=False))
    check_reading(content)


@given(st.text(max_size=80))
def test_words_hold_all_that_is_no_blank(text):
    spans = split_words(text)
    assert "".join(text[start:end] for start, end in spans) == "".join(text.split())
    assert all(start < end for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert len(sentence_numbers(text, spans)) == len(spans)


def test_words_and_sentences_of_other_scripts():
    text = "Bill 😡 “wrong”? 账单错了。请改"
    assert [text[start:end] for start, end in split_words(text)] == [
        "Bill",
        "😡",
        "“wrong”?",
        "账",
        "单",
        "错",
        "了。",
        "请",
        "改",
    ]
    assert sentence_numbers(text, split_words(text)) == [0, 0, 0, 1, 1, 1, 1, 2, 2]
    arabic = "الفاتورة خاطئة؟ أصلحها"
    assert sentence_numbers(arabic, split_words(arabic)) == [0, 0, 1]
    two = "no stop\n\nat all\nhere"
    assert sentence_numbers(two, split_words(two)) == [0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"word": [0, 7]}, "word 7, but the text has 7 words"),
        ({"word": [0, -2]}, "word -2"),
        ({"word": [0, 0.5]}, "word 0.5"),
        ({"word": [0]}, "equally long, 24000 samples at most; they have 2, 1 and 2"),
        ({"time": [25, 0]}, "never fall"),
        ({"time": [-5, 0]}, "never fall"),
        ({"time": [0, 1e9]}, "a day at most"),
        (
            {"time": [0, float("nan")]},
            "time of a reading should hold numbers only, of a sensible size; it holds nan",
        ),
        ({"x": [1, 10**400]}, "it holds 1000"),
        ({"x": [True, 2]}, "it holds True"),
        ({"x": ["1", 2]}, "it holds '1'"),
        ({"x": [1, 2e6]}, "in pixels"),
        ({"x": "12"}, "should be a list of numbers; it is '12'"),
        ({"word_starts": [0.0]}, "has 7 words; word_starts of its reading has 1"),
        ({"text": 1}, "should be a number from 0 to 0; it is 1"),
        ({"text": True}, "it is True"),
        ({"name": "anna"}, "should have the fields text, time, word, x, word_starts; it has"),
        ({"time": [0] * 24_001, "word": [0] * 24_001, "x": [0] * 24_001}, "24000 samples at most"),
    ],
)
def test_what_no_page_would_send_is_refused(change, message):
    pointer_reading(GOOD, [TEXT])
    with pytest.raises(ActError, match=message):
        pointer_reading({**GOOD, **change}, [TEXT])


def test_ten_minutes_are_turned_into_fixations_in_a_moment():
    many = sampled([(k % 7, 200, k) for k in range(MOST_SAMPLES // 8)])
    assert (
        len(pointer_reading({"text": 0, **many, "word_starts": STARTS}, [TEXT])["fixations"]["word"])
        == MOST_SAMPLES // 8
    )
