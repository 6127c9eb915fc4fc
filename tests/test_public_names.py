"""The public surface: what it is, that a change to it is seen, and that it can be looked up."""

import difflib
import inspect
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from public_names import FILE, MODULES, surface
from sklearn.base import BaseEstimator

import textmargin

ROOT = Path(__file__).parents[1]
PAGES = "\n".join(
    path.read_text("utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
)
# What parts of the package hand to each other; users hand it on, if they meet it at all.
WIRING = {
    "CachedPairs",
    "ClassLabels",
    "DecisionRule",
    "Differences",
    "Draft",
    "LinearScorer",
    "TermWeights",
    "TextPairs",
    "Tiles",
}
NAMES = [(module, name) for module in MODULES for name in import_module(module).__all__]


def test_a_change_to_the_public_surface_is_seen():
    """If it is meant, `python tests/public_names.py` writes it down; the changelog tells users."""
    changes = difflib.unified_diff(
        FILE.read_text().splitlines(), surface(), "public_names.txt", "the package", lineterm="", n=0
    )
    assert list(changes) == []


def own_classes(annotation):
    """Classes of this package that an annotation names."""
    return {name for name in re.findall(r"\b[A-Z]\w+", str(annotation)) if name in CLASSES}


CLASSES = {
    found.group(1)
    for path in (ROOT / "src" / "textmargin").rglob("*.py")
    for found in re.finditer(r"^class ([A-Z]\w+)", path.read_text("utf-8"), re.M)
}


def test_what_public_names_give_back_is_public():
    private = set()
    for name in textmargin.__all__:
        thing = getattr(textmargin, name)
        members = [
            inspect.getattr_static(thing, member) for member in dir(thing) if not member.startswith("_")
        ]
        for one in [thing, *members] if inspect.isclass(thing) else [thing]:
            one = (
                getattr(one, "fget", None)
                or getattr(one, "__func__", None)
                or getattr(one, "func", None)
                or one
            )
            if not inspect.isclass(one):
                given = own_classes(getattr(one, "__annotations__", {}).get("return"))
                private |= {f"{name}: {result}" for result in given - {*textmargin.__all__} - WIRING}
    assert sorted(private) == []


@pytest.mark.parametrize(("module", "name"), NAMES, ids=lambda word: word.removeprefix("textmargin."))
def test_every_public_name_is_explained(module, name):
    thing = getattr(import_module(module), name)
    assert inspect.getdoc(thing), name
    if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
        assert ">>>" in thing.__doc__, f"{name} has no example"


@pytest.mark.parametrize("module", MODULES)
def test_public_modules_and_their_names_are_on_a_page(module):
    """Names at the top are on the reference, which is made from `__all__`."""
    assert f"`{module}`" in (ROOT / "docs" / "stability.md").read_text("utf-8")
    if module not in ("textmargin", "textmargin.errors"):
        missing = [name for name in import_module(module).__all__ if not re.search(rf"\b{name}\b", PAGES)]
        assert missing == []


def test_every_error_is_in_the_tree_of_errors():
    errors = import_module("textmargin.errors")
    assert [
        name for name in errors.__all__ if not re.search(rf"(── |^ +){name}\b", errors.__doc__, re.M)
    ] == []


@pytest.mark.parametrize("module", MODULES)
def test_a_name_that_is_a_module_too_depends_on_what_was_imported(module):
    """`from package import name` would give the module once somebody has imported it."""
    home = import_module(module)
    submodules = {one.name for one in pkgutil.iter_modules(getattr(home, "__path__", []))}
    assert not submodules & {*home.__all__}


EXTRAS = [
    "bokeh",
    "cupy",
    "dask",
    "distributed",
    "fastapi",
    "matplotlib",
    "onnx",
    "onnxruntime",
    "openpyxl",
    "pandas",
    "polars",
    "psycopg",
    "pyarrow",
    "pymovements",
    "python_calamine",
    "pydantic",
    "sqlalchemy",
    "starlette",
    "torch",
    "uvicorn",
]


def imported_by(code, *modules):
    """Of these modules, those that a fresh process has imported after running the code."""
    code = f"import sys\n{code}\nprint(*[name for name in {modules!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_nothing_public_imports_an_optional_package():
    core = [
        module
        for module in MODULES
        if not module.startswith(("textmargin.desk", "textmargin.scale", "textmargin.serve"))
    ]
    code = (
        f"from importlib import import_module as m\nfor one in {core!r}: [getattr(m(one), name) for "
        "name in m(one).__all__]"
    )
    # pandas, by scikit-learn, where it is there
    of_others = imported_by("import sklearn.utils, scipy.sparse, joblib", *EXTRAS)
    assert {*imported_by(code, *EXTRAS)} <= {*of_others}
    assert {*imported_by("import textmargin.scale, textmargin.desk", *EXTRAS)} <= {*of_others}
    assert imported_by("import textmargin.serve", "fastapi") == ["fastapi"]  # so the way of looking works


def test_import_alone_imports_nothing_heavy():
    assert (
        imported_by(
            "import textmargin", "numpy", "scipy", "sklearn", "joblib", "typer", "rich", "textmargin.core"
        )
        == []
    )
    assert "sklearn" not in imported_by(
        "from textmargin import load_decider, Decider, Decisions, read_table", "sklearn", "numpy"
    )
