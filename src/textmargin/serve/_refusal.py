"""A request that is answered with a status and a sentence, from wherever it has got to."""

from __future__ import annotations

import math

from starlette.responses import JSONResponse


class RefusedError(Exception):
    """What is said to it. The answer is made when it is asked for: under load most refusals are written
    without one.
    """

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        self.status, self.detail = status, detail
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    @property
    def answer(self) -> JSONResponse:
        """The same as an ASGI application."""
        return JSONResponse({"detail": self.detail}, self.status, self.headers)


def busy(why: str, seconds: float) -> RefusedError:
    """503: come again once what waits now may be done."""
    return RefusedError(
        503, f"Too much to do: {why}; come again.", Retry_After=str(min(60, max(1, math.ceil(seconds))))
    )
