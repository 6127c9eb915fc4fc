"""What is read of a file: rows, with a text or without, lines that cannot be read, and blank ones; a header
that has no rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias


class Row(NamedTuple):
    """Values by column, and the number of the line (row, file) they came from, from 1."""

    number: int
    values: dict[str, Any]


class SheetRow(Row):
    """Of a spreadsheet, which makes a number or a date of a text that looks like one."""

    __slots__ = ()


class EmptyText(NamedTuple):
    """A row whose text is empty."""

    number: int
    values: dict[str, Any]


class InvalidLine(NamedTuple):
    """A line that cannot be read, and why."""

    number: int
    reason: str


class Blank(NamedTuple):
    """A line with nothing on it."""

    number: int


class Header(NamedTuple):
    """The names of the columns, where no row has them; the number is that of the last line."""

    number: int
    names: list[str]


Read: TypeAlias = Row | EmptyText | InvalidLine | Blank | Header
