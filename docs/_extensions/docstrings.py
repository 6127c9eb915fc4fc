"""Docstrings here set formulas apart by indenting them; for reStructuredText they become literal blocks."""

from __future__ import annotations

import re
from typing import Any


def literal_formulas(lines: list[str]) -> list[str]:
    """The lines, with `::` before every indented block that follows a paragraph and a blank line outside of
    any section.
    """
    done: list[str] = []
    in_section = False
    for index, line in enumerate(lines):
        underline = bool(re.fullmatch(r"-{3,}", line.strip()))
        in_section = in_section or underline
        before = next((one for one in reversed(done) if one.strip()), "")
        opens = (
            not in_section
            and line.startswith("    ")
            and index > 0
            and not lines[index - 1].strip()
            and before
            and not before.startswith((" ", "..", "-", "*"))
            and not before.endswith("::")
        )
        if opens:
            done += ["::", ""]
        done.append(line)
    return done


def _process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = literal_formulas(lines)


def _skip(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn gives every estimator for metadata routing."""
    return True if name.endswith("_request") or name == "get_metadata_routing" else None


def setup(app: Any) -> dict[str, bool]:
    """Before numpydoc reads the sections."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _process, priority=100)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
