"""The kernel of a whole corpus, in stripes that are kept: an interrupted run goes on where it was."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from .._progress import progress_of
from .._writing import write_whole
from ._machine import Matrices
from .run import Run

_STRIPE = 64  # texts, as many as a tile of the store has


def whole_gram(run: Run, kernel: Any, train: list[str], test: list[str], name: str) -> tuple[Matrices, float]:
    """Training texts with themselves and test texts with training texts, and the seconds this took in all runs together.

    Texts are taken by length, so that those compared at a time are alike. The seconds are kept in the folder of results, beside
    the values in the store.
    """
    by_length = [np.argsort([len(text) for text in texts], kind="stable") for texts in (train, test)]
    texts = [train[row] for row in by_length[0]] + [test[row] for row in by_length[1]]
    n, n_all = len(train), len(texts)
    sizes = np.array([len(text) for text in texts], dtype=float)
    pairs = run.store.over(kernel.over(texts))
    K = np.empty((n_all, n))
    stripes = [(a, min(a + _STRIPE, end)) for start, end in ((0, n), (n, n_all)) for a in range(start, end, _STRIPE)]
    work = [sizes[a:b].sum() * sizes[: min(b, n)].sum() for a, b in stripes]
    log, done = _Log(run.folder / f"{name}.work.json"), 0.0
    with progress_of(f"Comparing {n_all:,} texts with {n:,}", run.progress) as report:
        for (a, b), amount in zip(stripes, work, strict=True):
            start, computed = time.perf_counter(), pairs.n_computed
            K[a:b, : min(b, n)] = pairs.block(np.arange(a, b), np.arange(min(b, n)))
            log.add(time.perf_counter() - start, pairs.n_computed - computed)
            done += amount
            if report is not None:
                report(done / sum(work))
    K[:n] = np.where(np.tri(n, dtype=bool), K[:n], K[:n].T)
    back = [np.argsort(order) for order in by_length]
    return (K[:n][np.ix_(back[0], back[0])], K[n:][np.ix_(back[1], back[0])]), log.seconds


class _Log:
    """Seconds spent and pairs compared, over all runs; those looked up do not count."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds, self.pairs = 0.0, 0
        if path.exists():
            known = json.loads(path.read_text())
            self.seconds, self.pairs = float(known["seconds"]), int(known["pairs"])

    def add(self, seconds: float, pairs: int) -> None:
        if pairs:
            self.seconds, self.pairs = self.seconds + seconds, self.pairs + pairs
            write_whole({self.path: json.dumps({"seconds": round(self.seconds, 1), "pairs": self.pairs}).encode()})
