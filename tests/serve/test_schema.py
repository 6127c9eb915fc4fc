"""schemathesis: every route, with requests that fit the OpenAPI schema and requests that do not; answers are
as the schema says.

TEXTMARGIN_SEED repeats a run, TEXTMARGIN_EXAMPLES sets how many requests each test sends.
"""

import json
import os
import random

import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from schemathesis import GenerationMode
from serve.services import TestClient, fitted

from textmargin.feedback.store import FeedbackStore
from textmargin.serve import create_app

SEED = int(os.environ.get("TEXTMARGIN_SEED", random.randrange(2**32)))
EXAMPLES = int(os.environ.get("TEXTMARGIN_EXAMPLES", 25))
WRITES = [(path, "POST") for path in ("/predict", "/explain", "/feedback")]
READS = [(path, "GET") for path in ("/health", "/metrics", "/docs")]
CASES = [(*route, mode) for route in WRITES for mode in GenerationMode] + [
    (*route, GenerationMode.POSITIVE) for route in READS
]

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", params=[None, "s3cret"], ids=["open", "token"])
def client(request, tmp_path_factory):
    with FeedbackStore(tmp_path_factory.mktemp("fuzzed") / "judged.sqlite") as store:
        app = create_app(fitted(), feedback=store, token=request.param, max_bytes=20_000)
        headers = {} if request.param is None else {"authorization": f"Bearer {request.param}"}
        with TestClient(app, raise_server_exceptions=False, headers=headers) as client:
            yield client


def test_every_route_is_in_the_schema(client):
    paths = client.app.openapi()["paths"]
    assert {(path, method.upper()) for path, methods in paths.items() for method in methods} == {
        *WRITES,
        *READS,
    }
    assert client.get("/openapi.json").json() == json.loads(json.dumps(client.app.openapi()))


@pytest.mark.parametrize(("path", "method", "mode"), CASES)
def test_answers_are_as_the_schema_says(client, path, method, mode):
    print(f"TEXTMARGIN_SEED={SEED}")
    schema = schemathesis.openapi.from_dict(client.app.openapi())
    operation = schema[path][method]
    documented = client.app.openapi()["paths"][path][method.lower()]["responses"]

    @seed(SEED)
    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def sent(case):
        sending = case.as_transport_kwargs(base_url="http://localhost")
        body, headers = sending.get("data"), sending.get("headers", {})
        content = (
            json.dumps(sending["json"]).encode()
            if "json" in sending
            else body
            if isinstance(body, bytes)
            else None
        )
        kind = {"content-type": "application/json"} if content is not None else {}
        plain = {
            name: value
            for name, value in dict(headers).items()
            if name.lower() not in ("content-type", "content-length")
        }
        answer = client.request(
            case.method, sending["url"], content=content, headers=plain | kind, params=sending.get("params")
        )
        assert answer.status_code < 500, answer.text
        assert str(answer.status_code) in documented or answer.status_code == 405, (
            answer.status_code,
            answer.text,
        )
        assert answer.headers["x-request-id"]
        if answer.headers["content-type"] == "application/json":
            json.loads(answer.text, parse_constant=pytest.fail)
        if answer.status_code == 200:
            operation.validate_response(answer)

    sent()


@pytest.mark.parametrize("path", [*(path for path, _ in WRITES + READS), "/openapi.json", "/nowhere"])
@pytest.mark.parametrize(
    "method", ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"]
)
def test_any_method_on_any_route_is_answered(client, path, method):
    """None fails, and none sends on to a place that the request named."""
    for query in ("", "?a=1&a=%00&%ff=%f0", "?" + "x" * 3000):
        answer = client.request(
            method, path + query, headers={"X-Forwarded-Host": "evil.example"}, follow_redirects=False
        )
        assert answer.status_code in (200, 404, 405, 422)
        assert "evil.example" not in str(answer.headers) + answer.text
