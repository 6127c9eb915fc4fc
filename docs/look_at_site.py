"""The built site in Chromium, at two widths: `python docs/look_at_site.py build/site [--shots FOLDER]`.

Every page must fit the width of a desk and of a phone (what is wider scrolls in its own box), fetch nothing
from another host and raise no error. The search must find what it is asked for, over HTTP and from files.
"""

from __future__ import annotations

import argparse
import functools
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

WIDTHS = (1280, 390)
SEARCHES = {  # what a newcomer may type, and a page that must be among the results
    "keywords": "knowledge.html",
    "budget": "decisions.html",
    "GridSearchCV": "gallery",
    "--false-alarm": "train.html",
    "ThresholdClassifier": "textmargin.ThresholdClassifier.html",
    "misspelt": "gallery",
}


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that logs nothing."""

    def log_message(self, *args: Any) -> None:
        """Nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


def look(browser: Any, base: str, names: list[str], shots: Path | None) -> list[str]:
    """Open every page at every width, and say what is wrong."""
    faults: list[str] = []
    for width in WIDTHS:
        tab = browser.new_page(viewport={"width": width, "height": 900})
        tab.on(
            "request",
            lambda one: None if one.url.startswith((base, "data:")) else faults.append(f"asks {one.url}"),
        )
        tab.on("pageerror", lambda error: faults.append(f"a script: {error}"))
        for name in names:
            tab.goto(base + name)
            wide = tab.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                faults.append(f"{name} is {wide} wide at {width}")
            clipped = tab.evaluate(CLIPPED, width)
            if clipped:
                faults.append(f"{name} at {width}: {clipped[0]} stands out on the right")
            if shots:
                tab.screenshot(path=shots / f"{name.replace('/', '_').removesuffix('.html')}-{width}.png")
        tab.close()
    return faults


# Elements of the text that reach over the right edge of the window, but for those inside of a box that
# scrolls.
CLIPPED = """width => {
  const scrolls = e => { for (; e && e.tagName !== 'ARTICLE'; e = e.parentElement)
    if (['auto', 'scroll'].includes(getComputedStyle(e).overflowX)) return true; return false; };
  return [...document.querySelectorAll('article *:not(.headerlink)')]
    .filter(e => e.getBoundingClientRect().right > width + 1
      && e.getBoundingClientRect().width > 0 && !scrolls(e))
    .slice(0, 1).map(e => `${e.tagName} ${(e.textContent || '').trim().slice(0, 60)}`); }"""


def search(browser: Any, base: str) -> list[str]:
    """Type every search into the field of the front page, and look for the page that it should find."""
    faults = []
    tab = browser.new_page(viewport={"width": WIDTHS[0], "height": 900})
    tab.on(
        "request",
        lambda one: None if one.url.startswith((base, "data:")) else faults.append(f"asks {one.url}"),
    )
    for words, wanted in SEARCHES.items():
        tab.goto(base + "index.html")
        tab.keyboard.press("Control+k")
        tab.keyboard.type(words)
        tab.keyboard.press("Enter")
        tab.wait_for_url("**/search.html*")
        try:
            tab.wait_for_selector("#search-results ul.search li a", timeout=15000)
            tab.wait_for_timeout(1500)  # results come one by one
            links = tab.eval_on_selector_all(
                "#search-results ul.search li a", "all => all.map(one => one.href)"
            )
        except Exception:
            links = []
        if not any(wanted in link for link in links):
            faults.append(f"a search for {words!r} gives {len(links)} results, none of them {wanted}")
    tab.close()
    return faults


def main() -> int:
    """Look at all of it, and say how it was."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--shots", type=Path, help="a folder for a picture of each page")
    parser.add_argument("--only", nargs="*", help="these pages alone")
    options = parser.parse_args()
    site = options.site.resolve()
    pages = sorted(
        path.relative_to(site).as_posix() for path in site.rglob("*.html") if "_static" not in path.parts
    )
    names = options.only or pages
    if options.shots:
        options.shots.mkdir(parents=True, exist_ok=True)
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as driver, served(site) as base:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        faults = look(browser, base, names, options.shots)
        faults += [*search(browser, base), *search(browser, f"{site.as_uri()}/")]
        browser.close()
    print(*faults, sep="\n", end="\n" if faults else "")
    print(
        f"{len(names)} pages at {' and '.join(map(str, WIDTHS))} pixels, {2 * len(SEARCHES)} searches: "
        f"{len(faults)} faults"
    )
    return 1 if faults or not names else 0


if __name__ == "__main__":
    sys.exit(main())
