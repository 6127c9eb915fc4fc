"""Texts that are kept out of training, to say afterwards how good a model is: at random, or the last by a
column.

At random every label keeps a text to learn from, labels have their shares on both sides, and a text that
occurs several times is on one of them: it would be known again, not judged.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from .._typing import Bools, Floats, Indices
from ..datasets.corpus import Corpus, field_values
from ..errors import TableError
from ..labels import shorten
from ..representations.digests import Digests, text_digests

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# 26-FEB-1987 15:01:01.79, as Reuters has it; in some of its files control characters and a desk's letters
# follow.
_MONTH_NAMED = re.compile(rf"(\d{{1,2}})-({'|'.join(_MONTHS)})-(\d{{4}})( [\d:.]+)?(?:&#.*)?", re.IGNORECASE)
# the day first, as wherever dots are usual
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,? (\d{1,2})(:[\d:.]+))?")


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
    names: dict[Any, int] = {}
    codes = np.array([names.setdefault(own, len(names)) for own in corpus.labels], dtype=np.intp)
    return _parts(corpus, hold_out_at_random(text_digests(corpus.texts), codes, list(names), share))


def hold_out_at_random(digests: Digests, codes: Indices, names: Sequence[Any], share: float) -> Bools:
    """Which texts (n_texts,) are held out, by their digests and their labels: numbers of names, or of tuples
    of names.
    """
    _, group = np.unique(digests, return_inverse=True)
    n_groups = int(group.max(initial=-1)) + 1
    sets = [frozenset(own if isinstance(own, tuple) else (own,)) for own in names]
    place = {own: code for code, own in reversed([*enumerate(sets)])}
    own_set = np.zeros(n_groups, dtype=np.intp)
    pairs = np.unique(group.ravel() * len(names) + codes)
    numbers, labels = np.divmod(pairs, max(len(names), 1))
    own_set[numbers] = labels
    # texts that are the same with several labels, or sets of them
    several = np.unique(numbers[1:][numbers[1:] == numbers[:-1]])
    starts, ends = (np.searchsorted(numbers, several, side=side).tolist() for side in ("left", "right"))
    for g, start, end in zip(several.tolist(), starts, ends, strict=True):
        joint = frozenset().union(*(sets[code] for code in labels[start:end].tolist()))
        own_set[g] = place.setdefault(joint, len(sets))
        sets += [joint] if own_set[g] == len(sets) else []
    n_texts = np.bincount(own_set, minlength=len(sets)).tolist()
    counts: Counter[str] = Counter()
    for own, n in zip(sets, n_texts, strict=True):
        counts.update(dict.fromkeys(own, n))
    counts += Counter()  # without labels that no text has any more
    rarest = [min(((counts[label], label) for label in own), default=(0, "")) for own in sets]
    rank = np.unique(np.array([f"{n:020}{label}" for n, label in rarest]), return_inverse=True)[1].ravel()
    shuffled = np.random.default_rng(0).permutation(n_groups)
    # Beside others of its rarest label, so that every n-th is a share of each.
    order = shuffled[np.argsort(rank[own_set[shuffled]], kind="stable")]
    training_labels: set[str] = set()
    needed = []
    for place_of_first, code in sorted(zip(*np.unique(own_set[order], return_index=True)[::-1], strict=True)):
        if not sets[code] <= training_labels:
            training_labels |= sets[code]
            needed.append(place_of_first)
    others = np.delete(order, needed)
    n_out = round(share * n_groups)
    if not 0 < n_out <= len(others):
        raise TableError(
            f"holdout={share:g} of {n_groups:,} different texts with {len(counts):,} labels would leave "
            f"{'none to evaluate on' if not n_out else 'a label without a text to learn from'}; choose "
            "another share."
        )
    steps = np.arange(len(others) + 1) * n_out // len(others)
    held_out = np.zeros(n_groups, dtype=bool)
    held_out[others[np.diff(steps) > 0]] = True
    return held_out[group.ravel()]


def split_by(corpus: Corpus, column: str, share: float) -> tuple[Corpus, Corpus, Any]:
    """The texts to train on, those held out, the last by a column, and the value of this column that these
    start with.

    Parameters
    ----------
    corpus : Corpus, with labels, and the column among its fields
    column : str
        Numbers, or dates: ISO 8601, with or without a time, or as in 26-FEB-1987 or 26.02.1987.
    share : float
        Of the texts that are held out; more, where several have the value they start with.
    """
    check_share(share)
    keys, _ = sort_keys(corpus, column)
    held_out = hold_out_last(np.array(keys), corpus.name, column, share)
    train, test = _parts(corpus, held_out)
    require_labels(train.classes, test.classes, column, share)
    return train, test, corpus.fields[column][keys.index(min(np.array(keys)[held_out]))]


def hold_out_last(keys: Floats, name: str, column: str, share: float) -> Bools:
    """Which texts (n_texts,) are held out, the last by what a column is sorted by."""
    n_out = round(share * len(keys))
    start = np.sort(keys)[-n_out] if n_out else None
    if start is None or start == keys.min():
        raise TableError(
            f"holdout={share:g} by {column!r} would leave no text to "
            f"{'evaluate on' if start is None else 'learn from'}: "
            f"{name} has {len(keys):,} texts, {np.count_nonzero(keys == keys.min()):,} of them with the "
            "first value; "
            f"take another share."
        )
    return np.asarray(keys >= start)


def require_labels(train: Collection[str], test: Sequence[str], column: str, share: float) -> None:
    """An error for labels that only texts have that are held out."""
    new = [label for label in test if label not in set(train)]
    if new:
        raise TableError(
            f"All texts of {shorten(new, 3)} are among the last {share:.0%} by {column!r}, so that there "
            "would be none to learn "
            f"{'it' if len(new) == 1 else 'them'} from; choose a smaller holdout=, leave split_by= out, "
            "or leave out such texts."
        )


def _parts(corpus: Corpus, held_out: Any) -> tuple[Corpus, Corpus]:
    return corpus.take(np.flatnonzero(~held_out).tolist()), corpus.take(np.flatnonzero(held_out).tolist())


def sort_keys(corpus: Corpus, column: str) -> tuple[list[float], str]:
    """What the values of a column are ordered by: numbers, or seconds; and which of these they are, all of
    one kind.
    """
    keys, kinds = [], set()
    for line, value in zip(corpus.ids, field_values(corpus, column, "split_by"), strict=True):
        for kind, parse in (("numbers", _number), ("dates", _seconds)):
            try:
                keys.append(parse(value))
            except (ValueError, TypeError):
                continue
            kinds.add(kind)
            break
        else:
            raise TableError(
                f"Line {line} of {corpus.name}: {column!r} is {value!r:.60}, neither a number nor a date "
                "such as 1987-02-26, "
                "1987-02-26T15:01:01, 26-FEB-1987 15:01:01 or 26.02.1987 15:01; mend it or choose "
                "another column with split_by=."
            )
    if len(kinds) > 1:
        raise TableError(
            f"Column {column!r} of {corpus.name} has both numbers and dates; choose another with split_by=."
        )
    return keys, next(iter(kinds), "numbers")


def _number(value: Any) -> float:
    number = float(value)
    if isinstance(value, bool) or not math.isfinite(number):
        raise ValueError(value)
    return number


def _seconds(value: Any) -> float:
    """Since 1970."""
    return read_date(value).timestamp()


def read_date(value: Any) -> datetime:
    """The moment that a value stands for, or a ValueError; a date without a time zone is taken for one of
    UTC.
    """
    text = value.isoformat() if isinstance(value, date) else " ".join(str(value).split())
    if named := _MONTH_NAMED.fullmatch(text):
        day, month, year, time = named.groups()
        text = f"{year}-{_MONTHS.index(month.lower()) + 1:02}-{int(day):02}{time or ''}"
    elif dotted := _DOTTED.fullmatch(text):
        day, month, year, hour, rest = dotted.groups()
        text = f"{year}-{int(month):02}-{int(day):02}" + (f" {int(hour):02}{rest}" if hour else "")
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
