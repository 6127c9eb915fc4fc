"""The page in a real browser: marking passages, and saying what words mean, by keys and by the pointer."""

import pytest
from desk.hostile import HOSTILE
from desk.pages import served
from desk.steps import NEEDS_CHROMIUM, WIDTHS, answer, noticed, press, until

from textmargin.desk import session
from textmargin.desk.word_suggestions import WordSuggestion

pytest.importorskip("playwright.sync_api", reason="needs Playwright, of the extra `dev`")
pytestmark = NEEDS_CHROMIUM


def test_a_passage_is_marked_by_the_pointer(look, desk):
    with served(desk) as url:
        page = look.at(url)
        first, last = (
            page.locator("#text .word").nth(2).bounding_box(),
            page.locator("#text .word").nth(4).bounding_box(),
        )
        page.mouse.move(first["x"] + 2, first["y"] + 10)
        page.mouse.down()
        page.mouse.move(last["x"] + last["width"] - 2, last["y"] + 10, steps=5)
        page.mouse.up()
        page.get_by_role("button", name="Mark for").click()
        noticed(page, "Marked")
        mark = desk.held.marks[0][0]
        assert desk.project.texts[0][mark.start : mark.end] == " ".join(desk.project.texts[0].split()[2:5])


@pytest.mark.parametrize("width", WIDTHS)
def test_a_word_becomes_a_keyword_for_or_against_a_class_or_is_struck(look, desk, width):
    with served(desk) as url:
        page = look.at(url, width)
        word = page.locator("#text .word").nth(7)
        name = word.inner_text().lower()
        for key, weight, words in (
            ("f", 1, "speaks for hardware"),
            ("a", -1, "speaks against hardware"),
            ("x", 0, "struck for hardware"),
        ):
            word.click()
            press(page, "4", key)
            noticed(page, words)
            assert desk.held.keywords["hardware"] == {name: weight}
        until(page, "() => document.querySelector('.chip.struck') !== null")
        page.keyboard.press("u")
        until(page, "() => document.querySelector('.chip.struck') === null")
        assert desk.held.keywords["hardware"] == {name: -1}
        word.click()
        press(page, "4", "r")
        noticed(page, "no keyword any more")
        assert "hardware" not in desk.held.keywords


def test_offsets_are_code_points_behind_emoji(look, ordered):
    desk = ordered(HOSTILE, ["a", "b"])
    with served(desk) as url:
        page = look.at(url)
        for _ in range(3):
            answer(page, " ")
        page.locator("#text .word", has_text="toner").click()
        press(page, "1", "m")
        noticed(page, "Marked")
        mark = desk.held.marks[3][0]
        assert HOSTILE[3][mark.start : mark.end] == "toner"


def test_a_question_about_a_word_is_answered_by_a_key(look, desk, monkeypatch):
    monkeypatch.setattr(session, "_WORD_EVERY", 1)  # after each text
    words = ("router", "cable", "socket")
    desk.engine.suggestions = {"network": [WordSuggestion(word, 14, 9) for word in words]}
    with served(desk) as url:
        page = look.at(url)
        for key, weight in (("y", 1), ("n", 0), ("a", -1)):
            answer(page, " ")
            page.wait_for_selector("#question:visible")
            word = page.inner_text("#question-words q").strip("“”")
            label = page.inner_text("#question-words b")
            answer(page, key)
            assert word in page.inner_text("#notice")
            assert desk.held.keywords[label][word] == weight
