"""The service as a process of its own, alone and behind a proxy."""

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
from benchmarks.proxies import PROXIES, behind, program
from serve.services import service
from typer.testing import CliRunner

from textmargin.cli import app
from textmargin.feedback.store import FeedbackStore

KILLS, RECORDS = 2, 200


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_what_is_in_flight_is_answered_on_a_signal(model_file, sign):
    body = b'{"texts": ["wheat and corn"]}'
    head = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with service(model_file) as (process, url):
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body[:5])
            while "in_flight 1" not in httpx.get(f"{url}/metrics").text:
                time.sleep(0.02)
            process.send_signal(sign)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            connection.sendall(body[5:])
            assert connection.recv(100).startswith(b"HTTP/1.1 200")
        assert process.wait(10) == 0
        log = process.stderr.read()
        assert '"POST /predict HTTP/1.1" 200' in log
        assert "wheat" not in log


def test_kill_9_under_feedback_loses_nothing_that_was_acknowledged(model_file, tmp_path):
    """Clients that got no answer send again; in the end every record is there once."""
    store, chance = tmp_path / "judged.sqlite", random.Random(0)
    acknowledged = set()

    def send(number):
        body = {"text": str(number), "predicted": ["oil"], "correct": True, "id": str(number)}
        try:
            answer = client.post(f"{url}/feedback", json=body, timeout=20)
        except httpx.TransportError:
            return
        assert answer.status_code == 200
        acknowledged.add(body["id"])

    for turn in range(KILLS + 1):
        left = [number for number in range(RECORDS) if str(number) not in acknowledged]
        with (
            service(model_file, "--feedback", store) as (process, url),
            httpx.Client() as client,
            ThreadPoolExecutor(8) as clients,
        ):
            killer = threading.Timer(chance.uniform(0.05, 0.3), process.kill)
            if turn < KILLS:
                killer.start()
            list(clients.map(send, left))
            killer.cancel()
        with FeedbackStore(store) as stored:
            ids = [one.id for one in stored]
        assert len(ids) == len(set(ids))
        assert acknowledged <= set(ids)
    assert len(ids) == RECORDS


@pytest.mark.parametrize("proxy", PROXIES)
def test_behind_a_proxy_as_the_docs_configure_it(model_file, proxy):
    """It answers; of many at once some get 503 and Retry-After, the others their decisions."""
    if program(proxy) is None:
        pytest.skip(f"{proxy} is not installed here")
    body = {"texts": ["wheat and corn " * 60] * 900}
    with service(model_file, "--no-access-log") as (_, url), behind(proxy, url, limit=4) as front:
        assert httpx.get(f"{front}/").json()["model"] == "model.tmm"
        assert (
            httpx.post(f"{front}/predict", json={"texts": ["x" * 2_000_000]}, timeout=20).status_code == 413
        )
        with httpx.Client(timeout=60) as client, ThreadPoolExecutor(40) as clients:
            answers = list(clients.map(lambda _: client.post(f"{front}/predict", json=body), range(80)))
    assert {one.status_code for one in answers} == {200, 503}
    assert all(one.headers["retry-after"] == "1" for one in answers if one.status_code == 503)
    assert all(len(one.json()["decisions"]) == 900 for one in answers if one.status_code == 200)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_other_addresses_want_a_token(model_file, host):
    done = CliRunner().invoke(app, ["serve", str(model_file), "--host", host])
    assert done.exit_code == 2
    assert f"{host} can be reached from other machines" in done.stderr


def test_mistakes_are_told_in_one_line(model_file, tmp_path):
    (tmp_path / "empty").write_text(" \n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for options, why in (
            (["--port", port], "Address already in use"),
            (["--token-file", str(tmp_path / "empty")], "holds no token"),
            (["--token-file", str(tmp_path / "none")], "No such file"),
            (["--port", "0", "--feedback", str(tmp_path)], "cannot hold feedback"),
        ):
            done = CliRunner().invoke(app, ["serve", str(model_file), *options])
            assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
            assert why in done.stderr


def test_without_the_extra_it_says_what_to_install(model_file):
    code = "import sys; sys.modules['fastapi'] = None; from textmargin.cli import app; app()"
    command = [sys.executable, "-c", code, "serve", str(model_file)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 2
    assert "fastapi, which is not installed: pip install 'textmargin[serve]'" in done.stderr
