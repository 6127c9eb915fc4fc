"""The system's browser on a page of the desk, and a desk that asks for texts in their order."""

from types import SimpleNamespace

import pytest
from desk.pages import OrderedDesk, chromium, messages

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
def ordered(tmp_path):
    """A desk that asks for texts in their order, of other texts or classes where they are said."""

    def make(texts=None, classes=None, **settings):
        own_texts, own_classes = messages()
        desks.append(
            OrderedDesk(
                tmp_path,
                own_texts if texts is None else texts,
                own_classes if classes is None else classes,
                **settings,
            )
        )
        return desks[-1]

    desks = []
    yield make
    for desk in desks:
        desk.close()
        desk.project.close()


@pytest.fixture
def desk(ordered):
    return ordered()
