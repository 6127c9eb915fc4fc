"""Every wait has an end: clients that dawdle, requests that cannot be served in time, and the end of the
service itself.
"""

import asyncio
import contextlib
import json
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import httpx
import pytest
from serve.services import TestClient, fitted, service
from serve.test_process import connected, head, received

from textmargin.feedback.store import FeedbackStore
from textmargin.serve import create_app
from textmargin.serve._batching import Batcher, _Pace
from textmargin.serve._lanes import Lane, start_threads
from textmargin.serve.gate import RefusedError

BODY = json.dumps({"texts": ["wheat and corn"]}).encode()

SLOW_SERVICE = """
import sys, time
from textmargin.persistence import load_classifier
from textmargin.serve import create_app
from textmargin.serve.running import end_process_if_busy, listening, run

class Slow:
    def __init__(self, model):
        self.model = model
    def decide(self, texts, probabilities=False):
        time.sleep(60)
    def __getattr__(self, name):
        return getattr(self.model, name)

with listening("127.0.0.1", 0, safe=False) as (socket, url):
    print("listening on", url, file=sys.stderr, flush=True)
    run(create_app(Slow(load_classifier(sys.argv[1]))), socket, shutdown_seconds=1.0)
    end_process_if_busy()
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "model.tmm"
    fitted().save(path)
    return path


@pytest.fixture(scope="module")
def served(model):
    limits = ("--header-timeout", 1, "--body-timeout", 1, "--idle-timeout", 1)
    with service(model, *limits) as (_, url):
        yield url


def seconds_to_the_end(connection):
    start = time.perf_counter()
    answer = received(connection)
    return time.perf_counter() - start, answer


def test_slow_headers_hold_a_connection_for_ever(served):
    """Slowloris: a header now and then, and never the last."""
    with connected(served) as connection:
        connection.sendall(b"POST /predict HTTP/1.1\r\nHost: localhost\r\n")
        stop = threading.Event()

        def drip():
            while not stop.wait(0.2):
                try:
                    connection.sendall(b"X-More: 1\r\n")
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        seconds, answer = seconds_to_the_end(connection)
        stop.set()
        dripping.join()
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert 0.5 < seconds < 4


def test_slow_headers_of_a_second_request_hold_it_too(served):
    with connected(served) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(10_000).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /health HT")
        seconds, answer = seconds_to_the_end(connection)
    assert b"HTTP/1.1 408 " in answer
    assert 0.5 < seconds < 4


def test_a_connection_that_says_nothing_is_closed(served):
    with connected(served) as connection:
        seconds, answer = seconds_to_the_end(connection)
        assert (answer, 0.5 < seconds < 4) == (b"", True)
    with connected(served) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        seconds, answer = seconds_to_the_end(connection)
        assert answer.count(b"HTTP/1.1") == 1
        assert 0.5 < seconds < 4


@pytest.mark.parametrize("path", ["/predict", "/health", "/nowhere"])
def test_a_slow_body_ends_its_connection(served, path):
    with connected(served) as connection:
        connection.sendall(head(1000).replace(b"/predict", path.encode()) + b"{")
        seconds, answer = seconds_to_the_end(connection)
    assert answer.startswith({"/health": b"HTTP/1.1 405 "}.get(path, b"HTTP/1.1 408 "))
    assert seconds < 5


def test_headers_without_end_are_refused(served):
    with connected(served) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 300_000)
        assert received(connection)[:13] in (b"HTTP/1.1 400 ", b"")
    assert httpx.get(f"{served}/health").status_code == 200


def test_an_answer_that_nobody_reads_is_cut_off(model):
    """It would hold one of the requests that may be in flight for ever."""
    code = SLOW_SERVICE.replace(
        "time.sleep(60)", "return self.model.decide(texts, probabilities=probabilities)"
    )
    code = code.replace("load_classifier(sys.argv[1]))", "load_classifier(sys.argv[1])), max_texts=10**6")
    code = code.replace("shutdown_seconds=1.0", "shutdown_seconds=1.0, write_seconds=1.0")
    code = code.replace(
        "    run(", "    socket.setsockopt(1, 7, 4096)  # what the system would hold of an answer\n    run("
    )
    with running(code, model) as (_, url), socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.connect(("127.0.0.1", int(url.rsplit(":", 1)[1])))
        body = json.dumps({"texts": ["wheat"] * 5000}).encode()  # some megabyte of scores
        connection.sendall(head(len(body)) + body)
        wait_for(url, "textmargin_texts_total 5000", 60)
        wait_for(url, "requests_in_flight 0", 20)


class running:
    """A service of some lines of code."""

    def __init__(self, code, model):
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(model)], stderr=subprocess.PIPE, text=True
        )

    def __enter__(self):
        line = self.process.stderr.readline()
        assert line.startswith("listening on"), line + self.process.stderr.read()
        return self.process, line.split()[-1]

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def wait_for(url, line, seconds=10):
    end = time.perf_counter() + seconds
    while line not in (shown := httpx.get(f"{url}/metrics").text):
        assert time.perf_counter() < end, shown
        time.sleep(0.05)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_long_batch_does_not_hold_the_end(model, sign):
    with running(SLOW_SERVICE, model) as (process, url), connected(url) as connection:
        connection.sendall(head(len(BODY)) + BODY)
        wait_for(url, "in_flight 1")
        start = time.perf_counter()
        process.send_signal(sign)
        answer = received(connection)
        assert process.wait(10) == 0
        assert 0.9 < time.perf_counter() - start < 6
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1" in answer.lower()


def test_connections_beyond_the_descriptors_are_told_to_come_again(model):
    code = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80)){SLOW_SERVICE}"
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 200
    with running(code, model) as (process, url):
        connections = [connected(url) for _ in range(60)]
        statuses = []
        for connection in connections:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for connection in connections:
            statuses.append(connection.recv(12))
            connection.close()
        assert set(statuses) == {b"HTTP/1.1 200", b"HTTP/1.1 503"}
        assert statuses.count(b"HTTP/1.1 200") >= 32
        assert process.poll() is None
        time.sleep(0.2)
        assert httpx.get(f"{url}/health").status_code == 200


# Back-pressure


class Pace:
    """A model that takes so long for a text."""

    def __init__(self, model, seconds):
        self.model, self.seconds = model, seconds

    def __call__(self, texts):
        time.sleep(self.seconds * len(texts))
        return self.model.decide(texts)


def test_texts_that_would_wait_too_long_are_refused_at_once():
    model = fitted()

    async def ask():
        batcher = Batcher(Pace(model, 0.05), start_threads(1, "test"), n_threads=1, most=4, max_wait=0.5)
        await batcher.decide(["wheat"])  # it knows how long a text takes

        async def one(number):
            start = time.perf_counter()
            try:
                await batcher.decide(["wheat"])
            except RefusedError as refused:
                return refused.answer.headers["retry-after"], time.perf_counter() - start
            return None, time.perf_counter() - start

        return await asyncio.gather(*(one(number) for number in range(40)))

    answered = asyncio.run(ask())
    taken = [seconds for refused, seconds in answered if refused is None]
    refused = [seconds for refused, seconds in answered if refused is not None]
    assert len(taken) >= 4
    assert len(refused) >= 20
    assert max(taken) < 0.5 + 0.2 + 0.5  # the wait, its own batch, and a slow machine
    assert sorted(refused)[len(refused) // 2] < 0.2


def test_small_batches_do_not_make_a_model_look_slow():
    """20 ms a batch and 0.1 ms a text: 256 texts together take 45.6 ms, not 256 times what a lone one
    takes.
    """
    pace = _Pace()
    for n in [1] * 50:
        pace.note(n, 0.0201)
    assert pace.seconds(256, 1) == pytest.approx(0.0201)
    for n in [1, 3, 2, 5] * 50:
        pace.note(n, 0.02 + 0.0001 * n)
    assert pace.seconds(256, 1) == pytest.approx(0.0456)
    assert pace.seconds(2560, 10) == pytest.approx(0.456)


def test_texts_behind_one_long_batch_are_refused_in_time():
    model = fitted()

    async def ask():
        batcher = Batcher(Pace(model, 1.5), start_threads(1, "test"), n_threads=1, max_wait=0.2)
        first = asyncio.create_task(batcher.decide(["wheat"]))
        await asyncio.sleep(0.05)
        start = time.perf_counter()
        with pytest.raises(RefusedError):
            await batcher.decide(["corn"])
        seconds = time.perf_counter() - start
        return seconds, await first

    seconds, decided = asyncio.run(ask())
    assert 0.15 < seconds < 1.0
    assert len(decided) == 1


def test_a_lane_that_is_stuck_refuses_the_rest():
    async def ask():
        lane, go = Lane("work", 1, 3, 0.1), threading.Event()
        asked = [asyncio.create_task(lane.run(go.wait, 5)) for _ in range(5)]
        await asyncio.sleep(0.4)
        go.set()
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert await lane.run(lambda: 7) == 7
        lane.close()
        return found

    found = asyncio.run(ask())
    assert found[0] is True
    assert all(isinstance(one, RefusedError) for one in found[1:])


def test_a_locked_database_holds_up_no_decision(tmp_path):
    where = tmp_path / "judged.sqlite"
    with (
        FeedbackStore(where, timeout=0.3) as store,
        TestClient(create_app(fitted(), feedback=store, max_wait=0.3)) as client,
    ):
        other = sqlite3.connect(where, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        answers = []

        def judge():
            answers.append(
                client.post("/feedback", json={"text": "x", "predicted": ["oil"], "correct": True})
            )

        threads = [threading.Thread(target=judge) for _ in range(10)]
        for thread in threads:
            thread.start()
        start = time.perf_counter()
        assert client.post("/predict", json={"texts": ["wheat"]}).status_code == 200
        assert client.post("/explain", json={"text": "wheat"}).status_code == 200
        assert time.perf_counter() - start < 2
        for thread in threads:
            thread.join()
        assert {answer.status_code for answer in answers} == {503}
        assert all(int(answer.headers["retry-after"]) > 0 for answer in answers)
        assert time.perf_counter() - start < 5
        other.execute("ROLLBACK")
        other.close()
        assert (
            client.post("/feedback", json={"text": "x", "predicted": ["oil"], "correct": True}).status_code
            == 200
        )
        assert len(store) == 1
