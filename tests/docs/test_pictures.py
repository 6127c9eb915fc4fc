"""The pictures of the concept pages are drawn by the package as it is, and each stands on its page."""

import re
import runpy
from pathlib import Path

import pytest

CONCEPTS = Path(__file__).parents[2] / "docs" / "concepts"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    runpy.run_path(str(CONCEPTS / "pictures.py"))["write"](folder)
    return folder


def words_of(picture):
    """What is written in a picture: names of curves, figures on its axes, values that were computed."""
    return re.findall(r"<text[^>]*>([^<]+)</text>", picture.read_text("utf-8"))


def test_pictures_show_what_the_package_computes(drawn):
    """Compared by their words: how a curve is written down hangs on the version of matplotlib."""
    for picture in sorted(drawn.iterdir()):
        assert words_of(picture)
        assert words_of(picture) == words_of(CONCEPTS / picture.name), (
            f"{picture.name}: run docs/concepts/pictures.py"
        )


def test_every_picture_stands_on_its_page(drawn):
    assert {path.name for path in drawn.iterdir()} == {path.name for path in CONCEPTS.glob("*.svg")}
    for picture in drawn.iterdir():
        page = (CONCEPTS / f"{picture.stem}.md").read_text("utf-8")
        assert re.search(rf"!\[.{{20,}}\]\({picture.name}\)", page), (
            f"{picture.stem}.md does not show {picture.name}, with words for who cannot see it"
        )
