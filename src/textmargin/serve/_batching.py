"""Texts of requests that wait at the same time go through the model together.

Nothing is held back: an idle model starts at once, and while it is busy those that arrive gather for its next
turn. So a batch is as large as the load asks for, and a lone request never waits.

A batch that takes no longer than handing it to a thread does is decided where it is: under load the thread
would have to get the interpreter from the one that serves all connections, again and again, and a crowd that
is being refused would not let it.

What would wait too long is refused at once, by how long texts took of late; what has waited too long all the
same, then.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ..labels import Decisions
from ._refusal import RefusedError, busy

_NEWEST = 0.1  # weight of the last batch in what is known of their time
# batches whose time is remembered, and how many must be before any is thought quick
_N_RATES, _LEAST_RATES = 16, 4
_BATCH_SIZE = 10_000  # characters that take as long as what a batch costs however small it is
_MOMENT, _TOO_LONG, _WHILE = 0.003, 0.05, 60.0  # seconds


class _Pace:
    """How long batches take: a line through the last ones, so much for a batch and so much for each text in
    it.

    By the time of a text alone, small batches would make the model look slow, those that come would be
    refused, and batches would stay small.
    """

    def __init__(self) -> None:
        self._n = self._t = self._nn = self._nt = 0.0  # means of texts, seconds, and their products
        self._weight = 1.0

    def note(self, n: int, seconds: float) -> None:
        w = self._weight
        self._n += w * (n - self._n)
        self._t += w * (seconds - self._t)
        self._nn += w * (n * n - self._nn)
        self._nt += w * (n * seconds - self._nt)
        self._weight = max(_NEWEST, w / (1 + w))

    def seconds(self, n_texts: int, n_batches: int) -> float:
        variance = self._nn - self._n**2
        slope = (self._nt - self._n * self._t) / variance if variance > 1e-9 * self._nn else 0.0
        slope = min(max(0.0, slope), self._t / max(1.0, self._n))
        return slope * n_texts + (self._t - slope * self._n) * n_batches


class _Quickness:
    """Whether a batch is over in a moment, by the best of the last ones: others had to wait for a processor,
    and tell nothing.
    """

    def __init__(self) -> None:
        self._rates: deque[float] = deque(maxlen=_N_RATES)
        self._not_before = -math.inf

    def note(self, size: int, seconds: float) -> None:
        self._rates.append(seconds / size)

    def expects(self, size: int) -> bool:
        return (
            len(self._rates) >= _LEAST_RATES
            and time.monotonic() > self._not_before
            and min(self._rates) * size < _MOMENT
        )

    def check(self, seconds: float) -> None:
        """It was not: nothing more of the kind for a while."""
        if seconds > _TOO_LONG:
            self._not_before = time.monotonic() + _WHILE


def _size(texts: list[str]) -> int:
    return _BATCH_SIZE + sum(map(len, texts))


@dataclass(frozen=True, eq=False)
class _Waiting:
    texts: list[str]
    decisions: asyncio.Future[Decisions]
    timer: asyncio.TimerHandle | None


class Batcher:
    """A model that is asked by many at a time.

    Parameters
    ----------
    decide : function of a list of texts → Decisions
    threads : ThreadPoolExecutor
        Where it runs; they may be shared with another model's.
    n_threads : int, default=2
        How many batches run at a time; compiled code lets the others go on.
    most : int, default=256
        Requests are joined up to so many texts; a larger one goes alone.
    max_wait : float, default=inf
        Seconds that texts may wait for the model.
    log : function of Decisions, default=None
        Hears of each batch.
    """

    def __init__(
        self,
        decide: Callable[[list[str]], Decisions],
        threads: ThreadPoolExecutor,
        n_threads: int = 2,
        most: int = 256,
        max_wait: float = math.inf,
        log: Callable[[Decisions], Any] | None = None,
    ) -> None:
        self._decide, self._threads, self._most, self._max_wait = decide, threads, most, max_wait
        self._log = log or (lambda _: None)
        self._n_threads = self._free = n_threads
        self._queue: deque[_Waiting] = deque()
        self._running: set[asyncio.Task[None]] = set()
        self._n_texts = 0  # that wait or are decided on
        self._pace = _Pace()
        self._quick = _Quickness()

    async def decide(self, texts: list[str]) -> Decisions:
        """The decisions on some texts."""
        refused = self.refusal()
        if refused is not None:
            raise refused
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Decisions] = loop.create_future()
        timer = None if math.isinf(self._max_wait) else loop.call_later(self._max_wait, self._give_up, future)
        self._queue.append(_Waiting(texts, future, timer))
        self._n_texts += len(texts)
        self._start()
        try:
            return await future
        finally:
            self._n_texts -= len(texts)

    def refusal(self) -> RefusedError | None:
        """What is said to texts that would wait too long; None where they would not."""
        if len(self._queue) < self._n_threads:  # it is tried: times change
            return None
        expected = self._pace.seconds(self._n_texts, math.ceil(self._n_texts / self._most)) / self._n_threads
        return (
            busy(f"texts would wait some {expected:.1f} seconds", expected)
            if expected > self._max_wait / 2
            else None
        )

    def _give_up(self, future: asyncio.Future[Decisions]) -> None:
        for one in self._queue:
            if one.decisions is future:
                self._queue.remove(one)
                if not future.done():
                    future.set_exception(busy(f"texts waited {self._max_wait:g} seconds", self._max_wait))
                return

    def _start(self) -> None:
        if self._free:
            self._free -= 1
            # at the loop's next turn: whoever comes in this one goes with it
            task = asyncio.create_task(self._run())
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    def _next(self) -> list[_Waiting]:
        batch = [self._queue.popleft()]
        n_texts = len(batch[0].texts)
        while self._queue and n_texts + len(self._queue[0].texts) <= self._most:
            batch.append(self._queue.popleft())
            n_texts += len(batch[-1].texts)
        for one in batch:
            if one.timer is not None:
                one.timer.cancel()
        return batch

    async def _run(self) -> None:
        try:
            while self._queue:
                await self._answer(self._next())
                await asyncio.sleep(0)
        finally:
            self._free += 1

    async def _answer(self, batch: list[_Waiting]) -> None:
        texts = [text for one in batch for text in one.texts]
        size, start = _size(texts), time.perf_counter()
        try:
            if self._quick.expects(size):
                own = time.thread_time()
                decisions = self._decide(texts)
                self._quick.check(time.thread_time() - own)
            else:
                decisions = await asyncio.get_running_loop().run_in_executor(
                    self._threads, self._decide, texts
                )
        except Exception as error:
            # one of them is to blame: each for itself
            if len(batch) > 1 and not isinstance(error, MemoryError):
                for one in batch:
                    await self._answer([one])
            else:
                for one in batch:
                    if not one.decisions.done():
                        one.decisions.set_exception(error)
            return
        seconds = time.perf_counter() - start
        self._pace.note(len(texts), seconds)
        self._quick.note(size, seconds)
        self._log(decisions)
        start_row = 0
        for one in batch:
            if not one.decisions.done():  # who asked may have gone
                one.decisions.set_result(decisions[start_row : start_row + len(one.texts)])
            start_row += len(one.texts)
