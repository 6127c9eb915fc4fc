"""The page in a real browser: what is done is stored, or said not to be, whatever becomes of the desk."""

import http.server
import json
import re
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from desk.pages import TOKEN, served
from desk.steps import NEEDS_CHROMIUM, noticed, number, until

from textmargin.errors import DeskError

pytest.importorskip("playwright.sync_api", reason="needs Playwright, of the extra `dev`")
pytestmark = NEEDS_CHROMIUM


def test_an_act_is_done_only_when_the_desk_says_so_and_is_sent_again_with_its_id(look, desk):
    with served(desk) as url:
        page = look.at(url)
        desk.broken = DeskError("work.desk cannot be written: No space left on device.")
        desk.broken.__cause__ = OSError(28, "No space left on device")
        page.keyboard.press("5")
        until(page, "() => document.getElementById('trouble').textContent.includes('No space left')")
        assert "Not saved yet." in page.inner_text("#trouble")
        assert "1 act is sent again until the desk has stored it." in page.inner_text("#trouble")
        assert number(page) == 0
        assert page.is_hidden("#notice")
        desk.broken = None
        noticed(page, "Saved: network")
        assert page.is_hidden("#trouble")
        assert number(page) == 1
        assert [one.kind for one in desk.acts] == ["label"]
    assert all("503" in one for one in look.troubles)
    look.troubles.clear()


def port_of(url):
    return int(re.search(r":(\d+)/", url)[1])


def test_the_desk_is_started_again_and_the_page_that_it_opens_sends_what_waited(look, desk):
    with served(desk) as url:
        page = look.at(url)
    page.keyboard.press("5")
    until(page, "() => document.getElementById('trouble').textContent.includes('does not answer')")
    with served(desk, port=port_of(url)) as again:
        until(
            page,
            "() => document.getElementById('trouble').textContent.includes('The desk was started again.')",
        )
        assert "1 act waits in this browser: the next page sends it." in page.inner_text("#trouble")
        assert desk.labels == {}
        other = page.context.new_page()
        other.goto(again)
        noticed(other, "Saved from before: 1 act")
        other.wait_for_selector("body.ready")
        assert desk.labels == {0: {"anna": ["network"]}}
        assert number(other) == 1
        until(page, "() => !document.getElementById('trouble').textContent.includes('waits')")
    assert all("401" in one for one in look.troubles if "REFUSED" not in one)
    look.troubles.clear()


@contextmanager
def thief(port):
    """Another program on the port of a desk: what it was asked, while it says that all is well."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(
                (self.command, str(self.headers), self.rfile.read(int(self.headers.get("Content-Length", 0))))
            )
            content = json.dumps(
                {"act": {"id": "x"}, "state": {}, "next": None, "annotator": "eve", "project": "desk"}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("X-Desk-Seal", "guessed")
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield asked
        finally:
            server.shutdown()
            thread.join()


def test_whoever_takes_the_port_of_a_desk_that_ended_gets_nothing_and_is_not_believed(look, desk):
    with served(desk) as url:
        page = look.at(url)
    with thief(port_of(url)) as asked:
        page.keyboard.press("5")
        until(page, "() => document.getElementById('trouble').textContent.includes('something else answers')")
        assert page.is_hidden("#notice")
        assert number(page) == 0
        page.wait_for_timeout(1000)
    assert asked
    assert {command for command, *_ in asked} == {"GET"}  # no act
    heard = [re.search(r"Bearer (\S+)", headers)[1] for _, headers, _ in asked]
    assert TOKEN not in heard
    with served(desk, port=port_of(url)) as again:
        for key in set(heard):
            request = urllib.request.Request(
                f"{again.partition('?')[0]}api/state", headers={"Authorization": f"Bearer {key}"}
            )
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(request, timeout=30)
        other = page.context.new_page()
        other.goto(again)
        noticed(other, "Saved from before: 1 act")
        assert desk.labels == {0: {"anna": ["network"]}}
    look.troubles.clear()


def test_an_act_that_was_on_its_way_when_the_page_was_reloaded_is_sent_again(look, desk):
    with served(desk) as url:
        page = look.at(url)
        lost = {
            "id": "f" * 32,
            "annotator": "anna",
            "kind": "label",
            "content": {"text": 0, "labels": ["billing"], "source": "tie", "seconds": 1},
        }
        name = f"textmargin-desk-act:{desk.project.id}:{lost['id']}"
        waits = {"body": lost, "time": 1}
        page.evaluate("([name, one]) => localStorage.setItem(name, JSON.stringify(one))", [name, waits])
        page.reload()
        page.wait_for_selector("body.ready")
        assert desk.labels == {0: {"anna": ["billing"]}}
        assert number(page) == 1
        assert page.evaluate("Object.keys(localStorage)") == []


def test_a_refused_act_is_told_and_not_sent_again(look, desk):
    with served(desk) as url:
        page = look.at(url)
        rename = {"name": "network", "to": "wires"}
        desk.act({"id": "r", "annotator": "ben", "kind": "rename", "content": rename})
        page.keyboard.press("5")
        until(page, "() => document.getElementById('notice').className === 'refused'")
        assert "none of the classes" in page.inner_text("#notice")
        assert number(page) == 0
        assert page.is_hidden("#trouble")
    assert all("422" in one for one in look.troubles)
    look.troubles.clear()
