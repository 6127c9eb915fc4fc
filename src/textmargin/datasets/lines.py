"""Lines as they arrive: from a file, a pipe or a terminal, with constant memory, and no later than they are there.

What the system has is taken at once, so that a slow pipe gets each line through and a fast one many at a time.
"""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from ..errors import TableError

LONGEST = 64_000_000  # bytes of one record
_AT_ONCE = 1 << 18


class Line(NamedTuple):
    """A record as it stands in a file, by the number of its first line, from 1."""

    number: int
    content: bytes


def batches(source: str | os.PathLike[str], whole: Callable[[bytes], bool] | None = None) -> Iterator[list[Line]]:
    """The lines of a file, gzipped or not, or with "-" of standard input, in batches of what is there.

    Parameters
    ----------
    source : path, or "-"
    whole : function of the bytes of a record, default=None
        Whether a record ends with this line; by default each line is one. In a CSV file a quoted value may go on.
    """
    with ExitStack() as stack:
        read = _reader(source, stack)
        rest, pending, number, first = b"", b"", 0, 1
        while True:
            data = read()
            lines = (rest + data).split(b"\n")
            rest = lines.pop() if data else b""
            if not data and lines == [b""]:
                lines = []
            batch = []
            for line in lines:
                number += 1
                if not pending:
                    first = number
                record = pending + line
                if whole is not None and not whole(record):
                    pending = record + b"\n"
                    _check_size(pending, source, first)
                else:
                    batch.append(Line(first, record.removesuffix(b"\r")))
                    pending = b""
            _check_size(rest, source, number + 1)
            if not data and pending:
                batch.append(Line(first, pending.rstrip(b"\r\n")))
            if batch:
                yield batch
            if not data:
                return


def _reader(source: str | os.PathLike[str], stack: ExitStack) -> Callable[[], bytes]:
    """A function that gives the next bytes, as many as there are, and none at the end."""
    if source == "-":
        handle = sys.stdin.fileno()
        return lambda: os.read(handle, _AT_ONCE)
    path = Path(source)
    try:
        if path.suffix == ".gz":
            packed = stack.enter_context(gzip.GzipFile(path, "rb"))
            return lambda: _unpacked(packed, path)
        stream = stack.enter_context(path.open("rb", buffering=0))
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from error
    return lambda: stream.read(_AT_ONCE) or b""


def _unpacked(packed: gzip.GzipFile, path: Path) -> bytes:
    try:
        return packed.read1(_AT_ONCE)
    except (EOFError, OSError, zlib.error) as error:
        raise TableError(f"{path} breaks off or is damaged ({error}); get it anew.") from error


def _check_size(record: bytes, source: str | os.PathLike[str], number: int) -> None:
    if len(record) > LONGEST:
        raise TableError(
            f"The record at line {number:,} of {_name(source)} is longer than {LONGEST:,} bytes: a quote that is never "
            f"closed, or not a text file?"
        )


def _name(source: str | os.PathLike[str]) -> str:
    return "standard input" if source == "-" else str(source)
