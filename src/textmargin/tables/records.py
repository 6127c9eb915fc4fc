"""Records of a text file as bytes, found by the core: who can be read so, one batch after the other, and
their columns' names.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import core
from .delimited import Log, filled_lines, first_names
from .dialect import Dialect, describe
from .lines import LONGEST, MOST_BYTES, MOST_LINES, Line, line_too_long
from .streams import ByteStream


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
