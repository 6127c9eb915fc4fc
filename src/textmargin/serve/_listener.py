"""A socket that goes on accepting when the process has no descriptors left.

asyncio would try to accept as often as there are places in the queue, log each failure, and look away for a
second. Here one descriptor is held back: with it a connection is taken, told to come again, and closed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from typing import Any, Self

ANSWER = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)
_FULL = frozenset({errno.EMFILE, errno.ENFILE})


class Listener(socket.socket):
    """A listening socket with a descriptor in reserve."""

    _spare = -1

    @classmethod
    def of(cls, listener: socket.socket) -> Self:
        """The same socket; the one that was given no longer has it."""
        family, kind, protocol = listener.family, listener.type, listener.proto
        own = cls(family, kind, protocol, fileno=listener.detach())
        own._spare = os.open(os.devnull, os.O_RDONLY)
        return own

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection; BlockingIOError where there is none that can be served now."""
        try:
            connection, address = super().accept()
            # else a body waits for its head to be acknowledged
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection, address
        except OSError as error:
            if error.errno not in _FULL:
                raise
        self._refuse()
        raise BlockingIOError(errno.EAGAIN, "no descriptor is left")

    def _refuse(self) -> None:
        if self._spare >= 0:
            os.close(self._spare)
            self._spare = -1
        with contextlib.suppress(OSError):
            connection, _ = super().accept()
            with connection, contextlib.suppress(OSError):
                connection.setblocking(False)
                connection.send(ANSWER)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(65536)  # what is not read would end the connection before the answer is
        with contextlib.suppress(OSError):
            self._spare = os.open(os.devnull, os.O_RDONLY)

    def close(self) -> None:
        """Let go of both."""
        if self._spare >= 0:
            os.close(self._spare)
            self._spare = -1
        super().close()
