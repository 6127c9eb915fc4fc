"""What a request must pass before anything looks inside it: the token, the load, its size, and the time it takes to arrive.

    401   no token, or another          503   as many requests as may be are in flight (Retry-After says when to come again)
    413   a body over the limit         408   a body that does not arrive
    500   a mistake of ours, in the log under the request's id; without what was sent, unless texts may be logged

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
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ._metrics import Metrics
from .shield import REQUEST_ID

Log = Literal["errors", "requests", "texts"]
_LOG = logging.getLogger(__name__)
_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})
_NO_THREAD = ("Resource temporarily unavailable", "can't start new thread")
_OPEN = frozenset({"/health"})
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


class RefusedError(Exception):
    """A request that is answered with a status and a sentence, from wherever it has got to."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        self.answer = JSONResponse({"detail": detail}, status, {name.replace("_", "-"): value for name, value in headers.items()})


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
    busy : function of a path → RefusedError or None, default=None
        Whether a request would be refused for too much to do. It is asked before a body is read, and again before it is parsed,
        which costs far more: of many that come at once all would find nobody waiting.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        metrics: Metrics | None = None,
        routes: frozenset[str] = frozenset(),
        open_paths: frozenset[str] = _OPEN,
        log: Log = "errors",
        busy: Callable[[str], RefusedError | None] | None = None,
    ) -> None:
        self.app, self.limits, self.routes, self.open_paths = app, limits, routes, open_paths
        self.metrics = Metrics() if metrics is None else metrics
        self.log, self.busy = log, busy

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
        self.metrics.in_flight += not always
        try:
            try:
                self._check(scope)
                body = b"" if always else await self._body(scope, receive)  # what needs no token gets no memory either
                self._check_load(scope["path"])
                await self.app(scope, _replayed(body, receive), noted)
            except _GoneError:
                status = 499  # as others count it
            except asyncio.CancelledError:  # only the end of the service does that, once its time is over
                if status == 0:
                    late = RefusedError(
                        503, "This service ends before it could answer; ask again.", Retry_After="1", Connection="close"
                    )
                    await late.answer(scope, receive, noted)
            except Exception as error:
                if status:
                    raise
                await self._answer_to(error).answer(scope, receive, noted)
        finally:
            self.metrics.in_flight -= not always
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
            return RefusedError(503, "There is not enough memory just now; send less at a time, or come again.", Retry_After="5")
        where = "".join(traceback.format_tb(error.__traceback__))  # lines of code, without values
        why = f": {error}" if self.log == "texts" else ""
        _LOG.error("a request failed with %s%s\n%s", type(error).__name__, why, where.rstrip())
        return RefusedError(500, f"Something went wrong here; the log has it under {REQUEST_ID.get()}.")

    def _check(self, scope: Scope) -> None:
        path, token = scope["path"], self.limits.token
        headers = dict(scope["headers"])
        if token is not None and path not in self.open_paths:
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, b"Bearer " + token.encode()):
                raise RefusedError(401, "This service wants a token: Authorization: Bearer TOKEN.", WWW_Authenticate="Bearer")
        if self.metrics.in_flight > self.limits.max_concurrent and path not in _ALWAYS:
            raise RefusedError(503, f"{self.limits.max_concurrent} requests are in flight; come again.", Retry_After="1")
        self._check_load(path)
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > self.limits.max_bytes:
            raise self._too_large()

    def _check_load(self, path: str) -> None:
        refused = None if self.busy is None else self.busy(path)
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
                    more = message.get("more_body", False)
                    if n_bytes > self.limits.max_bytes:
                        raise self._too_large()
        except TimeoutError:
            late = f"The body did not arrive within {self.limits.max_seconds:g} seconds."
            raise RefusedError(408, late, Connection="close") from None
        return b"".join(parts)

    def _too_large(self) -> RefusedError:
        return RefusedError(413, f"A body may have {self.limits.max_bytes:,} bytes; send less at a time.", Connection="close")


def _is_shortage(error: Exception) -> bool:
    """Whether it is what the system says when it has nothing left to give; compiled code says it of threads in a RuntimeError."""
    if isinstance(error, OSError):
        return error.errno in _SHORTAGES
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and str(error).startswith(_NO_THREAD))


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
