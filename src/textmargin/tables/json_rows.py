"""Rows of a JSON file: an array of objects, or an object with one such array in it; read as they come, with
constant memory.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from ..errors import TableError
from .lines import LONGEST
from .rows import Row
from .streams import ByteStream

_NEXT = re.compile(r"[^\s,:]")


class JsonReader:
    """Values of JSON from a stream, one after the other."""

    def __init__(self, stream: ByteStream, encoding: str) -> None:
        self.stream = stream
        self.decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
        self.parse = json.JSONDecoder().raw_decode
        self.text, self.place, self.at_end = "", 0, False
        self.n_rows = 0

    def objects(self) -> Iterator[dict[str, Any]]:
        """The rows, where they are first found."""
        if self._next() == "[":
            self.place += 1
            yield from self._items()
            return
        if self._next() != "{":
            raise self._error("it begins with neither [ nor {")
        self.place += 1
        found = []
        while self._next() != "}":
            key = self._value()
            if self._next() == "[":
                self.place += 1
                if self._next() == "{":
                    found.append(key)
                    if len(found) > 1:
                        raise self._error(
                            f"it has several lists of objects, {found[0]!r} and {key!r}; keep the one "
                            "that you mean"
                        )
                    yield from self._items()
                    continue
                while self._next() != "]":
                    self._value()
                self.place += 1
            else:
                self._value()
        if not found:
            raise self._error("no list of objects is in it; an object per row, in [ ], is needed")

    def _items(self) -> Iterator[dict[str, Any]]:
        while self._next() != "]":
            value = self._value()
            self.n_rows += 1
            if not isinstance(value, dict):
                raise self._error(f"not an object but {type(value).__name__}")
            yield value
        self.place += 1

    def _next(self) -> str:
        """The next character that is not blank, a comma or a colon."""
        while True:
            if found := _NEXT.search(self.text, self.place):
                self.place = found.start()
                return found[0]
            self.place = len(self.text)
            if not self._more(1):
                raise self._error("it breaks off")

    def _value(self) -> Any:
        self._next()
        while True:
            try:
                value, end = self.parse(self.text, self.place)
            except ValueError as error:
                # twice as much, so that a long one takes linear time
                if not self._more(2 * (len(self.text) - self.place)):
                    raise self._error(str(error)) from error
                continue
            except RecursionError as error:
                raise self._error("its brackets are nested too deep") from error
            if end == len(self.text) and self._more(1):  # a number may go on
                continue
            self.place = end
            return value

    def _more(self, n: int) -> bool:
        """At least so many characters more, or all that are left; False where none are."""
        parts, size = [self.text[self.place :]], 0
        while size < n and not self.at_end:
            data = self.stream.read()
            self.at_end = not data
            try:
                parts.append(self.decoder.decode(data, final=self.at_end))
            except UnicodeDecodeError as error:
                raise self._error(
                    f"a byte is not {error.encoding}; name the encoding with encoding="
                ) from error
            size += len(parts[-1])
        self.text, self.place = "".join(parts), 0
        if len(self.text) > LONGEST:
            raise self._error(f"a row is longer than {LONGEST:,} characters")
        return size > 0

    def _error(self, why: str) -> TableError:
        return TableError(f"{self.stream.name} cannot be read as JSON after {self.n_rows:,} rows: {why}.")


def parse_json_lines(content: bytes, n_before: int) -> list[Row] | None:
    """The rows of many lines in UTF-8 at once; None where one of them needs `formats.parse_line`, which says
    what is wrong.
    """
    parse = json.JSONDecoder().raw_decode
    try:
        lines = content.decode().removesuffix("\n").split("\n")
        whole = [(number, line.strip(" \t\r")) for number, line in enumerate(lines, start=n_before + 1)]
        read = [(number, line, *parse(line)) for number, line in whole if line]
    except (ValueError, RecursionError):
        return None
    if any(end != len(line) or type(values) is not dict for _, line, values, end in read):
        return None
    return [Row(number, values) for number, _, values, _ in read]
