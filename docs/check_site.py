"""Whether every link of the built site leads somewhere: `python docs/check_site.py build/site`.

Links within the site must name a file that is there and an anchor that is in it; those to elsewhere are only
read as addresses. No page may load anything (script, style, image, font) from elsewhere, as the site is read
offline, or name the folder that it was built in.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "object": "data",
    "embed": "src",
}


class Page(HTMLParser):
    """What a page links to, what it loads, and the anchors in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.n_blocks = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of one element."""
        found = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := found.get(name))}
        self.n_blocks += tag == "pre"
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        rel = (found.get("rel") or "").split()
        if tag == "link" and found.get("href") and not {"canonical", "author"} & {*rel}:
            (self.links if {"next", "prev", "index", "search", "top", "up"} & {*rel} else self.loads).append(
                str(found["href"])
            )
        if tag in LOADS and found.get(LOADS[tag]):
            self.loads.append(str(found[LOADS[tag]]))


@dataclass
class Findings:
    """Counts, and what is wrong, a line each."""

    n_pages: int = 0
    n_blocks: int = 0
    n_within: int = 0
    n_anchors: int = 0
    n_loads: int = 0
    elsewhere: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counts = (
            f"{self.n_pages} pages, {self.n_blocks} blocks of code; "
            f"{self.n_within} links within the site, {self.n_anchors} of them to an anchor; "
            f"{self.n_loads} files loaded, none from elsewhere; {len(self.elsewhere)} addresses "
            "elsewhere, read but not visited"
        )
        return "\n".join([*self.faults, f"{len(self.faults)} faults" if self.faults else counts])


def check_site(folder: Path) -> Findings:
    """Look at every page below a folder."""
    folder = folder.resolve()
    pages = {
        path: Page(path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.parts
    }
    found = Findings(n_pages=len(pages), n_blocks=sum(page.n_blocks for page in pages.values()))
    for path, page in pages.items():
        where = path.relative_to(folder).as_posix()
        if str(folder.parent.parent) in path.read_text("utf-8"):
            found.faults.append(f"{where}: shows where it was built")
        for link in page.links:
            _check_link(found, pages, path, where, link)
        for load in page.loads:
            if load.startswith("data:"):
                continue
            found.n_loads += 1
            parts = urlsplit(load)
            if parts.scheme or parts.netloc:
                found.faults.append(f"{where}: loads {load}")
            elif not (path.parent / unquote(parts.path)).exists():
                found.faults.append(f"{where}: loads {load}, which is not there")
    for path in folder.rglob("*.css"):
        text = path.read_text("utf-8")
        if re.search(r"""(@import|url\()\s*["']?(https?:)?//""", text):
            found.faults.append(f"{path.relative_to(folder)}: loads from elsewhere")
    return found


def _check_link(found: Findings, pages: dict[Path, Page], path: Path, where: str, link: str) -> None:
    """Count one link, or say what is wrong with it."""
    parts = urlsplit(link)
    if parts.scheme in {"http", "https"}:
        found.elsewhere.add(link)
        if not re.fullmatch(r"[\w.-]+(:\d+)?", parts.netloc):
            found.faults.append(f"{where}: {link} is no address")
        return
    if parts.scheme == "mailto":
        return
    found.n_within += 1
    target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
    if parts.scheme or not target.exists():
        found.faults.append(f"{where}: {link} is not there")
    elif parts.fragment:
        found.n_anchors += 1
        anchors = pages[target].anchors if target in pages else set()
        if unquote(parts.fragment) not in anchors:
            found.faults.append(f"{where}: {link} has no such anchor")


if __name__ == "__main__":
    findings = check_site(Path(sys.argv[1]))
    print(findings)
    sys.exit(1 if findings.faults or not findings.n_pages else 0)
