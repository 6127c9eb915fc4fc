"""Progress of long work on standard error, from two seconds on: lines that a terminal shows and clears again;
in a log file a line a minute.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Self

Report = Callable[[float], object]  # takes the share that is done, 0 to 1

PATIENCE = 2.0  # seconds without a line
INTERVAL = 60.0  # seconds between lines where there is no terminal


class ProgressLine:
    """What is done, since when, and which share of it, where that is known."""

    def __init__(self, what: str) -> None:
        self.what, self.share, self.started = what, 0.0, time.monotonic()

    def __call__(self, share: float) -> None:
        self.share = share
        if time.monotonic() - self.started >= PATIENCE:  # short work needs no thread
            self.show()

    def __str__(self) -> str:
        seconds = time.monotonic() - self.started
        if not self.share:
            return f"{self.what} … {seconds:.0f} s"
        left = seconds * (1 - self.share) / self.share
        time_left = f"{left / 60:.0f} minutes" if left > 100 else f"{left:.0f} seconds"
        return f"{self.what}: {self.share:.1%}, about {time_left} left"

    def show(self) -> None:
        """From two seconds on, whether or not anybody reports."""
        _SCREEN.add(self)

    def close(self) -> None:
        """It is done."""
        _SCREEN.remove(self)


class _Screen:
    """The lines of this process, and the thread that shows them: the work is in compiled code."""

    def __init__(self) -> None:
        self.lines: list[ProgressLine] = []
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.thread: threading.Thread | None = None

    def add(self, line: ProgressLine) -> None:
        with self.lock:
            if line not in self.lines:
                self.lines.append(line)
            if self.thread is None:
                self.ended = threading.Event()
                self.thread = threading.Thread(
                    target=self._show, args=(self.ended, line.started), daemon=True
                )
                self.thread.start()

    def remove(self, line: ProgressLine) -> None:
        with self.lock:
            self.lines = [one for one in self.lines if one is not line]
            thread = None if self.lines else self.thread
            if thread is not None:
                self.thread = None
                self.ended.set()
        if thread is not None:
            thread.join()

    def __str__(self) -> str:
        begun = time.monotonic() - PATIENCE
        return "\n".join(str(line) for line in [*self.lines] if line.started <= begun)

    def _show(self, ended: threading.Event, started: float) -> None:
        if ended.wait(max(started + PATIENCE - time.monotonic(), 0.0)):
            return
        from rich.console import Console  # which takes a tenth of a second
        from rich.live import Live
        from rich.text import Text

        console = Console(stderr=True)
        if not (console.is_terminal or console.is_jupyter):
            while not ended.wait(INTERVAL):
                print(self, file=sys.stderr, flush=True)
            return
        with Live(get_renderable=lambda: Text(str(self)), console=console, transient=True):
            ended.wait()


_SCREEN = _Screen()


class RowCounter:
    """Counts rows, and shows how many a second; for a `with` block.

    Parameters
    ----------
    enabled : bool, default=True
        Whether to show anything at all.
    """

    def __init__(self, enabled: bool = True) -> None:
        self.n_rows = 0
        self.line = ProgressLine("") if enabled else None

    def add(self, n_rows: int) -> None:
        """So many more are done."""
        self.n_rows += n_rows
        if self.line is not None:
            speed = self.n_rows / max(time.monotonic() - self.line.started, 1e-9)
            self.line.what = f"{self.n_rows:,} rows, {speed:,.0f} a second"
            self.line(0.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.line is not None:
            self.line.close()


@contextmanager
def progress_of(what: str, progress: bool | Report) -> Iterator[Report | None]:
    """What to report progress to, or None if nobody wants to know.

    Parameters
    ----------
    what : str, written before the share
    progress : True for a line, False for none, or a function that takes the share done
    """
    if progress is not True:
        yield progress or None
        return
    line = ProgressLine(what)
    try:
        yield line
    finally:
        line.close()


def stages(report: Report | None, work: list[float]) -> Iterator[Report | None]:
    """For each stage of some work what to report to, so that all together go from 0 to 1 once."""
    total, done = max(sum(work), 1e-300), 0.0
    for amount in work:
        start, share = done / total, amount / total
        yield None if report is None else partial(_report_stage, report, start, share)
        done += amount


def _report_stage(report: Report, start: float, share: float, part: float) -> None:
    report(start + share * part)
