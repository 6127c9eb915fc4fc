"""Texts that occur more than once: repeated, nearly the same, under different labels, or on both sides of a
test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._typing import Indices
from .findings import Finding
from .near_duplicates import NearDuplicates

SEVERAL = " | "  # between labels


def label_text(label: Any) -> str:
    """A label, or several, as text."""
    return SEVERAL.join(label) if isinstance(label, tuple) else label


def copies(duplicates: NearDuplicates, labels: Sequence[Any]) -> Iterator[Finding]:
    """Repeated and nearly the same texts, a finding for each group of them, and those that have different
    labels.

    Parameters
    ----------
    duplicates : NearDuplicates, of the texts
    labels : names, "" for none; or tuples of names
    """
    for rows in _groups(duplicates.same):
        yield Finding(
            "repeated", _rows(rows), _labels(labels, rows), reason=f"{len(rows):,} times the same text"
        )
    least = _least_similarity(duplicates)
    for rows in duplicates.groups():
        first = np.unique(duplicates.same[rows])
        if first.size > 1:
            reason = f"{first.size:,} texts, similarity from {least[int(rows[0])]:.2f}"
            yield Finding(
                "near-duplicate",
                _rows(first),
                _labels(labels, first),
                score=least[int(rows[0])],
                reason=reason,
            )
        given = Counter(labels[row] for row in rows.tolist() if labels[row] != "")
        if len(given) > 1:
            yield _contradiction(rows, labels, given, least.get(int(rows[0]), 1.0))


def leaks(duplicates: NearDuplicates, labels: Sequence[Any], test_labels: Sequence[Any]) -> Iterator[Finding]:
    """Texts of a test that are in training, the same ones first.

    Parameters
    ----------
    duplicates : NearDuplicates, of the training texts followed by those of the test
    labels, test_labels : names, "" for none; or tuples of names
    """
    n_train = len(labels)
    partner: dict[int, tuple[float, int]] = {}
    for (a, b), similarity in zip(duplicates.pairs.tolist(), duplicates.similarity.tolist(), strict=True):
        if a < n_train <= b:
            partner[b] = max(partner.get(b, (0.0, 0)), (similarity, -a))
    found = []
    for row in range(n_train, len(duplicates.same)):
        first = int(duplicates.same[row])
        near = partner.get(first)
        if first >= n_train and near is None:
            continue
        similarity, other = (1.0, first) if first < n_train or near is None else (near[0], -near[1])
        label, test_label = label_text(labels[other]), label_text(test_labels[row - n_train])
        under = f"under {label!r}" + (
            " on both sides" if label == test_label else f" in training, {test_label!r} in test"
        )
        how = "the same text" if first < n_train else f"nearly the same text, similarity {similarity:.2f}"
        found.append(
            Finding("leak", (other,), label, "", similarity, f"{how}, {under}", test_rows=(row - n_train,))
        )
    yield from sorted(found, key=lambda one: (-(one.score or 0.0), one.test_rows))


def _contradiction(rows: Indices, labels: Sequence[Any], given: Counter[Any], similarity: float) -> Finding:
    (first, n), (_, second) = given.most_common(2)
    suggestion = label_text(first) if n > second else ""
    counts = ", ".join(f"{label_text(name) or 'none'}: {count}" for name, count in given.most_common())
    how = "the same text" if similarity == 1.0 else f"similarity from {similarity:.2f}"
    return Finding(
        "contradiction", _rows(rows), _labels(labels, rows), suggestion, similarity, f"{how}, {counts}"
    )


def _groups(first: Indices) -> list[Indices]:
    """The rows of each group of several, which are told by their first."""
    order = np.argsort(first, kind="stable")
    return [rows for rows in np.split(order, np.flatnonzero(np.diff(first[order])) + 1) if rows.size > 1]


def _least_similarity(duplicates: NearDuplicates) -> dict[int, float]:
    """Per group, by its first text, the lowest similarity of a pair that joins it."""
    least: dict[int, float] = {}
    for (a, _), value in zip(duplicates.pairs.tolist(), duplicates.similarity.tolist(), strict=True):
        group = int(duplicates.group[a])
        least[group] = min(value, least.get(group, 1.0))
    return least


def _rows(rows: Indices) -> tuple[int, ...]:
    return tuple(rows.tolist())


def _labels(labels: Sequence[Any], rows: Indices) -> str:
    """The labels that some texts have, each once."""
    own = [labels[row] for row in rows.tolist()]
    names = [name for label in own for name in (label if isinstance(label, tuple) else (label,))]
    return SEVERAL.join(dict.fromkeys(name for name in names if name))
