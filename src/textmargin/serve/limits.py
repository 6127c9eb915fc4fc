"""What a request must pass before its route, and what is counted of all requests.

    401   no token, or a wrong one     413   a body over the limit
    500   a fault of the service       503   too many requests in flight; Retry-After says when to try again

A fault is logged with the lines of code it went through, without the texts that were sent.
"""

from __future__ import annotations

import hmac
import logging
import time
import traceback
from collections import Counter
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_METRICS = {
    "requests_total": ("counter", "Requests answered."),
    "request_seconds_total": ("counter", "Time from the head of a request to its answer."),
    "texts_total": ("counter", "Texts decided on."),
    "unsure_total": ("counter", "Texts left to a person, for a label at least."),
    "feedback_total": ("counter", "Feedback acknowledged."),
    "requests_in_flight": ("gauge", "POST requests that are not answered yet."),
}


class Metrics:
    """Counters in Prometheus' text format, by name and labels."""

    def __init__(self) -> None:
        unlabelled = [
            name for name in _METRICS if not name.startswith("request_") and name != "requests_total"
        ]
        self.values: Counter[tuple[str, str]] = Counter({(name, ""): 0 for name in unlabelled})

    def add(self, name: str, value: float = 1, labels: str = "") -> None:
        """Add to a counter."""
        self.values[name, labels] += value  # type: ignore[assignment]  # seconds

    def __str__(self) -> str:
        lines = []
        for name, (kind, about) in _METRICS.items():
            lines += [f"# HELP textmargin_{name} {about}", f"# TYPE textmargin_{name} {kind}"]
            lines += [
                f"textmargin_{name}{labels} {value:.10g}"
                for (own, labels), value in sorted(self.values.items())
                if own == name
            ]
        return "\n".join(lines) + "\n"


class Limits:
    """ASGI middleware: token, size of a body, requests in flight; it answers for faults, and counts.

    Parameters
    ----------
    app : ASGI application
    token : str or None
        What clients send as `Authorization: Bearer TOKEN`, but for `/health`.
    max_bytes : int
        Of the body of a request.
    max_concurrent : int
        POST requests in flight.
    metrics : Metrics
    routes : collection of str
        Paths that are counted by name; all others are "other".
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str | None,
        max_bytes: int,
        max_concurrent: int,
        metrics: Metrics,
        routes: Collection[str],
    ) -> None:
        self.app, self.max_bytes, self.max_concurrent = app, max_bytes, max_concurrent
        self.authorization = None if token is None else f"Bearer {token}".encode()
        self.metrics, self.routes = metrics, routes
        self.n_in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status, n_bytes = time.perf_counter(), 0, 0

        async def receive_limited() -> Message:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            if n_bytes > self.max_bytes:
                raise self._too_large()
            return message

        async def send_counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Content-Type-Options"] = "nosniff"
            await send(message)

        try:
            self._check(scope)
            self._count_in_flight(scope, 1)
            try:
                await self.app(scope, receive_limited, send_counted)
            finally:
                self._count_in_flight(scope, -1)
        except Exception as error:
            if status:
                raise
            if not isinstance(error, HTTPException):
                lines = "".join(traceback.format_tb(error.__traceback__))
                name = type(error).__name__
                logging.getLogger(__name__).error("%s failed with %s\n%s", scope["path"], name, lines)
                error = HTTPException(500, "The service has a fault; its log says where.")
            answer = JSONResponse({"detail": error.detail}, error.status_code, error.headers)
            await answer(scope, receive, send_counted)
        finally:
            route = scope["path"] if scope["path"] in self.routes else "other"
            self.metrics.add("requests_total", 1, f'{{route="{route}",status="{status or 499}"}}')
            self.metrics.add("request_seconds_total", time.perf_counter() - start, f'{{route="{route}"}}')

    def _count_in_flight(self, scope: Scope, n: int) -> None:
        if scope["method"] == "POST":
            self.n_in_flight += n
            self.metrics.add("requests_in_flight", n)

    def _check(self, scope: Scope) -> None:
        """Refuse by the head of a request."""
        headers = Headers(scope=scope)
        if self.authorization is not None and scope["path"] != "/health":
            given = headers.get("authorization", "").encode("latin-1")
            if not hmac.compare_digest(given, self.authorization):
                raise HTTPException(
                    401, "Send the token: Authorization: Bearer TOKEN.", {"WWW-Authenticate": "Bearer"}
                )
        if scope["method"] == "POST" and self.n_in_flight >= self.max_concurrent:
            raise HTTPException(
                503, f"{self.max_concurrent} requests are in flight; try again.", {"Retry-After": "1"}
            )
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length[:20]) > self.max_bytes:
            raise self._too_large()

    def _too_large(self) -> HTTPException:
        return HTTPException(413, f"A body may have {self.max_bytes:,} bytes; send fewer texts at a time.")
