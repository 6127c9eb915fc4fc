"""Links of pages, in the sources and in a built site: what leads nowhere is found."""

import re

import pytest
from docs.blocks import PAGES, ROOT
from markdown_it import MarkdownIt

GENERATED = "generated/"  # pages that a build writes; check_site looks at these


def anchors_of(page):
    """Anchors of headings, as MyST and GitHub make them."""
    tokens = MarkdownIt().parse(page.read_text("utf-8"))
    titles = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def links_of(page):
    for token in MarkdownIt().enable("table").parse(page.read_text("utf-8")):
        for child in token.children or ():
            if target := child.attrs.get("href") or child.attrs.get("src"):
                yield target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_within_the_sources_lead_somewhere(page):
    for link in links_of(page):
        if re.match(r"https?://|mailto:", link) or GENERATED in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors_of(target), f"{page.name}: {link}"


def test_every_page_is_in_a_table_of_contents():
    sources = {path for path in PAGES if path.is_relative_to(ROOT / "docs")}
    reached, waiting = set(), [ROOT / "docs" / "index.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        for body in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.S):
            for line in body.splitlines():
                name = (re.search(r"<(.+)>", line) or [None, line.strip()])[1]
                path = (page.parent / f"{name}.md").resolve()
                if path.exists() and path not in reached:
                    waiting.append(path)
    assert sources - reached == set()
