"""What a request must pass before anything looks inside it: the token, the load, its size, and the time it
takes to arrive.

    401   no token, or another      503   as many requests as may be in flight (Retry-After: when to come)
    413   a body over the limit     408   a body that does not arrive
    500   a mistake of ours, logged under the request's id; without what was sent, unless texts may be

A body is counted as it comes in, so that one without a length, or with a wrong one, is stopped as well.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import json
import logging
import time
import traceback
from dataclasses import dataclass
from typing import Literal

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ._admission import ADMITTED, Admission
from ._metrics import Metrics
from ._refusal import RefusedError
from .shield import REQUEST_ID

Log = Literal["errors", "requests", "texts"]
_LOG = logging.getLogger(__name__)
_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})
_NO_THREAD = ("Resource temporarily unavailable", "can't start new thread")
_OPEN = frozenset({"/health"})
_AT_ONCE = 0.05  # seconds
_ALWAYS = ("/health", "/metrics")  # however many requests are in flight


@dataclass(frozen=True)
class Limits:
    """What the gate lets through.

    Attributes
    ----------
    token : str, or None for no token
    max_bytes : int, of a body
    max_concurrent : int, requests in flight
    max_seconds : float, for a body to arrive
    """

    token: str | None
    max_bytes: int
    max_concurrent: int
    max_seconds: float


class LogOfRefusals:
    """What the metrics and the log have of requests that were refused before the gate saw them.

    Parameters
    ----------
    metrics : Metrics
    log : {"errors", "requests", "texts"}
    """

    def __init__(self, metrics: Metrics, log: Log) -> None:
        self._metrics, self._log = metrics, log

    def __call__(self, path: str, refused: RefusedError, number: str) -> None:
        """Note one."""
        self._metrics.answered(path, refused.status, 0.0)
        if self._log != "errors":
            before = REQUEST_ID.set(number)
            _LOG.info("POST %s %d 0.0 ms", path, refused.status)
            REQUEST_ID.reset(before)


class _GoneError(Exception):
    """The client hung up."""


class Gate:
    """ASGI middleware: checks, counts, and hands on a request with its whole body.

    Parameters
    ----------
    app : ASGI application
    limits : Limits
    metrics : Metrics, default=None
        Where requests are counted; None for counters of its own.
    routes : frozenset of str, default=frozenset()
        Paths that are counted by name; all others are "other".
    open_paths : frozenset of str, default={"/health"}
        Paths that need no token.
    log : {"errors", "requests", "texts"}, default="errors"
        What the log has: what went wrong, a line for each request as well, or that and what was sent.
    admission : Admission, default=None
        Whether a request would be refused for too much to do. It is asked before a body is read, and again
        before it is parsed, which costs far more: of many that come at once all would find nobody waiting.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        metrics: Metrics | None = None,
        routes: frozenset[str] = frozenset(),
        open_paths: frozenset[str] = _OPEN,
        log: Log = "errors",
        admission: Admission | None = None,
    ) -> None:
        self.app, self.limits, self.routes, self.open_paths = app, limits, routes, open_paths
        self.metrics = Metrics() if metrics is None else metrics
        self._n_arriving = 0  # bytes of bodies that are not whole yet
        self._n_whole = 0  # requests with a whole body that are not answered yet
        self.log, self.admission = log, Admission({}, {}) if admission is None else admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status, body = time.perf_counter(), 0, b""

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        always = scope["path"] in _ALWAYS
        door, entered = self.admission.doors.get(scope["path"]), None
        whole = False
        self.metrics.in_flight += not always
        try:
            try:
                admitted = bool(scope.get("state", {}).get(ADMITTED))
                self._check(scope, admitted=admitted)
                # what needs no token gets no memory either
                body = b"" if always else await self._body(scope, receive)
                # who dawdles with a body does not count, and keeps nobody out
                self._check_load(scope["path"], admitted=admitted and time.perf_counter() - start < _AT_ONCE)
                whole = not always
                self._n_whole += whole
                entered = None if door is None else door.enter()
                await self.app(scope, _replayed(body, receive), noted)
            except _GoneError:
                status = 499  # as others count it
            except asyncio.CancelledError:  # only the end of the service does that, once its time is over
                if status == 0:
                    late = RefusedError(
                        503,
                        "This service ends before it could answer; ask again.",
                        Retry_After="1",
                        Connection="close",
                    )
                    await late.answer(scope, receive, noted)
            except Exception as error:
                if status:
                    raise
                await self._answer_to(error).answer(scope, receive, noted)
        finally:
            self.metrics.in_flight -= not always
            self._n_whole -= whole
            if door is not None and entered is not None:
                door.leave(entered, served=status == 200)
            route = scope["path"] if scope["path"] in self.routes else "other"
            seconds = time.perf_counter() - start
            self.metrics.answered(route, status or 500, seconds)
            if self.log != "errors":
                sent = f" body={json.dumps(body.decode('utf-8', 'replace'))}" if self.log == "texts" else ""
                _LOG.info("%s %s %d %.1f ms%s", scope["method"], route, status or 500, 1000 * seconds, sent)

    def _answer_to(self, error: Exception) -> RefusedError:
        if isinstance(error, RefusedError):
            return error
        if _is_shortage(error):
            _LOG.error("no memory, thread or descriptor for a request: %s", type(error).__name__)
            return RefusedError(
                503,
                "There is not enough memory just now; send less at a time, or come again.",
                Retry_After="5",
            )
        where = "".join(traceback.format_tb(error.__traceback__))  # lines of code, without values
        why = f": {error}" if self.log == "texts" else ""
        _LOG.error("a request failed with %s%s\n%s", type(error).__name__, why, where.rstrip())
        return RefusedError(500, f"Something went wrong here; the log has it under {REQUEST_ID.get()}.")

    def _check(self, scope: Scope, *, admitted: bool) -> None:
        path, token = scope["path"], self.limits.token
        headers = dict(scope["headers"])
        if token is not None and path not in self.open_paths:
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, b"Bearer " + token.encode()):
                raise RefusedError(
                    401, "This service wants a token: Authorization: Bearer TOKEN.", WWW_Authenticate="Bearer"
                )
        self._check_load(path, admitted=admitted)
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > self.limits.max_bytes:
            raise self._too_large()

    def _check_load(self, path: str, *, admitted: bool) -> None:
        """Whether there is room; who was let in a moment ago is not asked again, or would find itself in its
        own way.
        """
        if self._n_whole >= self.limits.max_concurrent and path not in _ALWAYS:
            raise RefusedError(
                503, f"{self.limits.max_concurrent} requests are in flight; come again.", Retry_After="1"
            )
        refused = None if admitted else self.admission.refusal(path)
        if refused is not None:
            raise refused

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        parts: list[bytes] = []
        n_bytes, more = 0, True
        try:
            async with asyncio.timeout(self.limits.max_seconds):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _GoneError
                    parts.append(message.get("body", b""))
                    n_bytes += len(parts[-1])
                    self._n_arriving += len(parts[-1])
                    more = message.get("more_body", False)
                    if n_bytes > self.limits.max_bytes:
                        raise self._too_large()
                    if self._n_arriving > self.limits.max_bytes * self.limits.max_concurrent:
                        raise RefusedError(
                            503,
                            "Too many bodies arrive at a time; come again.",
                            Retry_After="1",
                            Connection="close",
                        )
        except TimeoutError:
            late = f"The body did not arrive within {self.limits.max_seconds:g} seconds."
            raise RefusedError(408, late, Connection="close") from None
        finally:
            self._n_arriving -= n_bytes
        return b"".join(parts)

    def _too_large(self) -> RefusedError:
        return RefusedError(
            413, f"A body may have {self.limits.max_bytes:,} bytes; send less at a time.", Connection="close"
        )


def _is_shortage(error: Exception) -> bool:
    """Whether it is what the system says when it has nothing left to give; compiled code says it of threads
    in a RuntimeError.
    """
    if isinstance(error, OSError):
        return error.errno in _SHORTAGES
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and str(error).startswith(_NO_THREAD)
    )


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body once more; after it, what the client does next."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
