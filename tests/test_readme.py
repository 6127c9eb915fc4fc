"""What the README shows, works."""

import re
from importlib import import_module
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_the_example_runs_and_prints_what_it_says(capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", README, re.S))
    exec(compile(code, "README.md", "exec"), {})
    plain, informed, score, contribution, rest = capsys.readouterr().out.split("\n", 4)
    assert (plain, informed) == ("['account']", "['phishing']")
    assert score.startswith("score of phishing: +")
    assert "scam" in contribution
    assert "[[0.93 0.91 0.37]]" in rest


ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_an_example_imported_a_module_that_is_gone(page):
    for module, names in re.findall(r"^ *from (textmargin[\w.]*) import ([\w, ]+)", page.read_text(), re.M):
        for name in re.findall(r"\w+", names):
            assert hasattr(import_module(module), name), f"from {module} import {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_pages_name_are_there(page):
    places = (ROOT, ROOT / "src" / "textmargin", ROOT / "docs")
    named = re.findall(r"`((?:\w+/)+\w+\.(?:py|hpp|cpp|md|toml))`", page.read_text())
    assert [name for name in named if not any((place / name).exists() for place in places)] == []
