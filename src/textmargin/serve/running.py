"""A service on a socket: who may listen where, and how it stops."""

from __future__ import annotations

import gc
import ipaddress
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI

from ..errors import SettingError
from ._listener import Listener
from ._log import start_log
from ._protocol import TimedProtocol
from .gate import Log

SHUTDOWN_SECONDS = 8.0  # below the 10 after which Docker kills
_RESERVED_FILES = 48


@contextmanager
def listening(host: str, port: int, *, safe: bool) -> Iterator[tuple[socket.socket, str]]:
    """A socket and its URL; without a token (not `safe`) on this machine's own addresses only."""
    if not safe and not _is_loopback(host):
        raise SettingError(
            "host",
            f"{host} can be reached from other machines, and no token is asked for; ask for one, or "
            "listen on 127.0.0.1.",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = Listener.of(socket.create_server((host, port), family=family, backlog=2048))
    except OSError as error:
        raise SettingError(
            "port", f"{port} of {host} cannot be listened on: {error.strerror or error}."
        ) from error
    with listener:
        shown = f"[{host}]" if family == socket.AF_INET6 else host
        yield listener, f"http://{shown}:{listener.getsockname()[1]}"


def run(
    app: FastAPI,
    listener: socket.socket,
    *,
    shutdown_seconds: float = SHUTDOWN_SECONDS,
    head_seconds: float = 10.0,
    idle_seconds: float = 5.0,
    write_seconds: float = 30.0,
    log: Log = "errors",
) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in flight.

    Parameters
    ----------
    app : ASGI application
    listener : socket
    shutdown_seconds : float
        For that; what is not done by then is answered with 503, and its thread is left to `end_process`.
    head_seconds, idle_seconds, write_seconds : float
        For headers to arrive, for a connection between requests, and for an answer to be read.
    log : {"errors", "requests", "texts"}, default="errors"
    """
    start_log(log)
    config = uvicorn.Config(
        app,
        http=TimedProtocol.with_limits(
            head_seconds, write_seconds, _max_connections(), getattr(app.state, "admission", None)
        ),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=idle_seconds,  # type: ignore[arg-type]
        timeout_graceful_shutdown=shutdown_seconds,  # type: ignore[arg-type]
    )
    server = uvicorn.Server(config)

    def stop(*_: Any) -> None:
        server.should_exit = True

    gc.collect()
    # what is there by now stays: to look through all of it took half a second, now and then, for all requests
    gc.freeze()
    before = {sign: signal.signal(sign, stop) for sign in (signal.SIGTERM, signal.SIGINT)}
    try:  # uvicorn raises the signal again once it is done: that it stopped as asked is no failure
        server.run(sockets=[listener])
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


def end_process_if_busy() -> None:
    """End the process, with 0, where a thread is still at work that nobody waits for: a batch cannot be
    broken off.

    Whatever was acknowledged is on the disk by then. Where all threads are done this returns.
    """
    end = time.monotonic() + 0.5
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(max(0.0, end - time.monotonic()))
            if thread.is_alive():
                logging.getLogger(__name__).warning(
                    "ended while %s was at work; nothing acknowledged is lost.", thread.name
                )
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(0)


def _max_connections() -> int:
    """As many as descriptors allow, with some left for files; sockets of Windows are none."""
    try:
        import resource
    except ImportError:
        return 10_000
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 10_000 if limit == resource.RLIM_INFINITY else max(8, min(10_000, limit - _RESERVED_FILES))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
