"""The page in a real browser: marking passages, and saying what words mean, by keys and by the pointer."""

import pytest
from desk.fake import FakeDesk
from desk.hostile import HOSTILE
from desk.pages import messages, served
from desk.steps import NEEDS_CHROMIUM, WIDTHS, answer, noticed, on_word, press, until

pytest.importorskip("playwright.sync_api", reason="needs Playwright, of the extra `dev`")
pytestmark = NEEDS_CHROMIUM


@pytest.mark.parametrize("width", WIDTHS)
def test_a_passage_is_marked_by_keys_alone(look, fake, width):
    with served(fake) as url:
        page = look.at(url, width)
        on_word(page, 5)
        press(page, "Shift+ArrowRight", "Shift+ArrowRight", "Enter")
        assert len(page.inner_text("#menu .phrase").split()) == 3
        press(page, "5", "m")
        noticed(page, "Marked for network")
        mark = fake.marks[0][0]
        phrase = fake.texts[0][mark["start"] : mark["end"]]
        assert len(phrase.split()) == 3
        assert fake.texts[0].split()[5] == phrase.split()[0]
        until(page, "() => document.querySelectorAll('#text .marked').length === 5")  # three words, two gaps
        on_word(page, 5)
        press(page, "Enter", "m")
        noticed(page, "Mark removed")
        assert fake.marks[0] == []


def test_a_passage_is_marked_by_the_pointer(look, fake):
    with served(fake) as url:
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
        mark = fake.marks[0][0]
        assert fake.texts[0][mark["start"] : mark["end"]] == " ".join(fake.texts[0].split()[2:5])


@pytest.mark.parametrize("width", WIDTHS)
def test_a_word_becomes_a_keyword_for_or_against_a_class_or_is_struck(look, fake, width):
    with served(fake) as url:
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
            assert fake.keywords["hardware"] == {name: weight}
        until(page, "() => document.querySelector('.chip.struck') !== null")
        page.keyboard.press("u")
        until(page, "() => document.querySelector('.chip.struck') === null")
        assert fake.keywords["hardware"] == {name: -1}
        word.click()
        press(page, "4", "r")
        noticed(page, "no keyword any more")
        assert fake.keywords["hardware"] == {}


def test_offsets_are_code_points_behind_emoji(look):
    fake = FakeDesk(HOSTILE, ["a", "b"], words=False)
    with served(fake) as url:
        page = look.at(url)
        for _ in range(3):
            answer(page, " ")
        page.locator("#text .word", has_text="toner").click()
        press(page, "1", "m")
        noticed(page, "Marked")
        mark = fake.marks[3][0]
        assert HOSTILE[3][mark["start"] : mark["end"]] == "toner"


def test_a_question_about_a_word_is_answered_by_a_key(look):
    texts, classes = messages()
    fake = FakeDesk(texts, classes)
    with served(fake) as url:
        page = look.at(url)
        for k in range(3):
            answer(page, " ")
            assert len(fake.acts) == k + 1
        page.wait_for_selector("#question:visible")
        for key, weight in (("y", 1), ("n", 0), ("a", -1)):
            word = page.inner_text("#question-words q").strip("“”")
            label = page.inner_text("#question-words b")
            answer(page, key)
            assert word in page.inner_text("#notice")
            assert fake.keywords[label][word] == weight
