"""The routes: `/predict`, `/explain`, `/feedback`, `/health`, `/metrics`, `/openapi.json` and `/docs`."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic_core import to_json

from .. import __version__
from ..classifier import TextClassifier
from ..errors import DuplicateFeedbackIdError, FeedbackError, LabelError, TextmarginError
from ..feedback.store import Feedback, FeedbackStore
from ..labels import listed
from ._admission import Admission, Door
from ._bodies import DecisionsBody, ErrorBody, ExplanationBody, FeedbackBody, Question, Stored, Texts
from ._lanes import Lane, start_threads
from ._metrics import MEDIA_TYPE, Metrics
from ._reference import REFERENCE_HEADERS, render_reference
from .gate import Gate, Limits, Log, LogOfRefusals
from .hosts import AllowedHosts
from .models import Models
from .shield import Shield

_ROUTES = frozenset({"/predict", "/explain", "/feedback", "/health", "/metrics", "/openapi.json", "/docs"})
_N_THREADS = 2
_REFUSED: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": what}
    for status, what in (
        (400, "Not JSON."),
        (401, "No token, or another."),
        (403, "A page from elsewhere."),
        (408, "The body did not arrive."),
        (413, "The body is too large."),
        (421, "A host that is not this service."),
        (500, "A mistake of the service; the log has it under the request's id."),
        (503, "Too much to do; Retry-After says when to come again."),
    )
}
_REFUSED_READING: dict[int | str, dict[str, Any]] = {
    status: _REFUSED[status] for status in (401, 413, 421, 500, 503)
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
    max_wait: float = 1.0,
    feedback: FeedbackStore | None = None,
    hosts: AllowedHosts | Iterable[str] = (),
    log: Log = "errors",
    digest: str = "",
    model_file: str | os.PathLike[str] | None = None,
    watch_seconds: float = 1.0,
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
    max_wait : float, default=1.0
        Seconds that a request may wait for its turn, once its body is there; where it would be longer it is
        told to come again.
    feedback : FeedbackStore, default=None
        Where feedback goes; without it `/feedback` is not found.
    hosts : AllowedHosts, or names, default=()
        What this service is called; names are those besides `localhost` and the loopback addresses.
    log : {"errors", "requests", "texts"}, default="errors"
        What the log has: what went wrong, a line for each request as well, or that and what was sent.
    digest : str, default=""
        That of the model's file, as answers tell it (`X-Model-Digest`).
    model_file : path, default=None
        A file to watch: when it is replaced, the model in it answers from then on.
    watch_seconds : float, default=1.0
        How often it is looked at.

    Examples
    --------
    >>> from fastapi.testclient import TestClient
    >>> from textmargin import TextClassifier, load_dataset
    >>> from textmargin.serve import create_app
    >>> desk = load_dataset("desk").part("train")
    >>> app = create_app(TextClassifier().fit(desk.texts, desk.labels))
    >>> with TestClient(app, base_url="http://localhost") as client:
    ...     answer = client.post("/predict", json={"texts": ["the printer is out of paper"]})
    >>> answer.json()["decisions"][0]["labels"]
    ['printing']
    """
    metrics = Metrics()
    threads = start_threads(_N_THREADS, "textmargin-model")
    models = Models(
        model,
        digest,
        threads=threads,
        n_threads=_N_THREADS,
        max_batch=max_batch,
        max_wait=max_wait,
        metrics=metrics,
    )
    half = max(1, max_concurrent // 2)  # whatever explanations or a database take, decisions go on
    explaining = Lane("explanations", _N_THREADS, half, max_wait)
    storing = Lane("feedback", _N_THREADS, half, max_wait)

    refusals = {
        "/predict": lambda: models.now.batcher.refusal(),
        "/explain": explaining.refusal,
        "/feedback": storing.refusal,
    }
    admission = Admission({"/predict": Door(max_wait)}, refusals, LogOfRefusals(metrics, log))

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        loader = start_threads(1, "textmargin-loader")
        follower = None
        if model_file is not None:
            follower = asyncio.create_task(models.follow(model_file, watch_seconds, loader))
        yield
        if follower is not None:
            follower.cancel()
        for pool in (threads, loader):
            pool.shutdown(wait=False, cancel_futures=True)
        explaining.close()
        storing.close()

    app = FastAPI(
        title="textmargin",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=life,
        redirect_slashes=False,
    )
    limits = Limits(token, max_bytes, max_concurrent, max_seconds)
    app.add_middleware(Gate, limits=limits, metrics=metrics, routes=_ROUTES, log=log, admission=admission)
    app.state.admission = admission  # a connection that knows it refuses without parsing: see `running`
    app.add_middleware(Shield, hosts=AllowedHosts.of(hosts))
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(TextmarginError, _mistaken)
    app.add_exception_handler(HTTPException, _not_parsed)

    @app.post("/predict", response_model=DecisionsBody, responses=_REFUSED)
    async def predict(body: Texts) -> Response:
        """Decide on texts."""
        if len(body.texts) > max_texts:
            raise _unfit("texts", f"{len(body.texts):,} texts; a request may have {max_texts:,}.")
        now = models.now
        decided = await now.batcher.decide(body.texts) if body.texts else now.watch.decide([])
        if not np.isfinite(decided.scores).all():
            raise FloatingPointError("a score is no number")  # nor could JSON say it
        rows = zip(decided.labels, decided.guesses, decided.scores.tolist(), strict=True)
        decisions: list[dict[str, Any]] = [
            {"labels": labels, "unsure": guesses, "scores": dict(zip(decided.names, row, strict=True))}
            for labels, guesses, row in rows
        ]
        if decided.probabilities is not None:
            sure = zip(decisions, decided.confidence.tolist(), decided.probabilities.tolist(), strict=True)
            for one, confidence, row in sure:
                one |= {"confidence": confidence, "probabilities": dict(zip(decided.names, row, strict=True))}
        return Response(to_json({"decisions": decisions}), media_type="application/json", headers=now.headers)

    @app.post("/explain", responses=_REFUSED)
    async def explain(body: Question, response: Response) -> ExplanationBody:
        """Say what in a text moved its score for a label."""
        now = models.now
        response.headers.update(now.headers)

        def work() -> ExplanationBody:
            classifier = now.classifier
            label = None if body.label is None else next(iter(classifier.labels_.respell({body.label: None})))
            return ExplanationBody.model_validate(classifier.explain(body.text, label).to_dict(body.n))

        return await explaining.run(work)

    @app.post("/feedback", responses=_REFUSED | {404: {"model": ErrorBody}, 409: {"model": ErrorBody}})
    async def give_feedback(body: FeedbackBody) -> Stored:
        """Store what was correct or not; the answer comes once it is on the disk."""
        if feedback is None:
            raise HTTPException(
                404, "This service stores no feedback; it was started without a store for it."
            )
        one = _feedback(body, models.now.classifier)
        new = await storing.run(feedback.record, one)
        metrics.n_feedback += 1
        return Stored(id=one.id, new=new)

    @app.get("/health", responses={421: _REFUSED[421], 500: _REFUSED[500]})
    async def health() -> dict[str, str]:
        """Whether the service is up; needs no token."""
        return {"status": "ok"}

    @app.get(
        "/metrics",
        response_class=Response,
        responses=_REFUSED_READING | {200: {"content": {"text/plain": {}}}},
    )
    async def measured() -> Response:
        """Counters, for Prometheus."""
        return Response(str(metrics), media_type=MEDIA_TYPE)

    @app.get("/docs", response_class=HTMLResponse, responses=_REFUSED_READING)
    async def reference() -> Response:
        """Show these routes as a page."""
        return HTMLResponse(render_reference(app.openapi()), headers=REFERENCE_HEADERS)

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


async def _not_parsed(request: Request, error: Exception) -> Response:
    """What FastAPI says; but a body that there was no memory for is not the client's mistake."""
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, MemoryError):
        raise MemoryError from error
    return await http_exception_handler(request, error)


async def _mistaken(_: Request, error: Exception) -> JSONResponse:
    """What the library says to a client's mistake, or that feedback cannot be stored just now."""
    if isinstance(error, FeedbackError):
        logging.getLogger(__name__).error("%s", error)
        return JSONResponse(
            {"detail": "Feedback cannot be stored just now; send it again."}, 503, {"Retry-After": "5"}
        )
    if isinstance(error, DuplicateFeedbackIdError):
        return JSONResponse({"detail": _plain(error)}, 409)
    where = "label" if isinstance(error, LabelError) else "text"
    return await _not_valid(_, _unfit(where, str(error)))


def _plain(what: Any) -> str:
    """Text that UTF-8 can carry."""
    return str(what).encode("utf-8", "replace").decode()[:500]
