"""Texts of requests that wait at the same time are decided together, in a thread.

An idle model starts at once. While it is busy, arriving texts wait for its next turn: a batch is as large as
the load requires, and a single request never waits for others.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ..labels import Decisions

Request = tuple[list[str], "asyncio.Future[Decisions]"]


class Batcher:
    """A model that many requests ask at the same time.

    Parameters
    ----------
    decide : function of a list of texts → Decisions
        It runs in a thread of its own; compiled code releases the interpreter there.
    max_texts : int, default=256
        Requests are joined up to this many texts; a larger request is decided alone.
    """

    def __init__(self, decide: Callable[[list[str]], Decisions], max_texts: int = 256) -> None:
        self._decide, self._max_texts = decide, max_texts
        self._thread = ThreadPoolExecutor(1, "textmargin-batch")
        self._waiting: deque[Request] = deque()
        self._task: asyncio.Task[None] | None = None

    async def decide(self, texts: list[str]) -> Decisions:
        """The decisions on the texts of one request."""
        future: asyncio.Future[Decisions] = asyncio.get_running_loop().create_future()
        self._waiting.append((texts, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return await future

    def close(self) -> None:
        """End the thread, after the batch that it decides now."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self) -> None:
        while self._waiting:
            batch = [self._waiting.popleft()]
            n_texts = len(batch[0][0])
            while self._waiting and n_texts + len(self._waiting[0][0]) <= self._max_texts:
                batch.append(self._waiting.popleft())
                n_texts += len(batch[-1][0])
            await self._answer(batch)

    async def _answer(self, batch: list[Request]) -> None:
        texts = [text for own, _ in batch for text in own]
        try:
            decisions = await asyncio.get_running_loop().run_in_executor(self._thread, self._decide, texts)
        except Exception as error:
            if len(batch) > 1:  # one request is to blame: each alone
                for one in batch:
                    await self._answer([one])
            elif not batch[0][1].done():
                batch[0][1].set_exception(error)
            return
        start = 0
        for own, future in batch:
            if not future.done():
                future.set_result(decisions[start : start + len(own)])
            start += len(own)
