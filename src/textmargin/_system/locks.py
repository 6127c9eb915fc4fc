"""Locks between threads, processes and machines, by number, beside a file that stays empty.

On Linux they are single bytes of the file: locks of open files, as many as one likes, in one call each.
Elsewhere the library filelock has a file for each. Either way the system releases them with the process that
holds them, however it ends. This is the one module that needs `fcntl`, which not every system has: it is
imported when a lock is taken.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Protocol, Self

_MOST_FILES = 256  # numbers that are as many apart share one


class ByteLocks:
    """The locks of a file that are taken within a `with` block; all are released at its end.

    Raises OSError where the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        fcntl = _fcntl()
        self._locks: _Locks = _Files(path) if fcntl is None else _Bytes(path, fcntl)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._locks.release()

    def acquire(self, number: int, *, wait: bool = True) -> bool:
        """Take a lock; whether nobody else has it. Two objects exclude each other also within a thread."""
        return self._locks.acquire(number, wait)


class _Locks(Protocol):
    def acquire(self, number: int, wait: bool) -> bool: ...

    def release(self) -> None: ...


class _Bytes:
    """Bytes of a file that this object holds open."""

    def __init__(self, path: Path, fcntl: ModuleType) -> None:
        self._fcntl = fcntl
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        self._held: set[int] = set()

    def acquire(self, number: int, wait: bool) -> bool:
        try:
            self._set(number, self._fcntl.F_WRLCK, wait=wait)
        except BlockingIOError:
            return False
        self._held.add(number)
        return True

    def release(self) -> None:
        try:
            for number in self._held:  # one by one: a process forked in between would hold them until its end
                self._set(number, self._fcntl.F_UNLCK)
        finally:
            os.close(self._file)

    def _set(self, number: int, kind: int, *, wait: bool = False) -> None:
        command = self._fcntl.F_OFD_SETLKW if wait else self._fcntl.F_OFD_SETLK
        self._fcntl.fcntl(self._file, command, struct.pack("hhqqi4x", kind, os.SEEK_SET, number, 1, 0))


class _Files:
    """A file for each number: the first is the file itself, the others stand beside it."""

    def __init__(self, path: Path) -> None:
        from filelock import FileLock

        self._path, self._lock_of = path, FileLock
        self._held: dict[Path, FileLock] = {}
        path.touch()

    def acquire(self, number: int, wait: bool) -> bool:
        from filelock import Timeout

        slot = number % _MOST_FILES
        path = self._path if slot == 0 else self._path.with_name(f"{self._path.name}.{slot}")
        if path in self._held:
            return True
        lock = self._lock_of(path, thread_local=False)
        try:
            lock.acquire(timeout=-1 if wait else 0)
        except Timeout:
            return False
        self._held[path] = lock
        return True

    def release(self) -> None:
        for lock in self._held.values():
            lock.release(force=True)
        self._held.clear()


def _fcntl() -> ModuleType | None:
    """The module, where it knows locks of open files."""
    try:
        import fcntl
    except ImportError:
        return None
    return fcntl if hasattr(fcntl, "F_OFD_SETLK") else None
