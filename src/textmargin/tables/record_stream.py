"""Texts of a file as they arrive, for who decides on them and writes their rows at once, without an object
per row.

Records of CSV, TSV, plain lines and JSON lines in UTF-8 stay bytes: the core finds them, reads their texts
and writes them again beside what was decided (`record_writer`). A record that is not plain is read by
`formats` and `row_reader` as any other row, in its place, so that what is decided, written and said is the
same; tests hold it to that.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from .. import core
from .chunks import split_records, suits_core, take_names
from .delimited import Log, parse_delimited
from .dialect import Dialect, describe
from .formats import (
    TEXT_FORMATS,
    open_text,
    parse_json,
    parse_line,
    parse_plain,
    read_rows,
    text_rows,
    with_format,
)
from .lines import Line
from .paths import name_of
from .reader import reader_on_arrival, stream_texts
from .row_reader import RowReader, TextBatch
from .rows import EmptyText, Header, InvalidLine, Read, Row
from .streams import ByteStream


@dataclass
class RecordUse:
    """What becomes of records.

    Parameters
    ----------
    objects : bool, default=True
        Whether objects of JSON lines are written as objects, or not at all; else they become rows.
    defuse : bool, default=True
        Whether cells that a spreadsheet would run get an apostrophe before them.
    n_threads : int, default=1
    reserved : set of str, default=None
        Keys that objects of JSON lines may not have beside those of decisions: one that has becomes a row.
        Who writes them says so when it is known; until then all objects become rows.
    rows : bool, default=False
        Whether all records become rows, for who asks for their values.
    plain : bool, default=False
        Whether every line is a text and nothing else; who reads them says so before the first comes.
    """

    objects: bool = True
    defuse: bool = True
    n_threads: int = 1
    reserved: set[str] | None = None
    rows: bool = False
    plain: bool = False


class RecordBatch:
    """Records that arrived together, and their texts; the same questions as to a `TextBatch`.

    Parameters
    ----------
    records : core.Records, read
    source : Dialect
    names : list of str
        Of the columns; none of JSON lines, where every object has its own.
    rows : mapping from places to rows, those that are no plain records
    invalid_places : mapping from places to lines that cannot be read
    """

    header: Sequence[str] = ()  # it is known when no row came

    def __init__(
        self,
        records: core.Records,
        source: Dialect,
        names: list[str],
        rows: dict[int, Row | EmptyText],
        invalid_places: dict[int, InvalidLine],
    ) -> None:
        self.records, self.source, self.names = records, source, names
        self.rows, self._invalid = rows, invalid_places
        self.texts = records.texts()
        _, self.n_empty, self.n_blank = records.counts

    @property
    def table_rows(self) -> RecordBatch:
        """What is a row of the table, with a text or without."""
        return self

    @property
    def last_number(self) -> int:
        """Of the last line."""
        return self.records.line(len(self.records) - 1)[0]

    @property
    def invalid(self) -> list[InvalidLine]:
        """Lines that cannot be read."""
        return list(self._invalid.values())

    def until_invalid(self) -> RecordBatch:
        """Records up to the first that is invalid, with it."""
        if not self._invalid:
            return self
        end, line = next(iter(self._invalid.items()))
        self.records.leave_out_from(end)
        rows = {place: row for place, row in self.rows.items() if place < end}
        return RecordBatch(self.records, self.source, self.names, rows, {end: line})


def stream_records(
    source: str | os.PathLike[str],
    use: RecordUse,
    dialect: Dialect | None = None,
    text: str | None = None,
    usual: str | None = None,
    log: Log | None = None,
) -> Iterator[TextBatch | RecordBatch]:
    """The texts of a file as they arrive, as records where it is in UTF-8 and has lines, else as rows.

    Parameters
    ----------
    source : path, or "-" for standard input
    use : RecordUse
    dialect : as of `read_rows`
    text, usual, log : as of `stream_texts`
    """
    log = log or (lambda line: None)
    names = [name for name in (text, usual) if name is not None]
    given = with_format(source, dialect or Dialect(), log)
    called = name_of(source)
    if given.file_format not in TEXT_FORMATS:
        return stream_texts(read_rows(source, given, log, names), called, text, usual, log)
    return _stream_text(source, use, given, names, called, text, usual, log)


def _stream_text(
    source: str | os.PathLike[str],
    use: RecordUse,
    given: Dialect,
    names: Collection[str],
    called: str,
    text: str | None,
    usual: str | None,
    log: Log,
) -> Iterator[TextBatch | RecordBatch]:
    with ExitStack() as stack:
        stream, found = open_text(source, given, stack, names)
        use.plain = found.file_format == "txt"
        if use.rows or not _suits(found, use):
            yield from stream_texts(text_rows(stream, found, given, log), called, text, usual, log)
            return

        def find_reader(rows: list[Read]) -> RowReader | None:
            return reader_on_arrival(rows, called, text, usual, log)

        if found.file_format in ("csv", "tsv"):
            yield from _DelimitedRecords(stream, found, given, use, find_reader, log).batches()
            return
        if note := describe(found, given):
            log(note)
        kind = _PlainRecords if found.file_format == "txt" else _ObjectRecords
        yield from kind(stream, found, use, find_reader).batches()


def _suits(found: Dialect, use: RecordUse) -> bool:
    return suits_core(found) and found.file_format in (
        ("csv", "tsv", "txt", "jsonl") if use.objects else ("csv", "tsv", "txt")
    )


class _Records(ABC):
    """Records of a stream, read batch by batch."""

    def __init__(
        self,
        stream: ByteStream,
        dialect: Dialect,
        use: RecordUse,
        find_reader: Callable[[list[Read]], RowReader | None],
    ) -> None:
        self.stream, self.dialect, self.use, self.find_reader = stream, dialect, use, find_reader
        self.names = ["text"] if dialect.file_format == "txt" else []
        self.reader: RowReader | None = None

    def batches(self) -> Iterator[TextBatch | RecordBatch]:
        """What is there, as soon as it is there."""
        for records in split_records(self.stream, self.dialect):
            yield from self._batch(records)

    def _batch(self, records: core.Records) -> Iterator[TextBatch | RecordBatch]:
        if self.reader is None:
            self.reader = next(filter(None, (self.find_reader([row]) for row in self._rows(records))), None)
        yield self._read(records)

    def _rows(self, records: core.Records) -> Iterator[Read]:
        return (self._parse(Line(*records.line(place))) for place in records.unread(len(records)))

    def _read(self, records: core.Records) -> RecordBatch:
        self._find_texts(records)
        rows: dict[int, Row | EmptyText] = {}
        invalid: dict[int, InvalidLine] = {}
        for place in records.odd:
            row = self._parse(Line(*records.line(place)))
            texts: list[str] = []
            if isinstance(row, Row) and self.reader is not None:
                texts, (row,) = self.reader.texts([row])
            if isinstance(row, Row):
                records.put_row(place, texts[0].encode("utf-8", "surrogatepass"))
                rows[place] = row
            elif isinstance(row, EmptyText):
                records.put_empty(place)
                rows[place] = row
            elif isinstance(row, InvalidLine):
                records.leave_out(place)
                invalid[place] = row
        return RecordBatch(records, self.dialect, self.names, rows, invalid)

    @abstractmethod
    def _parse(self, line: Line) -> Read: ...

    @abstractmethod
    def _find_texts(self, records: core.Records) -> None: ...


class _PlainRecords(_Records):
    """A text per line."""

    def _parse(self, line: Line) -> Read:
        return parse_line(line, "utf-8", parse_plain)

    def _find_texts(self, records: core.Records) -> None:
        records.read_lines(self.use.defuse, self.use.n_threads)


class _DelimitedRecords(_Records):
    """CSV and TSV, under a line of names where there is one."""

    def __init__(
        self,
        stream: ByteStream,
        dialect: Dialect,
        given: Dialect,
        use: RecordUse,
        find_reader: Callable[[list[Read]], RowReader | None],
        log: Log,
    ) -> None:
        super().__init__(stream, dialect, use, find_reader)
        self.given, self.log = given, log

    def batches(self) -> Iterator[TextBatch | RecordBatch]:
        """What is there, and where no row is among it the names of the columns."""
        yield from super().batches()
        if self.names and self.reader is None:
            yield TextBatch([], [Header(0, self.names)])

    def _batch(self, records: core.Records) -> Iterator[TextBatch | RecordBatch]:
        if not self.names:
            self.names = take_names(records, self.dialect, self.given, self.stream.name, self.log)
        if any(records.counts) or records.unread(1):
            yield from super()._batch(records)

    def _parse(self, line: Line) -> Read:
        return parse_delimited([line], self.names, str(self.dialect.delimiter), "utf-8")[0]

    def _find_texts(self, records: core.Records) -> None:
        text = 0 if self.reader is None else self.names.index(self.reader.columns.text)
        records.read_delimited(
            str(self.dialect.delimiter), len(self.names), text, self.use.defuse, self.use.n_threads
        )


class _ObjectRecords(_Records):
    """JSON lines; what comes first is rows, for the keys of all of them are looked at."""

    def _batch(self, records: core.Records) -> Iterator[TextBatch | RecordBatch]:
        if (
            self.reader is not None
            and self.reader.columns.text.isprintable()
            and self.use.reserved is not None
        ):
            yield self._read(records)
            return
        rows = [self._parse(Line(*records.line(place))) for place in range(len(records))]
        self.reader = self.reader or self.find_reader(rows)
        yield TextBatch([], rows) if self.reader is None else self.reader.texts(rows)

    def _parse(self, line: Line) -> Read:
        return parse_line(line, "utf-8", parse_json)

    def _find_texts(self, records: core.Records) -> None:
        assert self.reader is not None
        records.read_objects(self.reader.columns.text, sorted(self.use.reserved or ()), self.use.n_threads)
