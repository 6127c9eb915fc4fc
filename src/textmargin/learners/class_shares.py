"""How frequent classes are among texts without labels, from the scores at the start of self-training.

- With one label a text, halfway between equal shares and how often each class leads.
- With several, or of two classes where words are known for one only, the part of the texts above the cut that
  divides the scores into two groups with the least variance within them (Otsu 1979).
"""

from __future__ import annotations

import numpy as np

from .._ties import ROUNDING
from .._typing import Floats, Indices
from ..labels import ClassLabels

_EQUAL = 0.5  # how much of a guess at the shares is that all are equal
_TRIALS = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.15, 0.85, 0.1, 0.9, 0.06, 0.94, 0.03, 0.97)
_FAR = 10.0  # times the odds by which words lead for a class: further off is no share of it


def guess_shares(labels: ClassLabels, scores: Floats, one_sided: bool = False) -> Floats:
    """Of each class (n_classes,), from scores (n_texts, n_problems); `one_sided`: of two, words speak for
    one.
    """
    if labels.multilabel:
        return np.array([_upper_part(column) for column in scores.T])
    if labels.kind == "binary" and one_sided:
        share = _upper_part(scores[:, 0])
        return np.array([1 - share, share])
    n = labels.names.size
    leader, lead = leaders(labels.class_scores(scores))
    counts = np.bincount(leader[lead > 0], minlength=n)
    return _EQUAL / n + (1 - _EQUAL) * counts / counts.sum() if counts.any() else np.full(n, 1 / n)


def fill_shares(given: Floats, guessed: Floats) -> Floats:
    """Shares (n_classes,): what the given ones leave goes to the others, NaN, as they were guessed beside
    each other.
    """
    others = np.isnan(given)
    left = 1 - given[~others].sum()
    return np.where(others, left * guessed / max(guessed[others].sum(), 1e-300), given)


def trial_shares(scores: Floats) -> list[float]:
    """Of the second of two classes, from scores (n_texts,) at the start: those to be tried, the nearest at
    least.
    """
    threshold = ROUNDING * float(np.abs(scores).max(initial=0.0))
    odds = (np.count_nonzero(scores > threshold) + 0.5) / (np.count_nonzero(scores < -threshold) + 0.5)
    off = [abs(float(np.log(share / (1 - share) / odds))) for share in _TRIALS]
    furthest = max(np.log(_FAR), min(off) + ROUNDING)
    return [share for share, one in zip(_TRIALS, off, strict=True) if one <= furthest]


def leaders(class_scores: Floats) -> tuple[Indices, Floats]:
    """The class with the highest score, and its lead over the second; exactly 0 where two are equal but for
    rounding.
    """
    two = np.partition(class_scores, -2, axis=1)[:, -2:]
    lead = two[:, 1] - two[:, 0]
    lead = np.where(lead > 1e-9 * np.maximum(np.abs(two[:, 1]), 1.0), lead, 0.0)
    return class_scores.argmax(axis=1), lead


def _upper_part(scores: Floats) -> float:
    """The part of the texts above the cut into two groups with the least variance within them; half where
    there is no cut.
    """
    if scores.size < 2:
        return 0.5
    order = np.sort(scores)[::-1]
    n, i = order.size, np.arange(1, order.size)
    sums = np.cumsum(order)[:-1]
    between = i * (n - i) * (sums / i - (order.sum() - sums) / (n - i)) ** 2
    # a cut goes between different scores
    between[order[:-1] - order[1:] <= ROUNDING * np.abs(order).max()] = 0.0
    return (int(between.argmax()) + 1) / n
