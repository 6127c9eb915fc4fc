"""Rows into the only sheet of an Excel file, each written as it comes; text is text there, and never a
formula.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import IO, Any

from ..errors import TableError, install_hint
from ._cells import cells
from .writer import TableWriter

_MOST_ROWS = 1_048_576  # of a sheet, with the names of the columns
_MOST_CHARACTERS = 32_767  # of a cell
_MOST_DIGITS = 10**15  # of a whole number, which Excel would round
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # what XML cannot say


class ExcelWriter(TableWriter):
    """Needs openpyxl; a cell too long is cut, and what it cannot hold replaced, and both are counted."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        super().__init__(path)
        try:
            from openpyxl import Workbook
            from openpyxl.cell import WriteOnlyCell
        except ImportError as error:
            raise TableError(
                f"{path} needs openpyxl, which is not installed: {install_hint('excel')}."
            ) from error
        self.file = file
        self.cell_type = WriteOnlyCell
        self.book = Workbook(write_only=True)
        self.sheet: Any = self.book.create_sheet("decisions")
        self.n_rows = self.n_long = self.n_control = 0

    def _begin(self, names: list[str], trusted: Collection[str]) -> None:
        self._append([[self._text(name) for name in names]])

    def _write(self, columns: Mapping[str, Sequence[Any]], trusted: Collection[str]) -> None:
        self._append(
            zip(*([self._cell(value) for value in column] for column in columns.values()), strict=True)
        )

    def _append(self, rows: Any) -> None:
        for row in rows:
            self.n_rows += 1
            if self.n_rows > _MOST_ROWS:
                raise TableError(
                    f"{self.path}: a sheet of Excel has room for {_MOST_ROWS - 1:,} rows; write .csv or "
                    ".parquet."
                )
            self.sheet.append(row)

    def _cell(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None if math.isnan(value) else self._text(str(value))
        if isinstance(value, datetime | time) and value.tzinfo is not None:
            return value.isoformat()
        if (
            value is None
            or isinstance(value, date | time | timedelta)
            or (isinstance(value, int) and abs(value) < _MOST_DIGITS)
        ):
            return value
        return self._text(str(cells([value])[0]))

    def _text(self, value: str) -> Any:
        if _CONTROL.search(value):
            value = _CONTROL.sub("\ufffd", value)
            self.n_control += 1
        if len(value) > _MOST_CHARACTERS:
            value = value[:_MOST_CHARACTERS]
            self.n_long += 1
        if value[:1] not in ("=", "#"):
            return value
        cell = self.cell_type(self.sheet, value)
        cell.data_type = "s"  # openpyxl takes it for a formula, or for an error such as #N/A
        return cell

    @property
    def notes(self) -> list[str]:
        notes = super().notes
        if self.n_long:
            notes.append(
                f"cells cut to {_MOST_CHARACTERS:,} characters, the most that Excel takes: {self.n_long:,}"
            )
        if self.n_control:
            notes.append(
                f"cells with characters that Excel cannot hold, written as \ufffd: {self.n_control:,}"
            )
        return notes

    def close(self) -> None:
        """All is written."""
        self.book.save(self.file)

    def discard(self) -> None:
        """Let go of what is open."""
        self.sheet.close()
