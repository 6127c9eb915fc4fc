"""Clients of a service, many at a time: what they asked, what they heard, and what was acknowledged to
them.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

Request = tuple[str, dict[str, object]]
PATIENCE = 30.0  # seconds, after which a client counts itself as dropped


@dataclass
class Heard:
    """What clients heard.

    Attributes
    ----------
    statuses : Counter of int
    dropped : int, requests that got no answer
    times : dict status → list of seconds
    acknowledged : set of str, ids of feedback
    models : Counter of str, digests
    """

    statuses: Counter[int] = field(default_factory=Counter)
    dropped: int = 0
    times: dict[int, list[float]] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    models: Counter[str] = field(default_factory=Counter)

    def quantile(self, q: float, status: int = 200) -> float:
        """Milliseconds of answers with a status."""
        found = self.times.get(status, [])
        return float(np.percentile(found, 100 * q) * 1000) if found else float("nan")


class Connection:
    """One connection that is opened when it is needed, and again when it was lost."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, path: str, body: dict[str, object]) -> tuple[int, bytes, bytes]:
        """Status, headers and body of the answer."""
        if self.streams is not None and self.streams[0].at_eof():
            self.close()  # it was idle for too long
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        content = json.dumps(body).encode()
        kind = "Host: localhost\r\nContent-Type: application/json"
        writer.write(
            f"POST {path} HTTP/1.1\r\n{kind}\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content
        )
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = re.search(rb"content-length: (\d+)", head)
        answer = await reader.readexactly(int(length[1]) if length else 0)
        if b"connection: close" in head:
            self.close()
        return int(head[9:12]), head, answer

    def close(self) -> None:
        """Let go of it."""
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


async def send(connection: Connection, request: Request, heard: Heard, since: float | None = None) -> int:
    """Ask once, and write down what was heard; the status, 0 where nothing was."""
    path, body = request
    start = time.perf_counter() if since is None else since
    try:
        async with asyncio.timeout(PATIENCE):
            status, head, _ = await connection.ask(path, body)
    except (OSError, asyncio.IncompleteReadError, TimeoutError):
        heard.dropped += 1
        connection.close()
        return 0
    heard.statuses[status] += 1
    heard.times.setdefault(status, []).append(time.perf_counter() - start)
    if status == 200 and path == "/feedback":
        heard.acknowledged.add(str(body["id"]))
    model = re.search(rb"x-model-digest: (\w+)", head)
    if model:
        heard.models[model[1].decode()] += 1
    return status


async def closed_loop(
    port: int,
    make: Callable[[random.Random], Request],
    n_clients: int,
    seconds: float,
    heard: Heard,
    patient: bool = True,
) -> None:
    """Each client asks, hears, and asks again; told to come again, it waits a little, or not at all."""
    end = time.perf_counter() + seconds

    async def client(number: int) -> None:
        chance, connection = random.Random(number), Connection(port)
        while time.perf_counter() < end:
            status = await send(connection, make(chance), heard)
            if status == 0 or (status == 503 and patient):
                await asyncio.sleep(chance.uniform(0.5, 1.0))  # Retry-After says a second, or more
        connection.close()

    await asyncio.gather(*(client(number) for number in range(n_clients)))


async def open_loop(
    port: int, make: Callable[[random.Random], Request], rate: float, seconds: float, heard: Heard
) -> None:
    """Requests come at a rate, whatever becomes of those before; times are from when a request was due."""
    chance, free = random.Random(0), [Connection(port) for _ in range(50)]
    tasks: set[asyncio.Task[None]] = set()
    start = time.perf_counter()

    async def one(due: float) -> None:
        connection = free.pop() if free else Connection(port)
        await send(connection, make(chance), heard, due)
        free.append(connection)

    due = start
    while due < start + seconds:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        task = asyncio.create_task(one(due))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        due += chance.expovariate(rate)
    await asyncio.gather(*tasks)
    for connection in free:
        connection.close()
