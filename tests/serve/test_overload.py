"""More is asked than can be done: refusals are cheap, those inside are answered, and nobody is kept out by
who dawdles.
"""

import asyncio
import json
import re
import socket
import threading
import time

import httpx
import pytest
from serve.services import TestClient, fitted, service
from serve.test_process import connected, head

from textmargin.serve import create_app
from textmargin.serve._admission import ADMITTED, Admission, Door
from textmargin.serve._batching import Batcher
from textmargin.serve._lanes import start_threads
from textmargin.serve._listener import Listener
from textmargin.serve._quick import read_plain, refusal_bytes
from textmargin.serve._refusal import RefusedError, busy
from textmargin.serve.shield import HEADERS

BODY = json.dumps({"texts": ["wheat and corn"]}).encode()
SHUT = """
import sys
from textmargin.persistence import load_classifier
from textmargin.serve import _admission, create_app
from textmargin.serve.running import listening, run

_admission.Door.refusal = lambda door: _admission.busy("nobody is let in", 1.0)
with listening("127.0.0.1", 0, safe=False) as (socket, url):
    print("listening on", url, file=sys.stderr, flush=True)
    run(create_app(load_classifier(sys.argv[1]), log="requests"), socket, log="requests")
"""


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "model.tmm"
    fitted().save(path)
    return path


def test_an_answer_waits_40_ms_for_its_head_to_be_acknowledged():
    """Nagle's algorithm: asyncio turns it off only for sockets that say their protocol, which `create_server`
    does not.
    """
    with Listener.of(socket.create_server(("127.0.0.1", 0))) as listener, socket.socket() as client:
        client.connect(listener.getsockname())
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


# The door


def let_in(door, seconds, n):
    """So many at a time are inside and take so long."""
    entered = [door.enter() for _ in range(n)]
    for start, _ in entered:
        door.leave((start - seconds, n), served=True)


def test_texts_are_let_in_that_no_thread_has_time_for():
    """The model is quick, what is around it is not: 20 inside took a second, so that 10 would take half of
    one.
    """
    door = Door(max_wait=1.0)
    for _ in range(20):
        let_in(door, 1.0, 20)
    before = [door.enter() for _ in range(12)]
    assert door.refusal() is None  # a few are always tried
    before += [door.enter() for _ in range(8)]
    refused = door.refusal()
    assert refused is not None
    assert refused.status == 503
    assert int(refused.headers["Retry-After"]) in (1, 2)
    for one in before:
        door.leave(one, served=False)
    assert door.refusal() is None


def test_a_thousand_in_one_turn_of_the_loop_find_nobody_waiting():
    async def come():
        door, loop = Door(max_wait=1.0), asyncio.get_running_loop()
        for _ in range(20):
            let_in(door, 0.2, 20)  # 10 ms each
        n = 0
        while door.refusal() is None:
            door.expect(loop)
            n += 1
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return n, door.refusal()

    n, after = asyncio.run(come())
    assert 16 <= n < 200
    assert after is None


def test_who_was_let_in_by_the_connection_finds_itself_in_its_own_way(model):
    """The gate saw one more inside than the connection had: most were parsed, and refused after all."""

    app = create_app(model)
    app.state.admission.doors["/predict"].refusal = lambda: busy("full", 1.0)

    async def ask(state):
        scope = {
            "type": "http", "method": "POST", "path": "/predict", "raw_path": b"/predict",
            "query_string": b"", "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
            "root_path": "", "scheme": "http", "http_version": "1.1", "server": ("localhost", 80),
            "client": ("localhost", 1), "asgi": {"version": "3.0"}, "state": state,
        }  # fmt: skip
        statuses = []

        async def receive():
            return {"type": "http.request", "body": BODY, "more_body": False}

        async def send(message):
            statuses.append(message.get("status"))

        await app(scope, receive, send)
        return statuses[0]

    assert asyncio.run(ask({})) == 503
    assert asyncio.run(ask({ADMITTED: True})) == 200


def test_times_of_those_that_were_refused_tell_nothing():
    door = Door(max_wait=1.0)
    entered = [door.enter() for _ in range(100)]
    for start, number in entered:
        door.leave((start - 1000, number), served=False)
    assert [door.enter() for _ in range(100)]
    assert door.refusal() is None


def test_whoever_comes_again_at_once_is_not_read_at_once():
    admission = Admission({}, {})
    holds = [admission.hold_seconds() for _ in range(2000)]
    assert holds[0] == 0  # a few refusals cost nothing
    assert sum(hold > 0 for hold in holds) > 1000


# Refusals without a parser

REQUEST = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"


@pytest.mark.parametrize(
    ("data", "n_missing"),
    [(REQUEST + b"1234", 0), (REQUEST, 4), (REQUEST.replace(b"Content-L", b"CONTENT-l") + b"1", 3)],
)
def test_what_is_plain_is_read(data, n_missing):
    found = read_plain(data)
    assert (found.path, found.n_missing) == ("/predict", n_missing)


@pytest.mark.parametrize(
    "data",
    [
        REQUEST + b"12345",  # the next request, or what somebody wants it to be
        REQUEST[:-2],
        REQUEST.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n"),
        REQUEST.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n"),
        REQUEST.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"),
        REQUEST.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"),
        REQUEST.replace(b"\r\n\r\n", b"\r\nHost: other\r\n\r\n"),
        REQUEST.replace(b"Length: 4", b"Length: +4"),
        REQUEST.replace(b"Length: 4", b"Length : 4"),
        REQUEST.replace(b"Length: 4", b"Length: 4, 4"),
        REQUEST.replace(b"Length: 4", b"Length: 0x4"),
        REQUEST.replace(b"\r\nContent", b"\r\n Content"),
        REQUEST.replace(b"\r\nContent", b"\nContent"),
        REQUEST.replace(b"localhost", b"local\x00host"),
        REQUEST.replace(b"localhost", b"local\n\nhost"),
        REQUEST.replace(b"HTTP/1.1", b"HTTP/1.0"),
        REQUEST.replace(b"POST ", b"POST  "),
        REQUEST.replace(b"/predict", b"http://localhost/predict"),
        b"\r\n" + REQUEST,
        REQUEST.replace(b"Host: localhost\r\n", b""),
    ],
)
def test_what_could_end_elsewhere_goes_the_ordinary_way(data):
    assert read_plain(data) is None


def test_a_refusal_without_a_parser_is_the_answer_of_the_parser():
    request = read_plain(REQUEST.replace(b"\r\n\r\n", b"\r\nX-Request-ID: mine-7\r\n\r\n"))
    lines, _, body = refusal_bytes(busy("why", 3.0), request.id).partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in lines.decode().split("\r\n")[1:])
    assert lines.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert headers | HEADERS == headers
    assert (headers["Retry-After"], headers["X-Request-ID"], headers["Content-Length"]) == (
        "3",
        "mine-7",
        str(len(body)),
    )
    assert json.loads(body) == json.loads(busy("why", 3.0).answer.body)
    forged = read_plain(REQUEST.replace(b"\r\n\r\n", b"\r\nX-Request-ID: a b\r\n\r\n"))
    assert re.fullmatch("[0-9a-f]{32}", forged.id)


@pytest.fixture(scope="module")
def shut(model_file):
    from serve.test_limits import running

    with running(SHUT, model_file) as (process, url):
        yield process, url


def read_answer(stream):
    status = int(stream.readline().split()[1])
    headers = {}
    while (line := stream.readline().strip()) != b"":
        name, _, value = line.partition(b": ")
        headers[name.lower().decode()] = value.decode()
    return status, headers, stream.read(int(headers["content-length"]))


@pytest.mark.parametrize("pieces", [1, 2, 7])
def test_a_refused_connection_goes_on(shut, pieces):
    """However its bytes come: the body of a refused request is not taken for the next one."""
    _, url = shut
    whole = head(len(BODY)) + BODY
    size = -(-len(whole) // pieces)
    with connected(url) as connection, connection.makefile("rb") as stream:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(3):
            for start in range(0, len(whole), size):
                connection.sendall(whole[start : start + size])
                time.sleep(0.02)
            status, headers, body = read_answer(stream)
            assert (status, headers["retry-after"]) == (503, "1")
            assert "come again" in json.loads(body)["detail"]
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert read_answer(stream)[0] == 200


def test_pipelined_requests_are_each_refused(shut):
    _, url = shut
    with connected(url) as connection, connection.makefile("rb") as stream:
        connection.sendall((head(len(BODY)) + BODY) * 5)
        assert [read_answer(stream)[0] for _ in range(5)] == [503] * 5


def test_requests_refused_early_are_counted_and_logged(shut):
    process, url = shut
    shown = "".join(
        re.findall(r'requests_total\{route="/predict",status="503"\} \d+', httpx.get(f"{url}/metrics").text)
    )
    before = int(shown.split()[-1]) if shown else 0
    answer = httpx.post(f"{url}/predict", content=BODY, headers={"X-Request-ID": "counted"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (503, "counted")
    assert f'requests_total{{route="/predict",status="503"}} {before + 1}' in httpx.get(f"{url}/metrics").text
    process.terminate()  # so that the log ends
    assert re.search(r"\[counted\] POST /predict 503", process.stderr.read())


# The model, and who dawdles


def test_a_quick_model_waits_for_a_thread_that_gets_no_turn():
    """A thread that must have the interpreter for a moment does not get it from one that is never done."""
    threads = set()
    model = fitted()

    def decide(texts):
        threads.add(threading.current_thread())
        return model.decide(texts)

    async def ask():
        batcher = Batcher(decide, start_threads(1, "test"), n_threads=1)
        for _ in range(4):
            await batcher.decide(["wheat"])
        assert threading.current_thread() not in threads  # nothing is known of it yet
        for _ in range(20):
            await batcher.decide(["wheat"])
        return threading.current_thread() in threads

    assert asyncio.run(ask())


def test_a_slow_model_holds_up_the_loop():
    model = fitted()
    threads = set()

    def decide(texts):
        threads.add(threading.current_thread())
        time.sleep(0.01)
        return model.decide(texts)

    async def ask():
        batcher = Batcher(decide, start_threads(1, "test"), n_threads=1)
        for _ in range(20):
            await batcher.decide(["wheat"])
        return threading.current_thread() in threads

    assert not asyncio.run(ask())


def test_texts_that_come_in_one_turn_go_together():
    sizes, model = [], fitted()

    def decide(texts):
        sizes.append(len(texts))
        return model.decide(texts)

    async def ask():
        batcher = Batcher(decide, start_threads(1, "test"), n_threads=1)
        found = await asyncio.gather(*(batcher.decide(["wheat", "oil"]) for _ in range(50)))
        assert all(len(one) == 2 for one in found)

    asyncio.run(ask())
    assert sizes == [100]


def test_clients_that_dawdle_with_a_body_keep_everybody_out(model_file):
    """Each was counted as in flight for as long as its body took: 256 of them, and nobody else was
    answered.
    """
    with service(model_file, "--max-concurrent", 4) as (_, url):
        slow = [connected(url) for _ in range(12)]
        for connection in slow:
            connection.sendall(head(1000) + b"{")
        time.sleep(0.5)
        assert httpx.post(f"{url}/predict", json={"texts": ["wheat"]}).status_code == 200
        for connection in slow:
            connection.close()


def test_bodies_that_arrive_fill_no_memory(model):
    """Together they may have what requests in flight may have."""
    app = create_app(model, max_concurrent=2, max_bytes=1000)

    async def ask():
        answers = []

        async def one(number):
            scope = {
                "type": "http", "method": "POST", "path": "/predict", "raw_path": b"/predict",
                "query_string": b"", "headers": [(b"host", b"localhost")], "root_path": "", "scheme": "http",
                "http_version": "1.1", "server": ("localhost", 80), "client": ("localhost", 1),
                "asgi": {"version": "3.0"},
            }  # fmt: skip
            parts = iter([b"x" * 900])

            async def receive():
                part = next(parts, None)
                if part is None:
                    await asyncio.sleep(0.5)
                    return {"type": "http.disconnect"}
                return {"type": "http.request", "body": part, "more_body": True}

            async def send(message):
                if message["type"] == "http.response.start":
                    answers.append((number, message["status"]))

            await app(scope, receive, send)

        await asyncio.gather(*(one(number) for number in range(4)))
        return answers

    assert asyncio.run(ask()) == [(2, 503), (3, 503)]
    with TestClient(app) as client:
        assert client.post("/predict", json={"texts": ["wheat"]}).status_code == 200


def test_a_refusal_is_an_answer():
    answer = RefusedError(503, "why", Retry_After="7").answer
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
