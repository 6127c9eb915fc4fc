"""The system's browser on a page of the desk, and a desk that is quick to ask."""

from types import SimpleNamespace

import pytest
from desk.fake import FakeDesk
from desk.pages import KEYWORDS, chromium, messages

# said of a desk that was closed before the page
GONE = "Failed to load resource: net::ERR_CONNECTION_REFUSED"


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def look(browser):
    """Open a desk's page; at the end nothing must have gone wrong in it, nor been asked for elsewhere."""
    troubles, contexts = [], []

    def open_page(url, width=1280, **options):
        contexts.append(
            browser.new_context(viewport={"width": width, "height": 844}, accept_downloads=True, **options)
        )
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        own = url.partition("?")[0]
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on(
            "request",
            lambda one: (
                troubles.append(one.url) if not one.url.startswith((own, "data:", "blob:" + own)) else None
            ),
        )
        page.goto(url)
        page.wait_for_selector("body.ready")
        return page

    yield SimpleNamespace(at=open_page, troubles=troubles)
    for context in contexts:
        context.close()
    assert [one for one in troubles if one != GONE] == []


@pytest.fixture
def fake():
    texts, classes = messages()
    return FakeDesk(texts, classes, keywords=KEYWORDS, words=False)
