"""A user's files in parts that are read one by one, perhaps elsewhere: row groups of Parquet files, runs of lines of the others.

The rows and their numbers are those of the whole file. A CSV value may go on over several lines, so the file is gone through once
to cut it between records; a packed file (.gz) is one part.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ..datasets.corpus import Corpus
from ..errors import TableError
from .columns import LOOKED_AT, Columns, Table, find_columns, labels_of, no_column, text_of
from .formats import _SUFFIXES, BadLine, Blank, Read, Row, _checked_encoding, _decoded, _json, _together, format_of, read_rows
from .lines import LONGEST, MOST_BYTES, MOST_LINES, _Records
from .paths import files_of

PART_BYTES = 32_000_000  # of a part, about; read, its texts and rows take several times that
_KINDS = ("csv", "tsv", "jsonl", "parquet")
_DELIMITERS = {"csv": b",", "tsv": b"\t", "jsonl": None}


@dataclass(frozen=True)
class Part:
    """A part of a file: row groups, or bytes, from `start` to before `end`; `end` None: all of it.

    `n_before` rows, or lines, come before it in the file.
    """

    path: Path
    kind: str
    encoding: str
    names: tuple[str, ...]
    n_before: int
    start: int
    end: int | None

    def rows(self, columns: Sequence[str]) -> list[Read]:
        """Its rows; of Parquet with these columns only."""
        if self.kind == "parquet":
            return self._row_groups(columns)
        if self.end is None:
            return list(chain.from_iterable(read_rows(self.path, self.kind, self.encoding)))
        csv.field_size_limit(max(LONGEST, csv.field_size_limit()))
        with self.path.open("rb") as stream:
            stream.seek(self.start)
            lines = stream.read(self.end - self.start).split(b"\n")
        delimiter = _DELIMITERS[self.kind]
        records = _Records(delimiter, MOST_LINES, MOST_BYTES)
        records.number = self.n_before
        found = [*records.of(lines if lines[-1] else lines[:-1]), *records.left()]
        if delimiter is None:
            return [_decoded(line, self.encoding, _json) for line in found]
        lines_left = [line for line in found if line.content.strip()]
        if self.n_before == 0:
            lines_left = lines_left[1:]  # the names of the columns
        return _together(lines_left, list(self.names), delimiter.decode(), self.encoding)

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
    columns: Columns
    separator: str | None
    skip_bad: bool
    guessed: bool  # whether the column of the labels is a guess

    def read(self, part: Part) -> Table:
        """The texts and labels of one part, as `read_table` reads a whole file."""
        text, label = self.columns.text, self.columns.label
        texts, labels, numbers, bad = [], [], [], []
        for row in part.rows([text, label] if label else [text]):
            try:
                if isinstance(row, Row):
                    own = text_of(row, text), labels_of(row, label, self.separator) if label else ""
                    texts.append(own[0])
                    labels.append(own[1])
                    numbers.append(str(row.number))
                elif isinstance(row, BadLine):
                    bad.append(row)
            except ValueError as error:
                bad.append(BadLine(row.number, str(error)))
            if bad and not self.skip_bad:
                raise TableError(
                    f"Line {bad[0].number:,} of {part.path}: {bad[0].reason}. Mend it, or leave such lines out with --skip-bad."
                )
        bad = [BadLine(one.number, f"{one.reason} ({part.path.name})") for one in bad]
        return Table(Corpus(self.name, texts, labels, ids=numbers), [], bad, text)


def open_parts(
    source: str | os.PathLike[str],
    *,
    text: str | None = None,
    label: str | None = None,
    separator: str | None = None,
    kind: str | None = None,
    encoding: str = "utf-8",
    skip_bad: bool = False,
    part_bytes: int = PART_BYTES,
) -> PartedTable:
    """Cut files in parts without reading them; what can be seen without is checked.

    Parameters
    ----------
    source : path of a CSV, TSV, JSON lines or Parquet file, a folder of such files, or a pattern such as "texts/*.parquet"
    text, label, separator, kind, encoding, skip_bad : as in `read_table`
    part_bytes : int
        How large a part is, about.
    """
    if separator == "":
        raise TableError("--separator '' is empty; say what stands between several labels of one text, as in --separator ';'.")
    if source == "-":
        raise TableError("Standard input cannot be cut in parts; name a file, a folder or a pattern.")
    suffixes = [suffix for suffix, own in _SUFFIXES.items() if own in ([kind] if kind in _KINDS else _KINDS)]
    parts = [part for path in files_of(source, suffixes) for part in _cut(path, kind, encoding, part_bytes)]
    first = list(islice((row for part in parts for row in _first_rows(part) if isinstance(row, Row)), LOOKED_AT))
    if not first:
        raise TableError(f"{source} has no rows.")
    columns = find_columns(first, source, text, label, labelled=True)
    for part in parts:
        for name, option in ((columns.text, "--text"), (columns.label, "--label")):
            if part.names and part.kind != "jsonl" and name not in part.names:
                raise TableError(no_column(str(name), part.names, part.path, option))
    return PartedTable(Path(source).name, parts, columns, separator, skip_bad, label is None)


def _cut(path: Path, kind: str | None, encoding: str, part_bytes: int) -> Iterator[Part]:
    kind, encoding = format_of(path, kind), _checked_encoding(encoding)
    if kind not in _KINDS:
        raise TableError(f"{path}: {kind} cannot be read in parts; {', '.join(_KINDS)} can.")
    if kind == "parquet":
        yield from _cut_row_groups(path, encoding, part_bytes)
        return
    whole = Part(path, kind, encoding, (), 0, 0, None)
    names = tuple(next((row.values for row in _first_rows(whole) if isinstance(row, Row)), {}))
    if path.suffix == ".gz":
        yield Part(path, kind, encoding, names, 0, 0, None)
        return
    for n_before, start, end in _cut_lines(path, _DELIMITERS[kind], part_bytes):
        yield Part(path, kind, encoding, names, n_before, start, end)


def _cut_lines(path: Path, delimiter: bytes | None, part_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Runs of whole records: the lines before, and where they start and end."""
    records = _Records(delimiter, MOST_LINES, MOST_BYTES)
    with path.open("rb") as stream:
        start = n_before = 0
        while chunk := stream.read(part_bytes) + stream.readline():
            n_lines = chunk.count(b"\n")
            if delimiter is not None and b'"' in chunk:
                records.of(chunk.removesuffix(b"\n").split(b"\n"))
                while records.pending and (line := stream.readline()):
                    records.of([line.removesuffix(b"\n")])
                    n_lines += 1
            end = stream.tell()
            yield n_before, start, end
            start, n_before = end, n_before + n_lines


def _cut_row_groups(path: Path, encoding: str, part_bytes: int) -> Iterator[Part]:
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
            yield Part(path, "parquet", encoding, names, n_before, start, i + 1)
            start, n_before, n_bytes, n_rows = i + 1, n_before + n_rows, 0, 0


def _first_rows(part: Part) -> list[Read]:
    """Some rows of a part with all columns."""
    rows: Any = chain.from_iterable(read_rows(part.path, part.kind, part.encoding)) if part.start == 0 else ()
    return [row for row in islice(rows, LOOKED_AT) if not isinstance(row, Blank)]
