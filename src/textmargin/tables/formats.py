"""Rows of a user's own files: CSV, TSV, JSON lines, plain text (a text per line), Parquet, or a folder of text files.

A row is a mapping from column to value; a line that cannot be read is a `InvalidLine`, by its number, and the rest goes on; a
blank line between them is no row, and a `Blank`.
"""

from __future__ import annotations

import codecs
import csv
import json
import os
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ..errors import TableError
from .dialect import Dialect
from .lines import LONGEST, Line, batches, name_of
from .paths import suffix_of

FORMATS = ("csv", "tsv", "jsonl", "txt", "parquet", "folder")
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "txt",
    ".parquet": "parquet",
}
_ROWS_AT_ONCE = 2000
_ASCII = b'\t\n\r ",:;{}[]0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'  # what lines and values are found by
_SHIFTING = ("hz", "iso2022", "utf-7")  # encodings in which such a byte may be half of another character
_CARRIAGE_RETURN = "a carriage return stands inside the line; if all lines end with one, turn them into newlines: tr '\\r' '\\n'"
_CSV_REASONS = {
    "new-line character seen": _CARRIAGE_RETURN,
    "unexpected end of data": "the quote that opens a value is never closed, or only after very many lines",
    "expected after": "a value goes on after its closing quote; inside a quoted value, quotes are doubled",
}


class Row(NamedTuple):
    """Values by column, and the number of the line (row, file) they came from, from 1."""

    number: int
    values: dict[str, Any]


class InvalidLine(NamedTuple):
    """A line that cannot be read, and why."""

    number: int
    reason: str


class Blank(NamedTuple):
    """A line with nothing on it."""

    number: int


Read: TypeAlias = Row | InvalidLine | Blank


def format_of(source: str | os.PathLike[str], file_format: str | None = None) -> str:
    """The format that was asked for, or that the name tells; standard input is CSV unless something else is said."""
    if file_format is not None:
        if file_format not in FORMATS:
            raise TableError(f"{file_format!r} is none of the formats {', '.join(FORMATS)}.")
        return file_format
    if source == "-":
        return "csv"
    path = Path(source)
    if path.is_dir():
        return "folder"
    suffix = suffix_of(path)
    if suffix not in SUFFIXES:
        raise TableError(f"{path} does not tell its format; say it with file_format=: {', '.join(FORMATS)}.")
    return SUFFIXES[suffix]


def read_rows(
    source: str | os.PathLike[str],
    dialect: Dialect | None = None,
    log: Callable[[str], None] | None = None,
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
    dialect = dialect or Dialect()
    file_format = format_of(source, dialect.file_format)
    encoding = check_encoding(dialect.encoding or "utf-8")
    if source == "-" and sys.stdin is None:
        raise TableError("Standard input is closed; name a file, or pipe lines in.")
    if source == "-" and file_format in ("parquet", "folder"):
        raise TableError(
            f"Standard input cannot be read as {file_format}; name the {'folder' if file_format == 'folder' else 'file'}."
        )
    if source != "-" and not Path(source).exists():
        raise TableError(f"There is no file {source}.")
    if file_format == "folder":
        return _folder(Path(source), encoding)
    if file_format == "parquet":
        return _parquet(Path(source))
    if source != "-" and _has_zero_bytes(Path(source)):
        raise TableError(
            f"{source} holds zero bytes, so it is not a text file; give a CSV, TSV, JSON lines, text or Parquet file, and one in "
            f"UTF-16 converted to UTF-8."
        )
    if file_format in ("csv", "tsv"):
        return _delimited(source, "\t" if file_format == "tsv" else ",", encoding)
    parse = parse_json if file_format == "jsonl" else _parse_plain
    return ([parse_line(line, encoding, parse) for line in batch] for batch in batches(source))


def check_encoding(encoding: str) -> str:
    """An encoding that keeps ASCII bytes, "utf-8" however it was spelt."""
    try:
        name = codecs.lookup(encoding).name
        keeps = not name.startswith(_SHIFTING) and _ASCII.decode(encoding) == _ASCII.decode("ascii")
    except LookupError as error:
        raise TableError(
            f"The encoding {encoding!r} is not known; well-known ones for encoding= are utf-8, latin-1 and cp1252."
        ) from error
    except UnicodeError:
        keeps = False
    if not keeps:
        raise TableError(
            f"The encoding {encoding!r} cannot be read, only encodings that keep ASCII bytes; convert the file to UTF-8: "
            f"iconv -f {encoding} -t utf-8."
        )
    return "utf-8" if name == "utf-8" else encoding


def _has_zero_bytes(path: Path) -> bool:
    """At its start, and neither packed nor a pipe, whose first bytes can be had only once."""
    if path.suffix == ".gz" or not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            return b"\0" in stream.read(4096)
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from error


def parse_line(line: Line, encoding: str, parse: Callable[[str], dict[str, Any]]) -> Read:
    """A line as a row by itself."""
    if not line.content.strip():
        return Blank(line.number)
    try:
        return Row(line.number, parse(_decode(line.content, encoding, first=line.number == 1)))
    except ValueError as error:
        return InvalidLine(line.number, str(error))


def _decode(content: bytes, encoding: str, *, first: bool) -> str:
    if b"\0" in content:
        raise ValueError("it holds zero bytes, so this is not a text file")
    try:
        return content.decode("utf-8-sig" if first and encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(f"byte {error.start + 1} (0x{byte:02x}) is not {encoding}; name the encoding with encoding=") from error


def parse_json(line: str) -> dict[str, Any]:
    """The values of a line of JSON lines."""
    try:
        values = json.loads(line)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise ValueError("not JSON that can be read: its brackets are nested too deep") from error
    if not isinstance(values, dict):
        raise ValueError(f"not a JSON object but {type(values).__name__}")
    return values


def _parse_plain(line: str) -> dict[str, Any]:
    if "\r" in line:
        raise ValueError(_CARRIAGE_RETURN)
    return {"text": line}


def _delimited(source: str | os.PathLike[str], delimiter: str, encoding: str) -> Iterator[list[Read]]:
    """Rows under a line of names."""
    csv.field_size_limit(max(LONGEST, csv.field_size_limit()))
    names: list[str] | None = None
    for batch in batches(source, delimiter.encode()):
        lines = [line for line in batch if line.content.strip()]
        read: list[Read] = [Blank(line.number) for line in batch if not line.content.strip()] if len(lines) < len(batch) else []
        if names is None and lines:
            try:
                (values,) = _split([_decode(lines[0].content, encoding, first=True)], delimiter)
            except (ValueError, csv.Error) as error:
                raise TableError(f"The first line of {name_of(source)} should name the columns: {_reason(error)}.") from error
            names = _check_names(values, source)
            lines = lines[1:]
        if lines and names is not None:
            read += parse_delimited(lines, names, delimiter, encoding)
        if read:
            yield read


def parse_delimited(lines: list[Line], names: list[str], delimiter: str, encoding: str) -> list[Read]:
    """Rows of many lines at once, which is several times faster; one by one where something is wrong with one of them."""
    try:
        content = b"\n".join(line.content for line in lines)
        rows = _split([line.content.decode(encoding) for line in lines], delimiter) if b"\0" not in content else []
    except (UnicodeDecodeError, csv.Error):
        rows = []
    n = len(names)
    if len(rows) == len(lines) and all(len(values) == n for values in rows):
        return [Row(line.number, dict(zip(names, values))) for line, values in zip(lines, rows)]  # noqa: B905  # known to be alike
    return [_parse_one(line, names, delimiter, encoding) for line in lines]


def _parse_one(line: Line, names: list[str], delimiter: str, encoding: str) -> Read:
    try:
        (values,) = _split([_decode(line.content, encoding, first=False)], delimiter)
    except (ValueError, csv.Error) as error:
        return InvalidLine(line.number, _reason(error))
    if len(values) != len(names):
        return InvalidLine(line.number, f"{len(values)} values for {len(names)} columns ({', '.join(names[:6])})")
    return Row(line.number, dict(zip(names, values, strict=True)))


def _split(lines: list[str], delimiter: str) -> list[list[str]]:
    return list(csv.reader(lines, delimiter=delimiter, strict=True))


def _reason(error: Exception) -> str:
    """What csv says, in other words where its own would not help."""
    return next((words for part, words in _CSV_REASONS.items() if part in str(error)), str(error))


def _check_names(names: list[str], source: str | os.PathLike[str]) -> list[str]:
    names = [name.strip() for name in names]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"{name_of(source)} has two columns {twice[0]!r}; rename one.")
    return names


def _folder(folder: Path, encoding: str) -> Iterator[list[Read]]:
    """A text per file; its folder's name is its label."""
    files = sorted(path for path in folder.rglob("*.txt") if path.is_file())
    if not files:
        raise TableError(f"{folder} holds no .txt files.")
    for start in range(0, len(files), _ROWS_AT_ONCE):
        rows: list[Read] = []
        for number, path in enumerate(files[start : start + _ROWS_AT_ONCE], start=start + 1):
            label = "" if path.parent == folder else path.parent.relative_to(folder).as_posix()
            try:
                rows.append(
                    Row(number, {"text": _decode(path.read_bytes(), encoding, first=True), "label": label, "file": str(path)})
                )
            except (ValueError, OSError) as error:
                rows.append(InvalidLine(number, f"{path}: {error}"))
        yield rows


def _parquet(path: Path) -> Iterator[list[Read]]:
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise TableError(f"{path} needs PyArrow, which is not installed: pip install 'textmargin[parquet]'.") from error
    import pyarrow as pa

    try:
        with pq.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                rows: list[Read] = [Row(number + k, values) for k, values in enumerate(batch.to_pylist(), start=1)]
                number += len(rows)
                yield rows
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path} cannot be read as Parquet: {error}.") from error
