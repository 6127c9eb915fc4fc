"""Folds of texts, one set for all classes: each class, the rarest first, is dealt out evenly.

A text with several labels counts for each of them; once it is dealt for its rarest, the more frequent ones
level out what that left uneven. With one label a text these are stratified folds.
"""

from __future__ import annotations

import numpy as np

from .._typing import Bools, Indices


def deal_folds(positive: Bools, n_folds: int, random_state: int | None) -> Indices:
    """The fold of each text, (n_texts,), from which texts are positive in each problem, (n_texts,
    n_problems).
    """
    if not 2 <= n_folds <= len(positive):
        raise ValueError(
            f"n_folds must be from 2 to the number of texts that count, {len(positive)}; got {n_folds}."
        )
    rng = np.random.default_rng(random_state)
    fold = np.full(len(positive), -1, dtype=np.intp)
    order = np.argsort(positive.sum(axis=0), kind="stable")
    for members in (*positive.T[order], np.ones(len(positive), dtype=bool)):  # last, those without a label
        new = np.flatnonzero(members & (fold < 0))
        own, all_ = (
            np.bincount(fold[dealt & (fold >= 0)], minlength=n_folds) for dealt in (members, fold >= 0)
        )
        fold[rng.permutation(new)] = _level(own, all_, new.size)
    return fold


def _level(own: Indices, total: Indices, n: int) -> Indices:
    """The folds that n further texts go to, so that all folds have as many of the class, and else as many
    texts, as can be.
    """
    place = np.repeat(np.argsort(np.argsort(total, kind="stable")), n)
    level = (own[:, None] + np.arange(n)).ravel()
    return np.lexsort((place, level))[:n] // max(n, 1)
