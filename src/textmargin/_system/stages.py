"""What long work is at, where nobody knows which share of it is done.

Work names itself with `stage`, in the log of this package ("textmargin", level INFO). Whoever shows a
`StageDisplay` shows it with the seconds that it has taken so far; details are records of level DEBUG.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from .progress import ProgressLine

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
    """Shows the stages of this package's work, each with the seconds it has taken so far.

    Parameters
    ----------
    tell : function of a line, default=None
        Also given each stage as it ends, with its time, and each detail (level DEBUG); inner ones indented.
    """

    def __init__(self, tell: Callable[[str], object] | None = None) -> None:
        super().__init__(logging.INFO if tell is None else logging.DEBUG)
        self.tell = tell
        self.open: list[ProgressLine] = []  # the stages that have begun, the innermost last

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of a stage that begins or ends."""
        change = getattr(record, "stage", None)
        if change == "begin":
            self.open.append(ProgressLine(record.getMessage()))
            self.open[-1].show()
            return
        if change == "end" and self.open:  # none where it began before it was shown
            self.open.pop().close()
        if self.tell is not None:
            self.tell("  " * len(self.open) + record.getMessage())

    def __enter__(self) -> Self:
        self.before = log.level
        log.setLevel(self.level)
        log.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        log.removeHandler(self)
        log.setLevel(self.before)
        while self.open:
            self.open.pop().close()
