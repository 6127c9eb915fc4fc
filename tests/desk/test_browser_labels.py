"""The page in a real browser: labels by key and click, at both widths."""

import pytest
from desk.pages import served
from desk.steps import NEEDS_CHROMIUM, WIDTHS, noticed, number, press, until

pytest.importorskip("playwright.sync_api", reason="needs Playwright, of the extra `dev`")
pytestmark = NEEDS_CHROMIUM


@pytest.mark.parametrize("width", WIDTHS)
def test_a_digit_labels_and_goes_on_once_it_is_stored(look, desk, width):
    with served(desk) as url:
        page = look.at(url, width)
        assert number(page) == 0
        page.keyboard.press("5")
        noticed(page, "Saved: network")
        assert number(page) == 1
        assert desk.labels[0] == {"anna": ["network"]}
        content = desk.acts[0].content
        assert content["source"] == "tie"
        assert 0 < content["seconds"] < 60
        assert page.inner_text("#progress-words") == "1 of 60 labelled"
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_space_skips_and_u_undoes_any_number_of_steps(look, desk):
    with served(desk) as url:
        page = look.at(url)
        page.keyboard.press("1")
        noticed(page, "Saved: accessibility")
        page.keyboard.press(" ")
        noticed(page, "Skipped")
        page.keyboard.press("2")
        noticed(page, "Saved: account")
        for back in (2, 1, 0):
            page.keyboard.press("u")
            until(
                page,
                "(n) => document.querySelector('#about .number').textContent.includes(`text ${n}`)",
                back + 1,
            )
        assert desk.labels == {}
        assert desk.held.shown("anna") == frozenset()
        assert page.is_disabled("#undo")
        page.keyboard.press("U")
        noticed(page, "Done again: ")
        assert 0 in desk.labels


def test_a_key_pressed_twice_is_one_label(look, desk):
    with served(desk) as url:
        page = look.at(url)
        page.evaluate("""() => { for (const k of [1, 2]) document.getElementById('text').dispatchEvent(
            new KeyboardEvent('keydown', { key: '3', bubbles: true })); }""")
        noticed(page, "Saved")
        page.wait_for_timeout(300)
        assert len(desk.acts) == 1


def test_keys_do_nothing_while_somebody_types_and_can_be_switched_off(look, desk):
    with served(desk) as url:
        page = look.at(url)
        page.fill("#new-class", "")
        page.focus("#new-class")
        page.keyboard.type("u2 ?/")
        assert page.input_value("#new-class") == "u2 ?/"
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        page.uncheck("#keys-on")
        page.keyboard.press("Escape")
        page.keyboard.press("2")
        page.wait_for_timeout(200)
        assert desk.acts == []


def test_several_labels_are_picked_and_confirmed(look, ordered):
    desk = ordered(multilabel=True)
    with served(desk) as url:
        page = look.at(url)
        press(page, "2", "5", "7", "5")
        assert page.locator("#labels [aria-pressed=true]").all_inner_texts()[0].split()[1] == "account"
        page.keyboard.press("Enter")
        noticed(page, "Saved: account, printing")
        page.keyboard.press("Enter")
        noticed(page, "none of these")
        assert desk.labels == {0: {"anna": ["account", "printing"]}, 1: {"anna": []}}


def test_more_than_nine_classes_are_found_by_name(look, ordered):
    desk = ordered(classes=[f"topic {k:02d}" for k in range(30)])
    with served(desk) as url:
        page = look.at(url)
        page.keyboard.press("c")
        page.keyboard.type("c 27")
        page.keyboard.press("Enter")
        noticed(page, "Saved: topic 27")
        assert desk.labels == {0: {"anna": ["topic 27"]}}
