"""Which text comes next: a third where classes are nearest, a third balanced and diverse, a third at random.

*Tie*: the smallest lead of the best class over the second; with several labels a text, the label nearest to its threshold.

*Balanced*: the class with the fewest labels, of those that are known; of the texts that are most likely its own, the one least
like the texts that were labelled before. Before there is a model, the text most like many others and least like those labelled.

*Random*: one fixed order of all texts, whatever the model says.

Ties and balance are looked for in a pool of candidates: texts in another fixed order, and the nearest ties of all texts as soon
as these are scored. Copies come up once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._ties import ROUNDING, descending_order, first_maximum
from .._typing import Bools, Floats, Indices
from ..labels import ClassLabels
from .answers import Answers
from .corpus import TextColumns
from .model import LinearModel

SOURCES = ("balanced", "tie", "random")  # in turn
POOL = 2_000  # candidates
_N_LIKELY = 20  # texts of a class among which the least familiar is taken
_N_TIES = 5  # nearest ties among which the least familiar is taken
_N_REFERENCE = 300  # texts that say which ones are like many others
WHY = {
    "tie": "The two best classes are nearest here.",
    "balanced": "A class with few labels so far, and unlike the texts read before.",
    "random": "Drawn at random: quality is measured on these.",
}


@dataclass(eq=False)
class TextQueue:
    """The order of texts.

    Parameters
    ----------
    texts : TextColumns
    seed : int, default=0
    """

    texts: TextColumns
    seed: int = 0
    order: Indices = field(init=False)
    pool_order: Indices = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        self.order = rng.permutation(len(self.texts))
        self.pool_order = rng.permutation(len(self.texts))

    def pool(self, free: Bools, ties: Indices | None = None) -> Indices:
        """Candidates among free texts."""
        found = self.pool_order[free[self.pool_order]][:POOL]
        if ties is None or not ties.size:
            return found
        return np.union1d(found, ties[free[ties]])

    def random(self, free: Bools) -> int | None:
        """The next text at random."""
        found = self.order[free[self.order]]
        return int(found[0]) if found.size else None

    def tie(self, pool: Indices, scores: Floats, model: LinearModel, labelled: Indices, thresholds: Floats | None) -> int:
        """The candidate with the smallest lead; of the nearest few the one least like those labelled before."""
        leads = tie_leads(model.labels, scores, model.known, thresholds)
        nearest = descending_order(-leads)[:_N_TIES]
        familiar = self._familiarity(pool[nearest], labelled[-100:])
        return int(pool[nearest[int(first_maximum(-familiar, ROUNDING))]])

    def balanced(self, pool: Indices, scores: Floats, model: LinearModel, answers: Answers) -> int:
        """The candidate that is most likely of the class with the fewest labels, and unlike those that were labelled."""
        if not model.decides:
            return self.central(pool, answers.rows)
        class_scores = model.labels.class_scores(scores)
        known = np.ones(class_scores.shape[1], dtype=bool) if model.labels.kind == "binary" else model.known
        counts = np.where(known, answers.member.sum(axis=0), np.iinfo(np.intp).max)
        k = int(counts.argmin())
        relative = class_scores[:, k] if model.labels.multilabel else _leads_for(class_scores, k)
        likely = descending_order(relative)[:_N_LIKELY]
        familiar = self._familiarity(pool[likely], answers.rows)
        return int(pool[likely[int(first_maximum(-familiar, ROUNDING))]])

    def central(self, pool: Indices, labelled: Indices) -> int:
        """The candidate most like many others, and least like those that were labelled."""
        reference = pool[:_N_REFERENCE]
        central = self.texts.similarities(pool[:POOL], reference).mean(axis=1)
        familiar = self._familiarity(pool[:POOL], labelled)
        return int(pool[int(first_maximum(central * (1 - familiar), ROUNDING))])

    def _familiarity(self, rows: Indices, labelled: Indices) -> Floats:
        """How like each text is to the most similar one of those labelled, 0 without any."""
        if not labelled.size or not rows.size:
            return np.zeros(rows.size)
        return np.asarray(self.texts.similarities(rows, labelled).max(axis=1))


def tie_leads(labels: ClassLabels, scores: Floats, known: Bools, thresholds: Floats | None = None) -> Floats:
    """How clear each text is, (n_texts,): the lead of its best class over the second, or the label nearest to its threshold."""
    if labels.kind != "multiclass":
        columns = scores if thresholds is None else scores - thresholds
        return np.asarray(np.abs(columns[:, known]).min(axis=1)) if known.any() else np.zeros(len(scores))
    own = scores[:, known]
    if own.shape[1] < 2:
        return np.zeros(len(scores))
    two = np.partition(own, -2, axis=1)[:, -2:]
    return np.asarray(two[:, 1] - two[:, 0])


def _leads_for(class_scores: Floats, k: int) -> Floats:
    """By how much a class leads the best other, or falls short of it."""
    others = np.delete(class_scores, k, axis=1)
    return np.asarray(class_scores[:, k] - others.max(axis=1)) if others.shape[1] else class_scores[:, k]
