"""A check as a file: a page that works offline, or a list to sort. Nothing of a text is ever markup, or a
formula.
"""

from __future__ import annotations

import csv
import io
import json
import os
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from .._system.json import jsonable
from .._system.writing import write_whole
from ..errors import SettingError
from .findings import KINDS, DataCheck

SUFFIXES = (".html", ".csv", ".json")
_MOST_SHOWN = 200  # findings of a kind on a page
_MOST_TEXTS = 5  # of one finding
_MOST_CHARACTERS = 240  # of a text
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would compute


def write_check(check: DataCheck, path: str | os.PathLike[str]) -> None:
    """Write what a check found, whole or not at all: a page (.html), a list (.csv) or plain data (.json), by
    the name.

    Parameters
    ----------
    check : DataCheck
    path : where it goes
    """
    write = {".html": to_html, ".csv": to_csv, ".json": to_json}[check_suffix(path)]
    write_whole({Path(path): write(check).encode("utf-8", "replace")})


def check_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix of a name, if it is one of those that can be written."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise SettingError(
            "output", f"must end in {', '.join(SUFFIXES)}, which says what is written; got {str(path)!r}."
        )
    return suffix


def to_html(check: DataCheck) -> str:
    """The page."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["plain"] = _plain
    template = (files("textmargin.check") / "page.html.jinja").read_text(encoding="utf-8")
    return environment.from_string(template).render(
        check=check,
        kinds=[kind for kind in KINDS if kind.name in check.counts],
        most=_MOST_SHOWN,
        n_texts=_MOST_TEXTS,
        n_characters=_MOST_CHARACTERS,
        style=(files("textmargin.report") / "page.css").read_text(encoding="utf-8"),
    )


def to_csv(check: DataCheck) -> str:
    """The list: a row for each text of each finding; what a spreadsheet would take for a formula gets an
    apostrophe.
    """
    columns = [
        "line",
        *["id"] * bool(check.row_ids),
        "kind",
        "label",
        "suggestion",
        "score",
        "reason",
        "text",
        "group",
    ]
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(columns)
    writer.writerows([[_cell(row[name]) for name in columns] for row in check.to_rows()])
    return stream.getvalue()


def to_json(check: DataCheck) -> str:
    """Plain data, NaN as null."""
    return json.dumps(jsonable(check.to_dict()), indent=1, ensure_ascii=False)


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _plain(text: str) -> str:
    """Without characters that HTML does not know."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)
