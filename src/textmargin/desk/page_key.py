"""What an open page holds instead of the token, and by what it knows that the desk still answers.

While a desk is down, any program of the machine may listen on its port: a page that is still open would tell
it the token, and take its word that an act is stored. So a page hands the token in once, and asks with the
key of this process from there on, which is worth nothing when the process ends. Answers to the key carry a
seal that no request ever tells: whoever answers without it is not the desk that the page was opened by.
"""

from __future__ import annotations

import hmac
from secrets import token_urlsafe
from typing import NamedTuple

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SEAL_HEADER = "X-Desk-Seal"
_AUTHORIZATION = b"authorization"


class PageKey(NamedTuple):
    """What the pages of one process ask with, and what they are answered with."""

    key: str
    seal: str

    @classmethod
    def new(cls) -> PageKey:
        """Both at random."""
        return cls(token_urlsafe(24), token_urlsafe(24))


class PageKeyCheck:
    """ASGI middleware before the gate: who asks with the key asks as with the token, and the answer is
    sealed.

    Parameters
    ----------
    app : ASGI application
    page_key : PageKey
    token : str
        What the gate asks for.
    """

    def __init__(self, app: ASGIApp, page_key: PageKey, token: str) -> None:
        self.app, self.seal = app, page_key.seal
        self.asked, self.meant = f"Bearer {page_key.key}".encode(), f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        given = [value for name, value in scope.get("headers", ()) if name == _AUTHORIZATION]
        if len(given) != 1 or not hmac.compare_digest(given[0], self.asked):
            await self.app(scope, receive, send)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[SEAL_HEADER] = self.seal
            await send(message)

        others = [(name, value) for name, value in scope["headers"] if name != _AUTHORIZATION]
        await self.app({**scope, "headers": [*others, (_AUTHORIZATION, self.meant)]}, receive, sealed)
