"""Pages link to the scripts of examples, as one reads them in the repository; on the site such a link goes to
the gallery.
"""

from __future__ import annotations

import re
from typing import Any

GALLERY = "generated/gallery"


def to_gallery(text: str, page: str) -> str:
    """The text of a page (its name below docs, without its ending), with links to scripts turned into links
    to pages.
    """
    up = "../" * page.count("/")
    return re.sub(r"\]\((?:\.\./)*examples/(\w+)\.py\)", rf"]({up}{GALLERY}/\1.rst)", text)


def _read(app: Any, page: str, source: list[str]) -> None:
    source[0] = to_gallery(source[0], page)


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx call it for every page it reads."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
