"""The page in a real browser with the model: a working day."""

import tomllib

import pytest
from desk.logs import held
from desk.pages import KEYWORDS, opened_desk, served
from desk.steps import NEEDS_CHROMIUM, WIDTHS, noticed, on_word, press, show_tab, tab_to, until

pytest.importorskip("playwright.sync_api", reason="needs Playwright, of the extra `dev`")
pytestmark = NEEDS_CHROMIUM


@pytest.mark.parametrize("width", WIDTHS)
def test_a_working_day_with_the_model(look, tmp_path, width):
    """First label, keyword, mark, cost, undo, conflict, export and restart, with a real project and by
    keys.
    """
    path = tmp_path / "tickets.desk"
    with opened_desk(path, n=120) as desk, served(desk) as url:
        page = look.at(url, width)
        page.keyboard.press("5")
        noticed(page, "Saved: network")
        page.keyboard.press("2")
        noticed(page, "Saved: account")
        until(page, "() => document.querySelectorAll('#text .word').length > 3")
        on_word(page, 2)
        press(page, "Shift+ArrowRight", "Enter", "4", "m")
        noticed(page, "Marked for hardware")
        on_word(page, 0)
        press(page, "Enter", "4", "f")
        noticed(page, "speaks for hardware")
        word = next(iter(desk.project.state.keywords["hardware"]))
        page.get_by_role("button", name=f"{word} speaks for hardware").wait_for()
        page.keyboard.press("u")
        noticed(page, "Undone")
        assert "hardware" not in desk.project.state.keywords
        show_tab(page, "costs")
        tab_to(page, "phishing: miss")
        page.keyboard.type("-400")
        page.keyboard.press("Enter")
        noticed(page, "Costs saved")
        first = next(iter(desk.project.state.labels))
        content = {"text": first, "labels": ["billing"], "source": "tie", "seconds": 2.0}
        desk.act({"id": "ben-1", "annotator": "ben", "kind": "label", "content": content})
        show_tab(page, "review")
        page.get_by_role("button", name=f"Settle text {first + 1} as billing").wait_for()
        tab_to(page, f"Settle text {first + 1} as billing")
        page.keyboard.press("Enter")
        noticed(page, "Settled: billing")
        show_tab(page, "project")
        tab_to(page, "Keywords, TOML")
        with page.expect_download() as waiting:
            page.keyboard.press("Enter")
        assert set(tomllib.loads(waiting.value.path().read_text())["keywords"]) == set(KEYWORDS)
        before = held(desk.project.state)
    with opened_desk(path) as again, served(again) as url:
        assert held(again.project.state) == before
        page = look.at(url, width)
        assert page.inner_text("#progress-words") == "2 of 120 labelled"
        for what in ("settled", "Undone: costs"):
            assert not page.is_disabled("#undo")
            page.keyboard.press("u")
            noticed(page, what)
        assert again.project.state.costs == {}
