"""Lines and records as they arrive, with constant memory.

What the system has is taken at once, so that a slow pipe gets each line through and a fast one many at a time.
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
    stream: ByteStream, delimiter: bytes | None = None, most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES
) -> Iterator[list[Line]]:
    """The records of a stream in batches of what is there.

    Parameters
    ----------
    stream : ByteStream
    delimiter : bytes, default=None
        What stands between values that may be quoted and then go on over several lines; by default each line is a record.
    most_lines, most_bytes : int
        Of a record of several lines. Where its quote is not closed by then, or never, each of its lines is a record by itself.
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
    """Joins lines to records where a quoted value goes on."""

    def __init__(self, delimiter: bytes | None, most_lines: int, most_bytes: int) -> None:
        self.delimiter, self.most_lines, self.most_bytes = delimiter, most_lines, most_bytes
        self.number = 0  # of the last line so far
        self.pending: list[bytes] = []  # lines of a record whose quote is open
        self.first = 1  # the number of the first of them
        self.size = 0

    def add(self, lines: list[bytes]) -> list[Line]:
        """The records that these lines complete."""
        first = self.number + 1
        self.number += len(lines)
        if self.delimiter is None:
            return [Line(number, line.removesuffix(b"\r")) for number, line in enumerate(lines, start=first)]
        opening = self.delimiter + b'"'
        complete: list[Line] = []
        for number, line in enumerate(lines, start=first):
            if not self.pending and b'"' not in line:
                complete.append(Line(number, line.removesuffix(b"\r")))
            elif _quote_open(line, bool(self.pending), opening):
                if not self.pending:
                    self.first = number
                self.pending.append(line)
                self.size += len(line) + 1
                if len(self.pending) > self.most_lines or (len(self.pending) > 1 and self.size > self.most_bytes):
                    complete += self.flush()
            else:
                if self.pending:
                    number, line = self.first, b"\n".join([*self.pending, line])
                    self.pending, self.size = [], 0
                complete.append(Line(number, line.removesuffix(b"\r")))
        return complete

    def flush(self) -> list[Line]:
        """The lines whose quote is still open, each by itself: they must not be lost with the one that opened it."""
        lines = [Line(number, line.removesuffix(b"\r")) for number, line in enumerate(self.pending, start=self.first)]
        self.pending, self.size = [], 0
        return lines


def _quote_open(line: bytes, opened: bool, opening: bytes) -> bool:
    """Whether a quoted value is open after a line: a quote opens one at the start of a value only, and two stand for one."""
    start = 0
    while True:
        if not opened:
            if start == 0 and line.startswith(b'"'):
                start = 1
            else:
                start = line.find(opening, start) + 2
                if start == 1:
                    return False
        end = line.find(b'"', start)
        while end >= 0 and line.startswith(b'"', end + 1):
            end = line.find(b'"', end + 2)
        if end < 0:
            return True
        opened, start = False, end + 1
