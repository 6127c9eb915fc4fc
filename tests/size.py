"""Lines of code by package, beside the budget in pyproject.toml: `python tests/size.py`; `--lower` writes the
totals reached into pyproject.toml.

Code is what is left without blank lines, comments and docstrings. Of C++, CUDA and headers every line counts;
of the desk's page, every line that holds more than a comment.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETTINGS = ROOT / "pyproject.toml"
NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def python_lines(path: Path) -> int:
    """Lines of a Python file that hold code."""
    text = path.read_text("utf-8")
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and ast.get_docstring(node, clean=False) is not None:
            lines.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


def page_lines(path: Path) -> int:
    """Lines of JavaScript, CSS or HTML that hold more than a comment."""
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    return sum(1 for line in lines if line and not line.startswith(("//", "/*", "*")))


def packages() -> dict[str, tuple[int, int]]:
    """Files and lines of code of each package."""
    source = ROOT / "src" / "textmargin"
    found = defaultdict(list)
    for path in source.rglob("*.py"):
        parts = path.relative_to(source).parts
        found["root and model" if len(parts) == 1 or parts[0] == "model" else parts[0]].append(path)
    return {name: (len(paths), sum(map(python_lines, paths))) for name, paths in found.items()}


def totals(sizes: dict[str, tuple[int, int]]) -> dict[str, int]:
    """What the project has in all."""
    page = (ROOT / "src" / "textmargin" / "desk").rglob("*")
    core = (path for path in (ROOT / "src" / "core").rglob("*") if path.suffix in (".cpp", ".hpp", ".h"))
    prose = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    return {
        "Python": sum(code for _, code in sizes.values()),
        "Python files": sum(files for files, _ in sizes.values()),
        "desk page": sum(
            map(page_lines, (p for p in page if p.suffix in (".js", ".css", ".html", ".jinja")))
        ),
        "C++": sum(len(path.read_text("utf-8").splitlines()) for path in core),
        "tests": sum(map(python_lines, (ROOT / "tests").rglob("*.py"))),
        "words of docs": sum(len(path.read_text("utf-8").split()) for path in prose),
    }


def table() -> str:
    """Package, files, code and budget; then the totals, what was last reached, and the budget."""
    settings = tomllib.loads(SETTINGS.read_text("utf-8"))["tool"]["textmargin"]["size"]
    sizes = packages()
    rows = [f"{'package':<16}{'files':>7}{'code':>9}{'budget':>9}"]
    for name, (files, code) in sorted(sizes.items(), key=lambda item: -item[1][1]):
        rows.append(f"{name:<16}{files:>7}{code:>9,}{settings['budget'].get(name, 0):>9,}")
    rows.append(f"{'total':<16}{'reached':>7}{'now':>9}{'budget':>9}")
    for name, value in totals(sizes).items():
        rows.append(f"{name:<14}{settings['reached'][name]:>9,}{value:>9,}{settings['goal'][name]:>9,}")
    return "\n".join(rows)


def lower() -> None:
    """Write the totals of today into pyproject.toml as those that no change may exceed."""
    text = SETTINGS.read_text("utf-8")
    head, section = text.split("[tool.textmargin.size.reached]\n", 1)
    for name, value in totals(packages()).items():
        section = re.sub(rf'^("?{re.escape(name)}"?) = \d+', rf"\1 = {value}", section, count=1, flags=re.M)
    SETTINGS.write_text(f"{head}[tool.textmargin.size.reached]\n{section}", "utf-8")


if __name__ == "__main__":
    if "--lower" in sys.argv:
        lower()
    print(table())
