"""Arrays as entries: `.npy`, version 1.0, whose header follows from dtype, order and shape, so that none is
ever interpreted.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._archive import Archive
from ._seal import CHUNK, Refused

# Indices, truth values and strings, of which everything is known by this name: no objects, records or dates.
_DTYPE = re.compile(r"\|b1|\|[iu]1|[<>](?:[iu][248]|f[248]|U[1-9][0-9]{0,7})|\|S[1-9][0-9]{0,7}")
_MAX_DIMENSIONS = 32


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this kind can be kept."""
    return bool(_DTYPE.fullmatch(dtype.str))


def scalar_type(name: Any) -> np.dtype[Any]:
    """The dtype of this name."""
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise Refused(f"has an array of type {name!r:.60}, which is not one of numbers or strings")
    return np.dtype(name)


def in_fortran_order(array: NDArray[Any]) -> bool:
    """Which products round by."""
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def npy(array: NDArray[Any]) -> bytes:
    """The content of a .npy file."""
    fortran = in_fortran_order(array)
    values = np.ascontiguousarray(array.T if fortran else array).reshape(-1).view(np.uint8)
    return b"".join((_header(array.dtype.str, fortran, array.shape), values.data))


def described(array: NDArray[Any]) -> dict[str, Any]:
    """An array's line in the manifest."""
    return {"dtype": array.dtype.str, "shape": list(array.shape), "fortran": in_fortran_order(array)}


def read_array(archive: Archive, name: str, described: Any, max_bytes: int) -> NDArray[Any]:
    """An array, if its entry is what the manifest says; memory is taken only when the sizes agree."""
    dtype, shape, fortran = _checked(name, described)
    if math.prod(max(n, 1) for n in shape) * dtype.itemsize > max_bytes:
        raise Refused(f"has an array {name!r} of shape {shape!r:.80}, more than max_bytes={max_bytes:,}")
    header = _header(dtype.str, fortran, shape)
    n_bytes = math.prod(shape) * dtype.itemsize
    if archive.sizes[name] != len(header) + n_bytes:
        raise Refused(
            f"has an array {name!r} of {archive.sizes[name]} bytes, where shape {shape!r:.80} needs "
            f"{len(header) + n_bytes}"
        )
    array = np.empty(n_bytes, dtype=np.uint8)
    with archive.entry(name) as stream:
        found = stream.read(len(header))
        filled = 0
        while part := stream.read(CHUNK):
            array[filled : filled + len(part)] = np.frombuffer(part, dtype=np.uint8)
            filled += len(part)
    if found != header or filled != n_bytes:
        raise Refused(f"has an array {name!r} that is not what it is described as")
    _check_bits(array, dtype, name)
    # compiled code and other formats know one order
    values = array.view(dtype).astype(dtype.newbyteorder("="), copy=False)
    return values.reshape(shape, order="F" if fortran else "C")


def _checked(name: str, described: Any) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    if not isinstance(described, dict) or set(described) != {"dtype", "shape", "fortran"}:
        raise Refused(f"does not describe its array {name!r}")
    dtype, shape = scalar_type(described["dtype"]), described["shape"]
    numbers = (
        isinstance(shape, list)
        and len(shape) <= _MAX_DIMENSIONS
        and all(type(n) is int and n >= 0 for n in shape)
    )
    if not numbers or not isinstance(described["fortran"], bool):
        raise Refused(f"has an array {name!r} of shape {shape!r:.60}")
    return dtype, tuple(shape), described["fortran"]


def _header(dtype: str, fortran: bool, shape: tuple[int, ...]) -> bytes:
    text = f"{{'descr': {dtype!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def _check_bits(array: NDArray[np.uint8], dtype: np.dtype[Any], name: str) -> None:
    """Truth values other than 0 and 1, and characters beyond the last one, are no values at all."""
    wrong = dtype.kind == "b" and array.max(initial=0) > 1
    if dtype.kind == "U":
        wrong = bool(array.view(f"{dtype.str[0]}u4").max(initial=0) > 0x10FFFF)
    if wrong:
        raise Refused(f"has an array {name!r} with values that its type {dtype.str} does not have")
