"""Texts of requests that wait at the same time go through the model together.

Nothing is held back: an idle model starts at once, and while it is busy those that arrive gather for its next turn. So a batch is
as large as the load asks for, and a lone request never waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ..labels import Decisions


@dataclass(frozen=True)
class _Waiting:
    texts: list[str]
    decisions: asyncio.Future[Decisions]


class Batcher:
    """A model that is asked by many at a time.

    Parameters
    ----------
    decide : function of a list of texts → Decisions
    most : int, default=256
        Requests are joined up to so many texts; a larger one goes alone.
    n_threads : int, default=2
        How many batches run at a time; compiled code lets the others go on.
    log : function of Decisions, default=None
        Hears of each batch.
    """

    def __init__(
        self,
        decide: Callable[[list[str]], Decisions],
        most: int = 256,
        n_threads: int = 2,
        log: Callable[[Decisions], Any] | None = None,
    ) -> None:
        self._decide, self._most, self._log = decide, most, log or (lambda _: None)
        self._free = n_threads
        self._threads = ThreadPoolExecutor(n_threads, "textmargin-model")
        self._queue: deque[_Waiting] = deque()
        self._running: set[asyncio.Task[None]] = set()

    async def decide(self, texts: list[str]) -> Decisions:
        """The decisions on some texts."""
        one = _Waiting(texts, asyncio.get_running_loop().create_future())
        self._queue.append(one)
        self._start()
        return await one.decisions

    def close(self) -> None:
        """Let go of the threads."""
        self._threads.shutdown()

    def _start(self) -> None:
        while self._free and self._queue:
            self._free -= 1
            task = asyncio.create_task(self._run(self._next()))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    def _next(self) -> list[_Waiting]:
        batch = [self._queue.popleft()]
        n_texts = len(batch[0].texts)
        while self._queue and n_texts + len(self._queue[0].texts) <= self._most:
            batch.append(self._queue.popleft())
            n_texts += len(batch[-1].texts)
        return batch

    async def _run(self, batch: list[_Waiting]) -> None:
        try:
            await self._answer(batch)
        finally:
            self._free += 1
            self._start()

    async def _answer(self, batch: list[_Waiting]) -> None:
        texts = [text for one in batch for text in one.texts]
        try:
            decisions = await asyncio.get_running_loop().run_in_executor(self._threads, self._decide, texts)
        except Exception as error:
            if len(batch) > 1:  # one of them is to blame: each for itself
                for one in batch:
                    await self._answer([one])
            elif not batch[0].decisions.done():
                batch[0].decisions.set_exception(error)
            return
        self._log(decisions)
        start = 0
        for one in batch:
            if not one.decisions.done():  # who asked may have gone
                one.decisions.set_result(decisions[start : start + len(one.texts)])
            start += len(one.texts)
