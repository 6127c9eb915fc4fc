"""What becomes of `textmargin serve` when things go wrong under load, and when more is asked than it can do?

    python -m benchmarks.bench_faults                 # 200 clients, each fault for 20 seconds
    python -m benchmarks.bench_faults --seconds 6 --clients 200
    python -m benchmarks.bench_faults "disk full"     # one fault, or overload
    python -m benchmarks.bench_faults --soak 60       # an hour of all kinds of requests; memory by the minute

Clients ask for decisions (7 of 10), explanations (1) and send feedback (2). A fault lasts from a quarter to
three quarters of the time. At the end the service gets SIGTERM, and every feedback that was acknowledged is
looked up. Overload: requests of 100 texts at one, two and four times the rate that 32 clients get answered,
then 200 clients that come again at once. The clients have a processor of the same machine: what they and the
service take of one stands in the table.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from textmargin import ModelConfig, load_dataset
from textmargin.decisions.utility import T10U
from textmargin.feedback.store import FeedbackStore

from .load import Heard, Request, closed_loop, open_loop
from .measure import describe

TEXTS = load_dataset("desk").part("test").texts
LABELS = sorted(set(load_dataset("desk").labels))


@dataclass
class Service:
    """A service in a process of its own, its files, and its port."""

    process: subprocess.Popen[str]
    port: int
    folder: Path

    def memory(self) -> float:
        """Megabytes in memory."""
        return self._status("VmRSS")

    def processor_seconds(self) -> float:
        """Of its own and of the system for it."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def limit(self, what: int, soft: int) -> None:
        """Set a limit of the running process; −1 lifts it."""
        resource.prlimit(self.process.pid, what, (soft, resource.RLIM_INFINITY))

    def address_space(self) -> int:
        """Bytes."""
        return int(self._status("VmSize") * 1e6)

    def _status(self, name: str) -> float:
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(rf"{name}:\s+(\d+)", text)[1]) * 1024 / 1e6  # type: ignore[index]


Fault = Callable[[Service, float], Awaitable[None]]


async def nothing(service: Service, seconds: float) -> None:
    """The same without a fault."""


async def locked(service: Service, seconds: float) -> None:
    """Another program holds the database."""
    other = sqlite3.connect(service.folder / "feedback.sqlite", isolation_level=None, timeout=30)
    other.execute("BEGIN IMMEDIATE")
    await asyncio.sleep(seconds)
    other.execute("ROLLBACK")
    other.close()


async def disk_full(service: Service, seconds: float) -> None:
    """No file can grow further."""
    size = max(path.stat().st_size for path in service.folder.glob("feedback.sqlite*"))
    service.limit(resource.RLIMIT_FSIZE, size)
    await asyncio.sleep(seconds)
    service.limit(resource.RLIMIT_FSIZE, resource.RLIM_INFINITY)


async def replaced(service: Service, seconds: float) -> None:
    """The model file is replaced every second, once by what is no model."""
    end, turn = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        turn += 1
        new = service.folder / "new.tmm"
        if turn == 2:
            new.write_bytes(b"no model")
        else:
            shutil.copy(service.folder / f"{turn % 2}.tmm", new)
        new.rename(service.folder / "model.tmm")
        await asyncio.sleep(1.0)


async def no_memory(service: Service, seconds: float) -> None:
    """The address space can grow by four megabytes, and large requests come."""
    service.limit(resource.RLIMIT_AS, service.address_space() + 4_000_000)
    await asyncio.sleep(seconds)
    service.limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)


def mixed(chance: random.Random) -> Request:
    """A request of any kind."""
    text, kind = chance.choice(TEXTS), chance.random()
    if kind < 0.7:
        return "/predict", {"texts": [text]}
    if kind < 0.8:
        return "/explain", {"text": text}
    return "/feedback", {
        "text": text,
        "predicted": [chance.choice(LABELS)],
        "correct": True,
        "id": f"{chance.getrandbits(128):x}",
    }


def large(chance: random.Random) -> Request:
    """One in ten has some hundred kilobytes."""
    return (
        ("/predict", {"texts": [chance.choice(TEXTS) * 3 for _ in range(900)]})
        if chance.random() < 0.1
        else mixed(chance)
    )


def hundred(chance: random.Random) -> Request:
    """A hundred texts."""
    return "/predict", {
        "texts": chance.sample(TEXTS, 100) if len(TEXTS) >= 100 else chance.choices(TEXTS, k=100)
    }


FAULTS: dict[str, tuple[Fault, Callable[[random.Random], Request], int | None]] = {
    "no fault": (nothing, mixed, None),
    "database locked": (locked, mixed, None),
    "disk full": (disk_full, mixed, None),
    "model replaced": (replaced, mixed, None),
    "memory short": (no_memory, large, None),
    "128 descriptors": (nothing, mixed, 128),
}


def start(folder: Path, models: Path, n_files: int | None = None) -> Service:
    """A service with a store of its own."""
    for name in ("0.tmm", "1.tmm"):
        shutil.copy(models / name, folder / name)
    shutil.copy(models / "0.tmm", folder / "model.tmm")
    command = [
        sys.executable,
        "-m",
        "textmargin",
        "serve",
        str(folder / "model.tmm"),
        "--port",
        "0",
        "--watch-model",
    ]
    command += ["--feedback", str(folder / "feedback.sqlite")]
    log = (folder / "log").open("w+")
    process = subprocess.Popen(command, stderr=log, text=True)
    if n_files is not None:  # before it looks: to import what it needs takes longer
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (n_files, n_files))
    while not (found := re.search(r"listening on http://\S+:(\d+)", (folder / "log").read_text())):
        if process.poll() is not None:
            raise SystemExit((folder / "log").read_text())
        time.sleep(0.1)
    return Service(process, int(found[1]), folder)


def stop(service: Service) -> tuple[int, float]:
    """Exit status and seconds until the end."""
    begin = time.perf_counter()
    service.process.send_signal(signal.SIGTERM)
    return service.process.wait(60), time.perf_counter() - begin


def lost(service: Service, heard: Heard) -> int:
    """Feedback that was acknowledged and is not there."""
    with FeedbackStore(service.folder / "feedback.sqlite", create=False) as store:
        return len(heard.acknowledged - {one.id for one in store})


HEAD = f"{'':18}{'requests':>9}{'ok':>8}{'503':>7}{'other':>7}{'dropped':>8}{'p50 ms':>8}"
HEAD += f"{'p99 ms':>8}{'stored':>8}{'lost':>5}{'MB':>7}{'then':>7}{'exit':>5}{'s':>5}"


def row(name: str, service: Service, heard: Heard, before: float) -> str:
    """One line of the table; it ends the service."""
    after = service.memory()
    code, seconds = stop(service)
    ok, busy = heard.statuses[200], heard.statuses[503]
    n, other = heard.statuses.total() + heard.dropped, heard.statuses.total() - ok - busy
    line = f"{name:18}{n:9,}{ok:8,}{busy:7,}{other:7,}{heard.dropped:8,}"
    line += f"{heard.quantile(0.5):8.0f}{heard.quantile(0.99):8.0f}"
    return (
        f"{line}{len(heard.acknowledged):8,}{lost(service, heard):5}"
        f"{before:7.0f}{after:7.0f}{code:5}{seconds:5.1f}"
    )


def with_fault(name: str, models: Path, n_clients: int, seconds: float) -> str:
    """A line of the table."""
    fault, make, n_files = FAULTS[name]
    with tempfile.TemporaryDirectory() as folder:
        service, heard = start(Path(folder), models, n_files), Heard()

        async def both() -> float:
            load = asyncio.create_task(closed_loop(service.port, make, n_clients, seconds, heard))
            await asyncio.sleep(seconds / 4)
            before = service.memory()
            await fault(service, seconds / 2)
            await load
            return before

        line = row(name, service, heard, asyncio.run(both()))
        others = {status: n for status, n in heard.statuses.items() if status not in (200, 503)}
        log = [text for text in (Path(folder) / "log").read_text().splitlines()[1:] if " [" in text]
        models_heard = f"  {len(heard.models)} models answered" if len(heard.models) > 1 else ""
        kinds = Counter(re.sub(r"^\S+ \S+ |\[[^]]*\] |/\S*/|\b[0-9a-f]{16}\b", "", text)[:80] for text in log)
        noted = "".join(f"\n    {n} x {kind}" for kind, n in kinds.most_common(3))
        return f"{line}{models_heard}{f', statuses {others}' if others else ''}{noted}"


def overload(models: Path, seconds: float) -> None:
    """p99 at one, two and four times what can be done."""
    with tempfile.TemporaryDirectory() as folder:
        service = start(Path(folder), models)
        print(
            f"\n{'100 texts each':18}{'requests':>9}{'ok':>8}{'ok/s':>7}{'503':>8}{'dropped':>8}"
            f"{'p50 ms':>8}{'p99 ms':>8}",
            end="",
        )
        print(f"{'503 p50':>9}{'503 p99':>9}{'service':>9}{'clients':>9}")

        def show(name: str, load: Callable[[Heard], Coroutine[object, object, None]]) -> float:
            heard, begin = Heard(), time.perf_counter()
            service_before, clients_before = service.processor_seconds(), time.process_time()
            asyncio.run(load(heard))
            taken = time.perf_counter() - begin
            ok, busy, n = heard.statuses[200], heard.statuses[503], heard.statuses.total() + heard.dropped
            line = f"{name:18}{n:9,}{ok:8,}{ok / taken:7.0f}{busy:8,}{heard.dropped:8,}"
            line += "".join(
                f"{heard.quantile(q, status):{9 - (status == 200)}.0f}"
                for status in (200, 503)
                for q in (0.5, 0.99)
            )
            shares = (
                (service.processor_seconds() - service_before) / taken,
                (time.process_time() - clients_before) / taken,
            )
            print(line + "".join(f"{share:9.0%}" for share in shares), flush=True)
            return ok / taken

        capacity = show("32 clients", lambda heard: closed_loop(service.port, hundred, 32, seconds, heard))
        for times in (1, 2, 4):
            rate = times * capacity
            show(f"{times} x that", partial(open_loop, service.port, hundred, rate, seconds))
        show(
            "200 at once",
            lambda heard: closed_loop(service.port, hundred, 200, seconds, heard, patient=False),
        )
        stop(service)


def soak(models: Path, n_clients: int, minutes: float) -> None:
    """All kinds of requests for long; the model is replaced every other minute, the database locked for a
    second in each.
    """
    with tempfile.TemporaryDirectory() as folder:
        service, heard = start(Path(folder), models), Heard()
        shown: list[float] = []

        async def watch() -> None:
            while True:
                await asyncio.sleep(60)
                shown.append(service.memory())
                n_ok, n_busy = heard.statuses[200], heard.statuses[503]
                print(
                    f"minute {len(shown):3}: {shown[-1]:6.0f} MB, {n_ok:,} ok, {n_busy:,} 503, "
                    f"{heard.dropped} dropped",
                    flush=True,
                )
                # the newest are enough for quantiles: the clients' memory is to stay flat too
                for status in heard.times:
                    heard.times[status] = heard.times[status][-200_000:]
                await locked(service, 1.0)
                if len(shown) % 2:
                    shutil.copy(service.folder / f"{len(shown) // 2 % 2}.tmm", service.folder / "new.tmm")
                    (service.folder / "new.tmm").rename(service.folder / "model.tmm")

        async def both() -> float:
            load = asyncio.create_task(closed_loop(service.port, mixed, n_clients, 60 * minutes, heard))
            await asyncio.sleep(min(10.0, 30 * minutes))
            before = service.memory()
            watching = asyncio.create_task(watch())
            await load
            watching.cancel()
            return before

        before = asyncio.run(both())
        print(f"\n{HEAD}\n{row(f'soak, {minutes:g} min', service, heard, before)}", flush=True)


def main(arguments: list[str]) -> None:
    def option(name: str, default: float) -> float:
        return float(arguments[arguments.index(name) + 1]) if name in arguments else default

    seconds, n_clients, minutes = option("--seconds", 20), int(option("--clients", 200)), option("--soak", 0)
    print(describe("textmargin", "fastapi", "uvicorn", "h11"))
    with tempfile.TemporaryDirectory() as name:
        models, desk = Path(name), load_dataset("desk").part("train")
        ModelConfig(utility=T10U).fit(desk).save(models / "0.tmm")
        ModelConfig(utility=T10U, C=7.0).fit(desk).save(models / "1.tmm")
        if minutes:
            soak(models, n_clients, minutes)
            return
        print(f"\n{f'{n_clients} clients, {seconds:g} s':40}\n{HEAD}", flush=True)
        named = [name for name in FAULTS if name in arguments]
        for fault in named or ([] if "overload" in arguments else FAULTS):
            print(with_fault(fault, models, n_clients, seconds), flush=True)
        if not named:
            overload(models, seconds)


if __name__ == "__main__":
    main(sys.argv[1:])
