"""Links of pages, in the sources and in a built site: what leads nowhere is found."""

import re

import pytest
from docs._extensions.gallery_links import to_gallery
from docs.blocks import PAGES, ROOT
from docs.check_site import check_site
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


def written(folder, **pages):
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(f"<html><body>{body}</body></html>")
    return check_site(folder)


def test_links_that_lead_somewhere_are_counted(tmp_path):
    found = written(
        tmp_path,
        a='<a href="b.html#x">b</a> <a href="https://example.org/">e</a>',
        b='<h1 id="x">B</h1><pre>1</pre>',
    )
    assert (found.n_pages, found.n_within, found.n_anchors, found.n_blocks, found.elsewhere) == (
        2,
        1,
        1,
        1,
        {"https://example.org/"},
    )
    assert not found.faults


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="c.html">c</a>', "a.html: c.html is not there"),
        ('<a href="#y">y</a>', "a.html: #y has no such anchor"),
        ('<img src="c.png">', "a.html: loads c.png, which is not there"),
        (
            '<script src="https://cdn.example.org/x.js"></script>',
            "a.html: loads https://cdn.example.org/x.js",
        ),
        (
            '<link rel="stylesheet" href="//fonts.example.org/x.css">',
            "a.html: loads //fonts.example.org/x.css",
        ),
        ('<a href="tcp://host:8786">h</a>', "a.html: tcp://host:8786 is not there"),
    ],
)
def test_a_fault_of_a_site_is_found(tmp_path, body, fault):
    assert written(tmp_path, a=body).faults == [fault]


def test_a_style_that_loads_a_font_is_found(tmp_path):
    (tmp_path / "x.css").write_text("@font-face { src: url('https://fonts.example.org/x.woff') }")
    assert written(tmp_path, a="").faults == ["x.css: loads from elsewhere"]


def test_a_link_to_an_example_leads_to_its_page():
    assert (
        to_gallery("[plot](../../examples/costs.py)", "how-to/unequal-costs")
        == "[plot](../generated/gallery/costs.rst)"
    )
    assert to_gallery("[plot](examples/costs.py)", "get-started") == "[plot](generated/gallery/costs.rst)"
