"""A service on a socket: who may listen where, and how it stops."""

from __future__ import annotations

import ipaddress
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI

from ..errors import SettingError


@contextmanager
def listening(host: str, port: int, *, safe: bool) -> Iterator[tuple[socket.socket, str]]:
    """A socket and its URL; without a token (not `safe`) on this machine's own addresses only."""
    if not safe and not _is_loopback(host):
        raise SettingError(
            "host", f"{host} can be reached from other machines, and no token is asked for; ask for one, or listen on 127.0.0.1."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise SettingError("port", f"{port} of {host} cannot be listened on: {error.strerror or error}.") from error
    with listener:
        shown = f"[{host}]" if family == socket.AF_INET6 else host
        yield listener, f"http://{shown}:{listener.getsockname()[1]}"


def run(app: FastAPI, listener: socket.socket, graceful_seconds: int = 30) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in flight."""
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=graceful_seconds, ws="none"
    )
    server = uvicorn.Server(config)

    def stop(*_: Any) -> None:
        server.should_exit = True

    before = {sign: signal.signal(sign, stop) for sign in (signal.SIGTERM, signal.SIGINT)}
    try:  # uvicorn raises the signal again once it is done: that it stopped as asked is no failure
        server.run(sockets=[listener])
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
