"""All texts by one model: their scores, what is decided on them, and which are nearest to a tie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Bools, Indices
from ..labels import Decisions
from .deciding import Deciding
from .model import LinearModel
from .queue import tie_leads

_N_TIES = 200  # nearest ties of all texts that join the pool
_AT_ONCE = 10_000  # texts that are decided on at once, so that other threads have their turn


@dataclass(frozen=True, eq=False)
class AllTexts:
    """Scores of all texts (n_texts, n_problems), in single precision, what is decided on them, and the
    nearest ties.
    """

    model: LinearModel
    scores: Any
    n_predicted: Indices
    n_decided: int
    n_unsure: int
    n_none: int
    ties: Indices
    deciding: Deciding

    @classmethod
    def of(cls, model: LinearModel, scores: Any, deciding: Deciding) -> AllTexts:
        """From the scores of all texts."""
        n_classes, n = model.labels.names.size, len(scores)
        predicted, n_decided, n_unsure = np.zeros(n_classes, dtype=np.intp), 0, 0
        if not model.decides or deciding.labels.names.size != n_classes:
            return cls(model, scores, predicted, 0, 0, n, np.empty(0, dtype=np.intp), deciding)
        for decided in _decide_in_parts(deciding, scores):
            predicted += decided.accepted.sum(axis=0)
            unsure = decided.unsure.any(axis=1)
            n_unsure += int(unsure.sum())
            n_decided += int((decided.accepted.any(axis=1) & ~unsure).sum())
        leads = tie_leads(model.labels, scores, model.known)
        ties = np.argpartition(leads, min(_N_TIES, n - 1))[:_N_TIES] if n > _N_TIES else np.arange(n)
        return cls(
            model, scores, predicted, n_decided, n_unsure, n - n_decided - n_unsure, np.sort(ties), deciding
        )

    def accepted(self) -> Bools:
        """What each text is given, (n_texts, n_classes)."""
        return np.concatenate([decided.accepted for decided in _decide_in_parts(self.deciding, self.scores)])


def _decide_in_parts(deciding: Deciding, scores: Any) -> Iterator[Decisions]:
    for begin in range(0, len(scores), _AT_ONCE):
        yield deciding.decide(scores[begin : begin + _AT_ONCE].astype(np.float64))
