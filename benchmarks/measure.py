"""Timing side by side: every candidate once per round, medians and ratios over the rounds."""

from __future__ import annotations

import ctypes
import multiprocessing
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROUNDS = 5


def describe(*packages: str) -> str:
    """The machine and the versions, in one line."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        cpu = next(
            (
                line.split(":")[1].strip()
                for line in info.read_text().splitlines()
                if line.startswith("model name")
            ),
            cpu,
        )
    return f"{cpu}, Python {platform.python_version()}, " + ", ".join(
        f"{name} {version(name)}" for name in packages
    )


def seconds(
    candidates: dict[str, Callable[[], Any]],
    rounds: int = ROUNDS,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Per candidate the time of each round; the rounds go through all candidates in turn, so that noise meets
    them alike.
    """
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, candidate in candidates.items():
            start = clock()
            candidate()
            times[name].append(clock() - start)
    return times


def ratio(times: dict[str, list[float]], slow: str, fast: str) -> float:
    """How many times faster one candidate is than another: the median over rounds of the ratio within a
    round.
    """
    return statistics.median(a / b for a, b in zip(times[slow], times[fast], strict=True))


def with_memory(candidate: Callable[[], Any]) -> tuple[Any, float]:
    """What a candidate gives, and the megabytes it takes beyond what was there, at its highest."""
    ctypes.CDLL(None).malloc_trim(0)  # what earlier runs freed is given back, so that taking it again shows
    Path("/proc/self/clear_refs").write_text("5")  # the highest mark starts from here
    before = _kilobytes("VmRSS")
    result = candidate()
    return result, (_kilobytes("VmHWM") - before) / 1000


def peak_megabytes(candidate: Callable[[], Any]) -> float:
    """The same memory, measured in a process of its own."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=lambda: send.send(with_memory(candidate)[1]))
    process.start()
    peak = receive.recv()
    process.join()
    return peak


def _kilobytes(field: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(field)))
