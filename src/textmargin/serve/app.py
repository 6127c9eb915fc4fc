"""The routes: `/predict`, `/explain`, `/feedback`, `/health`, `/metrics`."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from .. import __version__
from ..errors import DuplicateFeedbackIdError, FeedbackError, LabelError, TextmarginError
from ..feedback.store import FeedbackStore, Judgement
from ..trained import Trained
from ._batching import Batcher
from ._bodies import Answer, Decisions, Problem, Question, Said, Stored, Texts
from ._gate import Gate, Limits
from ._metrics import MEDIA_TYPE, Metrics

_ROUTES = frozenset({"/predict", "/explain", "/feedback", "/health", "/metrics", "/openapi.json"})
_REFUSED: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": what}
    for status, what in (
        (400, "Not JSON."),
        (401, "No token, or another."),
        (408, "The body did not arrive."),
        (413, "The body is too large."),
        (503, "Too much to do; Retry-After says when to come again."),
    )
}


def create_app(
    trained: Trained,
    *,
    token: str | None = None,
    max_bytes: int = 1_000_000,
    max_texts: int = 1000,
    max_concurrent: int = 256,
    max_seconds: float = 30.0,
    max_batch: int = 256,
    feedback: FeedbackStore | None = None,
) -> FastAPI:
    """An ASGI application that decides by a model.

    Parameters
    ----------
    trained : Trained
    token : str, default=None
        What clients must send as `Authorization: Bearer TOKEN`; `/health` is open.
    max_bytes : int, default=1_000_000
        Of a request's body.
    max_texts : int, default=1000
        Of a request.
    max_concurrent : int, default=256
        Requests in flight; more are told to come again.
    max_seconds : float, default=30.0
        For a body to arrive.
    max_batch : int, default=256
        So many texts of requests that wait at the same time go through the model together.
    feedback : FeedbackStore, default=None
        Where judgements go; without it `/feedback` is not found.

    Examples
    --------
    >>> from fastapi.testclient import TestClient
    >>> from textmargin import load_dataset
    >>> from textmargin.serve import create_app
    >>> from textmargin.training import Recipe
    >>> with TestClient(create_app(Recipe().train(load_dataset("desk").part("train")))) as client:
    ...     client.post("/predict", json={"texts": ["the printer is out of paper"]}).json()["decisions"][0]["labels"]
    ['printing']
    """
    metrics = Metrics()

    def told(n_texts: int) -> None:
        metrics.n_texts += n_texts
        metrics.n_batches += 1

    batcher = Batcher(trained.scores, max_batch, told=told)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        batcher.close()

    app = FastAPI(title="textmargin", version=__version__, docs_url=None, redoc_url=None, lifespan=life)
    limits = Limits(token, max_bytes, max_concurrent, max_seconds)
    app.add_middleware(Gate, limits=limits, metrics=metrics, routes=_ROUTES)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(TextmarginError, _mistaken)

    @app.post("/predict", response_model=Decisions, responses=_REFUSED)
    async def predict(body: Texts) -> JSONResponse:
        """Decide on texts."""
        if len(body.texts) > max_texts:
            raise _unfit("texts", f"{len(body.texts):,} texts; a request may have {max_texts:,}.")
        scores = await batcher.scores(body.texts) if body.texts else np.empty((0, len(trained.classes)))
        decided = zip(trained.labels(scores), scores.tolist(), strict=True)
        decisions = [{"labels": labels, "scores": dict(zip(trained.classes, row, strict=True))} for labels, row in decided]
        return JSONResponse({"decisions": decisions})  # what we made need not be checked

    @app.post("/explain", responses=_REFUSED)
    def explain(body: Question) -> Answer:
        """Say what in a text moved its score for a label."""
        return Answer.model_validate(trained.explain(body.text, body.label, body.n).to_dict())

    @app.post("/feedback", responses=_REFUSED | {404: {"model": Problem}, 409: {"model": Problem}})
    async def judge(body: Said) -> Stored:
        """Store what was right or wrong; the answer comes once it is on the disk."""
        if feedback is None:
            raise HTTPException(404, "This service keeps no feedback; it was started without a store for it.")
        judgement = _judgement(body, trained)
        new = await run_in_threadpool(feedback.record, judgement)
        metrics.n_judgements += 1
        return Stored(id=judgement.id, new=new)

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the service is up; needs no token."""
        return {"status": "ok"}

    @app.get("/metrics", response_class=Response, responses={401: _REFUSED[401], 200: {"content": {"text/plain": {}}}})
    async def measured() -> Response:
        """Counters, for Prometheus."""
        return Response(str(metrics), media_type=MEDIA_TYPE)

    return app


def _judgement(body: Said, trained: Trained) -> Judgement:
    """What was said, if it speaks of the model's labels."""
    named = {"decided": body.decided, "scores": list(body.scores)}
    if not isinstance(body.right, bool):
        named["right"] = body.right
    for where, labels in named.items():
        unknown = [label for label in labels if label not in trained.classes]
        if unknown:
            raise _unfit(where, f"There is no label {unknown[0]!r}; there are {', '.join(trained.classes[:10])}.")
        if not trained.multilabel and where != "scores" and len(labels) != 1:
            raise _unfit(where, f"A text has one label here; got {len(labels)}.")
    right = body.right if isinstance(body.right, bool) else tuple(body.right)
    judgement = Judgement(body.text, tuple(body.decided), right, dict(body.scores))
    return judgement if body.id is None else replace(judgement, id=body.id)


def _unfit(where: str, why: str) -> RequestValidationError:
    return RequestValidationError([{"type": "value_error", "loc": ("body", where), "msg": why}])


async def _not_valid(_: Request, error: Exception) -> JSONResponse:
    """422 without the input, which may be large, secret, or nothing that JSON can say."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()[:20]
    detail = [
        {
            "type": one["type"],
            "loc": [part if isinstance(part, int) else _plain(part) for part in one["loc"]],
            "msg": _plain(one["msg"]),
        }
        for one in found
    ]
    return JSONResponse({"detail": detail}, 422)


async def _mistaken(_: Request, error: Exception) -> JSONResponse:
    """What the library says to a client's mistake, or that judgements cannot be stored just now."""
    if isinstance(error, FeedbackError):
        logging.getLogger(__name__).error("%s", error)
        return JSONResponse({"detail": "Feedback cannot be stored just now; send it again."}, 503, {"Retry-After": "5"})
    if isinstance(error, DuplicateFeedbackIdError):
        return JSONResponse({"detail": _plain(error)}, 409)
    where = "label" if isinstance(error, LabelError) else "text"
    return await _not_valid(_, _unfit(where, str(error)))


def _plain(what: Any) -> str:
    """Text that UTF-8 can carry."""
    return str(what).encode("utf-8", "replace").decode()[:500]
