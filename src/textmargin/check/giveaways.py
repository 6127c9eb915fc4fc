"""What gives the label away: a column whose values tell it, or a word that nearly all texts of a label have
and no others.

A column is tried on texts it was not looked up in: half of the rows say which label goes with a value, its
leading letters, or the nearest number, and the label of the other half is told by that; then the other way
round. What counts is the gain over always saying the most frequent label, as a share of the possible one: ids
that are all different gain nothing, ids that run along with the labels of a sorted file gain much.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from .._typing import Bools
from .copies import label_text
from .findings import Finding

_GAIN = 0.9  # of the possible gain over the most frequent label, from which a column gives the label away
_LEAST_ROWS = 20
_LEAST_TEXTS = 5  # of a label whose words are looked at
_RECALL, _PRECISION = 0.9, 0.99  # of a word as a sign of its label
_NAME_RECALL, _NAME_PRECISION = 0.7, 0.95  # of the label's own name, which less chance would put there
_MOST_TEXTS = 20_000  # whose words are counted
_WORDS = r"[\[<#{(]\w+[\]>})]?|\w+"


def giveaway_columns(labels: Sequence[Any], fields: Mapping[str, Sequence[Any]]) -> Iterator[Finding]:
    """Columns that tell the label of a text, those that tell most first.

    Parameters
    ----------
    labels : names, "" for none; or tuples of names
    fields : further columns, a value per text
    """
    rows = [row for row, own in enumerate(labels) if own]
    given = [label_text(labels[row]) for row in rows]
    if len(rows) < _LEAST_ROWS or len(set(given)) < 2:
        return
    first = np.random.default_rng(0).permutation(len(rows)) % 2 == 0
    found = []
    for column, values in fields.items():
        own = [values[row] for row in rows]
        gains = [(_gain(read, own, given, first), how) for read, how in _VIEWS]
        gain, how = max(gains, key=lambda one: one[0])
        if gain >= _GAIN:
            share = f"{gain:.0%} of the texts that the most frequent label does not fit"
            reason = f"{how} of {column!r} tell the label of {share}"
            found.append(Finding("giveaway-column", (), label=column, score=gain, reason=reason))
    yield from sorted(found, key=lambda one: -(one.score or 0.0))


def giveaway_words(texts: Sequence[str], labels: Sequence[Any]) -> Iterator[Finding]:
    """Words that nearly all texts of a label have, and next to none of the others.

    Parameters
    ----------
    texts : list of str
    labels : names, "" for none; or tuples of names
    """
    step = math.ceil(len(texts) / _MOST_TEXTS)
    chosen = [row for row in range(0, len(texts), max(step, 1)) if labels[row]]
    rows = {
        name: set(own)
        for name, own in _rows_of(labels, chosen).items()
        if _LEAST_TEXTS <= len(own) < len(chosen)
    }
    if not rows:
        return
    counter = CountVectorizer(binary=True, token_pattern=_WORDS, min_df=3, dtype=np.int32)
    try:
        found = counter.fit_transform([texts[row] for row in chosen]).tocsc()
    except ValueError:  # no word is in three texts
        return
    words, n_with = counter.get_feature_names_out(), np.diff(found.indptr)
    for name, own in rows.items():
        inside = np.array([row in own for row in chosen])
        hits = inside.astype(np.int32) @ found
        recall, precision = hits / inside.sum(), hits / n_with
        is_name = np.array([word.strip("[]<>#{}()") == name.casefold() for word in words])
        strong = (recall >= _RECALL) & (precision >= _PRECISION)
        strong |= is_name & (recall >= _NAME_RECALL) & (precision >= _NAME_PRECISION)
        for j in np.flatnonzero(strong)[np.argsort(-hits[strong], kind="stable")][:3].tolist():
            others = f"{n_with[j] - hits[j]:,} of other labels"
            reason = f"{words[j]!r} is in {recall[j]:.0%} of the texts of {name!r}, and in {others}"
            yield Finding("giveaway-word", (), name, str(words[j]), float(recall[j] * precision[j]), reason)


def _rows_of(labels: Sequence[Any], chosen: Sequence[int]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row in chosen:
        own = labels[row]
        for name in own if isinstance(own, tuple) else (own,):
            rows.setdefault(name, []).append(row)
    return dict(sorted(rows.items()))


def _gain(read: Callable[[Any], Any], values: Sequence[Any], given: Sequence[str], first: Bools) -> float:
    """How much of what the most frequent label gets wrong is told by what one half says of the other."""
    keys = [read(value) for value in values]
    if len({key for key in keys if key is not None}) < 2:
        return 0.0
    usual = Counter(given).most_common(1)[0]
    right = 0
    tell = _nearest if isinstance(next(key for key in keys if key is not None), float) else _look_up
    for half in (first, ~first):
        known, asked = np.flatnonzero(half).tolist(), np.flatnonzero(~half).tolist()
        guesses = tell([(keys[i], given[i]) for i in known], [keys[i] for i in asked], usual[0])
        right += sum(guess == given[i] for guess, i in zip(guesses, asked, strict=True))
    return (right - usual[1]) / (len(given) - usual[1])


def _look_up(known: list[tuple[Any, str]], asked: list[Any], usual: str) -> list[str]:
    labels: dict[Any, Counter[str]] = {}
    for key, label in known:
        if key is not None:
            labels.setdefault(key, Counter())[label] += 1
    return [labels[key].most_common(1)[0][0] if key in labels else usual for key in asked]


def _nearest(known: list[tuple[Any, str]], asked: list[Any], usual: str) -> list[str]:
    pairs = sorted((key, label) for key, label in known if key is not None)
    if not pairs:
        return [usual] * len(asked)
    keys = np.array([key for key, _ in pairs])
    wanted = np.array([np.inf if key is None else key for key in asked])
    above = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    below = np.maximum(above - 1, 0)
    nearer = np.where(wanted - keys[below] <= keys[above] - wanted, below, above)
    return [
        usual if key is None else pairs[place][1] for key, place in zip(asked, nearer.tolist(), strict=True)
    ]


def _value(value: Any) -> str | None:
    return None if value is None or value == "" else str(value)


def _prefix(value: Any) -> str | None:
    match = re.match(r"[^\d\s]+", str(value)) if value is not None else None
    return match[0] if match else None


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) and not isinstance(value, bool) else None


_VIEWS: list[tuple[Callable[[Any], Any], str]] = [
    (_value, "values"),
    (_prefix, "leading letters"),
    (_number, "nearest numbers"),
]
