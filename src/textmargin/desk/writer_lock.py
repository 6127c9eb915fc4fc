"""Who writes to a project: one process at a time, which a file beside the project names."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from pathlib import Path

from .._system.json import read_json
from .._system.locks import ByteLocks
from ..errors import DeskError

_WRITER = 1  # the byte of the lock file


class WriterLock:
    """The right to write to a project, until it is released or the process ends, however it does.

    Parameters
    ----------
    project : Path

    Attributes
    ----------
    path : Path, of the file that says who writes
    """

    def __init__(self, project: Path) -> None:
        self.project = project
        self.path = project.with_name(f".{project.name}.lock")
        self._locks: ByteLocks | None = None

    @property
    def is_held(self) -> bool:
        """Whether this process is the one."""
        return self._locks is not None

    def acquire(self) -> None:
        """Be the one; DeskError where another process is."""
        try:
            locks = ByteLocks(self.path)
        except OSError as error:
            raise DeskError(f"{self.project} cannot be written: {error.strerror}.") from error
        if not locks.acquire(_WRITER, wait=False):
            locks.__exit__(None, None, None)
            raise DeskError(
                f"{self.project} is open at another desk{self._owner()}. Work there, or stop it first."
            )
        self._locks = locks

    def sign(self, address: str) -> None:
        """Say where people can reach who writes; on a full disk the lock still holds, and only who has it is
        not said.
        """
        owner = {"process": os.getpid(), "machine": socket.gethostname(), "address": address}
        with suppress(OSError):
            self.path.write_text(json.dumps(owner), encoding="utf-8")

    def release(self) -> None:
        """Let another one write."""
        if self._locks is not None:
            self._locks.__exit__(None, None, None)
            self._locks = None

    def _owner(self) -> str:
        """Who writes, as far as it is said."""
        try:
            owner = read_json(self.path.read_text(encoding="utf-8"))
            where = f", {owner['address']}" if owner["address"] else ""
            return f"{where} (process {owner['process']} on {owner['machine']})"
        except (OSError, ValueError, KeyError, TypeError):
            return ""
