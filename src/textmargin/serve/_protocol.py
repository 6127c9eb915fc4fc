"""HTTP on a connection, with an end to every wait: uvicorn's h11 protocol limits only how long a connection
may be idle.

    too much to do                      503, before a request is parsed; who comes again waits a moment
    nothing, or part of the headers     408 and closed, `head_seconds` after the first byte could have come
    an answer that nobody reads         cut off after `write_seconds`
    more connections than there may be  503, before they cost anything but a descriptor

Bodies that do not arrive are the gate's. The parser is h11 wherever this runs: it limits the size of headers,
httptools does not.
"""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ._admission import ADMITTED, Admission
from ._quick import path_of, read_plain, refusal_bytes
from ._refusal import RefusedError

# for a refused client to send what it wants to, so that it reads the answer before the end
_REFUSED_SECONDS = 1.0
# at a time; asyncio's 256 KB are new memory from the system at every read, and there may be none
_READ_BYTES = 65_536


class TimedProtocol(H11Protocol):
    """One connection; the limits are those of the class, as `with_limits` makes it."""

    head_seconds = 10.0
    write_seconds = 30.0
    max_connections = 1000
    admission = Admission({}, {})

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._refused = False
        self._begun = False  # whether any byte of a request has come
        self._n_skipped = 0  # bytes of a body to come whose request was refused

    @classmethod
    def with_limits(
        cls,
        head_seconds: float,
        write_seconds: float,
        max_connections: int,
        admission: Admission | None = None,
    ) -> type[TimedProtocol]:
        """The protocol with these limits."""
        limits = {
            "head_seconds": head_seconds,
            "write_seconds": write_seconds,
            "max_connections": max_connections,
        }
        return type(cls.__name__, (cls,), limits | {"admission": admission or cls.admission})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request."""
        super().connection_made(transport)
        transport.max_size = _READ_BYTES  # type: ignore[attr-defined]
        self._refused = len(self.connections) > self.max_connections
        seconds = min(self.head_seconds, _REFUSED_SECONDS) if self._refused else self.head_seconds
        self._head_timer = self.loop.call_later(seconds, self._head_late)

    def data_received(self, data: bytes) -> None:
        """Go on with a request; from its first byte on the time for its headers runs."""
        if self._refused:
            self._end(503, "Too many connections; come again.", Retry_After="1")
            return
        if self._n_skipped:
            data = self._skip(data)
            if not data:
                return
        path = path_of(data)
        refused = self.admission.refusal(path) if path else None
        if refused is not None and self._refuse(data, path, refused):
            return
        if self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._head_timer = self.loop.call_later(self.head_seconds, self._head_late)
        self._begun = True
        before = self.cycle
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._begun = False
            self._stop_head_timer()
            door = self.admission.doors.get(self.scope["path"])
            if door is not None and self.cycle is not before:
                door.expect(self.loop)
                self.scope["state"][ADMITTED] = refused is None and path == self.scope["path"]

    def _refuse(self, data: bytes, path: str, refused: RefusedError) -> bool:
        """Whether these bytes are a request that could be told to come again."""
        request = read_plain(data) if self._between_requests() else None
        if request is None or request.path != path:
            return False
        self._begun = False
        self._stop_head_timer()
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )
        self.transport.write(refusal_bytes(refused, request.id))
        self.admission.log(path, refused, request.id)
        self._n_skipped = request.n_missing
        if not self._n_skipped:
            self._hold()
        return True

    def _between_requests(self) -> bool:
        if self.transport.is_closing() or not (self.cycle is None or self.cycle.response_complete):
            return False
        return self.conn.our_state is self.conn.their_state is h11.IDLE and self.conn.trailing_data == (
            b"",
            False,
        )

    def _skip(self, data: bytes) -> bytes:
        """What comes after the body of a refused request."""
        rest = data[self._n_skipped :]
        self._n_skipped = max(0, self._n_skipped - len(data))
        if not self._n_skipped and not rest:
            self._hold()
        return rest

    def _hold(self) -> None:
        seconds = self.admission.hold_seconds()
        if seconds:
            self.transport.pause_reading()
            self.loop.call_later(seconds, self._go_on)

    def _go_on(self) -> None:
        if not self.transport.is_closing():
            self.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._stop_head_timer()
        self._stop_write_timer()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """An answer is not read."""
        super().pause_writing()
        self._start_write_timer()

    def resume_writing(self) -> None:
        """It is read again."""
        self._stop_write_timer()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Nothing came for as long as a connection may be idle; what is still to be read has its time as
        well.
        """
        super().timeout_keep_alive_handler()
        self._start_write_timer()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP: told like all else, with headers that let a browser make nothing of it."""
        self._end(400, msg)

    def _unsupported_upgrade_warning(self) -> None:
        """Nothing: anybody can ask for a WebSocket, and is answered as if they had not."""

    def _head_late(self) -> None:
        self._head_timer = None
        if self._begun and not self._refused:
            self._end(408, f"The headers did not arrive within {self.head_seconds:g} seconds.")
        else:
            self._close()

    def _end(self, status: int, detail: str, **headers: str) -> None:
        begun = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if not self.transport.is_closing() and not begun:
            refused = RefusedError(status, detail, **headers, Connection="close")
            self.transport.write(refusal_bytes(refused, uuid4().hex))
        self._close()

    def _close(self) -> None:
        self.transport.close()
        self._start_write_timer()

    def _start_write_timer(self) -> None:
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self.write_seconds, self.transport.abort)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
