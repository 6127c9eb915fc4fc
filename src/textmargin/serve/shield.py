"""What stands before every answer: the host must be this service, a page must be its own, and the request
gets an id.

400   two ways to tell where a body ends: what stands before a service may take the other (smuggled requests)
421   a host that is not this service        403   a page from elsewhere that wants to change something
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar
from uuid import uuid4

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .hosts import AllowedHosts

NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HEADERS = {
    "Content-Security-Policy": NOTHING,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="-")
REQUEST_ID_FORM = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class Shield:
    """ASGI middleware, the outermost: hosts, origins, ids, and headers that let an answer load, run and frame
    nothing.

    Parameters
    ----------
    app : ASGI application
    hosts : AllowedHosts
    headers : mapping, default=HEADERS
        What every answer carries, unless it says otherwise itself.
    """

    def __init__(self, app: ASGIApp, hosts: AllowedHosts, headers: Mapping[str, str] = HEADERS) -> None:
        self.app, self.hosts, self.headers = app, hosts, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        values = _values(scope)
        given = values.get("x-request-id", "")
        number = given if REQUEST_ID_FORM.fullmatch(given) else uuid4().hex
        REQUEST_ID.set(number)

        async def shielded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
                headers["X-Request-ID"] = number
            await send(message)

        refused = self._refusal(scope["method"], values)
        await (self.app if refused is None else refused)(scope, receive, shielded)

    def _refusal(self, method: str, values: dict[str, str]) -> JSONResponse | None:
        host, origin = values.get("host", ""), values.get("origin")
        if "transfer-encoding" in values and "content-length" in values:
            return JSONResponse(
                {"detail": "A body has a length or comes in chunks, not both."}, 400, {"Connection": "close"}
            )
        if not self.hosts.allows(host):
            why = (
                f"This service is not {_shown(host)}. Ask by the address that it printed at its start, "
                "or tell it the name."
            )
            return JSONResponse({"detail": why}, 421, {"Connection": "close"})
        if origin is not None and method not in _SAFE and not self.hosts.allows_origin(origin, host):
            why = f"A page of {_shown(origin)} may change nothing here; only this service's own pages may."
            return JSONResponse({"detail": why}, 403, {"Connection": "close"})
        return None


def _values(scope: Scope) -> dict[str, str]:
    """Headers by name; one that is there twice has both values, which no check takes."""
    values: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        values[key] = f"{values[key]}, {text}" if key in values else text
    return values


def _shown(name: str) -> str:
    """A name that any terminal, log and page can show."""
    plain = "".join(letter if letter.isascii() and letter.isprintable() else "?" for letter in name[:100])
    return repr(plain) if plain else "without a name"
