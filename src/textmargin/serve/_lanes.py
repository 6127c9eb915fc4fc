"""Threads of its own for each kind of work, so that one kind that is stuck holds up no other.

They are started before the first request: later there may be no memory for their stacks.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from ._refusal import RefusedError, busy

P = ParamSpec("P")
T = TypeVar("T")


def start_threads(n: int, name: str) -> ThreadPoolExecutor:
    """A pool whose threads run already."""
    threads = ThreadPoolExecutor(n, name)
    barrier = threading.Barrier(n + 1)
    for _ in range(n):
        threads.submit(barrier.wait)
    barrier.wait()
    return threads


class Lane:
    """Work that waits for threads, so many at a time and so long; more is refused at once.

    Parameters
    ----------
    what : str
        How the work is called where it is refused.
    n_threads : int
    max_waiting : int
        Requests that may wait for a thread or be at work.
    max_wait : float
        Seconds that one may wait for a thread.
    """

    def __init__(self, what: str, n_threads: int, max_waiting: int, max_wait: float) -> None:
        self._what, self._max_waiting, self._max_wait = what, max_waiting, max_wait
        self._threads = start_threads(n_threads, f"textmargin-{what}")
        self._free = asyncio.Semaphore(n_threads)
        self._n_requests = 0

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function gives, from a thread."""
        refused = self.refusal()
        if refused is not None:
            raise refused
        self._n_requests += 1
        try:
            try:
                async with asyncio.timeout(self._max_wait):
                    await self._free.acquire()
            except TimeoutError:
                raise busy(
                    f"{self._what} was not begun within {self._max_wait:g} seconds", self._max_wait
                ) from None
            work = self._threads.submit(function, *args, **kwargs)
            loop = asyncio.get_running_loop()
            # whether anybody still waits for it or not
            work.add_done_callback(lambda _: _release(loop, self._free))
            return await asyncio.wrap_future(work)
        finally:
            self._n_requests -= 1

    def refusal(self) -> RefusedError | None:
        """What is said to work that cannot even wait; None where it can."""
        if self._n_requests < self._max_waiting:
            return None
        return busy(f"{self._max_waiting} requests for {self._what} wait", self._max_wait)

    def close(self) -> None:
        """Begin nothing more; what runs in a thread runs on."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _release(loop: asyncio.AbstractEventLoop, free: asyncio.Semaphore) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(free.release)
