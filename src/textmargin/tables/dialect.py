"""How a file is written: its format, encoding, delimiter and header."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """How a file is written; what is None is found out.

    Parameters
    ----------
    file_format : str, default=None
        One of `FORMATS`.
    encoding : str, default=None
    delimiter : str, default=None
        What stands between the values of a line.
    header : bool, default=None
        Whether the first line names the columns; where it does not, they are called "1", "2", ….
    sheet : str, default=None
        Of a spreadsheet with several; by default the first that is not empty.

    Examples
    --------
    >>> from textmargin.tables.dialect import Dialect
    >>> Dialect(delimiter=";", encoding="cp1252").delimiter
    ';'
    """

    file_format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    sheet: str | None = None
