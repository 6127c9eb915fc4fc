"""The reading desk over HTTP: one page, its modules, and the routes that it asks.

    GET  /                     the page; it takes the token from its address
    GET  /static/NAME          its modules and styles
    GET  /api/reader           who reads, if the page does not say (null: nobody in particular); key and seal
    GET  /api/state            what the side of the page shows
    GET  /api/next             what to read next
    GET  /api/text/N           a text by number
    GET  /api/search, /api/similar/N
    GET  /api/export/KIND      a file to save
    POST /api/acts

Page and modules hold nothing of the project and are open; everything under `/api` wants `Authorization:
Bearer TOKEN`, or the key of this process in its place. While a desk is down, any program of the machine may
listen on its port: a page that is still open would tell it the token, and believe it that an act is stored.
So a page hands the token in once, and asks with the key from there on, which is worth nothing when the
process ends. Answers to the key carry a seal that no request ever tells: whoever answers without it is not
the desk that the page was opened by.

    401   no token, or another      421   a host that is not this desk
    403   a page from elsewhere     422   an act that cannot be: it is not sent again
    411, 413   a body without a length, or over the limit
    503   not stored just now: the page sends the same act, same id, again

Extra `serve`.
"""

from __future__ import annotations

import hmac
import json
import logging
import signal
import socket
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, urlsplit

import uvicorn
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import __version__
from ..errors import DeskError, SettingError, TextmarginError

if TYPE_CHECKING:
    from .session import Desk

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SEAL_HEADER = "X-Desk-Seal"
_LOCAL = ("localhost", "127.0.0.1", "::1")
_MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
}
_Name = Annotated[str | None, Query(max_length=200)]


class ActBody(BaseModel):
    """What somebody did; `content` is checked where the act is recorded."""

    model_config = ConfigDict(extra="forbid")
    id: str = Field(min_length=1, max_length=64)
    annotator: str = Field(min_length=1, max_length=200)
    kind: str = Field(max_length=50)
    content: dict[str, Any]


class _Json(Response):
    """JSON in ASCII: half a surrogate pair, which texts of broken files have, cannot be said in UTF-8."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class AccessCheck:
    """ASGI middleware, the outermost: who may ask what, and the headers of every answer.

    Parameters
    ----------
    app : ASGI application
    token : str
    hosts : iterable of str
        Names that the desk answers to; "*" for any.
    max_bytes : int, of a body
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str], max_bytes: int) -> None:
        self.app, self.hosts, self.max_bytes = app, {name.lower() for name in hosts}, max_bytes
        self.key, self.seal = token_urlsafe(24), token_urlsafe(24)
        self._token, self._key = f"Bearer {token}".encode(), f"Bearer {self.key}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("authorization", "").encode()
        with_key = hmac.compare_digest(given, self._key)

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                own.update(HEADERS | ({SEAL_HEADER: self.seal} if with_key else {}))
            await send(message)

        may_ask = with_key or hmac.compare_digest(given, self._token)
        refused = self._refusal(scope["method"], headers, may_ask or not scope["path"].startswith("/api/"))
        await (refused or self.app)(scope, receive, answered)

    def _refusal(self, method: str, headers: Headers, may_ask: bool) -> Response | None:
        host, length = headers.get("host", ""), headers.get("content-length")
        if not {"*", _host_name(host)} & self.hosts:
            why = "This desk has another name. Ask by the address that it printed at its start."
            return _Json({"detail": why}, 421)
        if not may_ask:
            why = "This desk wants a token: Authorization: Bearer TOKEN."
            return _Json({"detail": why}, 401, {"WWW-Authenticate": "Bearer"})
        if method == "GET":
            return None
        own_pages = (f"http://{host}".lower(), f"https://{host}".lower())
        if "origin" in headers and headers["origin"].lower() not in own_pages:
            return _Json({"detail": "A page from elsewhere may change nothing here."}, 403)
        if length is None or not length.isdecimal() or len(length) > 19:
            return _Json({"detail": "Say how long the body is: Content-Length."}, 411)
        if int(length) > self.max_bytes:
            return _Json({"detail": f"A body may have {self.max_bytes:,} bytes; send less."}, 413)
        return None


def _host_name(host: str) -> str | None:
    """The name in a Host header."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def create_desk_app(
    desk: Desk,
    *,
    token: str,
    annotator: str | None = None,
    hosts: Iterable[str] = (),
    max_bytes: int = 4_000_000,
) -> AccessCheck:
    """An ASGI application that is a reading desk.

    Parameters
    ----------
    desk : Desk
        The project that is open, and the model that follows it.
    token : str
        What the page must send; it is in the address that opens the page, `/?token=TOKEN`.
    annotator : str, default=None
        Who reads, where the page does not say; with None the page asks.
    hosts : names, default=()
        What this desk is called besides `localhost` and its addresses; "*" for whatever it is called.
    max_bytes : int, default=4_000_000
        Of a request's body.
    """
    pages = page_files()
    app = FastAPI(
        title="textmargin desk",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    access = AccessCheck(app, token, (*_LOCAL, *hosts), max_bytes)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(TextmarginError, _refused)
    app.add_exception_handler(OSError, _refused)

    def reader(name: str | None) -> str:
        if name or annotator:
            return name or annotator or ""
        raise RequestValidationError(
            [{"loc": ("query", "annotator"), "msg": "Who reads? Send a name as annotator."}]
        )

    @app.get("/")
    def page() -> Response:
        return Response(pages["index.html"], media_type=_MEDIA_TYPES["html"])

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in pages:
            return _Json({"detail": f"There is no {name[:100]!r} here."}, 404)
        return Response(pages[name], media_type=_MEDIA_TYPES[name.rpartition(".")[2]])

    @app.get("/favicon.ico")
    def icon() -> Response:
        return Response(status_code=204)

    @app.get("/api/reader")
    def default_reader() -> Response:
        page = {"key": access.key, "seal": access.seal}
        return _Json({"annotator": annotator, "project": desk.project.id, **page})

    @app.get("/api/state")
    def state(annotator: _Name = None) -> Response:
        return _Json(desk.state(reader(annotator)))

    @app.get("/api/next")
    def following(annotator: _Name = None) -> Response:
        return _Json(desk.next(reader(annotator)))

    @app.get("/api/text/{number}")
    def text(
        number: int,
        annotator: _Name = None,
        label: Annotated[str | None, Query(max_length=1000)] = None,
        source: Annotated[str, Query(max_length=50)] = "list",
    ) -> Response:
        return _Json(desk.text(number, reader(annotator), label, source))

    @app.get("/api/search")
    def search(
        query: Annotated[str, Query(max_length=1000)], n: Annotated[int, Query(ge=1, le=200)] = 20
    ) -> Response:
        return _Json(desk.search(query, n))

    @app.get("/api/similar/{number}")
    def similar(number: int, n: Annotated[int, Query(ge=1, le=200)] = 10) -> Response:
        return _Json(desk.similar(number, n))

    @app.get("/api/export/{kind}")
    def export(kind: str) -> Response:
        try:
            name, content = desk.export(kind)
        except DeskError as error:  # nothing of the kind
            return _Json({"detail": str(error)}, 404)
        headers = {"Content-Disposition": f'attachment; filename="{quote(name)}"'}
        return Response(content, media_type="application/octet-stream", headers=headers)

    @app.post("/api/acts")
    def act(body: ActBody) -> Response:
        return _Json(desk.act(body.model_dump()))

    return access


def listen(host: str, port: int) -> tuple[socket.socket, str]:
    """A socket, and the URL by which browsers reach it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        why = f"{port} of {host} cannot be listened on: {error.strerror or error}."
        raise SettingError("port", why) from error
    shown = f"[{host}]" if family == socket.AF_INET6 else host
    return listener, f"http://{shown}:{listener.getsockname()[1]}"


def run(app: ASGIApp, listener: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in flight."""
    server = uvicorn.Server(
        uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=8)
    )

    def stop(*_: object) -> None:
        server.should_exit = True

    before = {sign: signal.signal(sign, stop) for sign in (signal.SIGTERM, signal.SIGINT)}
    try:  # uvicorn raises the signal again once it is done: that it stopped as asked is no failure
        server.run(sockets=[listener])
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


@cache
def page_files() -> dict[str, bytes]:
    """The page, its modules and styles, by name; nothing else can be asked for."""
    folder = files("textmargin.desk") / "page"
    return {
        one.name: one.read_bytes() for one in folder.iterdir() if one.name.rpartition(".")[2] in _MEDIA_TYPES
    }


async def _not_valid(_: Request, error: Exception) -> Response:
    """422 in one sentence, without the input, which may be large or nothing that can be shown."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:])
    return _Json(
        {"detail": f"{where[:200]}: {str(first['msg'])[:500]}" if where else str(first["msg"])[:500]}, 422
    )


async def _refused(_: Request, error: Exception) -> Response:
    """What is wrong with an act, or that it cannot be stored just now."""
    by_itself = (
        isinstance(error, TextmarginError) and error.__cause__ is None
    )  # no system's error behind it: a mistake of who asks
    if isinstance(error, OSError) and not by_itself:
        logging.getLogger(__name__).error("%s", error)
        return _Json({"detail": str(error)[:1000]}, 503, {"Retry-After": "2"})
    return _Json({"detail": str(error)[:1000]}, 422)
