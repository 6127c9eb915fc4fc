"""What a request must pass before anything looks inside it: the token, the load, its size, and the time it takes to arrive.

    401   no token, or another          503   as many requests as may be are in flight (Retry-After says when to come again)
    413   a body over the limit         408   a body that does not arrive

A body is counted as it comes in, so that one without a length, or with a wrong one, is stopped as well.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from dataclasses import dataclass

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ._metrics import Metrics

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


class _RefusedError(Exception):
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
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        metrics: Metrics | None = None,
        routes: frozenset[str] = frozenset(),
        open_paths: frozenset[str] = _OPEN,
    ) -> None:
        self.app, self.limits, self.routes, self.open_paths = app, limits, routes, open_paths
        self.metrics = Metrics() if metrics is None else metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        always = scope["path"] in _ALWAYS
        self.metrics.in_flight += not always
        try:
            self._check(scope)
            body = b"" if always else await self._body(scope, receive)  # what needs no token gets no memory either
            await self.app(scope, _replayed(body, receive), noted)
        except _RefusedError as refused:
            await refused.answer(scope, receive, noted)
        except _GoneError:
            status = 499  # as others count it
        finally:
            self.metrics.in_flight -= not always
            route = scope["path"] if scope["path"] in self.routes else "other"
            self.metrics.answered(route, status or 500, time.perf_counter() - start)

    def _check(self, scope: Scope) -> None:
        path, token = scope["path"], self.limits.token
        headers = dict(scope["headers"])
        if token is not None and path not in self.open_paths:
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, b"Bearer " + token.encode()):
                raise _RefusedError(401, "This service wants a token: Authorization: Bearer TOKEN.", WWW_Authenticate="Bearer")
        if self.metrics.in_flight > self.limits.max_concurrent and path not in _ALWAYS:
            raise _RefusedError(503, f"{self.limits.max_concurrent} requests are in flight; come again.", Retry_After="1")
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > self.limits.max_bytes:
            raise self._too_large()

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
            raise _RefusedError(408, late, Connection="close") from None
        return b"".join(parts)

    def _too_large(self) -> _RefusedError:
        return _RefusedError(413, f"A body may have {self.limits.max_bytes:,} bytes; send less at a time.", Connection="close")


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
