"""Rows of a spreadsheet, Excel's or OpenDocument's: values as CSV would have them."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import TableError


def read_sheet(path: Path, sheet: str | None = None) -> tuple[Iterator[tuple[int, list[str]]], str]:
    """The rows of a sheet with their numbers, less those without a value, and what there is to say of the choice.

    Parameters
    ----------
    path : Path
    sheet : str, default=None
        Its name; by default the first that is not empty.
    """
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise TableError(f"{path} needs a reader of spreadsheets: pip install 'textmargin[excel]', or save it as CSV.") from error
    try:
        book = calamine.CalamineWorkbook.from_path(path)
        names = book.sheet_names
        if sheet is not None and sheet not in names:
            raise TableError(f"{path} has no sheet {sheet!r}. It has {', '.join(map(repr, names))}; choose one with sheet=.")
        chosen = next((one for one in names if book.get_sheet_by_name(one).height), names[0]) if sheet is None else sheet
        rows = book.get_sheet_by_name(chosen).iter_rows()
    except calamine.PasswordError as error:
        raise TableError(f"{path} is locked with a password; save it without one, or as CSV.") from error
    except (calamine.CalamineError, OSError) as error:
        raise TableError(f"{path} cannot be read as a spreadsheet: {error}.") from error
    note = f"sheet {chosen!r} of {', '.join(map(repr, names))}" if sheet is None and len(names) > 1 else ""
    values = ((number, [_as_text(value) for value in row]) for number, row in enumerate(rows, start=1))
    return ((number, row) for number, row in values if any(row)), note


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return str(value.date() if value.time() == datetime.time() else value)
    return str(value)
