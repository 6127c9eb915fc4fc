"""The page in a real browser: without a pointer, without sight, and by the rules of axe-core."""

import pytest
from desk import axe
from desk.pages import served
from desk.steps import NEEDS_CHROMIUM, answer, on_word

from textmargin.desk import session
from textmargin.desk.word_suggestions import WordSuggestion

pytest.importorskip("playwright.sync_api", reason="needs Playwright, of the extra `dev`")
pytestmark = NEEDS_CHROMIUM


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_axe_finds_nothing_serious(look, desk, width, scheme, monkeypatch):
    if axe.source() is None:
        pytest.skip("axe-core is not in the cache, and the registry of npm cannot be reached")
    content = {"text": 7, "labels": ["network"], "source": "tie", "seconds": 1.0}
    desk.act({"id": "b", "annotator": "ben", "kind": "label", "content": content})
    monkeypatch.setattr(session, "_WORD_EVERY", 3)
    desk.engine.suggestions = {"network": [WordSuggestion("router", 14, 9)]}
    with served(desk) as url:
        page = look.at(url, width, color_scheme=scheme, reduced_motion="reduce")
        for tab in ("classes", "costs", "quality", "review", "project"):
            page.click(f"#tab-{tab}")
            assert axe.findings(page) == []
        page.click("#tab-classes")
        page.get_by_role("button", name="Edit billing").click()
        assert axe.findings(page) == []
        page.locator("#text .word").nth(3).click()
        assert axe.findings(page) == []
        page.keyboard.press("Escape")
        on_word(page, 2)
        assert axe.findings(page) == []
        for opener in ("?", "/", "s"):
            page.focus("#text")
            page.keyboard.press(opener)
            page.wait_for_selector("dialog[open]")
            page.wait_for_timeout(200)
            assert axe.findings(page) == []
            page.keyboard.press("Escape")
        for _ in range(3):
            answer(page, "5")
        assert page.is_visible("#question")
        assert axe.findings(page) == []


def test_the_keyboard_reaches_everything(look, desk):
    with served(desk) as url:
        page = look.at(url)
        page.focus(".jump")
        reached = set()
        for _ in range(80):
            page.keyboard.press("Tab")
            reached.add(
                page.evaluate(
                    "document.activeElement.id || document.activeElement.dataset.focus || "
                    "document.activeElement.className"
                )
            )
        assert {"search-button", "keys-button", "person-button", "text", "tint", "skip", "similar"} <= reached
        assert {"tab-classes", "label network", "edit network", "word network wifi", "new-class"} <= reached
        page.focus("#tab-classes")
        for panel in ("costs", "quality", "review", "project"):
            page.keyboard.press("ArrowRight")
            assert page.is_visible(f"#panel-{panel}")
