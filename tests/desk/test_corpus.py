"""Texts in columns, where their words stand, and which are alike."""

from __future__ import annotations

import numpy as np
import pytest

from textmargin.desk.corpus import TextColumns
from textmargin.desk.text_view import contributions_in, term_places
from textmargin.representations.words import WordTokenizer

EXACT = WordTokenizer("exact")


@pytest.fixture(scope="module")
def texts():
    return TextColumns(
        [
            "The printer has no paper, and the printer blinks",
            "No wifi in the hall since Monday 404",
            "no  WIFI in the hall since monday 404",
            "The printer has no paper, and the printer blinked",
            "Invoice 77 was paid twice; whom do I ask?",
        ],
        n_jobs=1,
    )


def test_counts_are_those_of_texts_that_have_the_word(texts):
    assert texts.count("printer") == 2
    assert texts.count("invoice") == 1
    assert texts.count("unheard") == 0


def test_a_phrase_is_in_texts_with_all_of_its_words(texts):
    assert texts.rows_with("wifi hall").tolist() == [1, 2]
    assert texts.rows_with("wifi printer").tolist() == []


def test_copies_differ_in_white_space_and_near_copies_in_a_letter(texts):
    assert texts.copy_of.tolist() == [0, 1, 2, 3, 4]  # capitals are no white space
    assert texts.group.tolist() == [0, 1, 1, 0, 4]
    assert texts.representatives().tolist() == [True, True, False, False, True]


def test_search_finds_characters_in_any_case_and_counts_all(texts):
    found = texts.search("WIFI", 1)
    assert found["n"] == 2
    assert found["texts"][0]["text"] == 1
    before, hit, behind = found["texts"][0]["snippet"]
    assert before + hit + behind == texts.texts[1]


def test_a_stop_word_or_number_becomes_a_column_when_it_is_named(texts):
    assert texts.needed_terms(["404", "printer", "unheard"]) == ("404",)
    wider = texts.with_terms(["404"])
    assert wider.count("404") == 2
    assert wider.needed_terms(["404"]) == ("404",)
    assert wider.needed_terms(["printer"]) == ()


def test_similar_texts_leave_copies_out(texts):
    assert [row for row, _ in texts.similar(1)] == []  # its only relative is a near copy
    others = TextColumns(
        ["printer jam on floor two", "the printer on floor two jams", "bill not paid"], n_jobs=1
    )
    (row, value), *_ = others.similar(0)
    assert row == 1
    assert 0 < value < 1


def test_texts_without_a_word_can_be_read_all_the_same():
    empty = TextColumns(["", "!!"], n_jobs=1)
    assert empty.X.shape == (2, 0)
    assert empty.search("!", 1)["n"] == 1
    assert empty.similar(0) == []


def test_places_are_code_points_of_the_text():
    text = "😡 Wifi x_11 404"
    places = term_places(text, EXACT, {"😡": 0, "wifi": 0, "11": 0, "###": 0})
    assert [(text[start:end], term) for start, end, term in places] == [
        ("😡", "😡"),
        ("Wifi", "wifi"),
        ("11", "11"),
        ("404", "###"),
    ]


def test_contributions_of_a_text_add_up_to_those_of_its_terms():
    found = contributions_in("corn and corn, oil", EXACT, {"corn": (1.0, 0.5), "oil": (-2.0, 0.0)})
    assert [one[:2] for one in found] == [(0, 4), (9, 13), (15, 18)]
    assert np.allclose(np.sum([one[2:] for one in found], axis=0), (-1.0, 0.5))


def test_characters_and_pairs_of_them_share_what_they_contribute():
    found = contributions_in("账单", EXACT, {"账": (1.0, 0.0), "账单": (2.0, 0.0)})
    assert [(start, end) for start, end, *_ in found] == [(0, 1), (1, 2)]
    assert [one[2] for one in found] == pytest.approx([2.0, 1.0])
