"""Square tiles of kernel matrices in one SQLite file, and who is at work on which tile.

SQLite sees to it that a tile is written whole or not at all, whenever a process is killed. Who computes a
tile locks it (`_system/locks.py`), and the system releases locks with their process. Every operation opens
the file anew, so that threads and processes need not know of one another.
"""

from __future__ import annotations

import errno
import secrets
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._system.locks import ByteLocks
from .._typing import Floats, Indices
from ..errors import StoreError

SIDE = 64  # texts of a tile: half a second's work for documents of 500 characters on a slow machine
LEAST_BYTES = 1_000_000

_VERSION = 1  # of the tables
_TILE_BYTES = SIDE * SIDE * 8 + 5000  # with what SQLite needs around it: whole pages, and its indices
_SPARE = 1.2  # of a file that is to hold so many tiles: a tenth is forgotten at a time
_TEXT_BYTES = 100  # of a number and a digest, with their indices
_TEXTS_SHARE = 0.25  # of the file
_PATIENCE = 120  # seconds to wait while others write
_STALE = 60  # seconds after which a tile that is read counts as used anew
_SCHEMA = """
CREATE TABLE IF NOT EXISTS kernels (number INTEGER PRIMARY KEY, identity TEXT UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS texts (number INTEGER PRIMARY KEY, digest BLOB UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS tiles (
    kernel INTEGER NOT NULL, i INTEGER NOT NULL, j INTEGER NOT NULL, used INTEGER NOT NULL,
    checksum INTEGER NOT NULL, content BLOB NOT NULL, PRIMARY KEY (kernel, i, j));
CREATE INDEX IF NOT EXISTS oldest ON tiles (used);
"""

Key = tuple[int, int, int]  # kernel, and the tile's row and column, row ≤ column


@dataclass(frozen=True)
class Tiles:
    """The file in a folder, and how large it may get."""

    folder: Path
    max_bytes: int

    @property
    def path(self) -> Path:
        return self.folder / "kernels.sqlite"

    def numbers(self, identity: str, digests: list[bytes]) -> tuple[int, Indices]:
        """The number of a kernel, and of each text; new ones are entered."""
        if len(digests) * _TEXT_BYTES > 2 * _TEXTS_SHARE * self.max_bytes:
            raise StoreError(
                f"max_bytes={self.max_bytes:,} is too small for {len(digests):,} texts; with so many it "
                "should be "
                f"{int(len(digests) * _TEXT_BYTES / _TEXTS_SHARE):,} at least."
            )
        with self._transaction() as file:
            self._make_room_for_texts(file, len(digests))
            # By a number that no other file, nor this one after `clear`, has given out: one who still holds
            # it harms nobody.
            file.execute("INSERT OR IGNORE INTO kernels VALUES (?, ?)", (secrets.randbits(62), identity))
            (kernel,) = file.execute("SELECT number FROM kernels WHERE identity = ?", (identity,)).fetchone()
            file.executemany(
                "INSERT OR IGNORE INTO texts (digest) VALUES (?)", ((digest,) for digest in digests)
            )
            numbers = [
                file.execute("SELECT number FROM texts WHERE digest = ?", (digest,)).fetchone()[0]
                for digest in digests
            ]
        return kernel, np.array(numbers, dtype=np.intp)

    def knows(self, kernel: int) -> bool:
        """Whether a kernel's number was given out here: no other file, on no other machine, has it."""
        if not self.path.exists():
            return False
        with self._open() as file:
            return file.execute("SELECT 1 FROM kernels WHERE number = ?", (kernel,)).fetchone() is not None

    def check_room(self, n_tiles: int, n_texts: int) -> None:
        """Whether so many tiles can be there at the same time."""
        needed = int(_SPARE * n_tiles * _TILE_BYTES) + n_texts * _TEXT_BYTES
        if needed > self.max_bytes:
            raise StoreError(
                f"max_bytes={self.max_bytes:,} is too small for all kernel values of {n_texts:,} texts; "
                f"it should be {needed:,} "
                f"at least."
            )

    def read(self, keys: list[Key]) -> dict[Key, Floats]:
        """The tiles that are there and whole, NaN where nothing is known."""
        now = int(time.time())
        with self._open() as file:
            tiles = {key: tile for key in keys if (tile := _content(file, key)) is not None}
        stale = [(now, *key) for key, (used, _) in tiles.items() if used < now - _STALE]
        if stale:
            with self._transaction() as file:
                file.executemany("UPDATE tiles SET used = ? WHERE (kernel, i, j) = (?, ?, ?)", stale)
        return {key: values for key, (_, values) in tiles.items()}

    def add(self, tiles: dict[Key, Floats]) -> None:
        """Store the values of tiles, beside those that are there."""
        with self._transaction() as file:
            for key, values in tiles.items():
                self._make_room(file, _TILE_BYTES)
                old = _content(file, key)
                content = np.ascontiguousarray(
                    np.where(np.isnan(old[1]), values, old[1]) if old else values, "<f8"
                ).tobytes()
                row = (*key, int(time.time()), zlib.crc32(content), content)
                file.execute("INSERT OR REPLACE INTO tiles VALUES (?, ?, ?, ?, ?, ?)", row)
        if self.path.stat().st_size > self.max_bytes:  # it once was allowed to be larger
            with self._open() as file:
                file.executescript("PRAGMA incremental_vacuum")

    def clear(self) -> None:
        """Forget everything."""
        with self._transaction() as file:
            _forget(file)
        with self._open() as file:
            file.execute("VACUUM")

    @contextmanager
    def lock(self, keys: list[Key]) -> Iterator[set[Key]]:
        """Those of some tiles that are now this thread's to compute, within the block."""
        with self._explain_errors():
            locks = ByteLocks(self.folder / "locks")
        with locks:
            yield {key for key in keys if locks.acquire(_byte(key), wait=False)}

    def wait_for(self, key: Key) -> None:
        """Until nobody is at a tile."""
        with self._explain_errors():
            locks = ByteLocks(self.folder / "locks")
        with locks:
            locks.acquire(_byte(key))

    def _make_room(self, file: sqlite3.Connection, n_bytes: int) -> None:
        """Forget the tiles that were not used for longest, so that so many more bytes fit."""
        page, pages, free = (_pragma(file, name) for name in ("page_size", "page_count", "freelist_count"))
        excess = (pages - free) * page + n_bytes + _TILE_BYTES - self.max_bytes
        if excess > 0:
            n = int(np.ceil((excess + 0.1 * self.max_bytes) / _TILE_BYTES))
            file.execute(
                "DELETE FROM tiles WHERE rowid IN (SELECT rowid FROM tiles ORDER BY used, rowid LIMIT ?)",
                (n,),
            )

    def _make_room_for_texts(self, file: sqlite3.Connection, n: int) -> None:
        """Texts are numbered for good, so that when they take up too much, everything is forgotten."""
        n_texts = file.execute("SELECT max(number) FROM texts").fetchone()[0] or 0
        if n_texts and (n_texts + n) * _TEXT_BYTES > _TEXTS_SHARE * self.max_bytes:
            _forget(file)
        self._make_room(file, n * _TEXT_BYTES)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._open() as file:
            file.execute("BEGIN IMMEDIATE")
            try:
                yield file
            except BaseException:
                file.rollback()
                raise
            file.commit()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._explain_errors():
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except ValueError as error:  # a NUL, or half a surrogate pair
                raise StoreError(
                    f"{str(self.folder)!r} is no name that a folder can have; choose another ({error})."
                ) from error
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)) as file:
                if _pragma(file, "user_version") != _VERSION:
                    self._create(file)
                file.execute("PRAGMA synchronous = NORMAL")
                file.execute(f"PRAGMA max_page_count = {self.max_bytes // 4096}")
                yield file

    def _create(self, file: sqlite3.Connection) -> None:
        version = _pragma(file, "user_version")
        if version > _VERSION:
            raise StoreError(
                f"{self.path} was written by a later version of textmargin; choose another folder."
            )
        file.execute("PRAGMA page_size = 4096")
        file.execute("PRAGMA auto_vacuum = INCREMENTAL")
        file.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Errors of the system, in words that help."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"{self._what(error)} ({error}).") from error

    def _what(self, error: Exception) -> str:
        code = getattr(error, "sqlite_errorcode", None) or 0
        number = getattr(error, "errno", None)
        if code & 0xFF == sqlite3.SQLITE_FULL or number in (errno.ENOSPC, errno.EDQUOT):
            return (
                f"There is no room left for kernel values in {self.folder}: its disk is full. What is "
                "there is intact; make "
                f"room, choose another folder, or use cache=None"
            )
        damaged = isinstance(error, UnicodeDecodeError)  # of which SQLite speaks in the bytes that it found
        if damaged or code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return f"{self.path} is damaged; delete it, and its values will be computed again"
        if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return f"{self.path} was busy for {_PATIENCE} seconds; is another process stuck?"
        if number == errno.ENOTSUP:
            return "Kernel values cannot be kept on disk here; use cache=None"
        if number in (errno.EMFILE, errno.ENFILE):
            return (
                f"Kernel values cannot be kept in {self.folder}: too many files are open; raise the "
                "limit (ulimit -n)"
            )
        return (
            f"Kernel values cannot be kept in {self.folder}; make the folder writable, choose another, "
            "or use cache=None"
        )


def _content(file: sqlite3.Connection, key: Key) -> tuple[int, Floats] | None:
    """When a tile was last used, and its values, if it is there and whole."""
    row = file.execute(
        "SELECT used, checksum, content FROM tiles WHERE (kernel, i, j) = (?, ?, ?)", key
    ).fetchone()
    whole = row is not None and zlib.crc32(row[2]) == row[1] and len(row[2]) == SIDE * SIDE * 8
    return (row[0], np.frombuffer(row[2], dtype="<f8").reshape(SIDE, SIDE)) if whole else None


def _forget(file: sqlite3.Connection) -> None:
    for table in ("tiles", "texts", "kernels"):
        file.execute(f"DELETE FROM {table}")


def _byte(key: Key) -> int:
    """The byte of the lock file that stands for a tile; two tiles may share one."""
    return zlib.crc32(repr(key).encode())


def _pragma(file: sqlite3.Connection, name: str) -> int:
    return int(file.execute(f"PRAGMA {name}").fetchone()[0])
