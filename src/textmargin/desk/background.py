"""Slow work beside the acts: rounds of it, in a thread, until there is nothing new to do.

While a round runs, threads take turns more often than Python lets them by itself: who waits for an act waits
at each of some twenty places where another thread may go on, and there for a thousandth of a second, not
five.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .._system.stages import log
from ..errors import TextmarginError

_TURN = 0.001  # seconds


class BackgroundWork:
    """Rounds of slow work, each for all that was wanted when it began.

    Parameters
    ----------
    lock : the lock that whoever wants something holds
    run_round : function that does the work
    in_background : bool
        Whether it is done in a thread; else when `wait` is called.

    Attributes
    ----------
    busy : str or None, what is done now
    error : str or None, what went wrong in the last round
    """

    def __init__(self, lock: Any, run_round: Callable[[], None], in_background: bool) -> None:
        self.busy: str | None = None
        self.error: str | None = None
        self._in_background = in_background
        self._run_round = run_round
        self._changed = threading.Condition(lock)
        self._wanted, self._done = 0, -1
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def fresh(self) -> bool:
        """Whether all that is shown is of the newest acts."""
        return self._done == self._wanted and self.busy is None

    def want(self) -> None:
        """Something is new; whoever calls holds the lock."""
        self._wanted += 1
        self._changed.notify_all()

    def start(self) -> None:
        """Begin."""
        if self._in_background and self._thread is None:
            self._thread = threading.Thread(target=self._work, name="textmargin-desk", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Until there is nothing left to do."""
        if self._thread is None:
            while self._done != self._wanted:
                self._round()
            return
        with self._changed:
            self._changed.wait_for(lambda: self.fresh or self._closed)

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def stage(self, name: str) -> bool:
        """Say what is done now; False where there is no need to go on."""
        with self._changed:
            self.busy = name
            return not self._closed

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._done != self._wanted)
                if self._closed:
                    return
            with _short_turns():
                self._round()

    def _round(self) -> None:
        with self._changed:
            wanted = self._wanted
        try:
            self.error = None
            self._run_round()
        except Exception as error:  # whatever it is, people go on reading, and are told
            self.error = (
                str(error) if isinstance(error, TextmarginError) else f"{type(error).__name__}: {error}"
            )
            log.warning(
                f"slow work of the desk failed: {self.error}", exc_info=not isinstance(error, TextmarginError)
            )
        finally:
            with self._changed:
                self._done, self.busy = wanted, None
                self._changed.notify_all()


@contextmanager
def _short_turns() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _TURN))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
