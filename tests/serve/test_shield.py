"""Who may ask by which name, from which page, and what every answer carries."""

import logging
import re

import pytest
from serve.services import TestClient

from textmargin.errors import SettingError
from textmargin.serve import create_app
from textmargin.serve.hosts import AllowedHosts
from textmargin.serve.shield import HEADERS

BODY = {"text": "wheat", "predicted": ["grain"], "correct": True}
FOREIGN = [
    "evil.example",
    "evil.example:8000",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "localhost.",
    "",
    "[evil]",
]
FOREIGN += [
    "0x7f.1",
    "10.0.0.7",
    "localhost@evil.example",
    "evil.example/localhost",
    "localhost:x",
    "[localhost]",
]


@pytest.fixture
def client(model, store):
    with TestClient(create_app(model, feedback=store), raise_server_exceptions=False) as client:
        yield client


@pytest.mark.parametrize("host", FOREIGN)
def test_a_page_on_the_web_sends_feedback_by_dns_rebinding(client, store, host):
    """Its name points to this machine by now, so that for the browser the service is the page's own
    server.
    """
    for headers in ({"Host": host}, {"Host": host, "Origin": f"http://{host}"}):
        answer = client.post("/feedback", json=BODY, headers=headers)
        assert answer.status_code == 421
        assert "This service is not" in answer.json()["detail"]
    for path in ("/health", "/metrics", "/docs", "/openapi.json", "/nowhere"):
        assert client.get(path, headers={"Host": host}).status_code == 421
    assert len(store) == 0


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:3000", "file://", "http://[", "localhost", ""]
)
def test_a_page_from_elsewhere_changes_nothing(client, store, origin):
    answer = client.post("/feedback", json=BODY, headers={"Origin": origin})
    assert answer.status_code == 403
    assert len(store) == 0
    # which the browser shows to no such page
    assert client.get("/health", headers={"Origin": origin}).status_code == 200


def test_own_pages_and_programs_may(client, store):
    assert client.post("/feedback", json=BODY).status_code == 200
    assert client.post("/feedback", json=BODY, headers={"Origin": "http://localhost"}).status_code == 200
    assert len(store) == 2


def test_a_proxys_name_is_taken_when_it_was_told(model):
    client = TestClient(create_app(model, hosts=["Texts.example.org"]))
    asked = {"Host": "texts.example.org"}
    assert client.get("/health", headers=asked).status_code == 200
    # the proxy asks by the address
    origin = {"Host": "127.0.0.1:8000", "Origin": "https://texts.example.org"}
    assert client.post("/predict", json={"texts": []}, headers=origin).status_code == 200
    assert client.get("/health", headers={"Host": "example.org"}).status_code == 421


def test_two_hosts_are_none(client):
    headers = [("Host", "localhost"), ("Host", "evil.example")]
    assert client.get("/health", headers=headers).status_code == 421


@pytest.mark.parametrize(
    ("address", "allowed", "refused"),
    [
        (
            "127.0.0.1",
            ["127.0.0.1", "127.0.0.2:80", "[::1]:8000", "LOCALHOST:1"],
            ["192.0.2.1", "[2001:db8::1]"],
        ),
        ("192.0.2.1", ["192.0.2.1:8000", "127.0.0.1"], ["192.0.2.2", "example.org"]),
        ("2001:db8::1", ["[2001:db8:0::1]:80"], ["[2001:db8::2]", "2001:db8::1"]),
        ("0.0.0.0", ["192.0.2.1", "[2001:db8::1]", "localhost"], ["example.org"]),
        ("::", ["192.0.2.1", "[2001:db8::1]"], ["example.org"]),
        ("example.org", ["example.org:80", "localhost"], ["www.example.org", "192.0.2.1"]),
    ],
)
def test_the_address_that_it_listens_on_is_its_own(address, allowed, refused):
    hosts = AllowedHosts(address)
    assert all(hosts.allows(host) for host in allowed)
    assert not any(hosts.allows(host) for host in refused)


@pytest.mark.parametrize("name", ["http://example.org", "example.org:80", "", "a b", "*", "-x"])
def test_what_is_no_name_is_told(name):
    with pytest.raises(SettingError, match="allow_host takes a name or an address"):
        AllowedHosts(names=[name])


@pytest.mark.parametrize("path", ["/health/", "/metrics/", "/docs/"])
def test_nothing_redirects_to_a_host_that_was_told(client, path):
    answer = client.get(path, follow_redirects=False)
    assert answer.status_code == 404
    assert "location" not in answer.headers


def test_every_answer_forbids_everything_and_has_an_id(client, model):
    answers = [client.get(path) for path in ("/health", "/metrics", "/openapi.json", "/nowhere", "/docs")]
    answers += [
        client.post("/predict", json={"texts": ["x"]}),
        client.post("/predict", content=b"{"),
        client.get("/predict"),
    ]
    answers += [
        client.get("/health", headers={"Host": "evil.example"}),
        client.post("/explain", json={"text": "x"}),
    ]
    answers += [TestClient(create_app(model, token="s3cret")).get("/metrics")]
    for answer in answers:
        for name, value in HEADERS.items():
            assert answer.headers[name].startswith(value)
        assert re.fullmatch("[0-9a-f]{32}", answer.headers["x-request-id"])


def test_a_clients_id_comes_back_unless_it_could_forge_a_log(client):
    def returned(given):
        return client.get("/health", headers={"X-Request-ID": given}).headers["x-request-id"]

    assert returned("trace-1:2/3") == "trace-1:2/3"
    for bad in ("a b", "x" * 129, "", "a\tb", b"\xe9"):
        assert returned(bad) != bad


def test_docs_are_one_page_that_loads_nothing(client):
    answer = client.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for route in ("POST /predict", "POST /explain", "POST /feedback", "GET /health", "GET /metrics"):
        assert f"<h2>{route}</h2>" in answer.text
    assert not re.search(r"<script|<link|<img|src=|https?://", answer.text)
    (digest,) = re.findall(r"style-src 'sha256-([^']+)'", answer.headers["content-security-policy"])
    (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    import base64
    import hashlib

    assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() == digest


SECRET = "wheatsecret"


class Broken:
    """A model whose mistake repeats what it was given."""

    def __init__(self, model):
        self.model = model

    def decide(self, texts, probabilities=False):
        raise ValueError(f"cannot decide on {texts}")

    def explain(self, text, label):
        raise MemoryError(text)

    def __getattr__(self, name):
        return getattr(self.model, name)


@pytest.mark.parametrize("log", ["errors", "requests", "texts"])
def test_texts_are_in_the_log_only_where_asked_for(model, caplog, log):
    caplog.set_level(logging.INFO, "textmargin")
    with TestClient(create_app(Broken(model), log=log), raise_server_exceptions=False) as client:
        answer = client.post("/predict", json={"texts": [SECRET]}, headers={"X-Request-ID": "trace-7"})
        assert answer.status_code == 500
        assert "trace-7" in answer.json()["detail"]
        assert SECRET not in answer.text
        answer = client.post("/explain", json={"text": SECRET})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        client.post("/predict", json={"texts": SECRET})
        client.post("/feedback", json={**BODY, "text": SECRET, "predicted": [SECRET]})
    assert (SECRET in caplog.text) == (log == "texts")
    assert ("POST /predict 500" in caplog.text) == (log != "errors")
    assert "a request failed with ValueError" in caplog.text


def test_a_body_with_a_length_and_in_chunks_is_refused(client, store):
    """Whoever stands in front of the service may have gone by the other: what is left would be the next
    request.
    """
    answer = client.post(
        "/predict",
        content=b'{"texts":["x"]}',
        headers={"Transfer-Encoding": "chunked", "Content-Length": "15"},
    )
    assert answer.status_code == 400
    assert answer.headers["connection"] == "close"
