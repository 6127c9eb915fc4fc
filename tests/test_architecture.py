"""What the layout promises."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import textmargin

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "textmargin"
SOURCES = sorted(PACKAGE.rglob("*.py"))


def imported(tree):
    """Modules and names that a file imports, as dotted paths."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_private_helpers_of_scikit_learn_come_through_one_door(path):
    private = [name for name in imported(ast.parse(path.read_text())) if name.startswith("sklearn.") and "._" in name]
    assert not private or path.name == "_sklearn.py"


def test_layers_hold():
    """The contract in pyproject.toml, kept by import-linter."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_help_needs_neither_scikit_learn_nor_the_compiled_core():
    code = "import sys, textmargin.cli; print([m for m in ('numpy', 'sklearn', 'textmargin.core') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert textmargin.__version__ == project["version"] == cited[1]


# Going: what they do moves to the classifier, its configuration and the command line.
_GOING = ("trained.py", "training.py", "training_parts.py", "labelling.py", "feedback/retune.py")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_library_message_speaks_of_a_command_line_option(path):
    """Who calls from Python has no options; the command line turns `name=` into its own."""
    name = path.relative_to(PACKAGE).as_posix()
    strings = [
        node.value
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    options = [text for text in strings if re.search(r"--[a-z]", text)]
    assert not options or name.startswith("cli/") or name in _GOING
