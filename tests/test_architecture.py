"""What the layout promises."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

import textmargin

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "textmargin"
SOURCES = sorted(PACKAGE.rglob("*.py"))
EVERYBODYS = {
    "_cross_fitting",
    "_fitting",
    "_gathering",
    "_label_forms",
    "_sklearn",
    "_slots",
    "_system",
    "_ties",
    "_typing",
    "_unlabelled",
}  # private to the package, and there for all of it
SKLEARN_PRIVATE = {
    "_check_feature_names",
    "_check_n_features",
    "_count_vocab",
    "_document_frequency",
    "_get_param_names",
    "_get_tags",
    "_limit_features",
    "_more_tags",
    "_sort_features",
    "_validate_data",
    "_validate_ngram_range",
    "_validate_params",
    "_validate_vocabulary",
    "_warn_for_unused_params",
}


def name_of(path):
    return str(path.relative_to(PACKAGE))


def imported(tree):
    """Modules and names that a file imports, as dotted paths."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_private_helpers_of_scikit_learn_come_through_one_door(path):
    private = [
        name for name in imported(ast.parse(path.read_text())) if name.startswith("sklearn.") and "._" in name
    ]
    assert not private or path.name == "_sklearn.py"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_private_methods_of_scikit_learn_come_through_one_door(path):
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    private = names & SKLEARN_PRIVATE
    assert not private or path.name == "_sklearn.py"


def own_imports(path):
    """What a file imports from this package: the name it gets here, and the dotted path below the package."""
    package = path.relative_to(PACKAGE).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            module = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                module = package[: len(package) + 1 - node.level] + module
            elif module[:1] == ("textmargin",):
                module = module[1:]
            else:
                continue
            yield from ((alias.asname or alias.name, (*module, alias.name)) for alias in node.names)
        elif isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
            yield from ((name[-1], name[1:]) for name in names if name[0] == "textmargin")


def private_to_another(path, target):
    """Whether a dotted path leads to something private of a package that a file is not in."""
    private = any(
        name.startswith("_") and not name.startswith("__") and name not in EVERYBODYS for name in target
    )
    return private and target[:1] != path.relative_to(PACKAGE).parts[:-1][:1]


def test_nobody_imports_what_is_private_to_another_package():
    """A contract of import-linter would have to name modules one by one, and knows nothing of names within
    them.
    """
    imports = [(path, target) for path in SOURCES for _, target in own_imports(path)]
    assert len(imports) > 500
    assert [
        f"{name_of(path)}: {'.'.join(target)}" for path, target in imports if private_to_another(path, target)
    ] == []


def test_nobody_reads_a_private_name_of_another_packages_module():
    found = []
    for path in SOURCES:
        modules = dict(own_imports(path))
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in modules
            ):
                target = (*modules[node.value.id], node.attr)
                found += [f"{name_of(path)}: {'.'.join(target)}"] * private_to_another(path, target)
    assert not found


def test_layers_hold():
    """The contract in pyproject.toml, kept by import-linter."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_help_needs_neither_scikit_learn_nor_the_compiled_core():
    code = (
        "import sys, textmargin.cli; print([m for m in ('numpy', 'sklearn', 'textmargin.core') if m in "
        "sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_one_version():
    """It stands in the package, where pyproject.toml finds it; what is cited and what changed are of that
    version.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    place = settings["tool"]["scikit-build"]["metadata"]["version"]["input"]
    found = re.search(r'^__version__ = "(\d+\.\d+\.\d+)"$', (ROOT / place).read_text(), re.M)
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert "version" not in settings["project"]
    assert textmargin.__version__ == found[1] == cited[1] == newest[1]


def test_no_two_public_classes_share_a_name():
    """Who reads a name knows which class is meant, wherever it stands."""
    homes = defaultdict(list)
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(name_of(path))
    assert len(homes) > 150
    shared = {name: paths for name, paths in homes.items() if len(paths) > 1}
    assert shared == {}


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
    assert not options or name.startswith("cli/")


def test_marks_of_a_merge_were_in_a_page():
    marks = ("<" * 7 + " ", ">" * 7 + " ")
    files = [
        path
        for folder in ("src", "docs", "tests", "benchmarks", "examples")
        for path in (ROOT / folder).rglob("*.*")
    ]
    texts = [
        path
        for path in [*files, *ROOT.glob("*.md")]
        if path.suffix in {".py", ".md", ".js", ".css", ".jinja", ".toml"}
    ]
    assert not [
        path.name
        for path in texts
        if any(line.startswith(marks) for line in path.read_text("utf-8").splitlines())
    ]


def test_what_a_run_leaves_behind_was_tracked():
    """A store of kernel values and its lock file stood in the repository."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a checkout")
    left = [
        name
        for name in done.stdout.splitlines()
        if re.search(r"\.(sqlite|tmm|npy|so)$|(^|/)(claims|locks)$", name)
    ]
    assert left == []
