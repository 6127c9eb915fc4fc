"""Tables written batch by batch: CSV, TSV, JSON lines, Parquet or Excel, by the name of the file; whole, or
not at all.

    with open_writer("decided.xlsx") as writer:
        writer.write({"id": [1, 2], "label": ["spam", "ham"]})

Columns are those of the first batch, but in JSON lines, where every row has its own. Memory is that of a
batch.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, TextIO

from .._system.writing import put_whole
from ..errors import OutputError, TableError, TextmarginError
from ._cells import MISSING, cells, defuse, encode_json
from .dialect import DELIMITERS, Dialect
from .rows import EmptyText, Row

WRITABLE = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
}
_TEXT_FORMATS = ("csv", "tsv", "jsonl")


class TableWriter(ABC):
    """Writes columns; see `open_writer`."""

    ragged = False  # whether every row may have other columns

    def __init__(self, path: Path | None) -> None:
        self.path = path  # None of a stream, whose mistakes are its owner's
        self.names: list[str] | None = None
        self.other_names: dict[str, None] = {}  # columns that came too late

    def write(self, columns: Mapping[str, Sequence[Any]], trusted: Collection[str] = ()) -> None:
        """Write further rows.

        Parameters
        ----------
        columns : mapping from names to lists of the same length
        trusted : names of columns, default=()
            Those without formulas, which are written as they are.
        """
        with _failures(self.path):
            if self.names is None:
                self.names = list(columns)
                self._begin(self.names, trusted)
            if not self.ragged and list(columns) != self.names:
                self.other_names |= dict.fromkeys(name for name in columns if name not in self.names)
                blank = [None] * len(next(iter(columns.values()), ()))
                columns = {name: columns.get(name, blank) for name in self.names}
            self._write(columns, trusted)

    def declare(self, example: Mapping[str, Sequence[Any]]) -> None:  # noqa: B027  # most formats have no types
        """What columns would hold, for formats in which a column without values has a type all the same."""

    def write_rows(self, rows: Sequence[Row | EmptyText], ours: Mapping[str, Sequence[Any]]) -> None:
        """Write further rows with columns of ours after their own, or in their place; ours are trusted."""
        self.write({**row_columns(rows), **ours}, trusted=ours.keys())

    @property
    def notes(self) -> list[str]:
        """What is not as it was given, once all is written."""
        if not self.other_names:
            return []
        names = ", ".join(map(repr, list(self.other_names)[:5]))
        return [
            f"columns that the first rows did not have are left out: {names}; JSON lines (.jsonl) have a "
            "place for them"
        ]

    @abstractmethod
    def _begin(self, names: list[str], trusted: Collection[str]) -> None: ...

    @abstractmethod
    def _write(self, columns: Mapping[str, Sequence[Any]], trusted: Collection[str]) -> None: ...

    @abstractmethod
    def close(self) -> None:
        """All is written."""

    def discard(self) -> None:
        """Let go of what is open, whether all was written or nothing is to be; files are removed by
        others.
        """
        self.close()


class TextWriter(TableWriter):
    """Writes lines to a stream, and closes it where it is that of a file."""

    def __init__(self, stream: TextIO, path: Path | None) -> None:
        super().__init__(path)
        self.stream = stream

    @abstractmethod
    def row_lines(self, rows: Sequence[Row | EmptyText], ours: Mapping[str, Sequence[Any]]) -> str:
        """Rows with columns of ours as `write_rows` writes them, where none has others than the first ones
        had.
        """

    def write_lines(self, lines: bytes) -> None:
        """Write further rows that are lines already, in UTF-8, under the names of columns that are known."""
        with _failures(self.path):
            buffer = getattr(self.stream, "buffer", None)
            if buffer is None:  # a stream of text that is in memory
                self.stream.write(lines.decode())
            else:
                self.stream.flush()
                buffer.write(lines)
            self.stream.flush()

    def _put(self, lines: str) -> None:
        self.stream.write(lines)
        self.stream.flush()

    def close(self) -> None:
        """All is written."""
        if self.path is not None:
            self.stream.close()


class DelimitedWriter(TextWriter):
    """CSV or TSV; cells that a spreadsheet would run as formulas get an apostrophe before them."""

    def __init__(self, stream: TextIO, path: Path | None, delimiter: str, keep_formulas: bool) -> None:
        super().__init__(stream, path)
        self.delimiter, self.keep_formulas = delimiter, keep_formulas
        self.form: list[str] = []  # how it is written, where that is not the usual
        self.n_formulas = 0

    def _begin(self, names: list[str], trusted: Collection[str]) -> None:
        self.stream.write(
            self._lines([[name if name in trusted else self._harmless([name])[0] for name in names]])
        )

    def _write(self, columns: Mapping[str, Sequence[Any]], trusted: Collection[str]) -> None:
        self._put(self._column_lines(columns, trusted))

    def row_lines(self, rows: Sequence[Row | EmptyText], ours: Mapping[str, Sequence[Any]]) -> str:
        """Rows with columns of ours, as they are written."""
        return self._column_lines({**row_columns(rows), **ours}, ours.keys())

    def _column_lines(self, columns: Mapping[str, Sequence[Any]], trusted: Collection[str]) -> str:
        ready = [
            cells(column) if name in trusted else self._harmless(cells(column))
            for name, column in columns.items()
        ]
        return self._lines(zip(*ready, strict=True))

    def _lines(self, rows: Iterable[Sequence[Any]]) -> str:
        """A row with a carriage return, which some versions of csv leave bare, has all its text in quotes."""
        rows = list(rows)
        lines = io.StringIO()
        plain = csv.writer(lines, delimiter=self.delimiter, lineterminator="\n")
        plain.writerows(rows)
        if "\r" not in (text := lines.getvalue()):
            return text
        lines.seek(0)
        lines.truncate()
        quoted = csv.writer(
            lines, delimiter=self.delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC
        )
        for row in rows:
            (quoted if any("\r" in cell for cell in row if isinstance(cell, str)) else plain).writerow(row)
        return lines.getvalue()

    def _harmless(self, column: list[Any]) -> list[Any]:
        if self.keep_formulas:
            return column
        column, n = defuse(column)
        self.n_formulas += n
        return column

    @property
    def notes(self) -> list[str]:
        notes = super().notes
        if self.form:
            notes.append(f"written with {', '.join(self.form)}")
        if self.n_formulas:
            what = "cell" if self.n_formulas == 1 else "cells"
            notes.append(
                f"an apostrophe stands before {self.n_formulas:,} {what} that a spreadsheet would run as "
                "a formula; "
                f"keep_formulas=True writes them as they are"
            )
        return notes


class JsonLinesWriter(TextWriter):
    """An object per row."""

    ragged = True

    def _begin(self, names: list[str], trusted: Collection[str]) -> None:
        """Every object has its names."""

    def _write(self, columns: Mapping[str, Sequence[Any]], trusted: Collection[str]) -> None:
        rows = zip(*columns.values(), strict=True)
        objects = (
            {name: value for name, value in zip(columns, row, strict=True) if value is not MISSING}
            for row in rows
        )
        self._put("".join(f"{encode_json(one)}\n" for one in objects))

    def write_rows(self, rows: Sequence[Row | EmptyText], ours: Mapping[str, Sequence[Any]]) -> None:
        """Write further rows, each with its own keys in its own order."""
        with _failures(self.path):
            self._put(self.row_lines(rows, ours))

    def row_lines(self, rows: Sequence[Row | EmptyText], ours: Mapping[str, Sequence[Any]]) -> str:
        """Rows with columns of ours, as they are written."""
        objects = (
            {**row.values, **dict(zip(ours, own, strict=True))}
            for row, *own in zip(rows, *ours.values(), strict=True)
        )
        return "".join(f"{encode_json(one)}\n" for one in objects)


def row_columns(rows: Sequence[Row | EmptyText]) -> dict[str, list[Any]]:
    """The columns of rows, for a writer.

    Examples
    --------
    >>> from textmargin.tables.rows import Row
    >>> from textmargin.tables.writer import row_columns
    >>> row_columns([Row(2, {"id": 7, "text": "no toner"}), Row(3, {"id": 8, "text": "vpn down"})])
    {'id': [7, 8], 'text': ['no toner', 'vpn down']}
    """
    values = [row.values for row in rows]
    # nearly always all have the same columns, and then these are had at once
    if len({*map(len, values)}) == 1:
        with suppress(KeyError):
            return {name: list(map(itemgetter(name), values)) for name in values[0]}
    return {
        name: [one.get(name, MISSING) for one in values]
        for name in dict.fromkeys(name for one in values for name in one)
    }


def output_format(path: str | os.PathLike[str]) -> str:
    """The format that the name of a file to write tells, or a TableError.

    Examples
    --------
    >>> from textmargin.tables.writer import output_format
    >>> output_format("decided.tsv"), output_format("decided.csv.gz")
    ('tsv', 'csv')
    """
    name = Path(path).name.lower()
    file_format = WRITABLE.get(Path(name.removesuffix(".gz")).suffix)
    if file_format is None or (name.endswith(".gz") and file_format not in _TEXT_FORMATS):
        raise TableError(
            f"{path} does not tell a format to write: end its name with .csv, .tsv, .jsonl, .parquet or "
            ".xlsx."
        )
    return file_format


@contextmanager
def open_writer(
    target: str | os.PathLike[str] | TextIO,
    file_format: str | None = None,
    *,
    keep_formulas: bool = False,
    like: str | os.PathLike[str] | None = None,
    dialect: Dialect | None = None,
) -> Iterator[TableWriter]:
    """A writer for a file or a stream, as long as the block lasts; if it ends with an error, no file is
    written.

    Parameters
    ----------
    target : path, or a stream of text, which stays open and gets UTF-8
        Of a path the name tells the format: .csv, .tsv, .jsonl (each also with .gz), .parquet or .xlsx. What
        is there is replaced.
    file_format : str, default=None
        Of a stream: "csv" (the default), "tsv" or "jsonl".
    keep_formulas : bool, default=False
        In CSV and TSV, text that a spreadsheet would take for a formula (it begins with =, +, -, @, a tab or
        a carriage return and is no number) gets an apostrophe before it, unless this is True. In Excel's
        files it is text; other formats are exact.
    like : path, default=None
        A Parquet file whose types its columns have in another one; those of others are what the first 10,000
        rows hold.
    dialect : Dialect, default=None
        How another CSV file is written, as `file_dialect` says: a CSV file has its delimiter, and where it
        was not plain UTF-8 a byte-order mark before its own, which Excel knows UTF-8 by. Not for streams.

    Examples
    --------
    >>> import sys
    >>> from textmargin.tables.writer import open_writer
    >>> with open_writer(sys.stdout) as writer:
    ...     writer.write({"id": [1, 2], "text": ["=1+1", "-5"], "label": [["a", "b"], []]})
    id,text,label
    1,'=1+1,a;b
    2,-5,
    """
    if not isinstance(target, str | os.PathLike):
        # a text may hold what the system's encoding, or any, has no bytes for
        if isinstance(target, io.TextIOWrapper):
            target.reconfigure(encoding="utf-8", errors="backslashreplace")
        yield _text_writer(target, None, file_format or "csv", keep_formulas)
        return
    path = Path(target)
    file_format = output_format(path)
    with ExitStack() as stack:
        with _failures(path):  # but not what goes wrong in the block, which is for others to tell
            file = stack.enter_context(put_whole(path)).open("wb")
            stack.callback(_quietly, file.close)
            writer = _file_writer(file, path, file_format, keep_formulas, like, dialect or Dialect())
            stack.callback(_quietly, writer.discard)
        yield writer
        with _failures(path):
            writer.close()
            file.close()
            stack.close()


def _file_writer(
    file: IO[bytes],
    path: Path,
    file_format: str,
    keep_formulas: bool,
    like: str | os.PathLike[str] | None,
    dialect: Dialect,
) -> TableWriter:
    if file_format == "parquet":
        from ._parquet_writer import ParquetTableWriter

        return ParquetTableWriter(file, path, like)
    if file_format == "xlsx":
        from ._excel_writer import ExcelWriter

        return ExcelWriter(file, path)
    # Packed, it holds neither its name nor the time: the same rows make the same file.
    stream: Any = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if path.suffix.lower() == ".gz" else file
    marked = file_format != "jsonl" and dialect.encoding not in (None, "utf-8", "ascii")
    text = io.TextIOWrapper(
        stream, encoding="utf-8-sig" if marked else "utf-8", errors="backslashreplace", newline=""
    )
    writer = _text_writer(text, path, file_format, keep_formulas)
    if isinstance(writer, DelimitedWriter):
        if file_format == dialect.file_format == "csv" and dialect.delimiter not in (None, ","):
            writer.delimiter = str(dialect.delimiter)
            writer.form.append(DELIMITERS.get(writer.delimiter, repr(writer.delimiter)))
        writer.form += ["UTF-8 with a byte-order mark"] if marked else []
    return writer


def _text_writer(stream: TextIO, path: Path | None, file_format: str, keep_formulas: bool) -> TableWriter:
    if file_format not in _TEXT_FORMATS:
        raise TableError(f"{file_format!r} is none of the formats of a stream: {', '.join(_TEXT_FORMATS)}.")
    if file_format == "jsonl":
        return JsonLinesWriter(stream, path)
    return DelimitedWriter(stream, path, "\t" if file_format == "tsv" else ",", keep_formulas)


def _quietly(close: Callable[[], object]) -> None:
    """Where all went well it is closed already, and where not, what is wrong was said."""
    with suppress(Exception):
        close()


@contextmanager
def _failures(path: Path | None) -> Iterator[None]:
    """What the system refuses, as our own error."""
    try:
        yield
    except OSError as error:
        if path is None or isinstance(error, TextmarginError):
            raise
        raise OutputError(error.errno, error.strerror or str(error), str(path)) from error
