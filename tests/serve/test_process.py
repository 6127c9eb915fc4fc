"""The service as a process of its own, on a real socket."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from benchmarks.bench_serve import served as load
from serve.services import fitted, service
from typer.testing import CliRunner

from textmargin.cli import app
from textmargin.feedback.store import FeedbackStore

KILLS, RECORDS = (10, 10_000) if "TEXTMARGIN_LONG" in os.environ else (2, 300)
BODY = json.dumps({"texts": ["wheat and corn"] * 3}).encode()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "model.tmm"
    fitted().save(path)
    return path


@pytest.fixture(scope="module")
def served(model, tmp_path_factory):
    token = tmp_path_factory.mktemp("token") / "token"
    token.write_text("s3cret\n")
    with service(model, "--max-bytes", 50_000, "--token-file", token) as (process, url):
        yield process, url


def connected(url):
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def head(length=None, token="s3cret"):
    size = f"Content-Length: {length}" if length is not None else "Transfer-Encoding: chunked"
    lines = (
        "POST /predict HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Authorization: Bearer {token}",
        size,
    )
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def received(connection):
    """Everything up to the end of the connection."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def test_bad_requests_are_answered_and_survived(served):
    process, url = served
    allowed = {"authorization": "Bearer s3cret"}
    with httpx.Client(base_url=url, headers=allowed, timeout=20) as client:
        large = b'{"texts": ["' + b"x" * 200_000 + b'"]}'
        assert client.post("/predict", content=large).status_code == 413
        assert (
            client.post(
                "/predict", content=iter([large[k : k + 1000] for k in range(0, len(large), 1000)])
            ).status_code
            == 413
        )
        assert client.post("/predict", content=b"{").status_code == 422
        assert (
            client.post("/predict", content=BODY, headers={"authorization": "Bearer no"}).status_code == 401
        )
        answer = client.post("/predict", content=BODY, headers={"content-type": "application/json"})
        assert [one["labels"] for one in answer.json()["decisions"]] == [["grain"]] * 3
        assert client.get("/health").json() == {"status": "ok"}
    for nonsense in (
        b"\x16\x03\x01\x02\x00",
        b"GET\r\n\r\n",
        b"POST /predict HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"\x00" * 100_000,
    ):
        with connected(url) as connection:
            connection.sendall(nonsense)
            connection.shutdown(socket.SHUT_WR)
            assert b" 5" not in received(connection)[:13]
    assert process.poll() is None


def test_slow_clients_do_not_hold_up_others(served):
    _, url = served
    slow = [connected(url) for _ in range(30)]
    for connection in slow:
        connection.sendall(head(len(BODY)) + BODY[:5])
    start = time.perf_counter()
    answer = httpx.post(
        f"{url}/predict", json={"texts": ["oil"]}, headers={"authorization": "Bearer s3cret"}, timeout=20
    )
    assert answer.status_code == 200
    assert time.perf_counter() - start < 5
    for connection in slow[:-1]:
        connection.close()  # hung up half-way
    slow[-1].sendall(BODY[5:])
    assert slow[-1].recv(100).startswith(b"HTTP/1.1 200")
    slow[-1].close()
    metrics = httpx.get(f"{url}/metrics", headers={"authorization": "Bearer s3cret"}).text
    assert 'route="/predict",status="5' not in metrics


def test_200_clients_at_once_are_all_answered(model):
    rate, _, n_errors = load(model, 256, ["wheat and corn", "oil", ""], n_clients=200, seconds=1.0)
    assert n_errors == 0
    assert rate > 50


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_what_is_in_flight_is_finished_on_a_signal(model, sign):
    with service(model) as (process, url), connected(url) as connection:
        connection.sendall(head(len(BODY)) + BODY[:5])
        while "in_flight 1" not in httpx.get(f"{url}/metrics").text:
            time.sleep(0.02)
        process.send_signal(sign)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        connection.sendall(BODY[5:])
        assert received(connection).startswith(b"HTTP/1.1 200")
        assert process.wait(10) == 0
        assert process.stderr.read() == ""
        with pytest.raises(OSError, match="refused"):
            connected(url)


def test_kill_9_under_feedback_loses_nothing_that_was_acknowledged(model, tmp_path):
    """Clients that heard nothing send again; in the end every record is there once."""
    store, chance = tmp_path / "judged.sqlite", random.Random(0)
    acknowledged: set[str] = set()

    def send(number):
        body = {"text": str(number), "predicted": ["oil"], "correct": True, "id": str(number)}
        try:
            answer = client.post(f"{url}/feedback", json=body, timeout=5)
        except httpx.TransportError:
            return
        assert answer.status_code == 200
        acknowledged.add(body["id"])

    for turn in range(KILLS + 1):
        left = [number for number in range(RECORDS) if str(number) not in acknowledged]
        some = left if turn == KILLS else left[: RECORDS // KILLS]
        with (
            service(model, "--feedback", store) as (process, url),
            httpx.Client() as client,
            ThreadPoolExecutor(8) as clients,
        ):
            if turn < KILLS:
                killer = threading.Timer(chance.uniform(0.02, 0.002 * len(some)), process.kill)
                killer.start()
            list(clients.map(send, some))
            if turn < KILLS:
                killer.join()
        with FeedbackStore(store) as stored:
            ids = [one.id for one in stored]
        assert len(ids) == len(set(ids))
        assert acknowledged <= set(ids)
    assert len(ids) == RECORDS


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_other_addresses_want_a_token(model, host):
    done = CliRunner().invoke(app, ["serve", str(model), "--host", host])
    assert done.exit_code == 2
    assert f"{host} can be reached from other machines" in done.stderr


def test_mistakes_are_told_in_one_line(model, tmp_path):
    (tmp_path / "empty").write_text(" \n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for options, why in (
            (["--port", port], "Address already in use"),
            (["--token-file", str(tmp_path / "empty")], "holds no token"),
            (["--token-file", str(tmp_path / "none")], "No such file"),
            (["--token-env", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE holds no token"),
            (["--token-env", "HOME", "--token-file", "x"], "choose one"),
            (["--port", "0", "--feedback", str(tmp_path)], "cannot hold feedback"),
        ):
            done = CliRunner().invoke(app, ["serve", str(model), *options])
            assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
            assert why in done.stderr


def test_without_the_extra_it_says_what_to_install(model):
    code = "import sys; sys.modules['fastapi'] = None; from textmargin.cli import app; app()"
    done = subprocess.run(
        [sys.executable, "-c", code, "serve", str(model)], capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 2
    assert "fastapi, which is not installed: pip install 'textmargin[serve]'" in done.stderr


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01",  # TLS
        b"GET /health\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length : 3\r\n\r\nabc",
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_no_http_is_answered_like_all_else(served, sent):
    """It was plain text that a browser may guess the kind of."""
    _, url = served
    with connected(url) as connection:
        connection.sendall(sent)
        answer = received(connection)
    lines, _, body = answer.partition(b"\r\n\r\n")
    assert lines.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"X-Content-Type-Options: nosniff" in lines
    assert b"Content-Security-Policy: default-src 'none'" in lines
    assert b"Connection: close" in lines
    assert "detail" in json.loads(body)


@pytest.mark.parametrize("what", [b"websocket", b"h2c"])
def test_nobody_fills_the_log_by_asking_for_another_protocol(model, what):
    with service(model) as (process, url):
        with connected(url) as connection:
            connection.sendall(
                b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: "
                + what
                + b"\r\n\r\n"
            )
            assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")
        process.terminate()
        assert process.stderr.read() == ""
