"""Rows that wait in a temporary file until it is known what is decided on them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ._console import OptionError

if TYPE_CHECKING:
    from ..tables.rows import EmptyText, Row

_MARK = "\0"  # the key of a value that JSON has no form for
# What is written for such a value, and read from that; a datetime is a date too, so it comes first.
_FORMS: dict[str, tuple[type, Any, Any]] = {
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "time": (time, time.isoformat, time.fromisoformat),
    "duration": (
        timedelta,
        lambda value: [value.days, value.seconds, value.microseconds],
        lambda parts: timedelta(*parts),
    ),
    "decimal": (Decimal, str, Decimal),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
}


class RowSpool:
    """Batches of rows, written once and read once."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogatepass")  # noqa: SIM115  # gone when it is closed

    def add(self, rows: Sequence[Row | EmptyText]) -> None:
        """A batch."""
        from ..errors import OutputError
        from ..tables.rows import Row

        try:
            parts = [[isinstance(row, Row), row.number, row.values] for row in rows]
            self._file.write(json.dumps(parts, default=_form) + "\n")
        except OSError as error:
            raise OutputError(error.errno, error.strerror or str(error), tempfile.gettempdir()) from error

    def batches(self) -> Iterator[list[Row | EmptyText]]:
        """All of them, in their order; afterwards there are none."""
        from ..tables.rows import EmptyText, Row

        self._file.seek(0)
        for line in self._file:
            parts = json.loads(line, object_hook=_value)
            yield [
                Row(number, values) if has_text else EmptyText(number, values)
                for has_text, number, values in parts
            ]
        self._file.close()


def _form(value: Any) -> dict[str, Any]:
    for name, (kind, write, _) in _FORMS.items():
        if isinstance(value, kind):
            return {_MARK: [name, write(value)]}
    raise OptionError(
        f"--budget cannot hold back a row with {value!r:.60}, {type(value).__name__}; leave that column out."
    )


def _value(found: dict[str, Any]) -> Any:
    if found.keys() != {_MARK}:
        return found
    name, written = found[_MARK]
    return _FORMS[name][2](written)
