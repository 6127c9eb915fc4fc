"""How a command ends that is asked to: by Ctrl-C, SIGTERM or SIGHUP.

Before a command has begun there is nothing to lose or to tell yet, so that Ctrl-C ends the program at once,
with 130.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ends_at_once() -> Iterator[None]:
    """While modules are imported and words are read; unless somebody else takes or ignores the signal."""
    if (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
        and threading.current_thread() is threading.main_thread()
    ):
        signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        raise_interrupts()


def raise_interrupts() -> None:
    """From now on Ctrl-C is a KeyboardInterrupt, for who can tell what became of the work."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Termination(KeyboardInterrupt):
    """Asked to end by a signal other than that of Ctrl-C: the same is done and told, with the exit code of
    the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def raise_terminations() -> None:
    """SIGTERM, and SIGHUP where it is not ignored as under nohup, are raised where the program is."""
    signal.signal(signal.SIGTERM, _terminate)
    hangup = getattr(signal, "SIGHUP", None)  # Windows has none
    if hangup is not None and signal.getsignal(hangup) is signal.SIG_DFL:
        signal.signal(hangup, _terminate)


def _terminate(number: int, _: object) -> None:
    raise Termination(number)


def _end(*_: object) -> None:
    os._exit(128 + signal.SIGINT)
