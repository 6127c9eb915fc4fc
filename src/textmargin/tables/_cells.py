"""Values as cells of CSV and TSV files, and as JSON says them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from datetime import date, time
from typing import Any, Final

from .._system.json import jsonable

SEPARATOR = ";"  # between several labels of one text


class _Missing:
    """No value, in a row that lacks a column that others have."""


MISSING: Final = _Missing()

_STARTS = frozenset("=+-@\t\r")  # what spreadsheets take for the start of a formula
# or a telephone number, or a dash: nothing in it can be run
_NUMBER = re.compile(r"[+-][\d ().,:/%+-]*(?:[eE][+-]?\d+)?")


def cells(column: Sequence[Any]) -> list[Any]:
    """What csv writes for each value: nothing for None and NaN, names of a list joined by ";", JSON for what
    else has parts.
    """
    kinds = {*map(type, column)}
    if kinds <= {str, int, type(None)}:  # which csv writes so by itself
        return list(column)
    if kinds == {float}:
        return ["" if value != value else value for value in column]
    return [_cell(value) for value in column]


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if value is None or value is MISSING or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return SEPARATOR.join(value)
    return encode_json(value) if isinstance(value, dict | list | tuple) else spell(value)


def is_formula(value: Any) -> bool:
    """Whether a spreadsheet would run a cell.

    Examples
    --------
    >>> from textmargin.tables._cells import is_formula
    >>> cells = ("=1+1", "@SUM(A1)", "- nothing works", "-5", "+49 170 1234", "-", "1=2", "")
    >>> [is_formula(cell) for cell in cells]
    [True, True, True, False, False, False, False, False]
    """
    return isinstance(value, str) and value[:1] in _STARTS and not _NUMBER.fullmatch(value)


def defuse(column: list[Any]) -> tuple[list[Any], int]:
    """The same with an apostrophe before what a spreadsheet would run, and how many these are."""
    if _STARTS.isdisjoint({value[:1] for value in column if isinstance(value, str)}):
        return column, 0
    harmless = [f"'{value}" if is_formula(value) else value for value in column]
    return harmless, sum(ours is not own for ours, own in zip(harmless, column, strict=True))


def spell(value: Any) -> Any:
    """A value that JSON lacks, as text: dates by ISO 8601, bytes in base 64."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value if isinstance(value, int | float) else str(value)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=spell).encode
_encode_any = json.JSONEncoder(ensure_ascii=False, default=spell).encode


def encode_json(value: Any) -> str:
    """A line of JSON; NaN is null, and Infinity, which only JSON that had it can have brought, stays."""
    try:
        return _encode(value)
    except ValueError:
        return _encode_any(jsonable(value))
