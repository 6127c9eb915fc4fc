"""The reading desk over HTTP: one page, its modules, and the routes that it asks.

    GET  /                     the page; it takes the token from its address
    GET  /static/NAME          its modules and styles
    GET  /api/reader           who reads, if the page does not say (null: nobody in particular); a page's key
    GET  /api/state            what the side of the page shows
    GET  /api/next             what to read next
    GET  /api/text/N           a text by number
    GET  /api/search, /api/similar/N
    GET  /api/export/KIND      a file to save
    POST /api/acts, /api/undo

Page and modules hold nothing of the project and are open; everything under `/api` wants `Authorization:
Bearer TOKEN`, or the key of this process in its place, with which a page goes on (`page_key.py`). A request
must name a host that is this desk (a name that a stranger could have pointed here is refused), and whatever
is answered may load, run and frame nothing from elsewhere.

    401   no token, or another      421   a host that is not this desk
    403   a page from elsewhere     422   an act that cannot be: it is not sent again
    413   a body over the limit     503   not stored just now: the page sends the same act, same id, again

Extra `serve`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field

from .. import __version__
from ..errors import DeskError, TextmarginError
from ..serve.gate import Gate, Limits
from ..serve.hosts import AllowedHosts
from ..serve.shield import HEADERS as SHIELD_HEADERS
from ..serve.shield import Shield
from .page_key import PageKey, PageKeyCheck

if TYPE_CHECKING:
    from .session import Desk

HEADERS = SHIELD_HEADERS | {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}
_MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
}
_EXPORT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
    "toml": "application/toml",
}
_Name = Annotated[str | None, Query(max_length=200)]


class ActBody(BaseModel):
    """What somebody did; `content` is checked where the act is recorded."""

    model_config = ConfigDict(extra="forbid")
    id: str = Field(min_length=1, max_length=64)
    annotator: str = Field(min_length=1, max_length=200)
    kind: str = Field(max_length=50)
    content: dict[str, Any]


class UndoBody(BaseModel):
    """Who takes the last act back; `id` is that of the act that does so."""

    model_config = ConfigDict(extra="forbid")
    id: str = Field(min_length=1, max_length=64)
    annotator: str = Field(min_length=1, max_length=200)


class _Json(Response):
    """JSON in ASCII: half a surrogate pair, which texts of broken files have, cannot be said in UTF-8."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def create_desk_app(
    desk: Desk,
    *,
    token: str,
    annotator: str | None = None,
    hosts: AllowedHosts | Iterable[str] = (),
    max_bytes: int = 4_000_000,
    max_concurrent: int = 64,
    max_seconds: float = 30.0,
) -> FastAPI:
    """An ASGI application that is a reading desk.

    Parameters
    ----------
    desk : Desk
        The project that is open, and the model that follows it.
    token : str
        What the page must send; it is in the address that opens the page, `/?token=TOKEN`.
    annotator : str, default=None
        Who reads, where the page does not say; with None the page asks.
    hosts : AllowedHosts, or names, default=()
        What this desk is called; names are those besides `localhost` and its addresses.
    max_bytes : int, default=4_000_000
        Of a request's body.
    max_concurrent : int, default=64
        Requests in flight; more are told to come again.
    max_seconds : float, default=30.0
        For a body to arrive.
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
    app.add_middleware(
        Gate,
        limits=Limits(token, max_bytes, max_concurrent, max_seconds),
        open_paths=frozenset({"/", "/favicon.ico", *(f"/static/{name}" for name in pages)}),
    )
    page_key = PageKey.new()
    app.add_middleware(PageKeyCheck, page_key=page_key, token=token)
    app.add_middleware(Shield, hosts=AllowedHosts.of(hosts), headers=HEADERS)
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
        return _Json({"annotator": annotator, "project": desk.project.id, **page_key._asdict()})

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
        headers = {"Content-Disposition": f'attachment; filename="{_ascii(name)}"'}
        return Response(
            content,
            media_type=_EXPORT_TYPES.get(name.rpartition(".")[2], "application/octet-stream"),
            headers=headers,
        )

    @app.post("/api/acts")
    def act(body: ActBody) -> Response:
        return _Json(desk.act(body.model_dump()))

    @app.post("/api/undo")
    def undo(body: UndoBody) -> Response:
        return _Json(desk.undo(body.annotator, body.id))

    return app


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


def _ascii(name: str) -> str:
    """A name that a header can carry."""
    return "".join(
        letter if letter.isascii() and letter.isprintable() and letter not in '"\\' else "_"
        for letter in name
    )
