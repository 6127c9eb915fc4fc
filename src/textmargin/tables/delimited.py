"""Rows of lines whose values have a delimiter between them: CSV, TSV and their kin."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from typing import TypeAlias

from ..errors import TableError
from .dialect import Dialect, separator_line, transcodes
from .encodings import display_name
from .lines import LONGEST, Line
from .rows import InvalidLine, Read, Row

CARRIAGE_RETURN = (
    "a carriage return stands inside the line; if all lines end with one, turn them into "
    "newlines: tr '\\r' '\\n'"
)
_CSV_REASONS = {
    "new-line character seen": CARRIAGE_RETURN,
    "unexpected end of data": "the quote that opens a value is never closed, or the lines up to its "
    "closing one are no row",
    "expected after": "a value goes on after its closing quote; inside a quoted value, quotes are doubled",
}
_MOST_COLUMNS = 10_000  # beyond, a file is no table: each of its rows would be a mapping of as many
_MOST_NAMED = 1_000  # columns that are spoken of
Log: TypeAlias = Callable[[str], None]


def parse_encoding(dialect: Dialect) -> str:
    """Of the lines as they are when they are parsed."""
    return "utf-8" if transcodes(dialect) else str(dialect.encoding)


def decode_line(content: bytes, encoding: str) -> str:
    """A line as text; ValueError where it is none."""
    if b"\0" in content:
        raise ValueError("it holds zero bytes")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(
            f"byte {error.start + 1} (0x{byte:02x}) is not {display_name(encoding)}; name the encoding "
            "with encoding="
        ) from error


def parse_delimited(lines: list[Line], names: list[str], delimiter: str, encoding: str) -> list[Read]:
    """Rows of many lines at once, which is several times faster; one by one where something is wrong with one
    of them.
    """
    try:
        content = b"\n".join(line.content for line in lines)
        rows = (
            _split([line.content.decode(encoding) for line in lines], delimiter)
            if b"\0" not in content
            else []
        )
    except (UnicodeDecodeError, csv.Error):
        rows = []
    n = len(names)
    if len(rows) == len(lines) and all(len(values) == n for values in rows):
        return [Row(line.number, dict(zip(names, values))) for line, values in zip(lines, rows)]  # noqa: B905  # known to be alike
    return [_parse_one(line, names, delimiter, encoding) for line in lines]


def filled_lines(lines: list[Line], dialect: Dialect) -> list[Line]:
    """Those that are not blank, less one that is there to name the delimiter."""
    filled = [line for line in lines if line.content.strip()]
    named = filled and separator_line(filled[0].content.decode(parse_encoding(dialect), "replace"))
    return filled[1:] if named else filled


def first_names(lines: list[Line], dialect: Dialect, name: str, log: Log) -> tuple[list[str], list[Line]]:
    """The names of the columns, and the lines that are rows.

    Parameters
    ----------
    lines : the first lines of a file, none of them blank
    dialect : Dialect, found out
    name : what to call the file in errors
    log : gets to know of names that were changed
    """
    csv.field_size_limit(max(LONGEST, csv.field_size_limit()))
    delimiter, encoding = str(dialect.delimiter), parse_encoding(dialect)
    try:
        (values,) = _split([decode_line(lines[0].content, encoding)], delimiter)
    except (ValueError, csv.Error) as error:
        raise TableError(f"The first line of {name} should name the columns: {_reason(error)}.") from error
    if len(values) > _MOST_COLUMNS:
        raise TableError(
            f"The first line of {name} has {len(values):,} values, more than the {_MOST_COLUMNS:,} "
            "columns that a table may "
            f"have; is {delimiter!r} what stands between values? Name another with delimiter=, or keep "
            "fewer columns."
        )
    names = column_names(values, bool(dialect.header), log)
    return names, lines[1:] if dialect.header else lines


def _parse_one(line: Line, names: list[str], delimiter: str, encoding: str) -> Read:
    try:
        (values,) = _split([decode_line(line.content, encoding)], delimiter)
    except (ValueError, csv.Error) as error:
        return InvalidLine(line.number, _reason(error))
    if len(values) != len(names):
        return InvalidLine(
            line.number, f"{len(values)} values for {len(names)} columns ({', '.join(names[:6])})"
        )
    return Row(line.number, dict(zip(names, values, strict=True)))


def _split(lines: list[str], delimiter: str) -> list[list[str]]:
    return list(csv.reader(lines, delimiter=delimiter, strict=True))


def _reason(error: Exception) -> str:
    """What csv says, in other words where its own would not help."""
    return next((words for part, words in _CSV_REASONS.items() if part in str(error)), str(error))


def column_names(values: list[str], header: bool, log: Log) -> list[str]:
    """Of a header, less blanks; a column without a name is called by its number, and the second of a name
    "name 2".
    """
    if not header:
        return [str(number) for number in range(1, len(values) + 1)]
    names: dict[str, None] = {}
    # how far the numbers of a name have come: of many alike each is tried once
    counts: Counter[str] = Counter()
    for number, value in enumerate(values, start=1):
        name = own = value.strip() or str(number)
        while own in names:
            counts[name] = max(counts[name], 1) + 1
            own = f"{name} {counts[name]}"
        if own != name and len(names) < _MOST_NAMED:
            log(f"column {number} is another {name!r}, here called {own!r}")
        names[own] = None
    return list(names)
