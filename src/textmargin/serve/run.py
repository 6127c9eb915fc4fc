"""A service on a socket: who may listen where, what is logged, and how it stops."""

from __future__ import annotations

import gc
import ipaddress
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from fastapi import FastAPI

from ..errors import SettingError

SHUTDOWN_SECONDS = 8  # below the 10 after which Docker kills


@contextmanager
def listening(host: str, port: int, *, safe: bool) -> Iterator[tuple[socket.socket, str]]:
    """A socket and its URL; without a token (not `safe`) on this machine's own addresses only."""
    if not safe and not _is_loopback(host):
        raise SettingError(
            "host",
            f"{host} can be reached from other machines, and clients need no token; set one, or listen on "
            "127.0.0.1.",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise SettingError("port", f"{port} of {host} cannot be used: {error.strerror or error}.") from error
    with listener:
        # connections inherit it; else a body waits until its head is acknowledged
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        shown = f"[{host}]" if family == socket.AF_INET6 else host
        yield listener, f"http://{shown}:{listener.getsockname()[1]}"


def run(app: FastAPI, listener: socket.socket, *, access_log: bool = False) -> None:
    """Serve until SIGTERM or Ctrl-C, then answer what is in flight, for `SHUTDOWN_SECONDS` at most."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("uvicorn.access").setLevel(logging.INFO)
    config = uvicorn.Config(
        app,
        access_log=access_log,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        ws="none",
    )
    gc.collect()
    gc.freeze()  # to look through the model for garbage held up all requests for half a second, now and then
    _Server(config).run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that was stopped has not failed: uvicorn's own raises the signal again in the end."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
