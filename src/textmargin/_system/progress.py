"""Progress of long computations on standard error: a bar after two seconds; in a log file a line a minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

Report = Callable[[float], object]  # takes the share that is done, 0 to 1

PATIENCE = 2.0  # seconds without a bar
INTERVAL = 60.0  # seconds between lines where there is no terminal


@contextmanager
def progress_of(what: str, progress: bool | Report) -> Iterator[Report | None]:
    """What to report progress to, or None if nobody wants to know.

    Parameters
    ----------
    what : str, written before the bar
    progress : True for a bar, False for none, or a function that takes the share done
    """
    if callable(progress):
        yield progress
    elif not progress:
        yield None
    else:
        bar = _Bar(what)
        try:
            yield bar
        finally:
            bar.close()


def stages(report: Report | None, work: list[float]) -> Iterator[Report | None]:
    """For each stage of some work what to report to, so that all together go from 0 to 1 once."""
    total, done = max(sum(work), 1e-300), 0.0
    for amount in work:
        start, share = done / total, amount / total
        yield None if report is None else partial(_report_stage, report, start, share)
        done += amount


def _report_stage(report: Report, start: float, share: float, part: float) -> None:
    report(start + share * part)


class _Bar:
    """A bar that appears late and leaves nothing behind; lines where standard error is not a terminal."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.started = self.told = time.monotonic()
        self.first: float | None = None  # the share that was done when it appeared; the estimate goes by what came after
        self.began = self.started
        self.bar: Any = None

    def __call__(self, share: float) -> None:
        if self.first is None and time.monotonic() - self.started < PATIENCE:
            return
        if self.first is None:
            self.first, self.began = share, time.monotonic()
            self._open()
        if self.bar is not None:
            self.bar.update(self.task, completed=share)
        elif time.monotonic() - self.told >= INTERVAL:
            self._tell(share)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        if console.is_terminal or console.is_jupyter:
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            self.bar = Progress(*columns, console=console, transient=True)
            self.task = self.bar.add_task(self.what, total=1.0)
            self.bar.start()

    def _tell(self, share: float) -> None:
        self.told = time.monotonic()
        done = share - (self.first or 0.0)
        left = f", about {(self.told - self.began) * (1 - share) / done / 60:.0f} minutes left" if done > 0 else ""
        print(f"{self.what}: {share:.1%}{left}", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
