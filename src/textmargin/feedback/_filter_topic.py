"""One topic of an `AdaptiveFilter`: judged texts, the model they make, and the threshold on its scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._typing import Bools, Floats
from ..learners.primal import PriorSVC
from ._chance import Chance

# Read off, like the defaults, on every second of 47 topics of Reuters-21578; docs/filtering.md reports on the
# others.
# of an unjudged text, in training, where a judged one costs 1: some of them are hits nobody saw
_BACKGROUND_COST = 0.3
# how many false alarms all unjudged texts together count as, in the chance of a hit
_BACKGROUND_JUDGED = 10.0
_REACH = 1.0  # how far below the threshold exploring may go: half the distance between the margins


@dataclass
class FilterTopic:
    """What is known of a topic: judged texts, first to last, with their held-out scores, and what follows
    from them.
    """

    learner: PriorSVC
    background: sp.csr_matrix
    rows: list[sp.csr_matrix]
    truth: Bools
    scores: Floats
    background_scores: Floats
    threshold: float
    lowest: float  # to explore from
    n_waited: int  # texts since exploring last failed
    n_failed: int = 0  # explored and no hit, or not yet judged
    n_trained: tuple[int, int] = (0, 0)  # hits and false alarms
    n_judged: int = 0
    n_hits: int = 0

    def add(self, rows: sp.csr_matrix, truth: Bools) -> None:
        """Further judged texts, scored by a model that does not know them."""
        self.rows.append(rows)
        self.truth = np.append(self.truth, truth)
        self.scores = np.append(self.scores, self.learner.decision_function(rows))
        self.n_judged += truth.size
        self.n_hits += int(truth.sum())

    def has_news(self, growth: float) -> bool:
        """Whether hits or false alarms, of those in memory, have grown enough since the model was trained."""
        hits, false_alarms = self.n_trained
        n_hits = int(self.truth.sum())
        return n_hits - hits > growth * hits or self.truth.size - n_hits - false_alarms > max(
            growth * false_alarms, 1.0
        )

    def train(self, memory: int) -> None:
        """The model, from where it stands, and leave-one-out scores of all it was trained on: the latest of
        either kind.
        """
        recent = np.sort(
            np.concatenate([np.flatnonzero(self.truth)[-memory:], np.flatnonzero(~self.truth)[-memory:]])
        )
        judged, self.truth = sp.csr_matrix(sp.vstack(self.rows))[recent], self.truth[recent]
        self.rows, n = [judged], recent.size
        X = sp.vstack([judged, self.background]).tocsr()
        y = np.append(self.truth, np.zeros(self.background.shape[0], dtype=bool)).astype(int)
        cost = np.append(np.ones(n), np.full(self.background.shape[0], _BACKGROUND_COST))
        held_out = self.learner.fit(X, y, sample_weight=cost).loo_decision_function()
        self.scores, self.background_scores = held_out[:n], held_out[n:]
        self.n_trained = int(self.truth.sum()), n - int(self.truth.sum())

    def set_threshold(self, log_odds: float, exploration: float) -> None:
        """Where a hit has these odds, and how far below it may be so."""
        n_background = self.background_scores.size
        chance = Chance.fit(
            np.append(self.scores, self.background_scores),
            np.append(self.truth, np.zeros(n_background)).astype(np.float64),
            np.append(
                np.ones(self.truth.size), np.full(n_background, _BACKGROUND_JUDGED / max(n_background, 1))
            ),
        )
        self.threshold = chance.threshold(log_odds)
        self.lowest = (
            chance.optimistic_threshold(log_odds, exploration, _REACH) if exploration else self.threshold
        )
