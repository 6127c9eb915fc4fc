"""Every route limit, and what hostile clients send, without a network."""

import asyncio
import json
import threading

import httpx
import numpy as np
import pytest
from report.reports import FORMS, in_form
from samples import corpus
from serve.services import TestClient, any_labels, fitted

from textmargin import TextClassifier, Utility
from textmargin.errors import FeedbackError, NotTextError
from textmargin.serve import create_app
from textmargin.serve._batching import Batcher
from textmargin.serve._lanes import start_threads

TEXTS = ["wheat and corn", "dollar and yen", "", "a\x00b \u202e 🙂 <script>"]


pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.EmptyTextWarning")


@pytest.fixture
def client(model, store):
    app = create_app(model, max_bytes=20_000, max_texts=50, feedback=store)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def test_predict_says_what_the_model_says(client, model):
    answer = client.post("/predict", json={"texts": TEXTS})
    decisions = model.decide(TEXTS)
    assert answer.status_code == 200
    answered = answer.json()["decisions"]
    assert [tuple(one["labels"]) for one in answered] == decisions.labels
    assert [one["scores"] for one in answered] == [
        dict(zip(decisions.names, row, strict=True)) for row in decisions.scores.tolist()
    ]
    assert client.post("/predict", json={"texts": []}).json() == {"decisions": []}


def test_predict_tells_what_is_unsure_and_how_likely(store):
    model = fitted(utility=Utility(tp=1, fp=-20))
    decisions = model.decide(TEXTS, probabilities=True)
    assert () in decisions.labels
    with TestClient(create_app(model, feedback=store)) as client:
        answered = client.post("/predict", json={"texts": TEXTS}).json()["decisions"]
        assert [tuple(one["unsure"]) for one in answered] == decisions.guesses
        assert [one["confidence"] for one in answered] == decisions.confidence.tolist()
        assert [list(one["probabilities"].values()) for one in answered] == decisions.probabilities.tolist()
        assert (
            f"textmargin_unsure_total {sum(not own for own in decisions.labels)}"
            in client.get("/metrics").text
        )
        body = {"text": "x", "predicted": [], "correct": ["grain"]}
        assert client.post("/feedback", json=body).json()["new"]
        assert client.post("/feedback", json={**body, "predicted": ["grain", "oil"]}).status_code == 422
        assert client.post("/feedback", json={**body, "correct": []}).status_code == 422


def test_a_model_that_always_answers_left_no_text_open(store):
    client = TestClient(create_app(fitted(utility=None), feedback=store))
    assert (
        client.post("/feedback", json={"text": "x", "predicted": [], "correct": ["grain"]}).status_code == 422
    )


def test_explain_says_what_the_model_says(client, model):
    answer = client.post("/explain", json={"text": TEXTS[0], "label": "oil", "n": 2})
    assert answer.json() == json.loads(json.dumps(model.explain(TEXTS[0], "oil").to_dict(2)))
    assert client.post("/explain", json={"text": TEXTS[0]}).json()["label"] == "grain"


@pytest.mark.parametrize("form", FORMS)
def test_labels_may_have_been_given_in_any_form(form, store):
    model, _ = in_form(form)
    grain = "7" if form == "ints" else "grain"
    with TestClient(create_app(model, feedback=store)) as client:
        (decided,) = client.post("/predict", json={"texts": ["wheat corn harvest"]}).json()["decisions"]
        assert grain in decided["labels"]
        assert list(decided["scores"]) == [str(name) for name in model.classes_.tolist()]
        explained = client.post("/explain", json={"text": "wheat corn harvest", "label": grain}).json()
        assert (explained["label"], explained["labels"]) == (grain, decided["labels"])
        body = {
            "text": "wheat corn harvest",
            "predicted": decided["labels"],
            "correct": [grain],
            "scores": decided["scores"],
        }
        assert client.post("/feedback", json=body).json()["new"]


def test_health_and_metrics(client):
    assert client.get("/health").json() == {"status": "ok"}
    client.post("/predict", json={"texts": TEXTS})
    client.get("/nowhere/in/particular")
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert 'textmargin_requests_total{route="/predict",status="200"} 1' in lines
    assert 'textmargin_requests_total{route="other",status="404"} 1' in lines
    assert 'textmargin_request_seconds_count{route="/predict"} 1' in lines
    assert f"textmargin_texts_total {len(TEXTS)}" in lines
    assert "textmargin_requests_in_flight 0" in lines


def test_feedback_is_there_once(client, store):
    body = {
        "text": "a\x00b 🙂",
        "predicted": ["grain"],
        "correct": ["oil"],
        "scores": {"grain": 0.5},
        "id": "a-1",
    }
    assert client.post("/feedback", json=body).json() == {"id": "a-1", "new": True}
    assert client.post("/feedback", json=body).json() == {"id": "a-1", "new": False}
    assert client.post("/feedback", json={**body, "correct": True}).status_code == 409
    given = client.post("/feedback", json={"text": "x", "predicted": ["oil"], "correct": False}).json()
    first, second = store
    assert (first.text, first.predicted, first.correct, first.scores) == (
        "a\x00b 🙂",
        ("grain",),
        ("oil",),
        {"grain": 0.5},
    )
    assert (second.id, second.correct) == (given["id"], False)


def test_feedback_that_cannot_be_stored_is_not_acknowledged(client, store, monkeypatch):
    def full(_):
        raise FeedbackError("disk full")

    monkeypatch.setattr(store, "record", full)
    answer = client.post("/feedback", json={"text": "x", "predicted": ["oil"], "correct": True})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


def test_without_a_store_there_is_no_feedback(model):
    with TestClient(create_app(model)) as client:
        assert (
            client.post("/feedback", json={"text": "x", "predicted": ["oil"], "correct": True}).status_code
            == 404
        )


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/predict", {"texts": ["x"] * 51}),
        ("/predict", {"texts": "x"}),
        ("/predict", {"texts": [1]}),
        ("/predict", {"texts": [None]}),
        ("/predict", {"text": "x"}),
        ("/predict", []),
        ("/explain", {"text": "x", "label": "fish"}),
        ("/explain", {"text": "x", "n": 0}),
        ("/explain", {"text": "x", "n": 10**30}),
        ("/explain", {"text": "x", "lable": "oil"}),
        ("/feedback", {"text": "x", "predicted": ["fish"], "correct": True}),
        ("/feedback", {"text": "x", "predicted": ["oil"], "correct": ["fish"]}),
        ("/feedback", {"text": "x", "predicted": ["oil", "grain"], "correct": True}),
        ("/feedback", {"text": "x", "predicted": ["oil"], "correct": "yes"}),
        ("/feedback", {"text": "x", "predicted": ["oil"], "correct": True, "id": "a\nb"}),
        ("/feedback", {"text": "x", "predicted": ["oil"], "correct": True, "scores": {"fish": 1.0}}),
    ],
)
def test_what_does_not_fit_is_422(client, store, path, body):
    answer = client.post(path, json=body)
    assert answer.status_code == 422, answer.text
    assert all({"loc", "msg", "type"} == set(one) for one in answer.json()["detail"])
    assert len(store) == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"texts": [NaN, Infinity]}',
        b'{"texts": ' + b"[" * 9000 + b"]" * 9000 + b"}",
        b'{"a":' * 3000 + b"1" + b"}" * 3000,
        b'{"texts": [' + b"9" * 5000 + b"]}",
        b'{"texts": ["\\ud800"]}',
        b'{"\\ud800": 1, "texts": []}',
        b'{"text": "x", "n": 1e999}',
        b'{"text": "\\udfff", "label": "\\ud800"}',
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


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_other_kinds_of_content_are_refused(client, kind):
    """A page in a browser may send these to this machine without asking first."""
    assert client.post("/predict", content=b'{"texts": []}', headers={"content-type": kind}).status_code in (
        400,
        422,
    )


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
def test_other_methods_are_405(client, method):
    assert client.request(method, "/predict").status_code == 405


def test_size_is_limited_with_and_without_a_length(client):
    large = json.dumps({"texts": ["x" * 20_000]}).encode()
    assert client.post("/predict", content=large).status_code == 413
    assert client.post("/predict", content=iter([large[:100], large[100:]])).status_code == 413  # chunked
    assert client.post("/predict", content=large, headers={"content-length": "9" * 5000}).status_code == 413
    assert client.post("/predict", json={"texts": ["x" * 19_000]}).status_code == 200


def test_token(model):
    with TestClient(create_app(model, token="right-token")) as client:
        for wrong in (
            None,
            "right-token",
            "Bearer",
            "Bearer wrong",
            "Bearer right-token2",
            "Basic right-token",
            "Bearer \xe9",
        ):
            headers = {} if wrong is None else {"authorization": wrong.encode("latin-1")}
            answer = client.post("/predict", json={"texts": ["x"]}, headers=headers)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert client.get("/metrics", headers=headers).status_code == 401
        assert client.get("/health").status_code == 200
        assert (
            client.post(
                "/predict", json={"texts": ["x"]}, headers={"authorization": "Bearer right-token"}
            ).status_code
            == 200
        )


def asking(app, *requests):
    """Answers to requests that are in flight at the same time."""

    async def ask():
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://localhost"
        ) as client:
            return await asyncio.gather(*(request(client) for request in requests))

    return asyncio.run(ask())


class Slow:
    """A model that waits to be let go."""

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


def test_too_many_at_once_are_told_to_come_again(model):
    slow = Slow(model)

    async def late(client):
        while "in_flight 2" not in (await client.get("/metrics")).text:
            await asyncio.sleep(0.01)
        answer = await client.get("/health")
        refused = await client.post("/predict", json={"texts": ["x"]})
        slow.go.set()
        return answer, refused

    def one(client):
        return client.post("/predict", json={"texts": ["x"]})

    app = create_app(slow, max_concurrent=2)
    first, second, (health, refused) = asking(app, one, one, late)
    assert [first.status_code, second.status_code, health.status_code] == [200, 200, 200]
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")


def test_waiting_texts_go_together_and_one_bad_one_spoils_nothing(model):
    slow = Slow(model)
    texts = [*(f"wheat {k}" for k in range(8)), "bad", "corn"]

    async def ask():
        batcher = Batcher(slow.decide, start_threads(1, "test"), n_threads=1)
        asked = [asyncio.create_task(batcher.decide([text])) for text in texts]
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.05, slow.go.set)
        return await asyncio.gather(*asked, return_exceptions=True)

    found = asyncio.run(ask())
    assert slow.sizes == [10, *[1] * 10]
    for text, own in zip(texts, found, strict=True):
        if text == "bad":
            assert isinstance(own, NotTextError)
        else:
            assert own.scores.tolist() == model.decide([text]).scores.tolist()


@pytest.mark.parametrize(
    "settings", [{}, {"features": "subsequence", "length": 3}], ids=["words", "subsequence"]
)
def test_threads_do_not_mix_up_texts(settings):
    model = fitted(**settings)
    texts, _ = corpus(40, seed=1)

    async def ask():
        batcher = Batcher(model.decide, start_threads(4, "test"), n_threads=4, most=3)
        return await asyncio.gather(*(batcher.decide([text]) for text in texts))

    assert np.vstack([own.scores for own in asyncio.run(ask())]) == pytest.approx(
        model.decide(texts).scores, abs=1e-6
    )


def test_a_body_that_does_not_arrive_is_408(model):
    async def dripping():
        yield b"{"
        await asyncio.sleep(5)

    (answer,) = asking(
        create_app(model, max_seconds=0.1), lambda client: client.post("/predict", content=dripping())
    )
    assert answer.status_code == 408


def test_several_labels_and_none(store):
    many = TextClassifier().fit(*any_labels())
    with TestClient(create_app(many, feedback=store)) as client:
        for predicted, correct in (([], []), (["oil", "grain"], []), (["oil"], ["oil", "money"])):
            assert (
                client.post(
                    "/feedback", json={"text": "x", "predicted": predicted, "correct": correct}
                ).status_code
                == 200
            )
    assert len(store) == 3
