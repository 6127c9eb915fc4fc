"""How far several annotators agree: Krippendorff's α for names, overall and per label, with bootstrap
intervals.

With n_uc the number of annotators who gave text u the value c, over the m_u ≥ 2 who labelled it, n_c = Σ_u
n_uc and n = Σ_c n_c,

    α = 1 − (n − 1) Σ_u d_u / Σ_c n_c (n − n_c),     d_u = Σ_c n_uc (m_u − n_uc) / (m_u − 1)

(Krippendorff 2011, "Computing Krippendorff's alpha-reliability", D): 1 where all agree, 0 where they agree as
by chance. Per label the values are whether a text has it; summed over labels, both sums are those of names.
Where a text may have several labels, α overall is that of these sums as well. Intervals are of 90 %, over
draws of texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .._typing import Floats, Indices

_N_DRAWS, _N_BLOCKS = 200, 10


@dataclass(frozen=True)
class LabelAgreement:
    """Agreement on one label: α, its 90 % interval (None where nobody, or everybody, gave the label), and its
    texts.
    """

    label: str
    alpha: float | None
    low: float | None
    high: float | None
    n_texts: int


@dataclass(frozen=True)
class AnnotatorAgreement:
    """One annotator against the others: of how many judgements of the same texts how large a share is
    another.
    """

    annotator: str
    n_texts: int
    n_compared: int
    different: float


@dataclass(frozen=True)
class Agreement:
    """Agreement of several annotators.

    Attributes
    ----------
    alpha, low, high : float or None
        Krippendorff's α overall with its 90 % interval; None where all labels are one.
    n_items : int, texts that two annotators or more labelled
    labels : list of LabelAgreement
    annotators : list of AnnotatorAgreement, those who differ most first
    """

    alpha: float | None
    low: float | None
    high: float | None
    n_items: int
    labels: list[LabelAgreement]
    annotators: list[AnnotatorAgreement]


def agreement(items: Sequence[Any], annotators: Sequence[Any], labels: Sequence[Any]) -> Agreement:
    """Agreement of annotators, a row per judgement.

    Parameters
    ----------
    items : what is labelled: an id, or the text itself
    annotators : who labelled it; of several rows of one annotator for an item the last counts
    labels : names, or tuples of names

    Examples
    --------
    >>> from textmargin.check.agreement import agreement
    >>> found = agreement([1, 1, 2, 2, 3, 3], ["a", "b"] * 3, ["x", "x", "y", "y", "x", "y"])
    >>> round(found.alpha, 3)
    0.444
    """
    judgements = {(item, who): own for item, who, own in zip(items, annotators, labels, strict=True)}
    sets = [own if isinstance(own, tuple) else (own,) for own in judgements.values()]
    names = sorted({name for own in sets for name in own})
    place = {name: column for column, name in enumerate(names)}
    order = {item: number for number, item in enumerate(dict.fromkeys(item for item, _ in judgements))}
    unit = np.array([order[item] for item, _ in judgements], dtype=np.intp)
    n_judges = np.bincount(unit)
    rows = np.repeat(unit, [len(own) for own in sets])
    columns = np.array([place[name] for own in sets for name in own], dtype=np.intp)
    counts = csr_array((np.ones(rows.size), (rows, columns)), shape=(n_judges.size, len(names)))
    pairable = np.flatnonzero(n_judges > 1)
    size, given = n_judges[pairable].astype(np.float64), counts[pairable]
    by_label = np.concatenate([_terms(given, size, weight) for weight in _weights(size.size)], axis=1)
    texts = np.diff(given.tocsc().indptr)
    return Agreement(
        *_with_interval(*by_label.sum(axis=2)),
        int(size.size),
        [
            LabelAgreement(str(name), *_with_interval(*by_label[:, :, k]), int(texts[k]))
            for k, name in enumerate(names)
        ],
        _annotators(judgements),
    )


def _weights(n_units: int) -> Iterator[Floats]:
    """How often each unit counts (n_draws, n_units): once each, then as draws have it; in blocks, for
    memory.
    """
    yield np.ones((1, n_units))
    rng = np.random.default_rng(0)
    for _ in range(_N_BLOCKS if n_units else 0):
        yield rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=_N_DRAWS // _N_BLOCKS).astype(
            np.float64
        )


def _terms(given: Any, size: Floats, weight: Floats) -> Floats:
    """Per draw and label (2, n_draws, n_labels) what stands above and below the line of α, less a factor of
    2.
    """
    differing = given.data * (np.repeat(size, np.diff(given.indptr)) - given.data)  # n_uc (m_u − n_uc)
    within = (weight / (size - 1)) @ csr_array((differing, given.indices, given.indptr), shape=given.shape)
    n, with_label = (weight @ size)[:, None], weight @ given
    return np.array([(n - 1) * within, with_label * (n - with_label)])


def _with_interval(observed: Floats, expected: Floats) -> tuple[float | None, float | None, float | None]:
    """α of all texts, and its interval over the draws of texts where it is defined."""
    if expected[0] <= 0:
        return None, None, None
    alpha = 1 - observed / np.where(expected > 0, expected, np.nan)
    defined = alpha[~np.isnan(alpha)]
    low, high = np.quantile(defined, [0.05, 0.95])
    return float(alpha[0]), float(low), float(high)


def _annotators(judgements: dict[tuple[Any, Any], Any]) -> list[AnnotatorAgreement]:
    by_item: dict[Any, list[tuple[Any, Any]]] = {}
    for (item, who), own in judgements.items():
        by_item.setdefault(item, []).append((who, frozenset(own) if isinstance(own, tuple) else own))
    counts: dict[Any, Indices] = {}  # texts, comparisons, differences
    for own in by_item.values():
        for who, label in own:
            n_different = sum(label != other for other_who, other in own if other_who != who)
            counts.setdefault(who, np.zeros(3, dtype=np.intp))[:] += (1, len(own) - 1, n_different)
    found = [
        AnnotatorAgreement(str(who), int(n), int(compared), float(different / compared) if compared else 0.0)
        for who, (n, compared, different) in counts.items()
    ]
    return sorted(found, key=lambda one: (-one.different, one.annotator))
