"""Requests that no client sends, to every route of a service: answered below 500, in JSON that is JSON, never
with a traceback.
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
    "/predict", "/explain", "/feedback", "/health", "/metrics", "/docs", "/openapi.json", "/", "//", "/%00",
]  # fmt: skip
BODIES = [b"", b"[" * 9000, b'{"text": NaN}', b'{"text": 1e999}', b"\xff" * 100, b"x" * 30_000]


@functools.cache
def client():
    folder = tempfile.TemporaryDirectory()
    app = create_app(fitted(), feedback=FeedbackStore(Path(folder.name) / "judged.sqlite"), max_bytes=20_000)
    found = TestClient(app, raise_server_exceptions=False)
    found.__enter__()
    found.folder = folder
    return found


def a_body(rng):
    if rng.random() < 0.15:
        return rng.choice(BODIES)
    text = a_text(rng, 60, surrogates=True)
    judged = {"text": text, "predicted": [text], "correct": [text], "id": text, "scores": {text: 1e308}}
    content = json.dumps(rng.choice([{"text": text}, {"texts": [text]}, judged, some_json(rng), []])).encode()
    return content if rng.random() < 0.5 else damaged(rng, content)


def case(seed):
    rng = random.Random(f"http_requests/{seed}")
    method = rng.choice(["POST", "POST", "POST", "GET", "PUT", "DELETE", "HEAD", "OPTIONS", "BREW"])
    path = rng.choice(ROUTES) + rng.choice(["", "", "?a=%00", "?text=%ff"])
    host = rng.choice(
        ["localhost", "localhost", "localhost", "evil.example", "localhost.evil.example", "a b"]
    )
    kind = rng.choice(["application/json"] * 4 + ["text/plain", "application/json; charset=utf-16"])
    sent, body = {"host": host, "content-type": kind}, a_body(rng)
    answer = client().request(method, path, content=body, headers=sent, follow_redirects=False)
    what = f"{answer.status_code} to {method} {path} {sent} {body[:200]!r}: {answer.text[:200]}"
    assert answer.status_code < 500 or answer.status_code == 503, what
    assert "evil.example" not in host or answer.status_code >= 400, f"a foreign host: {what}"
    assert "Traceback" not in answer.text, what
    if answer.headers.get("content-type", "").startswith("application/json") and answer.text:
        json.loads(answer.text, parse_constant=lambda name: 1 / 0)
