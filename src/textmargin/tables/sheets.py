"""Rows of an Excel sheet, with numbers, dates and truth values as such."""

from __future__ import annotations

import datetime
import io
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ..errors import TableError, install_hint
from .delimited import Log, column_names
from .dialect import Dialect, describe, is_data
from .label_values import label_name
from .recognition import refuse_binary
from .rows import Header, Read, SheetRow
from .streams import open_stream

_N_ROWS = 100  # of a sheet that are looked at for a table
_MIDNIGHT = datetime.time()


def sheet_rows(
    path: Path, given: Dialect, log: Log, expected: Collection[str], n_at_once: int
) -> Iterator[list[Read]]:
    """Rows of a spreadsheet in batches; see `read_rows`."""
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        content = b"".join(iter(stream.read, b""))
    if not content.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        refuse_binary(content[:2000], str(path))
    rows, note = _read_sheet(content, str(path), given.sheet)
    first = list(islice(rows, n_at_once))
    if note:
        log(note)
    if not first:
        return
    counts = [_n_filled(values) for _, values in first]
    if counts[0] == 1 < (usual := Counter(counts[1:] or [0]).most_common(1)[0][0]):
        raise TableError(
            f"Row {first[0][0]} of {path} has one value, most of those below it {usual}, so that it does "
            "not name the columns; "
            f"remove what stands above their names."
        )
    texts = [[label_name(value) or "" for value in values] for _, values in first]
    header = not is_data(texts, expected) if given.header is None else given.header
    names = column_names(texts[0], header, log)
    if note := describe(replace(given, header=header), given, names):
        log(note)
    if header and len(first) == 1:
        yield [Header(first[0][0], names)]
    rest = chain(first[1:] if header else first, rows)
    while several := list(islice(rest, n_at_once)):
        yield [SheetRow(number, dict(zip(names, values, strict=True))) for number, values in several]


def _read_sheet(
    content: bytes, name: str, sheet: str | None = None
) -> tuple[Iterator[tuple[int, list[Any]]], str]:
    """The rows of a sheet with their numbers, less those without a value, and what there is to say of the
    choice.

    Parameters
    ----------
    content : bytes
    name : str
        What to call the file in errors.
    sheet : str, default=None
        Its name; by default the first that looks like a table, with two rows of two values, else the first
        that is not empty.
    """
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise TableError(
            f"{name} needs a reader of spreadsheets: {install_hint('excel')}, or save it as CSV."
        ) from error
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        names = book.sheet_names
        if not names:
            raise TableError(f"{name} holds no sheet of cells.")
        if sheet is not None and sheet not in names:
            raise TableError(
                f"{name} has no sheet {sheet!r}. It has {', '.join(map(repr, names))}; choose one with "
                "sheet=."
            )
        chosen = sheet
        if chosen is None:
            filled = [one for one in names if book.get_sheet_by_name(one).height]
            tables = (one for one in filled if _is_table(book.get_sheet_by_name(one).iter_rows()))
            chosen = next(tables, (filled or names)[0])
        own = book.get_sheet_by_name(chosen)
        dates = _date_columns(own.iter_rows())
        rows = own.iter_rows()
    except calamine.PasswordError as error:
        raise TableError(f"{name} is locked with a password; save it without one, or as CSV.") from error
    except (calamine.CalamineError, OSError) as error:
        raise TableError(f"{name} cannot be read as a spreadsheet: {error}.") from error
    note = ""
    if sheet is None and len(names) > 1:
        note = (
            f"sheet {chosen!r} of {', '.join(map(repr, names))}; the others are left out, and sheet= "
            "chooses another"
        )
    values = (
        (number, [_value(value, place in dates) for place, value in enumerate(row)])
        for number, row in enumerate(rows, 1)
    )
    return ((number, row) for number, row in values if _n_filled(row)), note


def _n_filled(row: Iterable[Any]) -> int:
    """How many cells of a row hold something: zero does."""
    return sum(value != "" for value in row)


def _is_table(rows: Iterable[Sequence[Any]]) -> bool:
    return sum(_n_filled(row) >= 2 for row in islice(rows, _N_ROWS)) >= 2


def _date_columns(rows: Iterable[Sequence[Any]]) -> set[int]:
    """Columns whose dates are without a time, all of them; in the others all have one, so that a column is of
    one type.
    """
    places: dict[int, bool] = {}
    for row in rows:
        for place, value in enumerate(row):
            if isinstance(value, datetime.date):
                midnight = not isinstance(value, datetime.datetime) or value.time() == _MIDNIGHT
                places[place] = midnight and places.get(place, True)
    return {place for place, midnight in places.items() if midnight}


def _value(value: Any, is_date: bool) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, datetime.datetime):
        return value.date() if is_date else value
    if isinstance(value, datetime.date) and not is_date:
        return datetime.datetime.combine(value, _MIDNIGHT)
    return value
