"""Locks between threads, processes and machines: single bytes of a file that stays empty.

They are Linux's locks of open files, which the system releases with the process that holds them, however it ends. This is the one
module that needs `fcntl`, which not every system has: it is imported when a lock is taken.
"""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class ByteLocks:
    """The locks of a file that are taken within a `with` block; all are released at its end.

    Raises OSError where the file cannot be opened, or the system has no such locks.
    """

    def __init__(self, path: Path) -> None:
        self._fcntl = _fcntl()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        self._bytes: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            for byte in self._bytes:  # one by one: a process forked in between would hold them until its end
                self._set(byte, self._fcntl.F_UNLCK)
        finally:
            os.close(self._file)

    def acquire(self, byte: int, *, wait: bool = True) -> bool:
        """Take a lock; whether nobody else has it. Two objects exclude each other also within a thread."""
        try:
            self._set(byte, self._fcntl.F_WRLCK, wait=wait)
        except BlockingIOError:
            return False
        self._bytes.add(byte)
        return True

    def _set(self, byte: int, kind: int, *, wait: bool = False) -> None:
        command = self._fcntl.F_OFD_SETLKW if wait else self._fcntl.F_OFD_SETLK
        self._fcntl.fcntl(self._file, command, struct.pack("hhqqi4x", kind, os.SEEK_SET, byte, 1, 0))


def _fcntl() -> Any:
    try:
        import fcntl
    except ImportError:
        fcntl = None  # type: ignore[assignment]
    if not hasattr(fcntl, "F_OFD_SETLK"):
        raise OSError(errno.ENOTSUP, "this system has no locks of open files, which Linux has")
    return fcntl
