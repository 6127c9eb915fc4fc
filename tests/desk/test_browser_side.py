"""The page in a real browser: costs, words, the curve, conflicts, search and files beside the text."""

import re
from itertools import pairwise

import pytest
from desk.pages import served
from desk.steps import NEEDS_CHROMIUM, WIDTHS, answer, noticed, press, until

from textmargin.desk.word_suggestions import WordSuggestion

pytest.importorskip("playwright.sync_api", reason="needs Playwright, of the extra `dev`")
pytestmark = NEEDS_CHROMIUM


@pytest.mark.parametrize("width", WIDTHS)
def test_costs_are_typed_and_kept(look, desk, width):
    with served(desk) as url:
        page = look.at(url, width)
        page.click("#tab-costs")
        page.get_by_label("phishing: miss").fill("-400")
        page.keyboard.press("Tab")
        noticed(page, "Costs saved")
        assert desk.held.costs["phishing"] == {"hit": 1, "false_alarm": -1, "miss": -400}
        assert desk.held.costs["*"] == {"hit": 1, "false_alarm": -1, "miss": 0}
        for name, value in (
            ("phishing: hit", "40"),
            ("phishing: false alarm", "−5"),
            ("What a minute of yours costs", "0,5"),
        ):
            page.get_by_label(name).fill(value)
        page.get_by_label("Texts a day that people can look at").fill("30")
        page.keyboard.press("Enter")
        until(page, "() => document.querySelector('[data-typed]') === null")
        assert desk.held.costs["phishing"] == {"hit": 40, "false_alarm": -5, "miss": -400}
        assert all(one.content != other.content for one, other in pairwise(desk.acts))
        assert desk.held.minute == 0.5
        assert desk.held.budget == 30
        page.get_by_label("phishing: hit").fill("forty")
        page.keyboard.press("Enter")
        assert "phishing: hit should be a number" in page.inner_text("#costs-wrong")
        assert page.get_by_label("phishing: hit").get_attribute("aria-invalid") == "true"


def test_words_are_named_and_suggestions_taken_at_the_side(look, desk):
    with served(desk) as url:
        desk.engine.suggestions = {"accessibility": [WordSuggestion("router", 10, 9)]}
        page = look.at(url)
        page.get_by_role("button", name="Add the suggested word router to accessibility").click()
        noticed(page, "router speaks for accessibility")
        page.get_by_role("button", name="Edit billing").click()
        page.keyboard.type("late fee")
        page.keyboard.press("Enter")
        noticed(page, "late fee speaks for billing")
        assert desk.held.keywords["billing"]["late fee"] == 1
        page.fill("#new-class", "travel")
        page.keyboard.press("Enter")
        noticed(page, "New class: travel")
        assert page.locator("#labels button").count() == 9


def test_a_class_that_is_typed_while_the_last_one_is_stored_stays(look, ordered):
    """It was emptied with the box; and where there is no class, Enter must not save that a text has none."""
    desk = ordered(classes=[], multilabel=True)
    with served(desk) as url:
        page = look.at(url)
        assert page.inner_text("#no-classes") == "To begin, name a class under Classes."
        assert page.is_hidden("#confirm")
        page.keyboard.press("Enter")
        page.evaluate("""() => { const box = document.getElementById('new-class'),
            form = document.getElementById('add-class');
            box.value = 'late'; form.requestSubmit(); box.value = 'broken'; }""")
        noticed(page, "New class: late")
        assert page.input_value("#new-class") == "broken"
        assert [one.kind for one in desk.acts] == ["class"]
        assert page.is_visible("#confirm")


def test_the_curve_says_its_numbers_in_words(look, desk):
    with served(desk) as url:
        page = look.at(url)
        page.click("#tab-quality")
        assert "begins with the first labels" in page.inner_text("#panel-quality")
        points = [{"n_labels": k, "value": k / 10, "low": k / 20, "high": k / 9} for k in range(9)]
        desk.extra["curve"] = points
        answer(page, "2")
        label = page.get_by_role("img").first.get_attribute("aria-label")
        assert re.match(r"Expected .* from .* at 0 to .* at 8", label)
        assert page.locator("#panel-quality tbody tr").count() == 9


def test_search_and_similar_open_a_text(look, desk):
    with served(desk) as url:
        page = look.at(url)
        page.keyboard.press("/")
        page.keyboard.type("the")
        until(page, "() => document.querySelectorAll('#search-rows li').length > 0")
        press(page, "Enter")
        until(page, "() => document.activeElement.classList.contains('snippet')")
        press(page, "ArrowDown", "Enter")
        until(page, "() => document.querySelector('#about .source').textContent === 'Found by search'")
        assert "the" in page.inner_text("#text").lower()
        page.keyboard.press("s")
        until(page, "() => document.activeElement.classList.contains('snippet')")
        page.keyboard.press("Enter")
        until(page, "() => document.querySelector('#about .source').textContent === 'Like another'")
        page.keyboard.press("3")
        noticed(page, "Saved: billing")
        assert desk.acts[-1].content["source"] == "similar"
