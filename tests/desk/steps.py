"""What a person does on the page, and waits for."""

import re

import pytest
from desk.pages import CHROMIUM

WIDTHS = [1280, 390]
NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")


def number(page):
    """Which text is shown, as the desk counts."""
    return int(re.search(r"text (\d+)", page.inner_text("#about .number"))[1]) - 1


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def until(page, expression, argument=None):
    page.wait_for_function(expression, arg=argument)


def answer(page, key):
    """Press a key that answers what is shown, and wait until the page has gone on to something else."""
    parts = "#about .number, #question-words, main > section[hidden]"
    shown = f"[...document.querySelectorAll('{parts}')].map((one) => one.id + one.textContent).join()"
    before = page.evaluate(shown)
    page.keyboard.press(key)
    until(page, f"(before) => {shown} !== before", before)


def noticed(page, words):
    """Wait until the page says that something is stored, or why it is not."""
    until(page, "(words) => document.getElementById('notice').textContent.includes(words)", words)


def on_word(page, k):
    """Go to the k-th word of the text by keys."""
    page.focus("#text")
    for _ in range(k + 1):
        page.keyboard.press("ArrowRight")


def tab_to(page, name):
    """Press Tab until what has this name has the focus."""
    here = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
    for _ in range(120):
        if page.evaluate(here) == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {name!r}")


def show_tab(page, name):
    """Open a tab of the side by keys: from the text on to the tabs, and along them."""
    page.keyboard.press("Escape")
    for _ in range(120):
        if page.evaluate("document.activeElement.getAttribute('role')") == "tab":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Home")
    for _ in range(5):
        if page.evaluate("document.activeElement.id") == f"tab-{name}":
            assert page.is_visible(f"#panel-{name}")
            return
        page.keyboard.press("ArrowRight")
    raise AssertionError(f"no key reaches the tab {name}")
