"""Square tiles of kernel matrices in one SQLite file, and who is at work on which tile.

SQLite sees to it that a tile is written whole or not at all, whenever a process is killed. Claims are locks on single bytes of a
file that stays empty; the system releases them with the process. Every operation opens the file anew, so that threads and forked
processes need not know of one another.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import sqlite3
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ._pairs import Floats, Numbers
from .errors import StoreError

SIDE = 64  # texts of a tile: half a second's work for documents of 500 characters on a slow machine
LEAST_BYTES = 1_000_000

_VERSION = 1  # of the tables
_TILE_BYTES = SIDE * SIDE * 8 + 600  # with what SQLite needs around it
_PATIENCE = 120  # seconds to wait while others write
_STALE = 60  # seconds after which a tile that is read counts as used anew
_SCHEMA = """
CREATE TABLE IF NOT EXISTS kernels (number INTEGER PRIMARY KEY, identity TEXT UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS texts (number INTEGER PRIMARY KEY, digest BLOB UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS tiles (
    kernel INTEGER NOT NULL, i INTEGER NOT NULL, j INTEGER NOT NULL, used INTEGER NOT NULL, checksum INTEGER NOT NULL,
    content BLOB NOT NULL, PRIMARY KEY (kernel, i, j));
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

    def numbers(self, identity: str, digests: list[bytes]) -> tuple[int, Numbers]:
        """The number of a kernel, and of each text; new ones are entered."""
        with self._writing() as file:
            # By a number that no other file, nor this one after `clear`, has given out: one who still holds it harms nobody.
            file.execute("INSERT OR IGNORE INTO kernels VALUES (?, ?)", (secrets.randbits(62), identity))
            (kernel,) = file.execute("SELECT number FROM kernels WHERE identity = ?", (identity,)).fetchone()
            file.executemany("INSERT OR IGNORE INTO texts (digest) VALUES (?)", ((digest,) for digest in digests))
            found = [file.execute("SELECT number FROM texts WHERE digest = ?", (digest,)).fetchone()[0] for digest in digests]
        return kernel, np.array(found, dtype=np.intp)

    def read(self, keys: list[Key]) -> dict[Key, Floats]:
        """The tiles that are there and whole, NaN where nothing is known."""
        now = int(time.time())
        with self._open() as file:
            tiles = {key: tile for key in keys if (tile := _content(file, key)) is not None}
            old = file.execute("SELECT count(*) FROM tiles WHERE used < ?", (now - _STALE,)).fetchone()[0]
        if tiles and old:
            with self._writing() as file:
                use = "UPDATE tiles SET used = ? WHERE (kernel, i, j) = (?, ?, ?) AND used < ?"
                file.executemany(use, ((now, *key, now - _STALE) for key in tiles))
        return tiles

    def add(self, tiles: dict[Key, Floats]) -> None:
        """Keep the values of tiles, beside those that are there."""
        with self._writing() as file:
            for key, values in tiles.items():
                self._make_room(file)
                old = _content(file, key)
                content = np.ascontiguousarray(values if old is None else np.where(np.isnan(old), values, old), "<f8").tobytes()
                row = (*key, int(time.time()), zlib.crc32(content), content)
                file.execute("INSERT OR REPLACE INTO tiles VALUES (?, ?, ?, ?, ?, ?)", row)
        if self.path.stat().st_size > self.max_bytes:  # it once was allowed to be larger
            with self._open() as file:
                file.executescript("PRAGMA incremental_vacuum")

    def clear(self) -> None:
        """Forget everything."""
        with self._writing() as file:
            for table in ("tiles", "texts", "kernels"):
                file.execute(f"DELETE FROM {table}")
        with self._open() as file:
            file.execute("VACUUM")

    @contextmanager
    def claim(self, key: Key, *, wait: bool = False) -> Iterator[bool]:
        """Whether the tile is now this thread's to compute; with `wait`, once nobody else is at it."""
        with self._explained():
            handle = os.open(self.folder / "claims", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            byte = zlib.crc32(repr(key).encode())
            try:
                fcntl.fcntl(
                    handle,
                    fcntl.F_OFD_SETLKW if wait else fcntl.F_OFD_SETLK,
                    struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0),
                )
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(handle)

    def _make_room(self, file: sqlite3.Connection) -> None:
        """Forget the tiles that were not used for longest, so that one more fits."""
        page, pages, free = (_pragma(file, name) for name in ("page_size", "page_count", "freelist_count"))
        excess = (pages - free) * page + 2 * _TILE_BYTES - self.max_bytes
        if excess > 0:
            n = int(np.ceil((excess + 0.1 * self.max_bytes) / _TILE_BYTES))
            file.execute("DELETE FROM tiles WHERE rowid IN (SELECT rowid FROM tiles ORDER BY used, rowid LIMIT ?)", (n,))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
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
        with self._explained():
            self.folder.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)) as file:
                if _pragma(file, "user_version") != _VERSION:
                    self._create(file)
                file.execute("PRAGMA synchronous = NORMAL")
                file.execute(f"PRAGMA max_page_count = {self.max_bytes // 4096}")
                yield file

    def _create(self, file: sqlite3.Connection) -> None:
        found = _pragma(file, "user_version")
        if found > _VERSION:
            raise StoreError(f"{self.path} was written by a later version of textmargin; choose another folder.")
        file.execute("PRAGMA page_size = 4096")
        file.execute("PRAGMA auto_vacuum = INCREMENTAL")
        file.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors of the system, in words that help."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"{self._what(error)} ({error}).") from error

    def _what(self, error: Exception) -> str:
        said = str(error)
        if "full" in said:
            return (
                f"There is no room left for kernel values in {self.folder}: its disk is full, or max_bytes={self.max_bytes:,} is "
                f"too small for so many texts. What was kept is intact; make room, choose another folder, or use cache=None"
            )
        if "malformed" in said or "not a database" in said:
            return f"{self.path} is damaged; delete it, and its values will be computed again"
        if "locked" in said:
            return f"{self.path} was busy for {_PATIENCE} seconds; is another process stuck?"
        return f"Kernel values cannot be kept in {self.folder}; make the folder writable, choose another, or use cache=None"


def _content(file: sqlite3.Connection, key: Key) -> Floats | None:
    """A tile, if it is there and whole."""
    row = file.execute("SELECT checksum, content FROM tiles WHERE (kernel, i, j) = (?, ?, ?)", key).fetchone()
    whole = row is not None and zlib.crc32(row[1]) == row[0] and len(row[1]) == SIDE * SIDE * 8
    return np.frombuffer(row[1], dtype="<f8").reshape(SIDE, SIDE) if whole else None


def _pragma(file: sqlite3.Connection, name: str) -> int:
    return int(file.execute(f"PRAGMA {name}").fetchone()[0])
