"""The routes and their limits, in this process."""

import asyncio
import json
import logging
import threading

import httpx
import pytest
from serve.services import TestClient, any_labels, fitted

from textmargin import TextClassifier, Utility, __version__
from textmargin.errors import FeedbackError, NotTextError
from textmargin.serve import create_app
from textmargin.serve.batch import Batcher

TEXTS = ["wheat and corn", "dollar and yen", "", "a\x00b \u202e 🙂 <script>"]
FEEDBACK = {"text": "a\x00b 🙂", "predicted": ["grain"], "correct": ["oil"], "scores": {"grain": 0.5}}

pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.EmptyTextWarning")


@pytest.fixture
def client(model, store):
    app = create_app(model, name="model.tmm", max_bytes=20_000, max_texts=50, feedback=store)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def test_the_first_page_says_what_this_is(client, model):
    answer = client.get("/").json()
    assert "/predict" in answer["about"]
    assert answer["model"] == "model.tmm"
    assert answer["labels"] == list(model.labels_.text_names)
    assert answer["version"] == __version__
    assert {"/predict", "/explain", "/feedback"} < set(client.get(answer["schema"]).json()["paths"])


def test_predict_says_what_the_model_says(client, model):
    answered = client.post("/predict", json={"texts": TEXTS}).json()["decisions"]
    decisions = model.decide(TEXTS, probabilities=True)
    assert [tuple(one["labels"]) for one in answered] == decisions.labels
    assert [list(one["scores"]) for one in answered] == [decisions.names] * len(TEXTS)
    for name, values in (("scores", decisions.scores), ("probabilities", decisions.probabilities)):
        assert [list(one[name].values()) for one in answered] == values.round(6).tolist()
    assert [one["confidence"] for one in answered] == decisions.confidence.round(6).tolist()
    assert client.post("/predict", json={"texts": []}).json() == {"decisions": []}


def test_predict_leaves_what_is_unsure_to_a_person(store):
    model = fitted(utility=Utility(tp=1, fp=-20))
    decisions = model.decide(TEXTS)
    assert () in decisions.labels
    with TestClient(create_app(model, feedback=store)) as client:
        answered = client.post("/predict", json={"texts": TEXTS}).json()["decisions"]
        assert [tuple(one["unsure"]) for one in answered] == decisions.guesses
        body = {"text": "x", "predicted": [], "correct": ["grain"]}
        assert client.post("/feedback", json=body).json()["new"]


def test_explain_says_what_the_model_says(client, model):
    answer = client.post("/explain", json={"text": TEXTS[0], "label": "oil", "n": 2}).json()
    explained = json.loads(json.dumps(model.explain(TEXTS[0], "oil").to_dict(2)))
    assert answer["score"] == round(explained["score"], 6)
    assert [one["feature"] for one in answer["contributions"]] == [
        one["feature"] for one in explained["contributions"]
    ]
    assert client.post("/explain", json={"text": TEXTS[0]}).json()["label"] == "grain"


def test_labels_are_text_whatever_they_were(store):
    model = TextClassifier().fit(["corn wheat", "wheat", "oil gas", "gas"] * 5, [7, 7, 8, 8] * 5)
    with TestClient(create_app(model, feedback=store)) as client:
        (decided,) = client.post("/predict", json={"texts": ["wheat"]}).json()["decisions"]
        assert decided["labels"] == ["7"]
        assert client.post("/explain", json={"text": "wheat", "label": "8"}).json()["label"] == "8"
        body = {"text": "wheat", "predicted": ["7"], "correct": ["8"], "scores": decided["scores"]}
        assert client.post("/feedback", json=body).json()["new"]


def test_feedback_is_stored_once(client, store):
    body = {**FEEDBACK, "id": "a-1"}
    assert client.post("/feedback", json=body).json() == {"id": "a-1", "new": True}
    assert client.post("/feedback", json=body).json() == {"id": "a-1", "new": False}
    assert client.post("/feedback", json={**body, "correct": True}).status_code == 409
    (one,) = store
    assert (one.text, one.predicted, one.correct, one.scores) == (
        body["text"],
        ("grain",),
        ("oil",),
        {"grain": 0.5},
    )


def test_several_labels_and_none_are_feedback(store):
    with TestClient(create_app(TextClassifier().fit(*any_labels()), feedback=store)) as client:
        for predicted, correct in (([], []), (["oil", "grain"], []), (["oil"], ["oil", "money"])):
            body = {"text": "x", "predicted": predicted, "correct": correct}
            assert client.post("/feedback", json=body).status_code == 200
    assert len(store) == 3


def test_feedback_that_cannot_be_stored_is_not_acknowledged(client, store, model, monkeypatch):
    def full(_):
        raise FeedbackError("disk full")

    monkeypatch.setattr(store, "record", full)
    answer = client.post("/feedback", json=FEEDBACK)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    with TestClient(create_app(model)) as other:
        assert other.post("/feedback", json=FEEDBACK).status_code == 404


def test_metrics_count_requests_and_texts(client):
    client.post("/predict", json={"texts": TEXTS})
    client.get("/nowhere/in/particular")
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert 'textmargin_requests_total{route="/predict",status="200"} 1' in lines
    assert 'textmargin_requests_total{route="other",status="404"} 1' in lines
    assert f"textmargin_texts_total {len(TEXTS)}" in lines
    assert "textmargin_requests_in_flight 0" in lines


@pytest.mark.parametrize(
    ("path", "body", "why"),
    [
        ("/predict", {"texts": "x"}, "Send `texts`, a list of strings. Got a string in `texts`."),
        ("/predict", {"texts": [1]}, "Send `texts`, a list of strings. Got a number in `texts[0]`."),
        (
            "/predict",
            {"text": "x"},
            "Send `texts`, a list of strings. Got no `texts`; an unknown field, `text`.",
        ),
        ("/predict", [], "Send `texts`, a list of strings. Got a list."),
        ("/predict", {"texts": ["x"] * 51}, "Send at most 50 `texts`. Got 51."),
        ("/explain", {"text": "x", "label": "fish"}, "There is no class 'fish'"),
        ("/explain", {"text": "x", "n": 0}, "Got `n`: Input should be greater than or equal to 1."),
        ("/explain", {"text": "x", "lable": "oil"}, "Got an unknown field, `lable`."),
        ("/feedback", {**FEEDBACK, "predicted": ["fish"]}, "`predicted` has 'fish'; the labels are"),
        ("/feedback", {**FEEDBACK, "correct": ["fish"]}, "`correct` has 'fish'; the labels are"),
        ("/feedback", {**FEEDBACK, "scores": {"fish": 1.0}}, "`scores` has 'fish'; the labels are"),
        (
            "/feedback",
            {**FEEDBACK, "predicted": ["oil", "grain"]},
            "A text has one label; `predicted` has 2.",
        ),
        ("/feedback", {**FEEDBACK, "correct": []}, "A text has one label; `correct` has 0."),
        ("/feedback", {**FEEDBACK, "correct": "yes"}, "Got a string in `correct`."),
        ("/feedback", {**FEEDBACK, "id": "a\nb"}, "Got `id`: String should match pattern"),
    ],
)
def test_what_does_not_fit_is_422_and_says_what_to_send(client, store, path, body, why):
    answer = client.post(path, json=body)
    assert answer.status_code == 422
    assert why in answer.json()["detail"]
    assert len(store) == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"texts": [NaN, Infinity]}',
        b'{"texts": ' + b"[" * 9000 + b"]" * 9000 + b"}",
        b'{"texts": [' + b"9" * 5000 + b"]}",
        b'{"\\ud800": 1, "texts": []}',
        b'{"text": "x", "n": 1e999}',
        b'{"text": "x", "label": "\\ud800"}',
        b'{"text": "x", "predicted": ["oil"], "correct": true, "scores": {"oil": NaN, "\\ud800": 1e999}}',
        b'{"text": "x", "predicted": ["\\ud800"], "correct": true, "id": "\\ud800"}',
        b"null",
    ],
)
@pytest.mark.parametrize("path", ["/predict", "/explain", "/feedback"])
def test_hostile_json_is_a_clients_mistake(client, path, body):
    answer = client.post(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422), answer.text
    json.loads(answer.text, parse_constant=pytest.fail)


def test_half_a_surrogate_pair_is_text(client):
    answer = client.post(
        "/predict", content=b'{"texts": ["wheat \\ud800"]}', headers={"content-type": "application/json"}
    )
    assert answer.json()["decisions"][0]["labels"] == ["grain"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_page_in_a_browser_cannot_send_without_asking_first(client, kind):
    """These kinds of content need no preflight; JSON does, and no answer allows it."""
    answer = client.post("/predict", content=b'{"texts": []}', headers={"content-type": kind})
    assert (answer.status_code, "application/json" in answer.text) == (422, True)
    answer = client.options("/predict", headers={"origin": "http://evil.example"})
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "10.0.0.7:8000", ""])
def test_a_name_that_points_here_by_dns_rebinding_is_refused(client, model, host):
    assert client.post("/feedback", json=FEEDBACK, headers={"host": host}).status_code == 400
    secret = TestClient(create_app(model, token="s3cret"))  # no page knows the token
    assert secret.get("/health", headers={"host": host}).status_code == 200
    for own in ("localhost:8000", "127.0.0.1", "[::1]:8000"):
        assert client.get("/health", headers={"host": own}).status_code == 200


def test_size_is_limited_with_and_without_a_length(client):
    large = json.dumps({"texts": ["x" * 20_000]}).encode()
    kind = {"content-type": "application/json"}
    assert client.post("/predict", content=large, headers=kind).status_code == 413
    assert client.post("/predict", content=iter([large[:100], large[100:]]), headers=kind).status_code == 413
    assert client.post("/predict", content=b"", headers={"content-length": "9" * 5000}).status_code == 413
    assert client.post("/predict", json={"texts": ["x" * 19_000]}).status_code == 200


def test_only_clients_with_the_token_are_answered(model):
    with TestClient(create_app(model, token="right-token")) as client:
        for wrong in (
            None,
            "right-token",
            "Bearer",
            "Bearer right-token2",
            "Basic right-token",
            "Bearer \xe9",
        ):
            headers = {} if wrong is None else {"authorization": wrong.encode("latin-1")}
            for path in ("/", "/predict", "/metrics", "/openapi.json", "/nowhere"):
                answer = client.post(path, json={"texts": ["x"]}, headers=headers)
                assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        right = {"authorization": "Bearer right-token"}
        assert client.get("/health").status_code == 200
        assert client.post("/predict", json={"texts": ["x"]}, headers=right).status_code == 200


class Slow:
    """A model that waits until it is let go."""

    def __init__(self, model):
        self.model, self.go, self.sizes = model, threading.Event(), []

    def decide(self, texts, probabilities=False):
        self.go.wait(10)
        self.sizes.append(len(texts))
        if "bad" in texts:
            raise NotTextError("bad")
        return self.model.decide(texts, probabilities=probabilities)

    def __getattr__(self, name):
        return getattr(self.model, name)


def test_too_many_at_once_are_told_to_try_again(model):
    slow = Slow(model)
    app = create_app(slow, max_concurrent=2)

    async def ask():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            first = [asyncio.create_task(client.post("/predict", json={"texts": ["x"]})) for _ in range(2)]
            while "in_flight 2" not in (await client.get("/metrics")).text:
                await asyncio.sleep(0.01)
            health, refused = (
                await client.get("/health"),
                await client.post("/predict", json={"texts": ["x"]}),
            )
            slow.go.set()
            return health, refused, *await asyncio.gather(*first)

    health, refused, *answered = asyncio.run(ask())
    assert [one.status_code for one in (health, *answered)] == [200, 200, 200]
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")


def test_waiting_texts_go_together_and_one_bad_one_spoils_nothing(model):
    slow = Slow(model)
    texts = [*(f"wheat {k}" for k in range(8)), "bad", "corn"]

    async def ask():
        batcher = Batcher(slow.decide)
        asked = [asyncio.create_task(batcher.decide([text])) for text in texts]
        asyncio.get_running_loop().call_later(0.05, slow.go.set)
        return await asyncio.gather(*asked, return_exceptions=True)

    found = asyncio.run(ask())
    assert slow.sizes == [10, *[1] * 10]
    for text, own in zip(texts, found, strict=True):
        if text == "bad":
            assert isinstance(own, NotTextError)
        else:
            assert own.scores.tolist() == model.decide([text]).scores.tolist()


def test_a_fault_is_logged_without_the_text_that_was_sent(model, caplog):
    class Broken(Slow):
        def decide(self, texts, probabilities=False):
            raise ValueError(f"cannot decide on {texts}")

    with (
        TestClient(create_app(Broken(model)), raise_server_exceptions=False) as client,
        caplog.at_level(logging.INFO),
    ):
        answer = client.post("/predict", json={"texts": ["wheatsecret"]})
    assert (answer.status_code, answer.json()["detail"]) == (
        500,
        "The service has a fault; its log says where.",
    )
    assert "/predict failed with ValueError" in caplog.text
    assert "wheatsecret" not in caplog.text
