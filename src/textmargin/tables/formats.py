"""Rows of a user's own files: CSV, TSV, JSON, plain text (a text per line), spreadsheets, Parquet, a folder
of text files, or a project of the reading desk.

A row is a mapping from column to value; a line that cannot be read is a `InvalidLine`, by its number, and the
rest goes on; a blank line between them is no row, and a `Blank`.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from .._system.json import read_json
from ..errors import TableError, install_hint
from .delimited import (
    CARRIAGE_RETURN,
    Log,
    decode_line,
    filled_lines,
    first_names,
    parse_delimited,
    parse_encoding,
)
from .dialect import DELIMITERS, Dialect, describe, find_dialect, find_table, transcodes
from .encodings import check_encoding, display_name, find_encoding
from .json_rows import JsonReader
from .lines import Line, batches
from .paths import PACKED_SUFFIXES, SUFFIXES, files_below, refuse_address, suffix_of
from .recognition import refuse_binary, refuse_folder, refuse_zero_bytes
from .rows import Blank, Header, InvalidLine, Read, Row
from .sheets import sheet_rows
from .streams import ByteStream, open_stream

FORMATS = ("csv", "tsv", "json", "jsonl", "txt", "xlsx", "parquet", "folder", "desk")
TEXT_FORMATS = (None, "csv", "tsv", "json", "jsonl", "txt")  # None: of a pipe, whose first bytes will tell
# which are read from a place, not from the beginning on
_NO_STREAM = ("xlsx", "parquet", "folder", "desk")
_NOT_PACKED = ("parquet", "folder", "desk")
_ROWS_AT_ONCE = 2000
RowSource: TypeAlias = Callable[[Path], Iterator[list[Read]]]
READERS: dict[str, RowSource] = {}  # of formats that a package above this one reads


def register_reader(file_format: str, read: RowSource) -> None:
    """Say who reads the rows of a format, as `read_rows` gives them: with columns `text` and `label`."""
    READERS[file_format] = read


def format_of(source: str | os.PathLike[str], file_format: str | None = None) -> str | None:
    """The format that was asked for, or that the name tells; None for standard input, whose first bytes will
    tell.
    """
    if file_format is not None and file_format not in FORMATS:
        raise TableError(f"{file_format!r} is none of the formats {', '.join(FORMATS)}.")
    if source == "-":
        if sys.stdin is None:
            raise TableError("Standard input is closed; name a file, or pipe lines in.")
        if file_format in _NO_STREAM:
            what = "folder" if file_format == "folder" else "file"
            raise TableError(f"Standard input cannot be read as {file_format}; name the {what}.")
        return file_format
    refuse_address(source)
    path = Path(source)
    if not path.exists():
        raise TableError(f"There is no file {source}.")
    if file_format is None and path.is_dir():
        return "folder"
    if file_format is None:
        file_format = SUFFIXES.get(suffix_of(path)) or _unknown(path)
        if file_format == "txt" and (delimiter := _delimiter_in_text(path)) is not None:
            file_format = "tsv" if delimiter == "\t" else "csv"
    if file_format in _NOT_PACKED and path.suffix.lower() in PACKED_SUFFIXES:
        raise TableError(f"{path} is packed, and {file_format} must not be; unpack it.")
    return file_format


def read_rows(
    source: str | os.PathLike[str],
    dialect: Dialect | None = None,
    log: Log | None = None,
    names: Collection[str] = (),
) -> Iterator[list[Read]]:
    """The rows of a file in batches of what is there; see `lines`.

    Parameters
    ----------
    source : path, or "-" for standard input
    dialect : Dialect, default=None
        How the file is written; what it does not say is found out.
    log : function of a line, default=None
        Gets to know what was found out, where that is not the usual: commas, UTF-8 and a header.
    names : names of columns
        That are expected: a first line that has one of them is a header.
    """
    log = log or (lambda line: None)
    given = with_format(source, dialect or Dialect(), log)
    if given.file_format == "folder":
        return _folder(Path(source), given.encoding, log)
    if given.file_format == "parquet":
        return _parquet(Path(source))
    if given.file_format == "desk":
        return _desk(Path(source))
    if given.file_format == "xlsx":
        return sheet_rows(Path(source), given, log, names, _ROWS_AT_ONCE)
    return _text(source, given, log, names)


def with_format(source: str | os.PathLike[str], given: Dialect, log: Log) -> Dialect:
    """What is known of a file, its format included as far as the name tells it; see `read_rows`."""
    given.check()
    file_format = format_of(source, given.file_format)
    if (
        given.file_format is None
        and file_format in ("csv", "tsv")
        and source != "-"
        and suffix_of(Path(source)) == ".txt"
    ):
        delimiter = given.delimiter or _delimiter_in_text(Path(source))
        log(
            f"a table with {DELIMITERS.get(str(delimiter), repr(delimiter))}; file_format='txt' reads a "
            "text per line"
        )
        given = replace(given, delimiter=delimiter)
    return replace(given, file_format=file_format)


def open_text(
    source: str | os.PathLike[str], given: Dialect, stack: ExitStack, names: Collection[str] = ()
) -> tuple[ByteStream, Dialect]:
    """The bytes of a text file, less a mark at their start, in an encoding that keeps ASCII; and how it is
    written.

    Parameters
    ----------
    source : path, or "-"
    given : Dialect, with the format that the name tells
    stack : ExitStack
        With which the file is closed.
    names : names of columns that are expected
    """
    stream = open_stream(source, stack)
    first = stream.peek()
    if given.file_format != "txt":
        refuse_binary(first, stream.name)
    found = find_dialect(first, given, stream.name, names, complete=stream.at_end, piped=source == "-")
    if transcodes(found):
        stream = stream.in_utf8(str(found.encoding))
    elif given.encoding is None and b"\0" in first[:4096] and source != "-":
        refuse_zero_bytes(stream.name)
    stream.drop_mark()
    return stream, found


def file_dialect(source: str | os.PathLike[str], dialect: Dialect) -> Dialect | None:
    """How a CSV or TSV file is written, its encoding "utf-8-sig" where a mark stands first; None of other
    formats and of a pipe.

    Parameters
    ----------
    source : path, or "-"
    dialect : Dialect
        What is known of it.
    """
    given = replace(dialect, file_format=format_of(source, dialect.file_format))
    if given.file_format not in ("csv", "tsv") or not Path(source).is_file():
        return None
    with ExitStack() as stack:
        marked = open_stream(source, stack).peek().startswith(codecs.BOM_UTF8)
        _, found = open_text(source, given, stack)
    return replace(found, encoding="utf-8-sig") if marked else found


def parse_line(line: Line, encoding: str, parse: Callable[[str], dict[str, Any]]) -> Read:
    """A line as a row by itself."""
    if not line.content.strip():
        return Blank(line.number)
    try:
        return Row(line.number, parse(decode_line(line.content, encoding)))
    except ValueError as error:
        return InvalidLine(line.number, str(error))


def parse_json(line: str) -> dict[str, Any]:
    """The values of a line of JSON lines."""
    try:
        values = read_json(line)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from error
    if not isinstance(values, dict):
        raise ValueError(f"not a JSON object but {type(values).__name__}")
    return values


def _text(
    source: str | os.PathLike[str], given: Dialect, log: Log, names: Collection[str]
) -> Iterator[list[Read]]:
    """Rows of a text file."""
    with ExitStack() as stack:
        stream, found = open_text(source, given, stack, names)
        yield from text_rows(stream, found, given, log)


def text_rows(stream: ByteStream, found: Dialect, given: Dialect, log: Log) -> Iterator[list[Read]]:
    """Rows of a text file that is open.

    Parameters
    ----------
    stream, found : as `open_text` gives them
    given : Dialect
        What was known before.
    log : gets to know what was found out
    """
    if found.file_format in ("csv", "tsv"):
        yield from _delimited(stream, found, given, log)
        return
    if note := describe(found, given):
        log(note)
    encoding = parse_encoding(found)
    if found.file_format == "json":
        rows = (
            Row(number, values)
            for number, values in enumerate(JsonReader(stream, encoding).objects(), start=1)
        )
        n = _ROWS_AT_ONCE if stream.patient else 1
        while several := list(islice(rows, n)):
            yield [*several]
        return
    parse = parse_json if found.file_format == "jsonl" else parse_plain
    for batch in batches(stream):
        yield [parse_line(line, encoding, parse) for line in batch]


def _delimited(stream: ByteStream, found: Dialect, given: Dialect, log: Log) -> Iterator[list[Read]]:
    """Rows, under a line of names where there is one."""
    names: list[str] | None = None
    has_rows = False
    number = 0
    delimiter, encoding = str(found.delimiter), parse_encoding(found)
    for batch in batches(stream, delimiter.encode()):
        lines = [line for line in batch if line.content.strip()]
        read: list[Read] = (
            [Blank(line.number) for line in batch if not line.content.strip()]
            if len(lines) < len(batch)
            else []
        )
        if names is None:
            lines = filled_lines(batch, found)
        if names is None and lines:
            names, lines = first_names(lines, found, stream.name, log)
            if note := describe(found, given, names):
                log(note)
        if lines and names is not None:
            read += parse_delimited(lines, names, delimiter, encoding)
        if read:
            yield read
        has_rows = has_rows or any(isinstance(row, Row) for row in read)
        number = batch[-1].number
    if names and not has_rows:
        yield [Header(number, names)]


def parse_plain(line: str) -> dict[str, Any]:
    """The values of a line that is a text and nothing else."""
    if "\r" in line:
        raise ValueError(CARRIAGE_RETURN)
    return {"text": line}


def _delimiter_in_text(path: Path) -> str | None:
    """Of a file whose name says that it is plain text, and which is a table; None where it is not, or can be
    read only once.
    """
    if not path.is_file():
        return None
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        first = stream.peek()
        return find_table(first, stream.name, complete=stream.at_end)


def _unknown(path: Path) -> str:
    """What to say of a file whose name does not tell what it is."""
    with ExitStack() as stack:
        stream = open_stream(path, stack)
        first = stream.peek()
        refuse_binary(first, stream.name)
        found = find_dialect(first, Dialect(), stream.name, complete=stream.at_end, piped=True)
    look = f" It looks like {found.file_format}." if found.file_format != "txt" else ""
    raise TableError(
        f"{path} does not tell its format; say it with file_format=: {', '.join(FORMATS)}.{look}"
    )


def _folder(folder: Path, encoding: str | None, log: Log) -> Iterator[list[Read]]:
    """A text per file; its folder's name is its label."""
    if not folder.is_dir():
        raise TableError(f"{folder} is a file, and no folder of texts; leave file_format= out.")
    files = sorted(path for path in files_below(folder) if path.name.endswith(".txt"))
    if not files:
        refuse_folder(folder)
    others: set[str] = set()  # encodings but UTF-8 that were found
    for start in range(0, len(files), _ROWS_AT_ONCE):
        rows: list[Read] = []
        for number, path in enumerate(files[start : start + _ROWS_AT_ONCE], start=start + 1):
            label = "" if path.parent == folder else path.parent.relative_to(folder).as_posix()
            try:
                content = path.read_bytes()
                own = find_encoding(content, str(path)) if encoding is None else check_encoding(encoding)
                text = decode_line(content, "utf-8-sig" if own == "utf-8" else own)
                rows.append(Row(number, {"text": text, "label": label, "file": str(path)}))
            except (ValueError, OSError) as error:
                rows.append(InvalidLine(number, f"{path}: {error}"))
                continue
            if encoding is None and own != "utf-8" and own not in others:
                others.add(own)
                log(f"{display_name(own)} in {path.name}")
        yield rows


def _desk(path: Path) -> Iterator[list[Read]]:
    if "desk" not in READERS:
        raise TableError(
            f"{path} is a project of the reading desk, whose rows are read once it is imported: import "
            "textmargin.desk."
        )
    return READERS["desk"](path)


def _parquet(path: Path) -> Iterator[list[Read]]:
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise TableError(
            f"{path} needs PyArrow, which is not installed: {install_hint('parquet')}."
        ) from error
    import pyarrow as pa

    try:
        with pq.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                rows: list[Read] = [
                    Row(number + k, values) for k, values in enumerate(batch.to_pylist(), start=1)
                ]
                number += len(rows)
                yield rows
            if not number:
                yield [Header(0, file.schema_arrow.names)]
    except (
        pa.ArrowException,
        OSError,
        ValueError,
        OverflowError,
    ) as error:  # text that is no UTF-8, dates beyond the calendar
        raise TableError(f"{path} cannot be read as Parquet: {error}.") from error
