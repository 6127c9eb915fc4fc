"""Who is let in: as many as can be answered in time, by how long those before them took.

A request costs more than the model's time. Its body is read and checked and its answer is written in one
thread, which a crowd keeps busy long before the model is. What that comes to need not be taken apart: by
Little's law

    seconds for each = seconds inside / requests inside when it came
    expected wait    = requests inside × seconds for each

Connections ask before they parse a request, the gate before it reads a body and before anything looks into
it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

from ._refusal import RefusedError, busy

# in a request's state: its connection let it in, and it counts among those that are expected
ADMITTED = "admitted"
_NEWEST = 0.1  # weight of the last request in what is known of their time
# so many refusals in so many seconds cost little; beyond them whoever is refused is not read again
_FREE, _WINDOW = 250, 0.25
# before the time is over, and nobody gains by coming at once
_ALWAYS = 16  # so many are let in whatever is expected: times change, and together they take less


class Door:
    """One route's: those inside, and whether another would wait too long.

    Parameters
    ----------
    max_wait : float
        Seconds; whoever would wait for more than half of them is refused.
    """

    def __init__(self, max_wait: float) -> None:
        self._max_wait = max_wait
        self._n_inside = self._n_coming = 0
        self._seconds = 0.0
        self._weight = 1.0

    def refusal(self) -> RefusedError | None:
        """What is said to one who would wait too long; None where nobody would."""
        n = self._n_inside + self._n_coming
        expected = n * self._seconds
        if n < _ALWAYS or expected <= self._max_wait / 2:
            return None
        return busy(f"an answer would take some {expected:.1f} seconds", expected)

    def expect(self, loop: asyncio.AbstractEventLoop) -> None:
        """Somebody was let in, and is inside at the loop's next turn: of many that come in one turn each sees
        those before.
        """
        self._n_coming += 1
        loop.call_soon(self._arrive)

    def _arrive(self) -> None:
        self._n_coming -= 1

    def enter(self) -> tuple[float, int]:
        """Somebody is inside; what to give back when they leave."""
        self._n_inside += 1
        return time.perf_counter(), self._n_inside

    def leave(self, entered: tuple[float, int], *, served: bool) -> None:
        """They got what they came for, or not: then they do not tell how long that takes."""
        start, n = entered
        self._n_inside -= 1
        if served:
            self._seconds += self._weight * ((time.perf_counter() - start) / n - self._seconds)
            self._weight = max(_NEWEST, self._weight / (1 + self._weight))


class Admission:
    """All doors of a service.

    Parameters
    ----------
    doors : mapping of path → Door
    refusals : mapping of path → function that gives RefusedError or None
        What else may refuse a request of this path.
    log : function of a path, a RefusedError and a request id, default=None
        Hears of requests that were refused before the gate saw them.
    """

    def __init__(
        self,
        doors: Mapping[str, Door],
        refusals: Mapping[str, Callable[[], RefusedError | None]],
        log: Callable[[str, RefusedError, str], None] | None = None,
    ) -> None:
        self.doors, self._refusals = doors, refusals
        self.log = log or (lambda *_: None)
        self._window, self._n_refused = 0, 0

    def refusal(self, path: str) -> RefusedError | None:
        """What is said to a request of this path; None where it may come in."""
        door, other = self.doors.get(path), self._refusals.get(path)
        refused = None if door is None else door.refusal()
        return other() if refused is None and other is not None else refused

    def hold_seconds(self) -> float:
        """How long a connection that was refused now is not read."""
        window = int(time.monotonic() / _WINDOW)
        self._n_refused = self._n_refused + 1 if window == self._window else 1
        self._window = window
        return _WINDOW if self._n_refused > _FREE else 0.0
