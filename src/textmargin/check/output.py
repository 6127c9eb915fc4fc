"""A check as a file: a list to sort, in which nothing of a text is a formula, or plain data."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

from .._system.json import jsonable
from .._system.writing import write_whole
from ..errors import SettingError
from .findings import DataCheck

SUFFIXES = (".csv", ".json")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would compute


def write_check(check: DataCheck, path: str | os.PathLike[str]) -> None:
    """Write what a check found, whole or not at all: a list (.csv) or plain data (.json), by the name.

    Parameters
    ----------
    check : DataCheck
    path : where it goes
    """
    write = {".csv": to_csv, ".json": to_json}[check_suffix(path)]
    write_whole({Path(path): write(check).encode("utf-8", "replace")})


def check_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix of a name, if it is one of those that can be written."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise SettingError(
            "output", f"must end in {', '.join(SUFFIXES)}, which says what is written; got {str(path)!r}."
        )
    return suffix


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
