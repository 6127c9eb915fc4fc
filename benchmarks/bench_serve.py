"""What does `textmargin serve` do behind nginx when more is asked than it can do, and when it is killed?

    python -m benchmarks.bench_serve                  # both
    python -m benchmarks.bench_serve overload         # 4 times the load it can bear, for 60 seconds
    python -m benchmarks.bench_serve kill             # kill -9 while feedback is written, ten times

A model of `desk`, with nginx as `docs/serving.md` configures it; clients, nginx and service share this
machine. Nine of ten requests have 100 texts, one is feedback. The peak is what 8, 16 or 32 clients get
answered, each of which asks again as soon as it has an answer. Then so many clients ask that four times the
peak arrives: one that gets 503 asks again after `Retry-After`. In the end all acknowledged feedback is looked
up.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from textmargin import FeedbackStore, TextClassifier, load_dataset

from .measure import describe
from .proxies import behind

DESK = load_dataset("desk")
TEXTS = DESK.part("test").texts
PATIENCE = 30.0  # seconds, after which a request counts as dropped


@dataclass
class Heard:
    """What clients were answered."""

    statuses: Counter[int] = field(default_factory=Counter)
    n_dropped: int = 0
    n_without_retry_after: int = 0
    seconds: list[float] = field(default_factory=list)
    acknowledged: set[str] = field(default_factory=set)


@contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A service of the model in a folder: process and URL."""
    command = [sys.executable, "-m", "textmargin", "serve", str(folder / "model.tmm"), "--port", "0"]
    command += ["--no-access-log", "--feedback", str(folder / "feedback.sqlite")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"listening on (http://\S+)", line)
        assert found, line
        yield process, found[1]
    finally:
        process.kill()
        process.wait()


def request(path: str, body: dict[str, object]) -> bytes:
    """A request as it goes over the wire."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


CHANCE = random.Random(0)
# made beforehand: clients are to cost as little as they can
DECISIONS = [request("/predict", {"texts": CHANCE.choices(TEXTS, k=100)}) for _ in range(100)]


async def client(url: str, number: int, end: float, share: float, heard: Heard) -> None:
    """Ask until the end, on one connection; `share` of the requests are feedback."""
    chance = random.Random(number)
    host, port = url.removeprefix("http://").split(":")
    streams = None
    while time.perf_counter() < end:
        content, own_id = chance.choice(DECISIONS), ""
        if chance.random() < share:
            own_id = f"{chance.getrandbits(128):x}"
            body = {
                "text": chance.choice(TEXTS),
                "predicted": [DESK.classes[0]],
                "correct": True,
                "id": own_id,
            }
            content = request("/feedback", body)
        start = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                streams = streams or await asyncio.open_connection(host, int(port))
                streams[1].write(content)
                answer = (await streams[0].readuntil(b"\r\n\r\n")).lower()
                length = re.search(rb"content-length: (\d+)", answer)
                await streams[0].readexactly(int(length[1]) if length else 0)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            heard.n_dropped += 1
            streams = None
            await asyncio.sleep(chance.uniform(0.5, 1.5))
            continue
        if b"connection: close" in answer:
            streams[1].close()
            streams = None
        status = int(answer[9:12])
        heard.statuses[status] += 1
        if status == 503:
            after = re.search(rb"retry-after: (\d+)", answer)
            heard.n_without_retry_after += after is None
            await asyncio.sleep(chance.uniform(1.0, 1.2) * float(after[1] if after else 1))
        elif status == 200:
            heard.seconds.append(time.perf_counter() - start)
            if own_id:
                heard.acknowledged.add(own_id)
    if streams is not None:
        streams[1].close()


async def ask(url: str, n_clients: int, seconds: float, share: float, heard: Heard) -> None:
    """Many clients at the same time; they start within the first second."""
    end = time.perf_counter() + seconds

    async def later(number: int) -> None:
        await asyncio.sleep(number / n_clients)
        await client(url, number, end, share, heard)

    await asyncio.gather(*(later(number) for number in range(n_clients)))


def overload(folder: Path, seconds: float = 60.0) -> None:
    """The peak, and what is left of it under four times the load."""
    everything: set[str] = set()

    def measure(url: str, n_clients: int, seconds: float) -> tuple[Heard, float]:
        heard, start = Heard(), time.perf_counter()
        asyncio.run(ask(url, n_clients, seconds, 0.1, heard))
        everything.update(heard.acknowledged)
        return heard, time.perf_counter() - start

    with served(folder) as (process, service), behind("nginx", service) as url:
        peak = 0.0
        for n_clients in (8, 16, 32):
            heard, took = measure(url, n_clients, 10.0)
            peak = max(peak, heard.statuses[200] / took)
        memory = [_megabytes(process.pid)]
        print(f"peak: {peak:,.0f} requests a second answered, service at {memory[0]:.0f} MB", flush=True)

        async def watched() -> Heard:
            heard = Heard()
            load = asyncio.create_task(ask(url, round(3.5 * peak) + 64, seconds, 0.1, heard))
            while not load.done():
                memory.append(_megabytes(process.pid))
                await asyncio.sleep(1.0)
            await load
            return heard

        start = time.perf_counter()
        heard = asyncio.run(watched())
        took = time.perf_counter() - start
        everything.update(heard.acknowledged)
        n_ok, n_busy = heard.statuses[200], heard.statuses[503]
        others = {status: n for status, n in heard.statuses.items() if status not in (200, 503)}
        offered = (heard.statuses.total() + heard.n_dropped) / took
        p50, p99 = np.percentile(heard.seconds, [50, 99])
        print(
            f"{round(3.5 * peak) + 64:,} clients, {seconds:g} s: {offered:,.0f} requests a second arrive "
            f"({offered / peak:.1f} times the peak)\n"
            f"{n_ok / took:,.0f} a second are answered ({n_ok / took / peak:.0%} of the peak), "
            f"p50 {p50:.2f} s, p99 {p99:.2f} s\n"
            f"{n_busy:,} got 503, {heard.n_without_retry_after} of them without Retry-After; "
            f"other statuses: {others or 'none'}; dropped: {heard.n_dropped}\n"
            f"service: at most {max(memory):.0f} MB, {memory[-1]:.0f} MB in the end",
            flush=True,
        )
        process.terminate()
        print(f"exit status {process.wait(30)}; feedback: {_count(folder, everything)}", flush=True)


def kill(folder: Path, times: int = 10) -> None:
    """Kill -9 while feedback is written."""
    chance, everything = random.Random(0), set[str]()
    for turn in range(times):
        with served(folder) as (process, url):

            async def killed(
                turn: int = turn, url: str = url, process: subprocess.Popen[str] = process
            ) -> None:
                heard = Heard()
                end = time.perf_counter() + 60
                clients = [
                    asyncio.create_task(client(url, 1000 * turn + k, end, 1.0, heard)) for k in range(16)
                ]
                await asyncio.sleep(chance.uniform(0.5, 2.0))
                process.kill()
                await asyncio.sleep(0.2)
                for one in clients:
                    one.cancel()
                everything.update(heard.acknowledged)

            asyncio.run(killed())
    print(f"killed {times} times; feedback: {_count(folder, everything)}", flush=True)


def _count(folder: Path, acknowledged: set[str]) -> str:
    with FeedbackStore(folder / "feedback.sqlite", create=False) as store:
        n_lost = len(acknowledged - {one.id for one in store})
    return f"{len(acknowledged):,} acknowledged, {n_lost} lost"


def _megabytes(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found
    return int(found[1]) * 1024 / 1e6


def main() -> None:
    print(describe("textmargin", "fastapi", "uvicorn", "sqlalchemy"))
    for name, what in (("overload", overload), ("kill", kill)):
        if name in sys.argv or not {"overload", "kill"} & {*sys.argv}:
            with tempfile.TemporaryDirectory() as folder:
                train = DESK.part("train")
                TextClassifier().fit(train.texts, train.labels).save(Path(folder) / "model.tmm")
                what(Path(folder))


if __name__ == "__main__":
    main()
