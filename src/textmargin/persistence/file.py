"""A model file: one safetensors file with named arrays, a JSON document, and a digest of every byte.

    8 bytes   length of the header
    header    {"__metadata__": {"digest": 64 digits, "format": "textmargin 3", "version": …, "document": …},
               "decider_.scorer.coef": {"dtype": "F64", "shape": [27360, 115], "data_offsets": [0, …]}, …}
    arrays    one after the other without gaps, the widest numbers first, from a multiple of 64 on

The document is JSON. The digest is the SHA-256 of the file with zeros in place of the digest. It finds
damage; it does not prove who wrote a file. Any safetensors reader can read the arrays. That library
is not needed here: it copies every array, and gives no access to the raw header, which the digest covers.

Files are read into memory, not mapped: if a mapped file were overwritten, the process would die, or decide
otherwise.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._system.writing import put_whole
from ..errors import ModelFileError
from ..records import Arrays, RecordError

_FORMAT = "textmargin 3"
_MAX_HEADER = 16_000_000  # bytes
_MAX_VALUES = 1_000_000  # in JSON, which take at most 160 MB of memory
_START, _ZEROS = b'{"__metadata__":{"digest":"', b"0" * 64
_DIGEST = slice(8 + len(_START), 8 + len(_START) + 64)
_DTYPES = {
    f"{kind.upper()}{8 * size}": np.dtype(f"<{kind}{size}")
    for kind, sizes in {"u": (1, 2, 4, 8), "i": (1, 2, 4, 8), "f": (2, 4, 8)}.items()
    for size in sizes
}
_DTYPES["BOOL"] = np.dtype(bool)
_NAMES = {own: name for name, own in _DTYPES.items()}


def write_file(path: str | os.PathLike[str], document: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a document and arrays (in C order), whole or not at all; the same content as the same bytes."""
    ordered = dict(sorted(arrays.items(), key=lambda item: -item[1].itemsize))
    ends = np.cumsum([0, *(array.nbytes for array in ordered.values())]).tolist()
    about = {
        "digest": _ZEROS.decode(),
        "format": _FORMAT,
        "version": __version__,
        "document": _json(document),
    }
    header: dict[str, Any] = {"__metadata__": about}
    for (name, array), start, end in zip(ordered.items(), ends[:-1], ends[1:], strict=True):
        header[name] = {"dtype": _NAMES[array.dtype], "shape": array.shape, "data_offsets": [start, end]}
    text = _json(header).encode()
    if len(text) > _MAX_HEADER - 64 or _count_values(about["document"]) > _MAX_VALUES:
        raise ModelFileError(
            f"{path} is not written: its settings and keywords take {len(text) / 1e6:.0f} MB. A file has "
            f"room for {_MAX_HEADER / 1e6:.0f} MB and {_MAX_VALUES:,} values; use fewer keywords or passages."
        )
    text += b" " * (-(8 + len(text)) % 64)
    head = bytearray(len(text).to_bytes(8, "little") + text)
    contents = [array.reshape(-1).view(np.uint8).data for array in ordered.values() if array.size]
    digest = hashlib.sha256(head)
    for content in contents:
        digest.update(content)
    head[_DIGEST] = digest.hexdigest().encode()
    if not Path(path).parent.is_dir():
        raise ModelFileError(f"{path} cannot be written: there is no folder {Path(path).parent}; make it.")
    try:
        with put_whole(Path(path)) as temporary, temporary.open("wb") as stream:
            for content in (memoryview(head), *contents):
                stream.write(content)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror or error}.") from error


def read_file(path: str | os.PathLike[str]) -> tuple[Any, Arrays]:
    """The document and the arrays of a file that `write_file` wrote; ModelFileError if a byte differs."""
    with refusal(path):
        with open(path, "rb") as stream:  # noqa: PTH123
            status = os.fstat(stream.fileno())
            start = stream.read(_DIGEST.stop) if stat.S_ISREG(status.st_mode) else b""
            if start[8 : _DIGEST.start] != _START or len(start) < _DIGEST.stop:
                raise ModelFileError(
                    f"{path} is {_kind(start)}; give a file that `textmargin train` or `save` wrote."
                )
            stream.seek(0)
            content = np.fromfile(stream, np.uint8)
        size = 8 + int.from_bytes(start[:8], "little")
        if not len(start) <= size <= min(content.size, 8 + _MAX_HEADER) or size % 8:
            raise RecordError("it is damaged: its header is cut short")
        found, content[_DIGEST] = start[_DIGEST], np.frombuffer(_ZEROS, np.uint8)
        if hashlib.sha256(content.data).hexdigest().encode() != found:
            raise RecordError("it is damaged: its digest does not match its content")
        table = _parsed(content[8:size].tobytes().decode())
        about = table.pop("__metadata__")
        if about["format"] != _FORMAT:
            raise RecordError(f"its format is {about['format']!r:.40}, and this version reads {_FORMAT!r}")
        return _parsed(about["document"]), _arrays(table, content[size:])


@contextmanager
def refusal(path: str | os.PathLike[str]) -> Iterator[None]:
    """A ModelFileError that names the file, whatever is wrong with it."""
    try:
        yield
    except (ModelFileError, Warning):
        raise
    except FileNotFoundError as error:
        raise ModelFileError(f"There is no file {path}.") from error
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except Exception as error:  # also what constructors say about values that were made up
        why = str(error) if isinstance(error, RecordError) else f"{type(error).__name__}: {error!s:.120}"
        why = " ".join(why.split())
        raise ModelFileError(f"{path} cannot be loaded: {why}. Get it again from its source.") from error


def _arrays(table: dict[str, Any], content: NDArray[np.uint8]) -> Arrays:
    """The arrays, each where the one before it ends."""
    arrays, end = {}, 0
    for name, own in sorted(table.items(), key=lambda item: item[1]["data_offsets"]):
        dtype, shape, (start, stop) = _DTYPES[own["dtype"]], own["shape"], own["data_offsets"]
        sides = all(type(side) is int and side >= 0 for side in shape) and len(shape) <= 8
        if (
            not sides
            or start != end
            or stop - start != math.prod(shape) * dtype.itemsize
            or start % dtype.itemsize
        ):
            raise RecordError(f"its array {name!r:.60} is not where the header says")
        raw, end = content[start:stop], stop
        if dtype.kind == "b" and raw.max(initial=0) > 1:
            raise RecordError(f"its array {name!r:.60} holds other values than true and false")
        arrays[name] = raw.view(dtype).reshape(shape)
    if end != content.size:
        raise RecordError("it goes on after its arrays")
    return arrays


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _parsed(text: str) -> Any:
    if _count_values(text) > _MAX_VALUES:
        raise RecordError("it has more values than a model")
    return json.loads(text)


def _count_values(text: str) -> int:
    return sum(map(text.count, ",[{"))


def _kind(start: bytes) -> str:
    """What a file is that is no model file."""
    if start.startswith(b"\x80"):
        return "a pickle, which could run anything when it is opened, not a textmargin model"
    archive = "a zip archive, not a textmargin model of this version"
    return archive if start.startswith(b"PK") else "not a textmargin model"
