"""Ctrl-C before a command has begun: there is nothing to lose or to tell yet, so the program ends at once, with 130."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ends_at_once() -> Iterator[None]:
    """While modules are imported and words are read; unless somebody else takes or ignores the signal."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        raise_interrupts()


def raise_interrupts() -> None:
    """From now on Ctrl-C is a KeyboardInterrupt, for who can tell what became of the work."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    os._exit(128 + signal.SIGINT)
