"""A folder in which a run holds what it has of many texts: arrays of each part, and in the end one matrix.

    run.json           first: what the run is about, so that one that was killed goes on and another does not
    NAME.npz           arrays; a zip archive, whose checksums tell a file that is damaged
    starts, entries    the matrix, `StoredRows` one part behind the other
    matrix.json        last: the sizes and checksums of these two

Every file is put in place when it is whole. A folder without a name is a temporary one, and goes with the
object.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import threading
import weakref
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._system.locks import ByteLocks
from .._system.writing import put_whole, write_whole
from ..errors import OtherRunError, OutputError, StoreError
from ..representations.drafts import StoredRows

FORMAT = 1
_RUN, _MATRIX, _LOCK = "run.json", "matrix.json", "lock"
_DAMAGE = (zipfile.BadZipFile, zlib.error, ValueError, KeyError, EOFError)
_AT_ONCE = 1 << 24  # bytes of a file
# NumPy has Python parse the header of an array, which in several threads at once fails now and then (CPython
# 3.11.7: "AST constructor recursion depth mismatch").
_READING = threading.Lock()
_DIFFERENCES = {  # of sources whose values say nothing to a reader
    "files": "its files are others, or were written to since",
    "parts": "its parts are of another size, as with less or more memory, or another part_bytes",
    "rows": "it held out other texts, or none",
    "texts": "its texts are others",
}


class Store:
    """The folder of one run, and nobody else's as long as it is open.

    Parameters
    ----------
    folder : path or None
        Made if it is not there; None: a temporary one.
    about : mapping from names to plain values
        What the files depend on: in another run's folder, a StoreError names what differs.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, about: Mapping[str, Any]) -> None:
        self._open_files = ExitStack()
        self._close = weakref.finalize(self, self._open_files.close)
        self.expected_bytes = 0  # of all files, as far as anybody knows
        if folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="textmargin-"))
            self._open_files.callback(shutil.rmtree, self.folder, ignore_errors=True)
            return
        self.folder = Path(folder)
        with self.close_on_error(), self._explain(_RUN):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._take(json.loads(json.dumps({"format": FORMAT, "textmargin": __version__, **about})))

    def _take(self, about: dict[str, Any]) -> None:
        """Make the folder this run's."""
        run = self.folder / _RUN
        if not run.exists() and any(
            path.name != _LOCK and path.suffix != ".part" for path in self.folder.iterdir()
        ):
            raise StoreError(
                f"{self.folder} is not empty, and what is in it is no such run's; name another folder."
            )
        locks = self._open_files.enter_context(ByteLocks(self.folder / _LOCK))
        if not locks.acquire(0, wait=False):
            raise _in_use(self.folder)
        for half in self.folder.glob(".*.part"):
            half.unlink(missing_ok=True)
        if run.exists():
            try:
                earlier = self._read_json(_RUN)
            except StoreError as error:
                raise OtherRunError(
                    f"{error.args[0].split(';')[0]}: delete the folder {self.folder}."
                ) from error
            for name in dict.fromkeys([*earlier, *about]):
                if earlier.get(name) != about.get(name):
                    raise OtherRunError(
                        f"{self.folder} holds a run with "
                        f"{_difference(name, earlier.get(name), about.get(name))}; name another "
                        f"folder, or delete that one."
                    )
        else:
            write_whole({run: json.dumps(about, indent=1).encode()})

    def save(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put arrays in place, all or none."""
        with self._explain(name), put_whole(self.folder / f"{name}.npz") as path, path.open("wb") as stream:
            np.savez(stream, allow_pickle=False, **dict(arrays))

    def load(self, name: str, *members: str) -> dict[str, NDArray[Any]] | None:
        """Arrays, all or some; None where they are not there. A StoreError where their file is damaged."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            return None
        try:
            with _READING, np.load(path, allow_pickle=False) as file:
                return {member: file[member] for member in members or file.files}
        except _DAMAGE as error:
            raise _damaged(path, str(error)) from error

    def discard(self, name: str) -> None:
        """Delete arrays that nobody needs any more."""
        (self.folder / f"{name}.npz").unlink(missing_ok=True)

    def write_rows(self, parts: Iterable[StoredRows]) -> None:
        """Put the matrix in place that these rows make."""
        end = 0
        sums = {"starts": 0, "entries": 0}
        with ExitStack() as stack:
            stack.enter_context(self._explain("the matrix"))
            paths = {name: stack.enter_context(put_whole(self.folder / name)) for name in sums}
            files = {name: stack.enter_context(path.open("wb")) for name, path in paths.items()}

            def write(name: str, array: NDArray[Any]) -> None:
                data = np.ascontiguousarray(array).view(np.uint8).data
                sums[name] = zlib.crc32(data, sums[name])
                files[name].write(data)

            write("starts", np.zeros(1, "<i8"))
            for rows in parts:
                write("starts", (rows.starts[1:] + end).astype("<i8"))
                write("entries", rows.entries.view("<i8"))
                end += rows.entries.size
        with self._explain(_MATRIX):
            write_whole({self.folder / _MATRIX: json.dumps({**sums, "n_entries": end}).encode()})

    def matrix(self) -> tuple[Path, Path] | None:
        """The files of the matrix, after a look at their checksums; None where it is not there."""
        if not (self.folder / _MATRIX).exists():
            return None
        about = self._read_json(_MATRIX)
        for name in ("starts", "entries"):
            path, checksum = self.folder / name, 0
            try:
                with path.open("rb") as stream:
                    while data := stream.read(_AT_ONCE):
                        checksum = zlib.crc32(data, checksum)
            except OSError as error:
                raise _damaged(self.folder / _MATRIX, f"{name} cannot be read: {error.strerror}") from error
            if checksum != about.get(name):
                raise _damaged(self.folder / _MATRIX, f"the checksum of {name} is another")
        return self.paths

    @property
    def paths(self) -> tuple[Path, Path]:
        """Where the matrix is."""
        return self.folder / "starts", self.folder / "entries"

    @contextmanager
    def close_on_error(self) -> Iterator[None]:
        """Close the store where the block does not end well: at once, not when the last trace of the error is
        gone.
        """
        try:
            yield
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the folder; a temporary one is deleted."""
        self._close()

    def delete(self) -> None:
        """Close, and delete the folder with all that is in it."""
        self._close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _read_json(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        try:
            content = json.loads(path.read_bytes())
            if not isinstance(content, dict):
                raise ValueError("not what a run writes")
        except (OSError, ValueError) as error:
            raise _damaged(path, str(error)) from error
        return content

    @contextmanager
    def _explain(self, name: str) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except (OSError, OutputError) as error:
            need = (
                f" about {self.expected_bytes / 1e6:,.0f} MB in all are needed there;"
                if self.expected_bytes
                else ""
            )
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            step = "free some space, or name another folder" if full else "name another folder"
            raise StoreError(
                f"{name} cannot be written to {self.folder}: {error.strerror or error};{need} {step}. "
                "What is there already is "
                f"whole, and a run with the same folder goes on from it."
            ) from error


def delete_run(folder: Path) -> None:
    """Delete the folder of a run that did not end; nothing where there is none, a StoreError where it still
    goes on.
    """
    if not (folder / _RUN).exists():
        return
    with ByteLocks(folder / _LOCK) as locks:
        if not locks.acquire(0, wait=False):
            raise _in_use(folder)
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():  # some systems delete no file that is open, as that of the lock
        shutil.rmtree(folder)


def _in_use(folder: Path) -> StoreError:
    return StoreError(
        f"{folder} is in use by another run, or by a model of this process whose held-out scores are not "
        "computed yet; wait for "
        f"its end, save the model, or name another folder."
    )


def _difference(name: str, earlier: Any, now: Any) -> str:
    """What two runs differ in."""
    if isinstance(earlier, dict) and isinstance(now, dict):
        inner = next(one for one in dict.fromkeys([*earlier, *now]) if earlier.get(one) != now.get(one))
        if inner in _DIFFERENCES:
            return f"another {name}: {_DIFFERENCES[inner]}"
        name, earlier, now = f"{name}, in its {inner}", earlier.get(inner), now.get(inner)
    return f"another {name}: {earlier!r:.80}, here it is {now!r:.80}"


def _damaged(path: Path, why: str) -> StoreError:
    return StoreError(f"{path} is damaged ({why}); delete it, and what was in it is made again.")
