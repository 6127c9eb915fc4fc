"""The page in a real browser: costs, words, the curve, conflicts, search and files beside the text."""

import re
from itertools import pairwise

import pytest
from desk.fake import FakeDesk
from desk.pages import messages, served
from desk.steps import NEEDS_CHROMIUM, WIDTHS, answer, noticed, press, show_tab, tab_to, until

pytest.importorskip("playwright.sync_api", reason="needs Playwright, of the extra `dev`")
pytestmark = NEEDS_CHROMIUM


@pytest.mark.parametrize("width", WIDTHS)
def test_costs_are_typed_and_kept(look, fake, width):
    with served(fake) as url:
        page = look.at(url, width)
        page.click("#tab-costs")
        page.get_by_label("phishing: miss").fill("-400")
        page.keyboard.press("Tab")
        noticed(page, "Costs saved")
        assert fake.costs["costs"]["phishing"] == {"hit": 1, "false_alarm": -1, "miss": -400}
        assert fake.costs["costs"]["*"] == {"hit": 1, "false_alarm": -1, "miss": 0}
        for name, value in (
            ("phishing: hit", "40"),
            ("phishing: false alarm", "−5"),
            ("What a minute of yours costs", "0,5"),
        ):
            page.get_by_label(name).fill(value)
        page.get_by_label("Texts a day that people can look at").fill("30")
        page.keyboard.press("Enter")
        until(page, "() => document.querySelector('[data-typed]') === null")
        assert fake.costs["costs"]["phishing"] == {"hit": 40, "false_alarm": -5, "miss": -400}
        assert all(one["content"] != other["content"] for one, other in pairwise(fake.acts))
        assert fake.costs["minute"] == 0.5
        assert fake.costs["budget"] == 30
        page.get_by_label("phishing: hit").fill("forty")
        page.keyboard.press("Enter")
        assert "phishing: hit should be a number" in page.inner_text("#costs-wrong")
        assert page.get_by_label("phishing: hit").get_attribute("aria-invalid") == "true"


def test_numbers_that_are_being_typed_outlast_what_others_do(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.click("#tab-costs")
        page.get_by_label("phishing: miss").fill("5")  # a miss that earns more than a hit: not stored
        page.get_by_label("billing: hit").fill("7")
        fake.act(
            {
                "id": "o",
                "annotator": "ben",
                "kind": "skip",
                "content": {"text": 9, "source": "tie", "seconds": None},
            }
        )
        page.wait_for_timeout(4000)
        assert page.get_by_label("phishing: miss").input_value() == "5"
        assert page.get_by_label("billing: hit").input_value() == "7"
        assert "a hit should be worth more than a miss" in page.inner_text("#costs-wrong")


def test_words_are_named_and_suggestions_taken_at_the_side(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.get_by_role("button", name="Add the suggested word router to accessibility").click()
        noticed(page, "router speaks for accessibility")
        page.get_by_role("button", name="Edit billing").click()
        page.keyboard.type("late fee")
        page.keyboard.press("Enter")
        noticed(page, "late fee speaks for billing")
        assert fake.keywords["billing"]["late fee"] == 1
        page.fill("#new-class", "travel")
        page.keyboard.press("Enter")
        noticed(page, "New class: travel")
        assert page.locator("#labels button").count() == 9


def test_a_class_that_is_typed_while_the_last_one_is_stored_stays(look):
    """It was emptied with the box; and where there is no class, Enter must not save that a text has none."""
    texts, _ = messages()
    fake = FakeDesk(texts, [], multilabel=True, words=False)
    with served(fake) as url:
        page = look.at(url)
        assert page.inner_text("#no-classes") == "To begin, name a class under Classes."
        assert page.is_hidden("#confirm")
        page.keyboard.press("Enter")
        page.evaluate("""() => { const box = document.getElementById('new-class'),
            form = document.getElementById('add-class');
            box.value = 'late'; form.requestSubmit(); box.value = 'broken'; }""")
        noticed(page, "New class: late")
        assert page.input_value("#new-class") == "broken"
        assert [one["kind"] for one in fake.acts] == ["class"]
        assert page.is_visible("#confirm")


def test_numbers_of_other_costs_are_marked_at_each_class(look, fake):
    for text in range(3):
        content = {"text": text, "labels": ["network"], "source": "random", "seconds": 1.0}
        fake.act({"id": str(text), "annotator": "anna", "kind": "label", "content": content})
    fake.extra["outdated"] = {"curve": False, "decisions": True, "classes": True}
    with served(fake) as url:
        page = look.at(url)
        page.wait_for_selector("#classes [aria-busy=true]")
        marked = page.locator("#classes [aria-busy=true]").all_inner_texts()
        assert all(one.startswith("F1 ") or "expected" in one for one in marked)
        assert [one for one in marked if one.startswith("F1 ")] == ["F1 0.80 (0.70–0.88)"]
        assert "Of the costs before" in page.locator("#classes [aria-busy=true]").first.get_attribute("title")


def test_the_curve_says_its_numbers_in_words(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.click("#tab-quality")
        assert "begins with the first labels" in page.inner_text("#panel-quality")
        for _ in range(8):
            answer(page, "2")
        label = page.get_by_role("img").first.get_attribute("aria-label")
        assert re.match(r"Expected .* from .* at 0 to .* at 8", label)
        assert page.locator("#panel-quality tbody tr").count() == 9


def test_a_conflict_is_settled(look, fake):
    for who, name in (("anna", "network"), ("ben", "billing")):
        content = {"text": 7, "labels": [name], "source": "tie", "seconds": 1.0}
        fake.act({"id": who, "annotator": who, "kind": "label", "content": content})
    with served(fake) as url:
        page = look.at(url)
        assert page.get_by_role("tab", name="Review").inner_text().split()[1] == "2"
        show_tab(page, "review")
        tab_to(page, "Settle text 8 as billing")
        page.keyboard.press("Enter")
        noticed(page, "Settled: billing")
        assert fake.settled == {7: ["billing"]}
        until(
            page,
            "() => document.getElementById('panel-review').textContent.includes('Nobody contradicts "
            "anybody')",
        )


def test_search_and_similar_open_a_text(look, fake):
    with served(fake) as url:
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
        assert fake.acts[-1]["content"]["source"] == "similar"


def test_files_are_taken_away(look, fake):
    with served(fake) as url:
        page = look.at(url)
        page.keyboard.press("5")
        noticed(page, "Saved")
        show_tab(page, "project")
        tab_to(page, "Labels, CSV")
        with page.expect_download() as waiting:
            page.keyboard.press("Enter")
        assert waiting.value.suggested_filename == "tickets.csv"
        assert waiting.value.path().read_text() == "text,labels\n0,network\n"
