"""Texts whose label and whose held-out prediction differ: a label that may be wrong, or a text that says
something new.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._ties import descending_order
from .._typing import Bools, Floats
from .answers import LabelledTexts
from .deciding import Deciding, complete


class DisputedText(NamedTuple):
    """A text, its labels and the predicted ones by class, and by how much the prediction leads."""

    text: int
    label: Bools
    predicted: Bools
    lead: float


def disputed_texts(
    answers: LabelledTexts, held_out: Floats, deciding: Deciding, n: int
) -> list[DisputedText]:
    """The n with the largest lead, from held-out scores of the answers (n_answers, n_problems)."""
    scored = np.flatnonzero(~np.isnan(held_out).all(axis=1)) if len(answers) else np.empty(0, dtype=np.intp)
    if not scored.size:
        return []
    columns = complete(held_out[scored])
    decided, member = deciding.decide(columns), answers.member[scored]
    predicted, scores = decided.accepted, decided.scores
    wrong = (predicted != member).any(axis=1) & ~decided.unsure.any(axis=1)
    if answers.labels.multilabel:
        lead = np.where(predicted != member, np.abs(scores), 0.0).max(axis=1)
    else:
        own = np.where(member, scores, -np.inf).max(axis=1)
        lead = np.where(predicted, scores, -np.inf).max(axis=1) - own
    places = np.flatnonzero(wrong & np.isfinite(lead))
    best = places[descending_order(lead[places])[:n]]
    return [
        DisputedText(int(answers.rows[scored[i]]), member[i], predicted[i], float(lead[i]))
        for i in best.tolist()
    ]
