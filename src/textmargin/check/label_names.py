"""Labels that may be one label, and labels with very few texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._system.wording import quantity
from .findings import Finding

_FEW = 5  # texts, below which a label cannot be held out fold by fold
_MOST_OF_A_SLIP = 0.05  # a misspelt label has at most so large a share of the right one's texts
_SHORTEST = 5  # characters of labels whose letters are compared: shorter ones are often codes


def label_rows(labels: Sequence[Any]) -> dict[str, list[int]]:
    """The rows of each label, in order of the labels; rows without one are nobody's."""
    rows: dict[str, list[int]] = {}
    for row, own in enumerate(labels):
        for name in own if isinstance(own, tuple) else (own,):
            if name:
                rows.setdefault(name, []).append(row)
    return dict(sorted(rows.items()))


def odd_label_names(rows: Mapping[str, Sequence[int]]) -> Iterator[Finding]:
    """Labels that differ by case, blanks or a hyphen, or by a letter from one that is far more common; and
    rare labels.

    Parameters
    ----------
    rows : the rows of each label, as `label_rows` gives them
    """
    by_form: dict[str, list[str]] = {}
    for name in rows:
        by_form.setdefault(_form(name), []).append(name)
    likely_slips = set()
    for names in by_form.values():
        best = max(names, key=lambda name: len(rows[name]))  # the first of those that are equal
        for name in names:
            if name != best:
                likely_slips.add(name)
                yield _spelling(name, best, rows, "differ by case, blanks or signs only")
    for name in rows:
        others = [
            other
            for other in rows
            if len(rows[name]) <= _MOST_OF_A_SLIP * len(rows[other]) and _one_slip(name, other)
        ]
        if name not in likely_slips and others:
            likely_slips.add(name)
            yield _spelling(name, max(others, key=lambda other: len(rows[other])), rows, "one letter apart")
    for name, own in rows.items():
        if len(own) < _FEW and name not in likely_slips:
            yield Finding("few-texts", tuple(own), name, reason=quantity(len(own), "text"))


def _spelling(name: str, best: str, rows: Mapping[str, Sequence[int]], how: str) -> Finding:
    reason = f"{name!r} ({len(rows[name]):,}) and {best!r} ({len(rows[best]):,}) {how}"
    return Finding("label-spelling", tuple(rows[name]), name, best, reason=reason)


def _form(name: str) -> str:
    return re.sub(r"[\s_\-./]+", " ", name.casefold()).strip()


def _one_slip(a: str, b: str) -> bool:
    """Whether one letter is another, too many, missing, or in its neighbour's place; digits are no slips."""
    a, b = _form(a), _form(b)
    if a == b or min(len(a), len(b)) < _SHORTEST or abs(len(a) - len(b)) > 1:
        return False
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if any(char.isdigit() for char in a[start : start + 1] + b[start : start + 1]):
        return False
    rests = (a[start + 1 :] == b[start + 1 :], a[start + 1 :] == b[start:], a[start:] == b[start + 1 :])
    swapped = a[start : start + 2] == b[start : start + 2][::-1] and a[start + 2 :] == b[start + 2 :]
    return any(rests) or swapped
