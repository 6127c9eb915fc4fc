"""Which port a desk had last, beside the project.

A browser keeps what is not stored yet by address: under the same one a page that is opened after a restart
finds it, and sends it. The token is new at each start, so that a page of before, and whoever listened on the
port meanwhile, can do nothing.
"""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from pathlib import Path

from .._system.json import read_json
from .acts import new_id


def port_path(project: Path) -> Path:
    """The file beside a project."""
    return project.with_name(f".{project.name}.port")


def last_port(project: Path, host: str) -> int:
    """The port that the desk of a project had last on this host; 0, for any, where it had none, or somebody
    has it now.
    """
    try:
        content = read_json(port_path(project).read_text(encoding="utf-8"))
        own, port = str(content["host"]), int(content["port"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return 0
    return port if own == host and 0 < port < 65536 and _is_free(host, port) else 0


def remember_port(project: Path, host: str, port: int) -> None:
    """Write it down, whole or not at all; on a full disk, or where nothing may be written, the next desk is
    elsewhere.
    """
    path = port_path(project)
    part = path.with_name(f"{path.name}.{new_id()}.part")
    with suppress(OSError):
        try:
            part.write_text(json.dumps({"host": host, "port": port}), encoding="utf-8")
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
