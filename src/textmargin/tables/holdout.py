"""Texts that are kept out of training, to say afterwards how good a model is: at random, or the last by a column.

At random every label keeps a text to learn from, labels have their shares on both sides, and a text that occurs several times is
on one of them: it would be known again, not judged.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from ..datasets.corpus import Corpus
from ..errors import TableError
from ..labels import shorten
from ..representations.digests import text_digests
from .dates import read_date


def check_share(share: float) -> None:
    """That there is something on both sides."""
    if not 0 < share < 1:
        raise TableError(f"holdout= is a share of the texts, more than 0 and less than 1; got {share:g}.")


def split_at_random(corpus: Corpus, share: float) -> tuple[Corpus, Corpus]:
    """The texts to train on, and those held out; of the same corpus always the same.

    Parameters
    ----------
    corpus : Corpus, with labels
    share : float
        Of the different texts that are held out.

    Examples
    --------
    >>> from textmargin import load_dataset
    >>> from textmargin.tables.holdout import split_at_random
    >>> train, held_out = split_at_random(load_dataset("desk"), 0.2)
    >>> len(train), len(held_out)
    (384, 96)
    """
    check_share(share)
    _, group = np.unique(text_digests(corpus.texts), return_inverse=True)
    labels: list[set[str]] = [set() for _ in range(group.max(initial=-1) + 1)]  # of all texts that are the same
    for g, own in zip(group.tolist(), corpus.labels, strict=True):
        labels[g].update(own if isinstance(own, tuple) else (own,))
    counts = Counter(label for own in labels for label in own)
    rarest = [min(((counts[label], label) for label in own), default=(0, "")) for own in labels]
    shuffled = np.random.default_rng(0).permutation(len(labels)).tolist()
    training_labels: set[str] = set()
    others = []
    for g in sorted(shuffled, key=rarest.__getitem__):  # beside others of its rarest label, so that every n-th is a share of each
        if labels[g] <= training_labels:
            others.append(g)
        else:
            training_labels |= labels[g]
    n_out = round(share * len(labels))
    if not 0 < n_out <= len(others):
        raise TableError(
            f"holdout={share:g} of {len(labels):,} different texts with {len(counts):,} labels would leave "
            f"{'none to evaluate on' if not n_out else 'a label without a text to learn from'}; choose another share."
        )
    steps = np.arange(len(others) + 1) * n_out // len(others)
    held_out = np.isin(group, np.array(others)[np.diff(steps) > 0])
    return _parts(corpus, held_out)


def split_by(corpus: Corpus, column: str, share: float) -> tuple[Corpus, Corpus, Any]:
    """The texts to train on, those held out, the last by a column, and the value of this column that these start with.

    Parameters
    ----------
    corpus : Corpus, with labels, and the column among its fields
    column : str
        Numbers, or dates: ISO 8601, with or without a time, or as in 26-FEB-1987 or 26.02.1987.
    share : float
        Of the texts that are held out; more, where several have the value they start with.
    """
    check_share(share)
    values = corpus.fields[column]
    keys = _sort_keys(corpus, column)
    n_out = round(share * len(keys))
    start = sorted(keys)[-n_out] if n_out else None
    if start is None or start == min(keys):
        raise TableError(
            f"holdout={share:g} by {column!r} would leave no text to {'evaluate on' if start is None else 'learn from'}: "
            f"{corpus.name} has {len(keys):,} texts, {keys.count(min(keys)):,} of them with the first value; take another share."
        )
    held_out = np.array([key >= start for key in keys])
    train, test = _parts(corpus, held_out)
    new = [label for label in test.classes if label not in set(train.classes)]
    if new:
        raise TableError(
            f"All texts of {shorten(new, 3)} are among the last {share:.0%} by {column!r}, so that there would be none to learn "
            f"{'it' if len(new) == 1 else 'them'} from; choose a smaller holdout=, leave split_by= out, or leave out such texts."
        )
    return train, test, values[keys.index(start)]


def _parts(corpus: Corpus, held_out: Any) -> tuple[Corpus, Corpus]:
    return corpus.take(np.flatnonzero(~held_out).tolist()), corpus.take(np.flatnonzero(held_out).tolist())


def _sort_keys(corpus: Corpus, column: str) -> list[float]:
    """What the values of a column are ordered by: numbers, or seconds; all of one kind."""
    keys, kinds = [], set()
    for line, value in zip(corpus.ids, corpus.fields[column], strict=True):
        for kind, parse in (("numbers", _number), ("dates", _seconds)):
            try:
                keys.append(parse(value))
            except (ValueError, TypeError):
                continue
            kinds.add(kind)
            break
        else:
            raise TableError(
                f"Line {line} of {corpus.name}: {column!r} is {value!r:.60}, neither a number nor a date such as 1987-02-26, "
                f"1987-02-26T15:01:01, 26-FEB-1987 15:01:01 or 26.02.1987 15:01; mend it or choose another column with split_by=."
            )
    if len(kinds) > 1:
        raise TableError(f"Column {column!r} of {corpus.name} has both numbers and dates; choose another with split_by=.")
    return keys


def _number(value: Any) -> float:
    number = float(value)
    if isinstance(value, bool) or not math.isfinite(number):
        raise ValueError(value)
    return number


def _seconds(value: Any) -> float:
    """Since 1970."""
    return read_date(value).timestamp()
