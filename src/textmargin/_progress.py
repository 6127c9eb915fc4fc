"""Progress of long computations: a bar on standard error, once they take more than two seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

Report = Callable[[float], object]  # takes the share that is done, 0 to 1

PATIENCE = 2.0  # seconds without a bar


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
    """A bar that appears late and leaves nothing behind; none where standard error is not a terminal."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.started = time.monotonic()
        self.bar: Any = None

    def __call__(self, share: float) -> None:
        if self.bar is None:
            if time.monotonic() - self.started < PATIENCE:
                return
            self._open()
        self.bar.update(self.task, completed=share)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self.bar = Progress(*columns, console=console, transient=True, disable=not (console.is_terminal or console.is_jupyter))
        self.task = self.bar.add_task(self.what, total=1.0)
        self.bar.start()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
