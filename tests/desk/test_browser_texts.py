"""The page in a real browser: what others wrote is text, whatever it looks like."""

import pytest
from desk.hostile import HOSTILE, HOSTILE_CLASSES
from desk.pages import served
from desk.steps import NEEDS_CHROMIUM, WIDTHS, press, until

pytest.importorskip("playwright.sync_api", reason="needs Playwright, of the extra `dev`")
pytestmark = NEEDS_CHROMIUM


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_texts_and_names_are_text(look, ordered, width):
    desk = ordered(HOSTILE, HOSTILE_CLASSES, keywords={"<b>bold</b>": {"<i>word</i>": 1}})
    desk.extra["worth"] = {"text": "<img src=x onerror=alert(1)>", "stop": True}
    with served(desk, annotator="<u>eve</u>") as url:
        page = look.at(url, width)
        for k, text in enumerate(HOSTILE):
            until(
                page,
                "(n) => document.querySelector('#about .number').textContent.includes(n)",
                f"text {k + 1}",
            )
            shown = page.evaluate(
                "[...document.querySelectorAll('#text > span')].map((one) => one.textContent).join('')"
            )
            assert text.encode("utf-16", "surrogatepass").startswith(shown.encode("utf-16", "surrogatepass"))
            assert len(shown) > min(len(text), 15_000) - 1
            assert (
                page.evaluate(
                    "document.querySelectorAll('img, b:not(#question-words *), i, u, "
                    "script:not([src])').length"
                )
                == 0
            )
            assert page.evaluate("window.ran") is None
            assert page.evaluate("document.documentElement.scrollWidth") == width
            page.keyboard.press("1" if k % 2 else " ")
        page.wait_for_selector("#end:visible")
        assert page.locator("#labels .name").all_text_contents() == HOSTILE_CLASSES
        assert desk.labels[1] == {"<u>eve</u>": ["<b>bold</b>"]}
        page.click("#tab-project")
        assert "<u>eve</u>" in page.inner_text("#people")


def test_right_to_left_texts_run_from_right_to_left(look, ordered):
    desk = ordered([HOSTILE[1]], ["a", "b"])
    with served(desk) as url:
        page = look.at(url)
        assert page.get_attribute("#text", "dir") == "rtl"
        page.focus("#text")
        press(page, "ArrowLeft", "ArrowLeft")
        assert page.evaluate("document.activeElement.textContent") == "עולם"


def test_a_script_that_got_in_would_not_run(look, desk):
    with served(desk) as url:
        page = look.at(url)
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'), { textContent: "
            "'window.ran = 1' }))"
        )
        assert page.evaluate("window.ran") is None
        assert "Content Security Policy" in look.troubles.pop()
