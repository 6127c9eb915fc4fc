"""Refusals without a parser: while there is too much to do, a request is told so by its first bytes.

To parse a request, find its route and make an answer takes longer than most of what it asks for, in the one
thread that all requests share: then those that come again keep the service from answering anybody. Only what
is plain beyond doubt is read here (one POST in HTTP/1.1, a length, nothing that changes where it ends); all
else goes the ordinary way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from uuid import uuid4

from pydantic_core import to_json

from ._refusal import RefusedError
from .shield import HEADERS, REQUEST_ID_FORM

_PLAIN = re.compile(rb"POST (/[a-z]*) HTTP/1\.1\r\n((?:[A-Za-z0-9-]+:[\t -~]*\r\n)+)\r\n")
_LENGTH = re.compile(rb"\ncontent-length:[ \t]*(\d{1,9})[ \t]*\r")
_ID = re.compile(rb"(?i)\nx-request-id:[ \t]*([!-~]*)[ \t]*\r")
_CHANGING = re.compile(
    rb"\n(?:transfer-encoding|expect|upgrade|te|trailer):|\nconnection:[^\r]*(?:close|upgrade)"
)
_FIXED = "".join(
    f"{name}: {value}\r\n" for name, value in {**HEADERS, "Content-Type": "application/json"}.items()
)
_PHRASES = {status.value: status.phrase for status in HTTPStatus}


@dataclass(frozen=True)
class PlainRequest:
    """A request whose end is known.

    Attributes
    ----------
    path : str
    id : str, as the client chose it, or a new one
    n_missing : int, bytes of its body that have not come yet
    """

    path: str
    id: str
    n_missing: int


def path_of(data: bytes) -> str:
    """Where a POST goes, at first sight; empty for all else."""
    return data[5 : data.find(b" ", 5, 64)].decode("latin-1") if data.startswith(b"POST /") else ""


def read_plain(data: bytes) -> PlainRequest | None:
    """One request, with all of its headers; None where these bytes are more, less or other than that."""
    found = _PLAIN.match(data)
    if found is None:
        return None
    headers = b"\n" + found[2]
    lower = headers.lower()
    lengths = _LENGTH.findall(lower)
    if (
        len(lengths) != 1
        or lower.count(b"content-length") != 1
        or lower.count(b"\nhost:") != 1
        or _CHANGING.search(lower)
    ):
        return None
    n_missing = int(lengths[0]) - (len(data) - found.end())
    if n_missing < 0:
        return None
    chosen = _ID.findall(headers)
    number = chosen[0].decode("ascii") if len(chosen) == 1 else ""
    return PlainRequest(
        found[1].decode("ascii"), number if REQUEST_ID_FORM.fullmatch(number) else uuid4().hex, n_missing
    )


def refusal_bytes(refused: RefusedError, number: str) -> bytes:
    """The answer; the connection goes on unless its headers say otherwise."""
    body = to_json({"detail": refused.detail})
    own = "".join([f"{name}: {value}\r\n" for name, value in refused.headers.items()])
    head = f"HTTP/1.1 {refused.status} {_PHRASES[refused.status]}\r\n{own}{_FIXED}X-Request-ID: {number}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body
