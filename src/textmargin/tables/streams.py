"""Bytes as they arrive: from a file, a pipe or a terminal, unpacked where they are packed, and no later than
they are there.

How a file is packed is told by its first bytes, whatever its name: gzip, xz, bzip2, Zstandard.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from ..errors import TableError, install_hint
from .paths import name_of

AT_ONCE = 1 << 19
FIRST_BLOCK = 1 << 18  # bytes of a file that are looked at to find out how it is written
_MAGIC = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError)


class ByteStream:
    """Bytes as they arrive; the first of them can be looked at before, and are read all the same.

    Parameters
    ----------
    name : str
        What to call it in errors.
    read : function
        That gives the next bytes, as many as there are, and none at the end.
    patient : bool
        Whether `peek` waits for a whole block, as of a file; else for the first line only, as of a pipe.
    packed : bool, default=False
        Whether these bytes were unpacked from others.
    """

    def __init__(self, name: str, read: Callable[[], bytes], patient: bool, packed: bool = False) -> None:
        self.name, self._read, self.patient, self.packed = name, read, patient, packed
        self._first = b""
        self.at_end = False

    def read(self) -> bytes:
        """The next bytes; none at the end."""
        if self._first:
            first, self._first = self._first, b""
            return first
        return b"" if self.at_end else self._read()

    def peek(self) -> bytes:
        """The first bytes."""
        parts, size = [self._first] if self._first else [], len(self._first)
        while (
            size < FIRST_BLOCK and not self.at_end and (self.patient or b"\n" not in b"".join(parts).lstrip())
        ):
            data = self._read()
            self.at_end = not data
            parts.append(data)
            size += len(data)
        self._first = b"".join(parts)
        return self._first

    def drop_mark(self) -> None:
        """Leave out the mark that UTF-8 may begin with."""
        self._first = self.peek().removeprefix(codecs.BOM_UTF8)

    def in_utf8(self, encoding: str) -> ByteStream:
        """The same text in UTF-8, for encodings in which a newline is not always the byte 10."""
        decoder = codecs.getincrementaldecoder(encoding)()

        def read() -> bytes:
            while True:
                data = self.read()
                try:
                    text = decoder.decode(data, final=not data)
                except UnicodeError as error:
                    raise TableError(
                        f"{self.name} is not {encoding}; name another with encoding=."
                    ) from error
                if text or not data:
                    return text.encode("utf-8", "replace")

        return ByteStream(self.name, read, self.patient, self.packed)


class _Raw(io.RawIOBase):
    """A stream as unpacking modules take it."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream, self.rest = stream, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.rest or self.stream.read()
        n = min(len(data), len(buffer))
        buffer[:n], self.rest = data[:n], data[n:]
        return n


def _standard_input(name: str, sizes: Iterator[int]) -> ByteStream:
    """What comes as it comes, past Python's own buffer; of a stand-in that is no file, as in a notebook,
    through it.
    """
    try:
        handle = sys.stdin.fileno()
    except io.UnsupportedOperation:
        return ByteStream(name, lambda: sys.stdin.buffer.read(next(sizes)), patient=True)
    return ByteStream(name, lambda: os.read(handle, next(sizes)), stat.S_ISREG(os.fstat(handle).st_mode))


def open_stream(source: str | os.PathLike[str], stack: ExitStack) -> ByteStream:
    """The bytes of a file, or with "-" of standard input, unpacked; closed with the stack."""
    name = name_of(source)
    sizes = chain([FIRST_BLOCK], repeat(AT_ONCE))
    if source == "-":
        stream = _standard_input(name, sizes)
    else:
        path = Path(source)
        try:
            file = stack.enter_context(path.open("rb", buffering=0))
            stream = ByteStream(name, lambda: file.read(next(sizes)) or b"", path.is_file())
        except OSError as error:
            raise TableError(f"{path} cannot be read: {error.strerror}.") from error
    try:
        first = stream.peek()
    except OSError as error:
        raise TableError(f"{name} cannot be read: {error.strerror}.") from error
    kind = next((kind for magic, kind in _MAGIC.items() if first.startswith(magic)), None)
    return (
        stream
        if kind is None
        else ByteStream(name, _unpack(kind, stream, stack), stream.patient, packed=True)
    )


def _unpack(kind: str, stream: ByteStream, stack: ExitStack) -> Callable[[], bytes]:
    raw: Any = _Raw(stream)
    if kind == "zstd":
        return _guarded(_zstd_reader(raw, stack), stream.name)
    unpacking: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
    file = stack.enter_context(unpacking[kind](raw, "rb"))
    return _guarded(file.read1, stream.name)


def _zstd_reader(raw: Any, stack: ExitStack) -> Callable[[int], bytes]:
    """Python's own from 3.14 on, else that of PyArrow."""
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdFile

        return stack.enter_context(ZstdFile(raw)).read1
    try:
        import pyarrow as pa
    except ImportError as error:
        raise TableError(
            f"{raw.stream.name} is packed with Zstandard, which before Python 3.14 needs PyArrow: "
            f"{install_hint('parquet')}."
        ) from error
    return stack.enter_context(pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")).read


def _guarded(read: Callable[[int], bytes], name: str) -> Callable[[], bytes]:
    def guarded() -> bytes:
        try:
            return read(AT_ONCE)
        except _DAMAGE as error:
            raise TableError(f"{name} breaks off or is damaged ({error}); get it anew.") from error

    return guarded
