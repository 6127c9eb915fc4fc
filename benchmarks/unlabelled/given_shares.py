"""What it is worth to give shares: all of them, or that of one class, beside guessed ones, on pools of any
mix; no labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from textmargin import TextClassifier
from textmargin._typing import Floats, Indices

from .tasks import Task

LEAST = 100  # texts of a class, without which it is left out
GIVEN = ("guessed", "all shares", "the rarest", "the middle one", "the most frequent")


def show_given(name: str, n_draws: int) -> None:
    """Accuracy on the unlabelled texts themselves, a line for each pool: the first is the corpus, of others
    parts are drawn.
    """
    task = Task.load(name)
    own = task.Y * (task.Y.sum(axis=1) == 1)[:, None]  # texts of one label each
    chosen = np.flatnonzero(own.sum(axis=0) >= LEAST) if task.multilabel else np.arange(len(task.classes))
    names = [task.classes[k] for k in chosen]
    keywords = {one: task.keywords[one] for one in names}
    found = []
    print(
        f"\n{name}, {len(names)} classes: right with shares\n{'texts':>17}"
        + "".join(f"{given:>18}" for given in GIVEN)
    )
    for rows in pools(own[:, chosen], n_draws):
        texts, truth = [task.texts[row] for row in rows], own[rows][:, chosen]
        shares = truth.mean(axis=0)
        order = np.argsort(shares, kind="stable")
        each = [None, [*order], [order[0]], [order[order.size // 2]], [order[-1]]]
        given = [None if some is None else {names[k]: float(shares[k]) for k in some} for some in each]
        found.append([accuracy(texts, truth, keywords, one) for one in given])
        print(f"{len(texts):>17,}" + "".join(f"{right:>18.3f}" for right in found[-1]), flush=True)
    print(f"{'mean':>17}" + "".join(f"{right:>18.3f}" for right in np.mean(found, axis=0)))


def pools(truth: Indices, n_draws: int) -> Iterator[Indices]:
    """Rows: all, then of each class a part that is drawn; no class goes without."""
    yield np.flatnonzero(truth.any(axis=1))
    seed = 0
    while n_draws > 1:
        seed += 1
        rng = np.random.default_rng(seed)
        parts = rng.dirichlet(np.full(truth.shape[1], 1.5))
        rows = np.flatnonzero(rng.random(len(truth)) < truth @ (parts / parts.max()))
        if truth[rows].any(axis=0).all():
            n_draws -= 1
            yield rows


def accuracy(
    texts: list[str], truth: Indices, keywords: Mapping[str, list[str]], shares: Mapping[str, float] | None
) -> float:
    """How many of the texts a model that is learnt from them decides rightly."""
    decisions = TextClassifier(knowledge=keywords, shares=shares).fit(texts).decide(texts)
    accepted: Floats = decisions.accepted[:, [decisions.names.index(name) for name in keywords]]
    return float(np.mean((accepted * truth).sum(axis=1) / accepted.sum(axis=1)))
