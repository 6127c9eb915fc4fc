"""Arrays on a worker's disk instead of in its memory: what every pass reads but no pass may fill the memory with.

The file has no name: it cannot be mistaken for something else, nothing else can remove it, and it is freed with the object or
with the process, however that ends. Arrays are mapped one at a time when they are read, from the system's page cache while
memory is plenty. Sent to another worker, the contents go along and are stored there.
"""

from __future__ import annotations

import errno
import mmap
import os
import resource
import tempfile
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import StoreError

_PAGE = mmap.ALLOCATIONGRANULARITY


class SpilledArrays:
    """A few arrays in one anonymous file, written in runs of rows."""

    def __init__(self, arrays: Iterable[NDArray[Any]] = ()) -> None:
        self._file = _anonymous_file()
        self._layouts: list[tuple[int, np.dtype[Any], tuple[int, ...]]] = []
        self._end = 0
        for array in arrays:
            self.write(self.add(array.dtype, array.shape), 0, array)

    def __len__(self) -> int:
        return len(self._layouts)

    def add(self, dtype: Any, shape: tuple[int, ...]) -> int:
        """Room for another array; its number."""
        self._layouts.append((self._end, np.dtype(dtype), shape))
        self._end += -(-self._n_bytes(-1) // _PAGE) * _PAGE
        return len(self) - 1

    def write(self, i: int, row: int, values: NDArray[Any]) -> None:
        """Rows of an array, from a given row on."""
        start, dtype, shape = self._layouts[i]
        rest = memoryview(np.ascontiguousarray(values, dtype=dtype).tobytes())
        offset = start + row * dtype.itemsize * int(np.prod(shape[1:]))
        try:
            while rest:
                n_written = os.pwrite(self._file.fileno(), rest, offset)
                rest, offset = rest[n_written:], offset + n_written
        except OSError as error:
            raise StoreError(
                f"{values.nbytes} bytes of a partition cannot be kept in {_folder()!r}: {error.strerror}; free some space there, "
                f"or name another folder (TMPDIR, or the local directory of the Dask worker)."
            ) from error

    def read(self, i: int) -> NDArray[Any]:
        """An array, mapped as long as it is in use; changes to it stay in memory."""
        start, dtype, shape = self._layouts[i]
        n_bytes = self._n_bytes(i)
        if n_bytes == 0:
            return np.empty(shape, dtype)
        mapping = mmap.mmap(self._file.fileno(), n_bytes, access=mmap.ACCESS_COPY, offset=start)
        return np.frombuffer(mapping, dtype).reshape(shape)

    def _n_bytes(self, i: int) -> int:
        _, dtype, shape = self._layouts[i]
        return dtype.itemsize * int(np.prod(shape))

    def __reduce__(self) -> Any:
        return type(self), ([self.read(i) for i in range(len(self))],)


class SpilledMatrix(SpilledArrays):
    """A matrix, CSR in canonical form or dense."""

    def __init__(self, matrix: Any) -> None:
        self.shape: tuple[int, int] = matrix.shape
        self._sparse = sp.issparse(matrix)
        super().__init__([matrix.indptr, matrix.indices, matrix.data] if self._sparse else [matrix])

    def matrix(self) -> Any:
        """The matrix, mapped."""
        if not self._sparse:
            return self.read(0)
        matrix = sp.csr_matrix((self.read(2), self.read(1), self.read(0)), shape=self.shape, copy=False)
        matrix.has_canonical_format = True
        return matrix

    def __reduce__(self) -> Any:
        return type(self), (self.matrix(),)


def load(part: Any) -> Any:
    """The matrix itself, wherever it is kept."""
    return part.matrix() if isinstance(part, SpilledMatrix) else part


def _anonymous_file() -> Any:
    """A file that is open as long as the object lives; a worker has one for each of its parts, and more."""
    try:
        try:
            return tempfile.TemporaryFile(dir=_folder(), buffering=0)
        except OSError as error:
            if error.errno != errno.EMFILE:
                raise
            _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            return tempfile.TemporaryFile(dir=_folder(), buffering=0)
    except OSError as error:
        raise StoreError(
            f"A partition cannot be kept in {_folder()!r}: {error.strerror}. Where too many files are open, use fewer and larger "
            f"parts, more workers, or allow more (ulimit -n)."
        ) from error


def _folder() -> str:
    """The worker's own folder; outside a worker, the system's for temporary files."""
    from distributed import get_worker

    try:
        return str(get_worker().local_directory)
    except ValueError:
        return tempfile.gettempdir()
