"""How many decisions a second does `textmargin serve` make, and how long does a client wait?

    python -m benchmarks.bench_serve                  # 200 clients for 30 seconds
    python -m benchmarks.bench_serve --seconds 3

A model of `desk` with thresholds, in a process of its own on loopback. Each client keeps its connection and
asks for one text at a time, the next as soon as the answer is there. Beside it: the same without joining
waiting requests, and the same model in this process, one text a call and 256 a call.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from textmargin import ModelConfig, TextClassifier, load_dataset
from textmargin.decisions.utility import T10U
from textmargin.persistence import load_classifier
from textmargin.serve import create_app
from textmargin.serve.running import listening, run

from .measure import describe


def main() -> None:
    seconds = _option("--seconds", 30.0)
    n_clients = int(_option("--clients", 200))
    desk = load_dataset("desk")
    texts = desk.part("test").texts
    print(describe("textmargin", "fastapi", "uvicorn", "scikit-learn"))
    with tempfile.TemporaryDirectory() as name:
        model = Path(name) / "model.tmm"
        classifier = ModelConfig(utility=T10U).fit(desk.part("train"))
        classifier.save(model)
        print(
            f"\n{f'{n_clients} clients, {seconds:g} s':34}{'texts/s':>10}{'p50 ms':>9}"
            f"{'p99 ms':>9}{'errors':>8}"
        )
        for what, max_batch in (("served, waiting requests joined", 256), ("served, one by one", 1)):
            _print(what, *served(model, max_batch, texts, n_clients, seconds))
        for n in (1, 256):
            _print(f"in process, {n} a call", *called(classifier, texts, n, min(seconds, 5.0)))


def served(
    model: Path, max_batch: int, texts: list[str], n_clients: int, seconds: float
) -> tuple[float, list[float], int]:
    """Texts a second, the time of each request, and how many were not answered with 200."""
    command = [sys.executable, "-m", "benchmarks.bench_serve", "--service", str(model), str(max_batch)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        start = time.perf_counter()
        times, errors = asyncio.run(_clients(port, texts, n_clients, seconds))
        return len(times) / (time.perf_counter() - start), times, errors
    finally:
        process.terminate()
        process.wait()


async def _clients(port: int, texts: list[str], n_clients: int, seconds: float) -> tuple[list[float], int]:
    times: list[float] = []
    errors = 0
    end = time.perf_counter() + seconds

    async def client(number: int) -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (start := time.perf_counter()) < end:
            body = json.dumps({"texts": [texts[number % len(texts)]]}).encode()
            number += n_clients
            kind = "Host: localhost\r\nContent-Type: application/json"
            head = f"POST /predict HTTP/1.1\r\n{kind}\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", answer)
            await reader.readexactly(int(length[1]) if length else 0)
            errors += not answer.startswith(b"HTTP/1.1 200")
            times.append(time.perf_counter() - start)
        writer.close()

    await asyncio.gather(*(client(number) for number in range(n_clients)))
    return times, errors


def called(model: TextClassifier, texts: list[str], n: int, seconds: float) -> tuple[float, list[float], int]:
    """The same model without a service."""
    times: list[float] = []
    batch = (texts * (1 + n // len(texts)))[:n]
    start = time.perf_counter()
    while (before := time.perf_counter()) - start < seconds:
        model.decide(batch)
        times.append(time.perf_counter() - before)
    return n * len(times) / sum(times), times, 0


def _print(what: str, rate: float, times: list[float], errors: int) -> None:
    p50, p99 = np.percentile(times, [50, 99]) * 1000
    print(f"{what:34}{rate:10,.0f}{p50:9.1f}{p99:9.1f}{errors:8}", flush=True)


def _serve(model: str, max_batch: int) -> None:
    with listening("127.0.0.1", 0, safe=False) as (socket, url):
        app = create_app(load_classifier(model), max_batch=max_batch, max_wait=30.0)  # all are to be answered
        print(url.rsplit(":", 1)[1], flush=True)
        run(app, socket)


def _option(name: str, default: float) -> float:
    return float(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


if __name__ == "__main__":
    if "--service" in sys.argv:
        _serve(sys.argv[-2], int(sys.argv[-1]))
    else:
        main()
