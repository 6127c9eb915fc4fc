"""What long work is at, where nobody knows which share of it is done.

Work names itself with `stage`, in the log of this package ("textmargin", level INFO). Whoever shows a
`StageDisplay` shows it with the seconds that it has taken so far; details are records of level DEBUG.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from . import progress

REFRESH = 0.5  # seconds between two looks at the clock, on a terminal

log = logging.getLogger("textmargin")


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Name work whose share nobody knows: what it is when it begins, and how long it took when it ends, as
    two log records.
    """
    start = time.monotonic()
    log.info(what, extra={"stage": "begin"})
    try:
        yield
    finally:
        log.info(f"{what}: {time.monotonic() - start:.1f} s", extra={"stage": "end"})


class StageDisplay(logging.Handler):
    """Shows the stage of this package's work that takes longer than patience, with the seconds it has taken
    so far.

    Parameters
    ----------
    tell : function of a line, default=None
        Also given each stage as it ends, with its time, and each detail (level DEBUG); inner ones indented.
    """

    def __init__(self, tell: Callable[[str], object] | None = None) -> None:
        super().__init__(logging.INFO if tell is None else logging.DEBUG)
        self.tell = tell
        self.open: list[tuple[str, float]] = []  # the stages that have begun, the innermost last
        self.ended = threading.Event()
        self.watch: threading.Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of a stage that begins or ends."""
        change = getattr(record, "stage", None)
        if change == "begin":
            self.open.append((record.getMessage(), time.monotonic()))
            if len(self.open) == 1:
                self._begin()
        elif change == "end":
            del self.open[-1:]  # none where it began before it was shown
            if not self.open:
                self._end()
        if self.tell is not None and change != "begin":
            self.tell("  " * len(self.open) + record.getMessage())

    def _begin(self) -> None:
        self.ended = threading.Event()
        # A thread, because the work is in compiled code; one that ends with the process, so that it never
        # keeps it from ending.
        self.watch = threading.Thread(target=self._show, args=(self.ended,), daemon=True)
        self.watch.start()

    def _end(self) -> None:
        self.ended.set()
        if self.watch is not None:
            self.watch.join()
            self.watch = None

    def _show(self, ended: threading.Event) -> None:
        if ended.wait(progress.PATIENCE):
            return
        task = progress.SCREEN.add(self._line(), total=None)
        try:
            while not ended.wait(progress.INTERVAL if task is None else REFRESH):
                if task is None:
                    print(self._line(), file=sys.stderr, flush=True)
                else:
                    progress.SCREEN.update(task, description=self._line())
        finally:
            progress.SCREEN.remove(task)

    def _line(self) -> str:
        # a copy: another thread ends stages
        names, starts = zip(*(list(self.open) or [("", time.monotonic())]), strict=True)
        return f"{': '.join(names)} … {time.monotonic() - starts[0]:.0f} s"

    def __enter__(self) -> Self:
        self.before = log.level
        log.setLevel(self.level)
        log.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        log.removeHandler(self)
        log.setLevel(self.before)
        self.open.clear()
        self._end()
