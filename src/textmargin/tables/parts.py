"""A user's files in parts that are read one by one, perhaps elsewhere: row groups of Parquet files, runs of
lines of the others.

The rows and their numbers are those of the whole file. A CSV value may go on over several lines, so the file
is gone through once to cut it between records; a packed file (.gz), and one in UTF-16, is one part.
"""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from .. import core
from ..errors import TableError, install_hint
from .chunks import Chunk, ColumnChunk, RowChunk, record_chunk
from .columns import (
    N_SAMPLE,
    ColumnNames,
    columns_of,
    columns_with,
    find_columns,
    no_column,
    reading_notes,
    spread,
)
from .delimited import filled_lines, first_names, parse_delimited
from .dialect import Dialect, describe, transcodes
from .formats import format_of, open_text, parse_json, parse_line, read_rows
from .json_rows import parse_json_lines
from .label_values import MISSING_LABELS, check_separator, find_flags
from .lines import LONGEST, MOST_BYTES, MOST_LINES, RecordJoiner, batches
from .paths import SUFFIXES, files_of
from .records import suits_core
from .remote import as_path, is_remote
from .row_reader import LabelledTable, RowReader
from .rows import InvalidLine, Read, Row

PART_BYTES = 32_000_000  # of a part, about; read, its texts and rows take several times that
_FORMATS = ("csv", "tsv", "jsonl", "parquet")
_N_PARTS = 3  # that columns are guessed from


@dataclass(frozen=True)
class Part:
    """A part of a file: row groups, or bytes, from `start` to before `end`; `end` None: all of it.

    `n_before` rows, or lines, come before it in the file; rows begin after line `n_header`. The dialect is
    found out.
    """

    path: Path
    dialect: Dialect
    names: tuple[str, ...]
    n_before: int
    start: int
    end: int | None
    n_header: int = 0

    def chunk(self, columns: Sequence[str]) -> Chunk:
        """Its rows; of Parquet with these columns only."""
        if self.dialect.file_format == "parquet":
            return self._row_groups(columns)
        if self.end is None:
            return RowChunk(chain.from_iterable(read_rows(self.path, self.dialect)))
        with self.path.open("rb") as stream:
            stream.seek(self.start)
            content = stream.read(self.end - self.start)
        if self.start == 0:
            content = content.removeprefix(codecs.BOM_UTF8)
        if self.dialect.file_format in ("csv", "tsv") and suits_core(self.dialect):
            return self._records(content)
        if self.dialect.file_format == "jsonl" and self.dialect.encoding == "utf-8" and b"\0" not in content:
            rows = parse_json_lines(content, self.n_before)
            if rows is not None:
                return RowChunk(rows)
        return RowChunk(self._lines(content.split(b"\n")))

    def require(self, columns: Sequence[str], parameter: str) -> None:
        """That it has these columns, as far as that is known without reading it."""
        absent = [name for name in columns if name not in self.names]
        if self.names and self.dialect.file_format != "jsonl" and absent:
            raise TableError(no_column(absent[0], self.names, self.path, parameter))

    def _records(self, content: bytes) -> Chunk:
        """Records that the core reads, below a line that has as many values as there are columns: the first
        record tells.
        """
        delimiter, end = str(self.dialect.delimiter), b"" if content.endswith(b"\n") else b"\n"
        splitter = core.RecordSplitter(ord(delimiter), MOST_LINES, MOST_BYTES)
        parts = [splitter.add(_line_above(delimiter, len(self.names)) + content + end), splitter.finish()]
        n_header = 1 + max(0, self.n_header - self.n_before)
        for records in parts:
            for place in records.unread(n_header):
                if records.line(place)[0] <= n_header:
                    records.leave_out(place)
        chunks = [
            record_chunk(records, list(self.names), delimiter, self.n_before - 1)
            for records in parts
            if len(records)
        ]
        if len(chunks) == 1:
            return chunks[0]
        lines: list[Read] = []
        for chunk in chunks:
            lines += [*chunk.rows(range(len(chunk))), *chunk.invalid]
        return RowChunk(lines)

    def _lines(self, lines: list[bytes]) -> list[Read]:
        csv.field_size_limit(max(LONGEST, csv.field_size_limit()))
        delimiter = _delimiter(self.dialect)
        records = RecordJoiner(delimiter, MOST_LINES, MOST_BYTES, len(self.names))
        records.number = self.n_before
        whole = [*records.add(lines if lines[-1] else lines[:-1]), *records.flush()]
        if delimiter is None:
            return [parse_line(line, str(self.dialect.encoding), parse_json) for line in whole]
        filled = [line for line in whole if line.number > self.n_header and line.content.strip()]
        return parse_delimited(filled, list(self.names), delimiter.decode(), str(self.dialect.encoding))

    def _row_groups(self, columns: Sequence[str]) -> Chunk:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(_parquet_source(self.path)) as file:
                table = file.read_row_groups(
                    list(range(self.start, self.end or 0)), columns=list(columns), use_threads=False
                )
                return ColumnChunk({name: table.column(name).to_pylist() for name in columns}, self.n_before)
        except (pa.ArrowException, OSError) as error:
            raise TableError(f"{self.path} cannot be read as Parquet: {error}.") from error


@dataclass(frozen=True)
class PartedTable:
    """Files in parts, and how their rows are read."""

    name: str
    parts: list[Part]
    reader: RowReader
    skip_invalid: bool
    label_is_guess: bool

    @property
    def columns(self) -> ColumnNames:
        """The columns of the texts and the labels."""
        return self.reader.columns

    def read(self, part: Part, fields: Sequence[str] = ()) -> LabelledTable:
        """The texts and labels of one part, with further columns, as `read_table` reads a whole file."""
        names = list(dict.fromkeys([self.columns.text, *self.columns.labels, *fields]))
        part.require(fields, "fields")
        strict = not self.skip_invalid
        table = self.reader.read_all([part.chunk(names)], self.name, part.path, strict=strict, fields=fields)
        reason = f"the text, column {self.columns.text!r}, is empty"
        lines = [*table.invalid, *(InvalidLine(int(number), reason) for number in table.empty.ids)]
        invalid = [InvalidLine(line.number, f"{line.reason} ({part.path.name})") for line in sorted(lines)]
        return replace(table, invalid=invalid)


def open_parts(
    source: str | os.PathLike[str],
    *,
    text: str | None = None,
    label: str | None = None,
    label_separator: str | None = None,
    missing_labels: Collection[str] = MISSING_LABELS,
    dialect: Dialect | None = None,
    skip_invalid: bool = False,
    known_labels: Collection[Any] = (),
    part_bytes: int = PART_BYTES,
) -> PartedTable:
    """Cut files in parts without reading them; what can be seen without is checked.

    Parameters
    ----------
    source : path of a CSV, TSV, JSON lines or Parquet file, a folder of such files, or a pattern such as
        `texts/*.parquet`; or an
        address of such, as fsspec has them: "s3://bucket/texts"
    text, label, label_separator, missing_labels, dialect, skip_invalid : as in `read_table`
    known_labels : names, default=()
        Labels that texts may have; with some, the files need no column of labels.
    part_bytes : int
        How large a part is, about.
    """
    check_separator(label_separator)
    if source == "-":
        raise TableError("Standard input cannot be cut in parts; name a file, a folder or a pattern.")
    dialect = dialect or Dialect()
    dialect.check()
    formats = (dialect.file_format,) if dialect.file_format in _FORMATS else _FORMATS
    suffixes = [suffix for suffix, name in SUFFIXES.items() if name in formats]
    notes: dict[str, None] = {}  # each once, in order
    parts = [part for path in files_of(source, suffixes) for part in _cut(path, dialect, part_bytes, notes)]
    sample = _sample(parts)
    if not sample:
        raise TableError(f"{source} has no rows.")
    with reading_notes(list(notes)):
        likely = (
            columns_with(columns_of(sample, list(sample[0].values)), known_labels, label_separator)
            if known_labels
            else None
        )
        columns = find_columns(sample, source, text, label, likely=likely)
    columns = replace(columns, notes=[*notes, *columns.notes])
    for part in parts:
        part.require([columns.text], "text")
        part.require(columns.labels, "label")
    flags = find_flags(columns_of(sample, columns.labels), missing_labels) if len(columns.labels) > 1 else {}
    reader = RowReader(columns, label_separator, missing_labels, flags)
    return PartedTable(as_path(source).name, parts, reader, skip_invalid, label is None)


def _sample(parts: Sequence[Part]) -> list[Row]:
    """Rows from the beginning, the middle and the end of the files, and where these are few from other parts;
    all columns.
    """
    first = (
        list(dict.fromkeys(parts[place] for place in (0, len(parts) // 2, len(parts) - 1))) if parts else []
    )
    rows: list[Row] = []
    for part in chain(first, (part for part in parts if part not in first)):
        chunk = part.chunk(part.names)
        rows += chunk.rows(spread(range(len(chunk)), N_SAMPLE // _N_PARTS))
        if len(rows) >= N_SAMPLE // _N_PARTS * len(first):
            break
    return rows


def _cut(path: Path, given: Dialect, part_bytes: int, notes: dict[str, None]) -> Iterator[Part]:
    given = replace(given, file_format=format_of(path, given.file_format))
    if given.file_format == "parquet":
        yield from _cut_row_groups(path, given, part_bytes)
        return
    if given.file_format not in (*_FORMATS, "json"):  # whose lines may be JSON lines
        raise _no_parts(path, given)
    with ExitStack() as stack:
        stream, found = open_text(path, given, stack)
        delimiter = _delimiter(found)
        names: list[str] = []
        n_header = 0
        for batch in batches(stream, delimiter):
            lines = filled_lines(batch, found)
            if lines and delimiter is not None:
                names, _ = first_names(lines, found, stream.name, notes.setdefault)
                n_header = lines[0].number if found.header else lines[0].number - 1
            elif lines:
                row = parse_line(lines[0], "utf-8" if transcodes(found) else str(found.encoding), parse_json)
                names = list(row.values) if isinstance(row, Row) else []
            if lines:
                break
    if found.file_format not in _FORMATS:
        raise _no_parts(path, found)
    if note := describe(found, given, names):
        notes.setdefault(note)
    if stream.packed or transcodes(found):
        yield Part(path, found, tuple(names), 0, 0, None)
        return
    for n_before, start, end in _cut_lines(path, found, len(names), part_bytes):
        yield Part(path, found, tuple(names), n_before, start, end, n_header)


def _no_parts(path: Path, dialect: Dialect) -> TableError:
    return TableError(f"{path}: {dialect.file_format} cannot be read in parts; {', '.join(_FORMATS)} can.")


def _delimiter(dialect: Dialect) -> bytes | None:
    return None if dialect.delimiter is None else dialect.delimiter.encode()


def _line_above(delimiter: str, n_columns: int) -> bytes:
    return (delimiter.join("x" * n_columns) + "\n").encode()


def _cut_lines(
    path: Path, dialect: Dialect, n_columns: int, part_bytes: int
) -> Iterator[tuple[int, int, int]]:
    """Runs of whole records: the lines before, and where they start and end."""
    records = _open_records(dialect, n_columns)
    with path.open("rb") as stream:
        start = n_before = 0
        while chunk := stream.read(part_bytes) + stream.readline():
            n_lines = chunk.count(b"\n")
            if records is not None and b'"' in chunk:
                records.add(chunk)
                while records.pending and (line := stream.readline()):
                    records.add(line)
                    n_lines += 1
            end = stream.tell()
            yield n_before, start, end
            start, n_before = end, n_before + n_lines


def _open_records(dialect: Dialect, n_columns: int) -> core.RecordSplitter | _LineJoiner | None:
    """What tells whether a record goes on behind some lines; None where each line is a record."""
    if dialect.delimiter is None:
        return None
    if not suits_core(dialect):
        return _LineJoiner(RecordJoiner(dialect.delimiter.encode(), MOST_LINES, MOST_BYTES, n_columns))
    splitter = core.RecordSplitter(ord(dialect.delimiter), MOST_LINES, MOST_BYTES)
    splitter.add(_line_above(dialect.delimiter, n_columns))
    return splitter


@dataclass
class _LineJoiner:
    """Python's `RecordJoiner`, asked as the core's."""

    records: RecordJoiner

    def add(self, data: bytes) -> None:
        self.records.add(data.removesuffix(b"\n").split(b"\n"))

    @property
    def pending(self) -> bool:
        return bool(self.records.pending)


def _parquet_source(path: Path) -> Any:
    """What PyArrow reads: a path of this machine, or a stream."""
    return path.open("rb") if is_remote(path) else path


def _cut_row_groups(path: Path, dialect: Dialect, part_bytes: int) -> Iterator[Part]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise TableError(
            f"{path} needs PyArrow, which is not installed: {install_hint('parquet')}."
        ) from error

    try:
        with pq.ParquetFile(_parquet_source(path)) as file:
            names, metadata = tuple(file.schema_arrow.names), file.metadata
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path} cannot be read as Parquet, so nothing was begun: {error}.") from error
    start = n_before = n_bytes = n_rows = 0
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        n_bytes, n_rows = n_bytes + group.total_byte_size, n_rows + group.num_rows
        if n_bytes >= part_bytes or i + 1 == metadata.num_row_groups:
            yield Part(path, dialect, names, n_before, start, i + 1)
            start, n_before, n_bytes, n_rows = i + 1, n_before + n_rows, 0, 0
