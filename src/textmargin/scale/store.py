"""The folder of a run on many texts: what is computed of them is kept under a digest of what it depends on,
so that a run that was interrupted goes on from there.

    texts.parquet              the texts (`tables.parts`)
    DIGEST.starts, .entries    a matrix: where each row begins, and a column and a value for each entry

Every file is put in place when it is whole. A folder without a name is a temporary one, and goes with the
object.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import joblib
import numpy as np
from filelock import FileLock, Timeout

from .. import __version__
from .._system.writing import put_whole
from ..errors import OutputError, StoreError

ENTRY = np.dtype([("column", "<i4"), ("value", "<f4")])
_LOCK, _TEXTS = "lock", "texts.parquet"
_OWN = (_LOCK, _TEXTS, "*.starts", "*.entries", ".*.part")  # what a run leaves


class Store:
    """The folder of one run, and nobody else's as long as it is open.

    Parameters
    ----------
    folder : path or None
        Made if it is not there; None: a temporary one.
    """

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._open_files = ExitStack()
        self._close = weakref.finalize(self, self._open_files.close)
        if folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="textmargin-"))
            self._open_files.callback(shutil.rmtree, self.folder, ignore_errors=True)
            return
        self.folder = Path(folder)
        with self.writing("run"):
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / _LOCK, timeout=0, thread_local=False)
            try:
                self._open_files.enter_context(lock)
            except Timeout as error:
                raise StoreError(
                    f"{self.folder} is in use by another run, or by a model of this process whose held-out "
                    "scores are not computed yet; wait for its end, save the model, or name another folder."
                ) from error
            self._delete(".*.part")  # what a run that was killed was writing

    @property
    def texts(self) -> Path:
        """Where the texts are."""
        return self.folder / _TEXTS

    def matrix(self, digest: str, parts: Iterable[Any]) -> tuple[Path, Path]:
        """The files of a matrix, made of CSR matrices one below the other where they are not there."""
        starts, entries = self.folder / f"{digest}.starts", self.folder / f"{digest}.entries"
        if not starts.exists() or not entries.exists():  # starts is the last that is put in place
            self._delete("*.starts")
            self._delete("*.entries")
            with ExitStack() as stack:
                stack.enter_context(self.writing("the matrix"))
                paths = [stack.enter_context(put_whole(path)) for path in (starts, entries)]
                files = [stack.enter_context(path.open("wb")) for path in paths]
                np.zeros(1, "<i8").tofile(files[0])
                append_rows(files[0], files[1], 0, parts)
        return starts, entries

    @contextmanager
    def writing(self, what: str) -> Iterator[None]:
        """A block that writes to the folder; where it cannot, the error says what to do."""
        try:
            yield
        except StoreError:
            raise
        except (OSError, OutputError) as error:
            self.close()
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            step = "Free some space, or name another folder" if full else "Name another folder"
            raise StoreError(
                f"{what} cannot be written to {self.folder}: {error.strerror or error}. {step}. A run with "
                f"the "
                "same folder goes on from what is there."
            ) from error

    def _delete(self, pattern: str) -> None:
        for path in self.folder.glob(pattern):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the folder; a temporary one is deleted."""
        self._close()

    def delete(self) -> None:
        """Close, and delete what runs leave, and the folder if nothing else is in it."""
        self._close()
        for pattern in _OWN:
            self._delete(pattern)
        if self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()


def append_rows(starts: Any, entries: Any, end: int, parts: Iterable[Any]) -> None:
    """Write rows of CSR matrices to the two files of a matrix, behind so many entries."""
    for X in parts:
        own = np.empty(X.nnz, dtype=ENTRY)
        own["column"], own["value"] = X.indices, X.data
        own.tofile(entries)
        (X.indptr[1:].astype("<i8") + end).tofile(starts)
        end += X.nnz


def digest_of(settings: Any) -> str:
    """A name for what depends on some settings; one of its own for None or what cannot be known again."""
    content = None
    if settings is not None:
        with suppress(Exception):  # what is in a setting is the user's, and so is what goes wrong
            content = json.dumps([__version__, settings], default=joblib.hash, sort_keys=True)
    return str(joblib.hash(content or uuid4().hex))[:16]
