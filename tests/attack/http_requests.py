"""Requests that no client sends, to every route of a service: answered below 500, in JSON that is JSON, never
with a traceback.

What fits the OpenAPI schema is schemathesis's part (`tests/serve/test_schema.py`); here bodies, headers,
methods and paths are whatever they are.
"""

import functools
import json
import random
import tempfile
from pathlib import Path

from attack.hostile_texts import a_text
from attack.user_files import damaged, some_json
from serve.services import TestClient, fitted

from textmargin.feedback.store import FeedbackStore
from textmargin.serve import create_app

SECONDS_A_CASE = 30
ROUTES = [
    "/predict",
    "/explain",
    "/feedback",
    "/health",
    "/metrics",
    "/docs",
    "/openapi.json",
    "/",
    "/predict/",
    "//",
    "/%00",
    "/..",
]
KNOWN = (200, 201, 204, 400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 431, 503)


@functools.cache
def client():
    folder = tempfile.TemporaryDirectory()
    app = create_app(fitted(), feedback=FeedbackStore(Path(folder.name) / "judged.sqlite"), max_bytes=20_000)
    found = TestClient(app, raise_server_exceptions=False)
    found.__enter__()
    found.folder = folder
    return found


def a_body(rng):
    text = a_text(rng, 60, surrogates=True)
    honest = rng.choice([
        {"text": text}, {"texts": [text, a_text(rng)]}, {"text": text, "label": "grain"},
        {"text": text, "predicted": ["a"], "correct": True},
        {"text": text, "predicted": [text], "correct": [text], "id": text, "scores": {text: 1e308}},
        some_json(rng), [], {},
    ])  # fmt: skip
    if rng.random() < 0.15:
        return rng.choice(
            [
                b"",
                b"[" * 9000,
                b'{"texts": ' + b"[" * 5000,
                b'{"text": NaN}',
                b'{"text": 1e999}',
                b"\xff" * 100,
                b"x" * 30_000,
            ]
        )
    content = json.dumps(honest).encode()
    return content if rng.random() < 0.5 else damaged(rng, content)


def case(seed):
    rng = random.Random(f"http_requests/{seed}")
    method = rng.choice(["POST", "POST", "POST", "GET", "PUT", "DELETE", "HEAD", "OPTIONS", "BREW"])
    path = rng.choice(ROUTES) + rng.choice(["", "", "", "?a=%00", "?text=%ff", "#x"])
    host = rng.choice(
        [
            "localhost",
            "localhost",
            "localhost",
            "127.0.0.1:80",
            "evil.example",
            "localhost.evil.example",
            "[::1]",
            "a b",
            "",
        ]
    )
    headers = {
        "host": host,
        "content-type": rng.choice(
            ["application/json"] * 4 + ["text/plain", "application/json; charset=utf-16", "x"]
        ),
    }
    if rng.random() < 0.2:
        headers[
            rng.choice(
                ["content-encoding", "x-request-id", "authorization", "origin", "accept", "transfer-encoding"]
            )
        ] = "x" * 50
    body = a_body(rng)
    answer = client().request(method, path, content=body, headers=headers, follow_redirects=False)
    sent = f"{method} {path} {headers} {body[:200]!r}"
    assert answer.status_code in KNOWN, f"{answer.status_code} to {sent}: {answer.text[:200]}"
    assert "evil.example" not in host or answer.status_code >= 400, (
        f"a foreign host was answered {answer.status_code}: {sent}"
    )
    assert "Traceback" not in answer.text, sent
    if answer.headers.get("content-type", "").startswith("application/json") and answer.text:
        json.loads(answer.text, parse_constant=lambda name: 1 / 0)
