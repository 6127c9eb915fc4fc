"""Lines and records as they arrive, with constant memory.

What the system has is taken at once, so that a slow pipe gets each line through and a fast one many at a
time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..errors import TableError
from .streams import ByteStream

LONGEST = 64_000_000  # bytes of one line
MOST_LINES = 10_000  # of one record
MOST_BYTES = 1_000_000  # of a record of several lines


class Line(NamedTuple):
    """A record as it stands in a file, by the number of its first line, from 1."""

    number: int
    content: bytes


def batches(
    stream: ByteStream,
    delimiter: bytes | None = None,
    most_lines: int = MOST_LINES,
    most_bytes: int = MOST_BYTES,
) -> Iterator[list[Line]]:
    """The records of a stream in batches of what is there.

    Parameters
    ----------
    stream : ByteStream
    delimiter : bytes, default=None
        What stands between values that may be quoted and then go on over several lines; by default each line
        is a record.
    most_lines, most_bytes : int
        Of a record of several lines; see `RecordJoiner`.
    """
    records = RecordJoiner(delimiter, most_lines, most_bytes)
    rest: list[bytes] = []
    size = 0
    while data := stream.read():
        rest.append(data)
        size += len(data)
        if b"\n" in data:
            *lines, last = b"".join(rest).split(b"\n")
            rest, size = [last], len(last)
            if batch := records.add(lines):
                yield batch
        if size > LONGEST:
            raise line_too_long(records.number + 1, stream.name)
    last = b"".join(rest)
    if batch := [*records.add([last] if last else []), *records.flush()]:
        yield batch


def line_too_long(number: int, name: str) -> TableError:
    """What to say of a line that is longer than any text."""
    return TableError(f"Line {number:,} of {name} is longer than {LONGEST:,} bytes: not a text file?")


class RecordJoiner:
    """Joins lines to records where a quoted value goes on.

    Where lines do not make a record of as many values as there are columns, the quote that joined them was a
    stray one: the first line is a record by itself, and the others are read anew, so that they are not lost
    with it.

    Parameters
    ----------
    delimiter, most_lines, most_bytes : as of `batches`
    n_columns : int, default=0
        0: as many as the first record has values, less one that names the delimiter.
    """

    def __init__(self, delimiter: bytes | None, most_lines: int, most_bytes: int, n_columns: int = 0) -> None:
        self.delimiter, self.most_lines, self.most_bytes, self.n_columns = (
            delimiter,
            most_lines,
            most_bytes,
            n_columns,
        )
        self.number = 0  # of the last line so far
        self.pending: list[bytes] = []  # lines of a record whose quote is open
        self.size = 0  # of these, in bytes
        self.n_values = 0  # that end in them

    def add(self, lines: list[bytes]) -> list[Line]:
        """The records that these lines complete."""
        first = self.number - len(self.pending) + 1
        self.number += len(lines)
        delimiter = self.delimiter
        if delimiter is None:
            return [Line(number, line.removesuffix(b"\r")) for number, line in enumerate(lines, start=first)]
        start, end = 0, len(self.pending)
        lines = [*self.pending, *lines]
        complete: list[Line] = []
        while end < len(lines):
            line = lines[end]
            end += 1
            if end - start > 1 or b'"' in line:
                self.size += len(line) + 1
                n, opened = _scan(line, end - start > 1, delimiter)
                self.n_values += n
                if opened and self._may_go_on(end - start):
                    continue
                if end - start > 1:
                    if opened is False and self.n_values == (self.n_columns or self.n_values):
                        line = b"\n".join(lines[start:end])
                    else:
                        line, end = lines[start], start + 1
                self.size = self.n_values = 0
            line = line.removesuffix(b"\r")
            complete.append(Line(first + start, line))
            start = end
            if not self.n_columns and line.strip() and line.removeprefix(b'"')[:4].lower() != b"sep=":
                self.n_columns = max(_scan(line, False, delimiter)[0], 1)
        self.pending = lines[start:]
        return complete

    def flush(self) -> list[Line]:
        """The records of the lines whose quote is never closed."""
        complete: list[Line] = []
        while self.pending:
            line, *others = self.pending
            self.pending, self.size, self.n_values = [], 0, 0
            self.number -= len(others)
            complete.append(Line(self.number, line.removesuffix(b"\r")))
            complete += self.add(others)
        return complete

    def _may_go_on(self, n_lines: int) -> bool:
        short = n_lines <= self.most_lines and (n_lines == 1 or self.size <= self.most_bytes)
        return short and not 0 < self.n_columns <= self.n_values


def _scan(line: bytes, opened: bool, delimiter: bytes) -> tuple[int, bool | None]:
    """How many values end in a line, and whether a quoted one is open after it; None where one goes on behind
    its closing quote.

    A quote opens a value at its start only, and two stand for one.
    """
    line = line.rstrip(b"\r")
    n = at = 0
    while True:
        if not opened:
            if at == 0 and line.startswith(b'"'):
                at = 1
            else:
                opening = line.find(delimiter + b'"', at)
                if opening < 0:
                    return n + line.count(delimiter, at) + 1, False
                n += line.count(delimiter, at, opening) + 1
                at = opening + len(delimiter) + 1
        end = line.find(b'"', at)
        while end >= 0 and line.startswith(b'"', end + 1):
            end = line.find(b'"', end + 2)
        if end < 0:
            return n, True
        opened, at = False, end + 1
        if at < len(line) and not line.startswith(delimiter, at):
            return n, None
