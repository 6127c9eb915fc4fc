"""The kernel of a whole corpus, in stripes that are kept: an interrupted run goes on where it was."""

from __future__ import annotations

import json
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from .._system.progress import progress_of
from .._system.writing import write_whole
from ..errors import OutputError
from ..gram.cached import CachedPairs
from ._machine import Matrices
from .run import Run

_STRIPE = 64  # texts, as many as a tile of the store has


class Work:
    """Seconds spent on a matrix and pairs compared for it, over all runs, in a file beside the values in the
    store.

    Values that the store has forgotten, and those that were there before, make `pairs` differ from what the
    matrix has.
    """

    def __init__(self, folder: Path, pairs: CachedPairs, identity: str) -> None:
        self.path = folder / f"work-{sha256(identity.encode()).hexdigest()[:16]}.json"
        self._pairs = pairs
        self.seconds, self.pairs = 0.0, 0
        if self.path.exists():
            try:
                known = json.loads(self.path.read_text(encoding="utf-8"))
                self.seconds, self.pairs = float(known["seconds"]), int(known["pairs"])
            except (ValueError, KeyError, TypeError) as error:
                raise OutputError(
                    f"{self.path}, the record of work done so far, is damaged; remove it."
                ) from error

    def __enter__(self) -> Work:
        self._start, self._computed = time.perf_counter(), self._pairs.n_computed
        return self

    def __exit__(self, *_: object) -> None:
        """Also when interrupted: what was computed is kept, and so is the time it took."""
        if self._pairs.n_computed > self._computed:
            self.seconds += time.perf_counter() - self._start
            self.pairs += self._pairs.n_computed - self._computed
            content = {"seconds": round(self.seconds, 1), "pairs": self.pairs}
            write_whole({self.path: json.dumps(content).encode()})


def whole_gram(run: Run, kernel: Any, train: list[str], test: list[str]) -> tuple[Matrices, Work]:
    """Training texts with themselves and test texts with training texts, and the work this took in all runs
    together.

    Texts are taken by length, so that those compared at a time are alike.
    """
    by_length = [np.argsort([len(text) for text in texts], kind="stable") for texts in (train, test)]
    texts = [train[row] for row in by_length[0]] + [test[row] for row in by_length[1]]
    n, n_all = len(train), len(texts)
    sizes = np.array([len(text) for text in texts], dtype=float)
    pairs = run.store.over(kernel.over(texts))
    work = Work(Path(run.kernels), pairs, repr((kernel, n, texts)))
    K = np.empty((n_all, n))
    stripes = [
        (a, min(a + _STRIPE, end)) for start, end in ((0, n), (n, n_all)) for a in range(start, end, _STRIPE)
    ]
    amounts = [sizes[a:b].sum() * sizes[: min(b, n)].sum() for a, b in stripes]
    done = 0.0
    with progress_of(f"Comparing {n_all:,} texts with {n:,}", run.progress) as report:
        for (a, b), amount in zip(stripes, amounts, strict=True):
            with work:
                K[a:b, : min(b, n)] = pairs.block(np.arange(a, b), np.arange(min(b, n)))
            done += amount
            if report is not None:
                report(done / sum(amounts))
    run.count_evaluations(pairs.n_computed)
    K[:n] = np.where(np.tri(n, dtype=bool), K[:n], K[:n].T)
    back = [np.argsort(order) for order in by_length]
    return (K[:n][np.ix_(back[0], back[0])], K[n:][np.ix_(back[1], back[0])]), work
