"""Progress of long computations on standard error: a bar after two seconds; in a log file a line a minute."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

Report = Callable[[float], object]  # takes the share that is done, 0 to 1

PATIENCE = 2.0  # seconds without a bar
_BAR_WIDTH = 80  # columns of a terminal that has room for a bar
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


class Screen:
    """The lines that are shown at a time, one below the other: a terminal has room for one such display
    only.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.display: Any = None

    def add(self, what: str, total: float | None) -> Any:
        """A line more; None where standard error is no terminal."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            Task,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.table import Column
        from rich.text import Text

        class Remaining(TimeRemainingColumn):
            def render(self, task: Task) -> Text:
                return Text("") if task.total is None else super().render(task)

        with self.lock:
            if self.display is None:
                console = Console(stderr=True)
                if not (console.is_terminal or console.is_jupyter):
                    return None
                # Where it is narrow the bar goes first, and the words are folded; numbers are never cut off.
                bar = (
                    [BarColumn(None, table_column=Column(max_width=40))]
                    if console.width >= _BAR_WIDTH
                    else []
                )
                words = TextColumn("{task.description}", markup=False, table_column=Column(overflow="fold"))
                remaining = Remaining(table_column=Column(no_wrap=True))
                self.display = Progress(
                    words, *bar, TaskProgressColumn(), remaining, console=console, transient=True
                )
                self.display.start()
            return self.display.add_task(what, total=total)

    def update(self, task: Any, **changes: Any) -> None:
        with self.lock:
            if self.display is not None:
                self.display.update(task, **changes)

    def remove(self, task: Any) -> None:
        with self.lock:
            if task is None or self.display is None:
                return
            self.display.remove_task(task)
            if not self.display.tasks:
                self.display.stop()
                self.display = None


SCREEN = Screen()


class _Bar:
    """A bar that appears late and leaves nothing behind; lines where standard error is not a terminal."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.started = self.told = time.monotonic()
        # the share that was done when it appeared; the estimate goes by what came after
        self.first: float | None = None
        self.began = self.started
        self.task: Any = None

    def __call__(self, share: float) -> None:
        if self.first is None and time.monotonic() - self.started < PATIENCE:
            return
        if self.first is None:
            self.first, self.began = share, time.monotonic()
            self.task = SCREEN.add(self.what, total=1.0)
        if self.task is not None:
            SCREEN.update(self.task, completed=share)
        elif time.monotonic() - self.told >= INTERVAL:
            self._tell(share)

    def _tell(self, share: float) -> None:
        self.told = time.monotonic()
        done = share - (self.first or 0.0)
        left = (
            f", about {(self.told - self.began) * (1 - share) / done / 60:.0f} minutes left"
            if done > 0
            else ""
        )
        print(f"{self.what}: {share:.1%}{left}", file=sys.stderr, flush=True)

    def close(self) -> None:
        SCREEN.remove(self.task)
