"""Several people at one desk: how far they agree, and how fast each of them is.

Per class, over every pair of annotators and all texts that both labelled, with p_o the share of texts on
which they agree whether the class applies, and p_a, p_b the shares of texts to which each gave it (Cohen
1960):

    κ = (p_o − p_e) / (1 − p_e),     p_e = p_a p_b + (1 − p_a)(1 − p_b)

Of several pairs, numerators and denominators are added up, each weighed by its texts. The labels that came
with the texts are nobody's: they are not counted.
"""

from __future__ import annotations

from itertools import combinations
from statistics import median
from typing import Any

from .acts import FILE
from .state import State

_Pair = list[tuple[tuple[str, ...], tuple[str, ...]]]


def agreement(state: State) -> list[dict[str, Any]]:
    """Per class `class`, `n_both` (texts, a pair at a time), `agreement` (None without any) and `kappa` (None
    where it is 0/0).

    Examples
    --------
    >>> from textmargin.desk.acts import Act
    >>> from textmargin.desk.people import agreement
    >>> from textmargin.desk.state import State
    >>> state = State({"classes": ["a", "b"], "multilabel": False, "n_texts": 2})
    >>> said = [("anna", 0, "a"), ("ben", 0, "a"), ("anna", 1, "b"), ("ben", 1, "b")]
    >>> for number, (name, text, label) in enumerate(said, start=1):
    ...     content = {"text": text, "labels": [label], "source": "random", "seconds": None}
    ...     state.apply(Act(str(number), name, "label", content, number=number))
    >>> agreement(state)[0]
    {'class': 'a', 'n_both': 2, 'agreement': 1.0, 'kappa': 1.0}
    """
    pairs = list(_pairs(state).values())
    return [{"class": name, **_agreement_on(name, pairs)} for name in state.classes]


def pace(state: State) -> list[dict[str, Any]]:
    """Per annotator `name`, `n_labels` that hold, and `seconds_median` of these (None without)."""
    own: dict[str, list[float | None]] = {act.annotator: [] for act in state.acts}
    for text in state.labelled_by_people():
        for name, label in state.labels[text].items():
            if name != FILE:
                own[name].append(label.seconds)
    found = []
    for name, every in own.items():
        seconds = [one for one in every if one is not None]
        middle = median(seconds) if seconds else None
        found.append({"name": name, "n_labels": len(every), "seconds_median": middle})
    return found


def _pairs(state: State) -> dict[tuple[str, str], _Pair]:
    """What each two annotators say of the texts that both labelled."""
    found: dict[tuple[str, str], _Pair] = {}
    for text in state.labelled_by_people():
        labels = state.labels[text]
        names = sorted(name for name in labels if name != FILE)
        for a, b in combinations(names, 2):
            found.setdefault((a, b), []).append((labels[a].labels, labels[b].labels))
    return found


def _agreement_on(name: str, pairs: list[_Pair]) -> dict[str, Any]:
    n_both = n_same = 0
    beyond = possible = 0.0
    for pair in pairs:
        n = len(pair)
        same = sum((name in a) == (name in b) for a, b in pair)
        n_a, n_b = (sum(name in both[k] for both in pair) for k in (0, 1))
        by_chance = (n_a * n_b + (n - n_a) * (n - n_b)) / n  # in texts: n p_e; exact where it is n
        n_both, n_same = n_both + n, n_same + same
        beyond, possible = beyond + same - by_chance, possible + n - by_chance
    kappa = beyond / possible if possible > 0 else None
    return {"n_both": n_both, "agreement": n_same / n_both if n_both else None, "kappa": kappa}
