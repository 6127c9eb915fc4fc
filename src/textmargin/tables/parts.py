"""A user's files in parts that are read one by one, perhaps elsewhere: row groups of Parquet files, runs of lines of the others.

The rows and their numbers are those of the whole file. A CSV value may go on over several lines, so the file is gone through once
to cut it between records; a packed file (.gz) is one part.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ..errors import TableError
from .columns import N_SAMPLE, ColumnNames, find_columns, no_column
from .dialect import Dialect
from .formats import (
    SUFFIXES,
    Blank,
    InvalidLine,
    Read,
    Row,
    check_encoding,
    format_of,
    parse_delimited,
    parse_json,
    parse_line,
    read_rows,
)
from .lines import LONGEST, MOST_BYTES, MOST_LINES, RecordJoiner
from .paths import files_of
from .reader import LabelledTable, RowReader, check_separator

PART_BYTES = 32_000_000  # of a part, about; read, its texts and rows take several times that
_FORMATS = ("csv", "tsv", "jsonl", "parquet")
_DELIMITERS = {"csv": b",", "tsv": b"\t", "jsonl": None}


@dataclass(frozen=True)
class Part:
    """A part of a file: row groups, or bytes, from `start` to before `end`; `end` None: all of it.

    `n_before` rows, or lines, come before it in the file.
    """

    path: Path
    dialect: Dialect
    names: tuple[str, ...]
    n_before: int
    start: int
    end: int | None

    def rows(self, columns: Sequence[str]) -> list[Read]:
        """Its rows; of Parquet with these columns only."""
        if self.dialect.file_format == "parquet":
            return self._row_groups(columns)
        if self.end is None:
            return list(chain.from_iterable(read_rows(self.path, self.dialect)))
        csv.field_size_limit(max(LONGEST, csv.field_size_limit()))
        with self.path.open("rb") as stream:
            stream.seek(self.start)
            lines = stream.read(self.end - self.start).split(b"\n")
        delimiter = _DELIMITERS[str(self.dialect.file_format)]
        records = RecordJoiner(delimiter, MOST_LINES, MOST_BYTES)
        records.number = self.n_before
        whole = [*records.add(lines if lines[-1] else lines[:-1]), *records.flush()]
        if delimiter is None:
            return [parse_line(line, str(self.dialect.encoding), parse_json) for line in whole]
        filled = [line for line in whole if line.content.strip()]
        if self.n_before == 0:
            filled = filled[1:]  # the names of the columns
        return parse_delimited(filled, list(self.names), delimiter.decode(), str(self.dialect.encoding))

    def _row_groups(self, columns: Sequence[str]) -> list[Read]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(self.path) as file:
                batches = file.iter_batches(row_groups=list(range(self.start, self.end or 0)), columns=list(columns))
                values = chain.from_iterable(batch.to_pylist() for batch in batches)
                return [Row(number, row) for number, row in enumerate(values, start=self.n_before + 1)]
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

    def read(self, part: Part) -> LabelledTable:
        """The texts and labels of one part, as `read_table` reads a whole file."""
        names = [name for name in (self.columns.text, self.columns.label) if name is not None]
        table = self.reader.read_all(part.rows(names), self.name, part.path, strict=not self.skip_invalid)
        invalid = [InvalidLine(line.number, f"{line.reason} ({part.path.name})") for line in table.invalid]
        return replace(table, invalid=invalid)


def open_parts(
    source: str | os.PathLike[str],
    *,
    text: str | None = None,
    label: str | None = None,
    label_separator: str | None = None,
    dialect: Dialect | None = None,
    skip_invalid: bool = False,
    part_bytes: int = PART_BYTES,
) -> PartedTable:
    """Cut files in parts without reading them; what can be seen without is checked.

    Parameters
    ----------
    source : path of a CSV, TSV, JSON lines or Parquet file, a folder of such files, or a pattern such as "texts/*.parquet"
    text, label, label_separator, dialect, skip_invalid : as in `read_table`
    part_bytes : int
        How large a part is, about.
    """
    check_separator(label_separator)
    if source == "-":
        raise TableError("Standard input cannot be cut in parts; name a file, a folder or a pattern.")
    dialect = dialect or Dialect()
    file_format = dialect.file_format
    formats = (file_format,) if file_format in _FORMATS else _FORMATS
    suffixes = [suffix for suffix, name in SUFFIXES.items() if name in formats]
    parts = [part for path in files_of(source, suffixes) for part in _cut(path, dialect, part_bytes)]
    first = list(islice((row for part in parts for row in _first_rows(part) if isinstance(row, Row)), N_SAMPLE))
    if not first:
        raise TableError(f"{source} has no rows.")
    columns = find_columns(first, source, text, label, labelled=True)
    for part in parts:
        for name, parameter in ((columns.text, "text"), (columns.label, "label")):
            if part.names and part.dialect.file_format != "jsonl" and name not in part.names:
                raise TableError(no_column(str(name), part.names, part.path, parameter))
    return PartedTable(Path(source).name, parts, RowReader(columns, label_separator), skip_invalid, label is None)


def _cut(path: Path, dialect: Dialect, part_bytes: int) -> Iterator[Part]:
    file_format = format_of(path, dialect.file_format)
    dialect = replace(dialect, file_format=file_format, encoding=check_encoding(dialect.encoding or "utf-8"))
    if file_format not in _FORMATS:
        raise TableError(f"{path}: {file_format} cannot be read in parts; {', '.join(_FORMATS)} can.")
    if file_format == "parquet":
        yield from _cut_row_groups(path, dialect, part_bytes)
        return
    whole = Part(path, dialect, (), 0, 0, None)
    names = tuple(next((row.values for row in _first_rows(whole) if isinstance(row, Row)), {}))
    if path.suffix == ".gz":
        yield Part(path, dialect, names, 0, 0, None)
        return
    for n_before, start, end in _cut_lines(path, _DELIMITERS[file_format], part_bytes):
        yield Part(path, dialect, names, n_before, start, end)


def _cut_lines(path: Path, delimiter: bytes | None, part_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Runs of whole records: the lines before, and where they start and end."""
    records = RecordJoiner(delimiter, MOST_LINES, MOST_BYTES)
    with path.open("rb") as stream:
        start = n_before = 0
        while chunk := stream.read(part_bytes) + stream.readline():
            n_lines = chunk.count(b"\n")
            if delimiter is not None and b'"' in chunk:
                records.add(chunk.removesuffix(b"\n").split(b"\n"))
                while records.pending and (line := stream.readline()):
                    records.add([line.removesuffix(b"\n")])
                    n_lines += 1
            end = stream.tell()
            yield n_before, start, end
            start, n_before = end, n_before + n_lines


def _cut_row_groups(path: Path, dialect: Dialect, part_bytes: int) -> Iterator[Part]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise TableError(f"{path} needs PyArrow, which is not installed: pip install 'textmargin[parquet]'.") from error

    try:
        with pq.ParquetFile(path) as file:
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


def _first_rows(part: Part) -> list[Read]:
    """Some rows of a part with all columns."""
    rows: Any = chain.from_iterable(read_rows(part.path, part.dialect)) if part.start == 0 else ()
    return [row for row in islice(rows, N_SAMPLE) if not isinstance(row, Blank)]
