import csv
from itertools import pairwise

import pytest
from distributed import Client

from textmargin.scale import TextFiles


@pytest.fixture
def client(threads):
    """A client of two workers in this process."""
    with Client(threads) as connected:
        yield connected


@pytest.fixture
def in_parts(tmp_path):
    """Writes lists of texts, and perhaps their labels, to files, and gives them as texts in parts."""

    def write(parts, labels=None, **more):
        folder = tmp_path / f"texts-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        names = iter(["x"] * sum(map(len, parts)) if labels is None else labels)
        for number, texts in enumerate(parts):
            with (folder / f"{number:03}.csv").open("w", encoding="utf-8", newline="") as stream:
                rows = [(text, next(names)) for text in texts]
                csv.writer(stream).writerows([("text", "label"), *rows])
        return TextFiles(folder, text="text", label="label", part_bytes=2000, **more)

    return write


@pytest.fixture
def cut():
    """Texts in lists, cut at some places."""

    def at(texts, places):
        return [texts[a:b] for a, b in pairwise([0, *sorted(places), len(texts)])]

    return at
