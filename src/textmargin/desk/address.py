"""Where a desk was last: its port and its token, beside the project, so that a page that is still open finds it again.

The file is for its owner alone, and apart from the project, which people pass on: who has the token may act in somebody's name.
"""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from pathlib import Path
from secrets import token_urlsafe
from typing import NamedTuple

from .acts import new_id

_SHORTEST_TOKEN = 16


class DeskAddress(NamedTuple):
    """A port of a host, and a token."""

    host: str
    port: int
    token: str


def address_path(project: Path) -> Path:
    """The file beside a project."""
    return project.with_name(f".{project.name}.address")


def last_address(project: Path, host: str) -> DeskAddress:
    """Where the desk of a project was last; any port and a new token where it was nowhere on this host, or others could know.

    Where somebody listens on that port now, a page may have told them the token: both are new.
    """
    path, fresh = address_path(project), DeskAddress(host, 0, token_urlsafe(24))
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            return fresh
        content = json.loads(path.read_text(encoding="utf-8"))
        found = DeskAddress(str(content["host"]), int(content["port"]), str(content["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return fresh
    if found.host != host or len(found.token) < _SHORTEST_TOKEN or not found.token.isascii() or not 0 < found.port < 65536:
        return fresh
    return found if _is_free(host, found.port) else fresh


def remember_address(project: Path, address: DeskAddress) -> None:
    """Write it down, whole or not at all; on a full disk, or where nothing may be written, the next desk is elsewhere."""
    path = address_path(project)
    part = path.with_name(f"{path.name}.{new_id()}.part")
    with suppress(OSError):
        try:
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(address._asdict(), file)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError:
        return False
    return True
