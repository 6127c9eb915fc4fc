"""The routes: `/`, `/health`, `/predict`, `/explain`, `/feedback` and `/metrics`."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, FailFast, Field
from pydantic_core import to_json
from starlette.middleware.trustedhost import TrustedHostMiddleware

from .. import __version__
from ..classifier import TextClassifier
from ..errors import DuplicateFeedbackIdError, FeedbackError, TextmarginError
from ..feedback.store import Feedback, FeedbackStore
from ..labels import Decisions, listed
from .batch import Batcher
from .limits import Limits, Metrics

_ROUTES = frozenset({"/", "/health", "/predict", "/explain", "/feedback", "/metrics"})
_EXPECTED = {
    "/predict": "`texts`, a list of strings",
    "/explain": "`text`, a string, and optionally `label` and `n`, 1 to 1000",
    "/feedback": "`text`, `predicted` (a list of labels), `correct` (a list of labels, true or false), and "
    "optionally `scores` and `id`",
}
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
    bytes: "a body without `Content-Type: application/json`",
}
_DIGITS = 6
Labels = Annotated[list[str], Field(max_length=10_000)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PredictBody(_Body):
    """Texts to decide on."""

    texts: Annotated[list[str], FailFast()]


class Decision(BaseModel):
    """The labels of a text, those left to a person, and the score of every class; 0 is the decision.

    `confidence` and `probabilities` are there if the model has held-out scores: the probability of the labels
    (or of the guess), and that of every class.
    """

    labels: list[str]
    unsure: list[str]
    scores: dict[str, float]
    confidence: float | None = None
    probabilities: dict[str, float] | None = None


class Predictions(BaseModel):
    """A decision per text, in their order."""

    decisions: list[Decision]


class ExplainBody(_Body):
    """A text, and the label to explain; by default the one that the text gets."""

    text: str
    label: str | None = None
    n: Annotated[int, Field(ge=1, le=1000)] = 10


class FeedbackBody(_Body):
    """What was predicted for a text, and its correct labels, or only whether the prediction was correct."""

    text: str
    predicted: Labels
    correct: bool | Labels
    scores: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = {}
    id: Annotated[str, Field(pattern=r"^[!-~]{1,200}$")] | None = None


def create_app(
    model: TextClassifier,
    *,
    name: str = "",
    token: str | None = None,
    feedback: FeedbackStore | None = None,
    max_bytes: int = 1_000_000,
    max_texts: int = 1000,
    max_concurrent: int = 64,
    hosts: Iterable[str] = ("localhost", "127.0.0.1", "[::1]"),
) -> FastAPI:
    """An ASGI application that decides by a model.

    Parameters
    ----------
    model : TextClassifier, fitted
    name : str, default=""
        What `/` calls the model.
    token : str, default=None
        What clients must send as `Authorization: Bearer TOKEN`; `/health` needs none.
    feedback : FeedbackStore, default=None
        Where feedback is stored; without it `/feedback` answers 404.
    max_bytes : int, default=1_000_000
        Of the body of a request.
    max_texts : int, default=1000
        Of a request.
    max_concurrent : int, default=64
        Requests in flight; more get 503 and try again.
    hosts : iterable of str
        Without a token, the names that the service answers to. Otherwise a web page whose name points to
        this machine (DNS rebinding) could use it through your browser.

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

    def decide(texts: list[str]) -> Decisions:
        return model.decide(texts, probabilities=model.has_held_out)

    batcher = Batcher(decide)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        batcher.close()

    # FastAPI's own /docs loads scripts from elsewhere
    app = FastAPI(
        title="textmargin",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.add_middleware(
        Limits,
        token=token,
        max_bytes=max_bytes,
        max_concurrent=max_concurrent,
        metrics=metrics,
        routes=_ROUTES,
    )
    if token is None:
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*hosts], www_redirect=False)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(TextmarginError, _refused)

    @app.get("/")
    async def about() -> dict[str, Any]:
        """What this service is."""
        return {
            "about": 'textmargin decides on texts: POST {"texts": ["..."]} to /predict.',
            "model": name,
            "labels": list(model.labels_.text_names),
            "version": __version__,
            "schema": "/openapi.json",
        }

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the service is up; needs no token."""
        return {"status": "ok"}

    @app.get("/metrics", response_class=Response)
    async def measured() -> Response:
        """Counters, for Prometheus."""
        return Response(str(metrics), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.post("/predict", response_model=Predictions)
    async def predict(body: PredictBody) -> Response:
        """Decide on texts."""
        if len(body.texts) > max_texts:
            raise HTTPException(422, f"Send at most {max_texts:,} `texts`. Got {len(body.texts):,}.")
        decided = await batcher.decide(body.texts) if body.texts else decide([])
        metrics.add("texts_total", len(decided))
        metrics.add("unsure_total", int(decided.unsure.any(axis=1).sum()))
        return Response(to_json({"decisions": _rows(decided)}), media_type="application/json")

    @app.post("/explain")
    def explain(body: ExplainBody) -> dict[str, Any]:
        """Say which words moved the score of a text for a label, and by how much."""
        label = None if body.label is None else next(iter(model.labels_.respell({body.label: None})))
        return _rounded(model.explain(body.text, label).to_dict(body.n))

    @app.post("/feedback")
    async def give_feedback(body: FeedbackBody) -> dict[str, Any]:
        """Store whether a decision was correct; the answer comes once it is on the disk."""
        if feedback is None:
            raise HTTPException(404, "This service was started without a store for feedback.")
        one = _feedback(body, model)
        new = await run_in_threadpool(feedback.record, one)
        metrics.add("feedback_total")
        return {"id": one.id, "new": new}

    return app


def _rows(decided: Decisions) -> list[dict[str, Any]]:
    """Decisions as JSON has them."""

    def named(values: np.ndarray) -> list[dict[str, float]]:
        return [dict(zip(decided.names, row, strict=True)) for row in values.round(_DIGITS).tolist()]

    if not np.isfinite(decided.scores).all():
        raise FloatingPointError("a score is no number")  # JSON has no word for it
    rows: list[dict[str, Any]] = [
        {"labels": labels, "unsure": guesses, "scores": scores}
        for labels, guesses, scores in zip(
            decided.labels, decided.guesses, named(decided.scores), strict=True
        )
    ]
    if decided.probabilities is not None:
        confidence = decided.confidence.round(_DIGITS).tolist()
        for row, own, probabilities in zip(rows, confidence, named(decided.probabilities), strict=True):
            row |= {"confidence": own, "probabilities": probabilities}
    return rows


def _rounded(value: Any) -> Any:
    """Plain data with rounded numbers."""
    if isinstance(value, dict):
        return {name: _rounded(own) for name, own in value.items()}
    if isinstance(value, list):
        return [_rounded(own) for own in value]
    return round(value, _DIGITS) if isinstance(value, float) else value


def _feedback(body: FeedbackBody, model: TextClassifier) -> Feedback:
    """The feedback of a request, if it names labels of the model."""
    names = model.labels_.text_names
    correct = body.correct if isinstance(body.correct, bool) else tuple(body.correct)
    given = {"predicted": body.predicted, "scores": list(body.scores)}
    if not isinstance(body.correct, bool):
        given["correct"] = body.correct
    for field, labels in given.items():
        unknown = [label for label in labels if label not in names]
        if unknown:
            known = listed(unknown[0], names)
            raise HTTPException(422, _plain(f"`{field}` has {unknown[0]!r}; the labels are {known}"))
        least = 0 if field == "predicted" and model.can_be_unsure else 1
        if not model.labels_.multilabel and field != "scores" and not least <= len(labels) <= 1:
            raise HTTPException(422, f"A text has one label; `{field}` has {len(labels)}.")
    one = Feedback(body.text, tuple(body.predicted), correct, dict(body.scores))
    return one if body.id is None else replace(one, id=body.id)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    """422 in a sentence: what to send, and what came. What came may be private, and is not repeated."""
    assert isinstance(error, RequestValidationError)
    came = dict.fromkeys(_came(one) for one in error.errors()[:3])
    return JSONResponse(
        {"detail": _plain(f"Send {_EXPECTED[request.url.path]}. Got {'; '.join(came)}.")}, 422
    )


def _came(error: dict[str, Any]) -> str:
    """What is wrong with a body, by one of pydantic's errors."""
    field, *inner = [*error["loc"][1:], ""][:2]
    where = f"`{field}{f'[{inner[0]}]' if inner and isinstance(inner[0], int) else ''}`"
    if error["type"] == "json_invalid":
        return "a body that is not JSON"
    if error["type"] == "missing":
        return f"no {where}" if field else "no body"
    if error["type"] == "extra_forbidden":
        return f"an unknown field, {where}"
    if error["type"].endswith(("_type", "_unicode")):
        kind = _KINDS[type(error["input"])]
        return f"{kind} in {where}" if field else kind
    return f"{where}: {error['msg']}"


async def _refused(_: Request, error: Exception) -> JSONResponse:
    """A client's mistake that the library found, or feedback that cannot be stored now."""
    if isinstance(error, FeedbackError):
        logging.getLogger(__name__).error("%s", error)
        detail = "Feedback cannot be stored now; send it again."
        return JSONResponse({"detail": detail}, 503, {"Retry-After": "5"})
    status = 409 if isinstance(error, DuplicateFeedbackIdError) else 422
    return JSONResponse({"detail": _plain(str(error))}, status)


def _plain(text: str) -> str:
    """Text that UTF-8 can hold."""
    return text[:500].encode("utf-8", "replace").decode()
