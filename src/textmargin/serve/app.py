"""The routes: `/predict`, `/explain`, `/feedback`, `/health`, `/metrics`."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from .. import __version__
from ..classifier import TextClassifier
from ..errors import DuplicateFeedbackIdError, FeedbackError, LabelError, TextmarginError
from ..feedback.store import Feedback, FeedbackStore
from ..labels import Decisions, listed
from ._batching import Batcher
from ._bodies import DecisionsBody, ErrorBody, ExplanationBody, FeedbackBody, Question, Stored, Texts
from ._metrics import MEDIA_TYPE, Metrics
from ._watch import Watch
from .gate import Gate, Limits

_ROUTES = frozenset({"/predict", "/explain", "/feedback", "/health", "/metrics", "/openapi.json"})
_REFUSED: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": what}
    for status, what in (
        (400, "Not JSON."),
        (401, "No token, or another."),
        (408, "The body did not arrive."),
        (413, "The body is too large."),
        (503, "Too much to do; Retry-After says when to come again."),
    )
}


def create_app(
    model: TextClassifier,
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
    model : TextClassifier, fitted
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
        Where feedback goes; without it `/feedback` is not found.

    Examples
    --------
    >>> from fastapi.testclient import TestClient
    >>> from textmargin import TextClassifier, load_dataset
    >>> from textmargin.serve import create_app
    >>> desk = load_dataset("desk").part("train")
    >>> with TestClient(create_app(TextClassifier().fit(desk.texts, desk.labels))) as client:
    ...     client.post("/predict", json={"texts": ["the printer is out of paper"]}).json()["decisions"][0]["labels"]
    ['printing']
    """
    metrics = Metrics()
    watch = Watch(model)

    def log(decisions: Decisions) -> None:
        metrics.n_texts += len(decisions)
        metrics.n_unsure += int(decisions.unsure.any(axis=1).sum())
        metrics.n_batches += 1

    batcher = Batcher(watch.decide, max_batch, log=log)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        batcher.close()

    app = FastAPI(title="textmargin", version=__version__, docs_url=None, redoc_url=None, lifespan=life)
    limits = Limits(token, max_bytes, max_concurrent, max_seconds)
    app.add_middleware(Gate, limits=limits, metrics=metrics, routes=_ROUTES)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(TextmarginError, _mistaken)

    @app.post("/predict", response_model=DecisionsBody, responses=_REFUSED)
    async def predict(body: Texts) -> JSONResponse:
        """Decide on texts."""
        if len(body.texts) > max_texts:
            raise _unfit("texts", f"{len(body.texts):,} texts; a request may have {max_texts:,}.")
        decided = await batcher.decide(body.texts) if body.texts else watch.decide([])
        rows = zip(decided.labels, decided.guesses, decided.scores.tolist(), strict=True)
        decisions: list[dict[str, Any]] = [
            {"labels": labels, "unsure": guesses, "scores": dict(zip(decided.names, row, strict=True))}
            for labels, guesses, row in rows
        ]
        if decided.probabilities is not None:
            sure = zip(decisions, decided.confidence.tolist(), decided.probabilities.tolist(), strict=True)
            for one, confidence, row in sure:
                one |= {"confidence": confidence, "probabilities": dict(zip(decided.names, row, strict=True))}
        return JSONResponse({"decisions": decisions})  # what we made need not be checked

    @app.post("/explain", responses=_REFUSED)
    def explain(body: Question) -> ExplanationBody:
        """Say what in a text moved its score for a label."""
        label = None if body.label is None else next(iter(model.labels_.respell({body.label: None})))
        return ExplanationBody.model_validate(model.explain(body.text, label).to_dict(body.n))

    @app.post("/feedback", responses=_REFUSED | {404: {"model": ErrorBody}, 409: {"model": ErrorBody}})
    async def give_feedback(body: FeedbackBody) -> Stored:
        """Store what was correct or not; the answer comes once it is on the disk."""
        if feedback is None:
            raise HTTPException(404, "This service stores no feedback; it was started without a store for it.")
        one = _feedback(body, model)
        new = await run_in_threadpool(feedback.record, one)
        metrics.n_feedback += 1
        return Stored(id=one.id, new=new)

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the service is up; needs no token."""
        return {"status": "ok"}

    @app.get("/metrics", response_class=Response, responses={401: _REFUSED[401], 200: {"content": {"text/plain": {}}}})
    async def measured() -> Response:
        """Counters, for Prometheus."""
        metrics.drift = int(watch.drifted)
        return Response(str(metrics), media_type=MEDIA_TYPE)

    return app


def _feedback(body: FeedbackBody, model: TextClassifier) -> Feedback:
    """What was said, if it speaks of the model's labels."""
    names = model.labels_.text_names
    named = {"predicted": body.predicted, "scores": list(body.scores)}
    if not isinstance(body.correct, bool):
        named["correct"] = body.correct
    for where, labels in named.items():
        unknown = [label for label in labels if label not in names]
        if unknown:
            raise _unfit(where, f"There is no label {unknown[0]!r}; there are {listed(unknown[0], names)}")
        least = 0 if where == "predicted" and model.can_be_unsure else 1
        if not model.labels_.multilabel and where != "scores" and not least <= len(labels) <= 1:
            raise _unfit(where, f"A text has one label here; got {len(labels)}.")
    correct = body.correct if isinstance(body.correct, bool) else tuple(body.correct)
    one = Feedback(body.text, tuple(body.predicted), correct, dict(body.scores))
    return one if body.id is None else replace(one, id=body.id)


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
    """What the library says to a client's mistake, or that feedback cannot be stored just now."""
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
