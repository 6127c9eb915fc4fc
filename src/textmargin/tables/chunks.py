"""Rows of a whole file, chunk by chunk and column by column.

Records of CSV and TSV in UTF-8 stay bytes, and the core gives the values of the columns that are asked for.
Where one is a row and not plain, its chunk is read by `delimited`, as other files are by `formats`; tests
hold both to the same tables.
"""

from __future__ import annotations

import os
from bisect import bisect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import accumulate
from typing import Any, TypeAlias

from .. import core
from .delimited import Log, filled_lines, first_names, parse_delimited
from .dialect import Dialect, describe
from .formats import TEXT_FORMATS, open_text, read_rows, text_rows, with_format
from .lines import LONGEST, MOST_BYTES, MOST_LINES, Line, line_too_long
from .rows import InvalidLine, Read, Row
from .streams import ByteStream

Columns: TypeAlias = Mapping[str, Sequence[str]]  # the values of a chunk, by name
_NONE: Columns = {}
_BLOCK = 1 << 16


class RowChunk:
    """Rows that are there, and lines between them that cannot be read."""

    def __init__(self, lines: Iterable[Read]) -> None:
        lines = list(lines)
        self._rows = [row for row in lines if isinstance(row, Row)]
        self.invalid = [row for row in lines if isinstance(row, InvalidLine)]

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self, which: Sequence[int], there: Columns = _NONE) -> list[Row]:
        """Those at these places."""
        return [self._rows[k] for k in which]

    def numbers(self) -> list[int]:
        """Of their lines."""
        return [row.number for row in self._rows]

    def values(self, name: str) -> list[Any]:
        """Of a column, None where a row lacks it."""
        return [row.values.get(name) for row in self._rows]

    distinct = values  # 1 and True are equal, and not the same label


class RecordChunk:
    """Records that are plain, whose values are strings; the questions are those to a `RowChunk`.

    Parameters
    ----------
    records : core.Records, read
    names : of the columns
    delimiter : str
    invalid : lines between them that cannot be read
    n_before : int, default=0
        Lines of the file before these.
    """

    def __init__(
        self,
        records: core.Records,
        names: list[str],
        delimiter: str,
        invalid: list[InvalidLine],
        n_before: int = 0,
    ) -> None:
        self._records, self._names, self._delimiter, self.invalid = records, names, delimiter, invalid
        self._n, self._n_before = len(records.rows), n_before

    def __len__(self) -> int:
        return self._n

    def rows(self, which: Sequence[int], there: Columns = _NONE) -> list[Row]:
        """Those at these places, with values of columns that are there already, so that no string is there
        twice.
        """
        if not which:
            return []
        all_places = self._records.rows
        places = [all_places[k] for k in which]
        columns = [
            self._records.values(self._delimiter, column, places)
            if name not in there
            else [there[name][k] for k in which]
            for column, name in enumerate(self._names)
        ]
        numbers = [number + self._n_before for number in self._records.numbers(places)]
        return [Row(number, dict(zip(self._names, own))) for number, *own in zip(numbers, *columns)]  # noqa: B905  # known to be alike

    def numbers(self) -> list[int]:
        """Of their lines."""
        return [number + self._n_before for number in self._records.numbers()]

    def values(self, name: str) -> list[str]:
        """Of a column."""
        return self._records.values(self._delimiter, self._names.index(name))

    def distinct(self, name: str) -> set[str]:
        """The values of a column, each once."""
        return set(self.values(name))


class ColumnChunk:
    """Rows whose columns have types, one each; the questions are those to a `RowChunk`.

    Parameters
    ----------
    columns : mapping from names to the values of all rows
    n_before : int
        Rows of the file before these.
    """

    invalid: Sequence[InvalidLine] = ()

    def __init__(self, columns: Mapping[str, list[Any]], n_before: int) -> None:
        self._columns, self._n_before = columns, n_before

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def rows(self, which: Sequence[int], there: Columns = _NONE) -> list[Row]:
        """Those at these places."""
        return [
            Row(self._n_before + k + 1, {name: own[k] for name, own in self._columns.items()}) for k in which
        ]

    def numbers(self) -> list[int]:
        """Of the rows, from 1."""
        return list(range(self._n_before + 1, self._n_before + 1 + len(self)))

    def values(self, name: str) -> list[Any]:
        """Of a column."""
        return self._columns[name]

    distinct = values


Chunk: TypeAlias = RowChunk | RecordChunk | ColumnChunk


class FileRows(Sequence[Row]):
    """The rows of chunks, one after the other.

    Parameters
    ----------
    chunks : of rows
    most_invalid : int, default=None
        After the chunk in which as many lines cannot be read, no other is taken.
    """

    def __init__(self, chunks: Iterable[Chunk], most_invalid: int | None = None) -> None:
        self.chunks: list[Chunk] = []
        n_invalid = 0
        for chunk in chunks:
            self.chunks.append(chunk)
            n_invalid += len(chunk.invalid)
            if most_invalid is not None and n_invalid >= most_invalid:
                break
        self.is_whole = most_invalid is None or n_invalid < most_invalid
        self._ends = list(accumulate(map(len, self.chunks)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, place: Any) -> Any:
        place = range(len(self))[place]
        k = bisect(self._ends, place)
        return self.chunks[k].rows([place - self._ends[k] + len(self.chunks[k])])[0]

    @property
    def invalid(self) -> list[InvalidLine]:
        """Lines that cannot be read."""
        return [line for chunk in self.chunks for line in chunk.invalid]

    def drain(self) -> Iterator[Chunk]:
        """The chunks for the last time: each is let go of before the next."""
        self.chunks.reverse()
        while self.chunks:
            yield self.chunks.pop()

    def columns(self, names: Iterable[str]) -> dict[str, Iterable[Any]]:
        """The values of columns, not all as often as they occur."""
        return {name: self._column(name) for name in names}

    def _column(self, name: str) -> Iterator[Any]:
        for chunk in self.chunks:
            yield from chunk.distinct(name)


def read_chunks(
    source: str | os.PathLike[str], dialect: Dialect | None, log: Log, names: Collection[str] = ()
) -> Iterator[Chunk]:
    """The rows of a file; parameters are those of `read_rows`."""
    given = with_format(source, dialect or Dialect(), log)
    if given.file_format not in TEXT_FORMATS:
        yield from map(RowChunk, read_rows(source, given, log, names))
        return
    with ExitStack() as stack:
        stream, found = open_text(source, given, stack, names)
        if found.file_format not in ("csv", "tsv") or not suits_core(found):
            yield from map(RowChunk, text_rows(stream, found, given, log))
            return
        columns: list[str] = []
        for records in split_records(_in_blocks(stream), found):
            columns = columns or take_names(records, found, given, stream.name, log)
            yield record_chunk(records, columns, str(found.delimiter))


def _in_blocks(stream: ByteStream) -> ByteStream:
    """The same bytes, what arrives in small pieces joined: a chunk is worth its while from some hundred rows
    on.
    """

    def join() -> Iterator[bytes]:
        block = b""
        for data in iter(stream.read, b""):
            block += data
            if len(block) >= _BLOCK:
                yield block
                block = b""
        yield block

    blocks = join()
    return ByteStream(stream.name, lambda: next(blocks, b""), patient=True)


def record_chunk(records: core.Records, names: list[str], delimiter: str, n_before: int = 0) -> Chunk:
    """Records of which none was read, `n_before` lines into a file."""
    records.read_delimited(delimiter, len(names), len(names), defuse=False, n_threads=1)

    def parse(places: list[int]) -> list[Read]:
        lines = (records.line(place) for place in places)
        return parse_delimited(
            [Line(number + n_before, content) for number, content in lines], names, delimiter, "utf-8"
        )

    invalid = [line for line in parse(records.odd) if isinstance(line, InvalidLine)]
    if len(invalid) == len(records.odd):
        return RecordChunk(records, names, delimiter, invalid, n_before)
    return RowChunk(parse(sorted([*records.rows, *records.odd])))


def suits_core(found: Dialect) -> bool:
    """Whether the core can read such a file; a line that names the delimiter may name anything."""
    delimiter = found.delimiter or ","
    return found.encoding == "utf-8" and delimiter.isascii() and delimiter not in '"\r\n\0'


def split_records(stream: ByteStream, dialect: Dialect) -> Iterator[core.Records]:
    """The records of a stream, as soon as they are there."""
    delimiter = dialect.delimiter if dialect.file_format in ("csv", "tsv") else None
    splitter = core.RecordSplitter(-1 if delimiter is None else ord(delimiter), MOST_LINES, MOST_BYTES)
    while data := stream.read():
        if len(records := splitter.add(data)):
            yield records
        if splitter.line_size > LONGEST:
            raise line_too_long(splitter.number + 1, stream.name)
    if len(records := splitter.finish()):
        yield records


def take_names(records: core.Records, found: Dialect, given: Dialect, name: str, log: Log) -> list[str]:
    """The names of the columns from the first records, which are then left out; none where all are blank.

    Parameters
    ----------
    records : core.Records, unread
    found, given : Dialect
        How the file is written, and what was known of that before.
    name : what to call the file in errors
    log : gets to know what was found out
    """
    places = records.unread(2)
    lines = filled_lines([Line(*records.line(place)) for place in places], found)
    header = len(places) - len(lines)  # after a line that is there to name the delimiter
    if header:
        records.leave_out(places[0])
    if not lines:
        return []
    names, rows = first_names(lines, found, name, log)
    if len(rows) < len(lines):
        records.leave_out(places[header])
    if note := describe(found, given, names):
        log(note)
    return names
