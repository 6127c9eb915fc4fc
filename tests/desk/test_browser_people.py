"""The page in a real browser: who may open it, who reads, and several at once."""

import pytest
from desk.pages import TOKEN, served
from desk.steps import NEEDS_CHROMIUM, noticed, number, press, until

pytest.importorskip("playwright.sync_api", reason="needs Playwright, of the extra `dev`")
pytestmark = NEEDS_CHROMIUM


def test_two_browsers_see_what_the_other_does(look, desk):
    with served(desk) as url:
        one, other = look.at(url), look.at(url)
        one.keyboard.press("5")
        noticed(one, "Saved")
        until(other, "() => document.getElementById('progress-words').textContent === '1 of 60 labelled'")
        assert number(other) == 0
        other.keyboard.press("5")
        noticed(other, "Saved")
        assert list(desk.labels) == [0]


def test_the_token_is_handed_in_once_and_a_reload_goes_on(look, desk):
    with served(desk) as url:
        page = look.at(url)
        assert "token" not in page.url
        stores = "JSON.stringify([{ ...sessionStorage }, { ...localStorage }])"
        assert TOKEN not in page.evaluate(stores)
        page.reload()
        page.wait_for_selector("body.ready")
        assert number(page) == 0


def test_an_address_of_an_earlier_start_says_so(browser, desk):
    with served(desk) as url:
        page = browser.new_page()
        page.goto(url + "x")
        page.wait_for_selector("#trouble:visible")
        assert "Open the one that it printed last" in page.inner_text("#trouble")
        page.close()


def test_a_desk_for_nobody_in_particular_asks_who_reads(browser, desk):
    with served(desk, annotator=None) as url:
        page, troubles = browser.new_page(), []
        page.on("console", lambda message: troubles.append(message.text))
        page.goto(url)
        page.wait_for_selector("#person[open]")
        press(page, "Escape", "Escape")
        page.wait_for_selector("#person[open]")
        page.focus("#name")
        page.keyboard.type("Zoë <b>")
        page.keyboard.press("Enter")
        page.wait_for_selector("body.ready")
        assert page.inner_text("#person-name") == "Zoë <b>"
        until(page, "() => document.activeElement.id === 'text'")
        page.keyboard.press("1")
        noticed(page, "Saved")
        assert desk.labels == {0: {"Zoë <b>": ["accessibility"]}}
        assert troubles == []  # the state was asked for before there was a name, and refused
        page.close()
