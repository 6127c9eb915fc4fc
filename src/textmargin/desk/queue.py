"""Which text comes next: a third where classes are nearest, a third balanced and diverse, a third at random.

The first texts are mostly balanced, since nothing can be near or measured before each class is met; the other
two catch up until, soon after 300 texts, each has had a third. While a class has not been met, every second
balanced text looks for it: one unlike those that were read, or at random where texts may have no class or
several, since most of those unlike the others have none then.

*Tie*: the smallest lead of the best class over the second, of the nearest few that between the classes with
the fewest labels; with several labels a text, the one nearest to the threshold of the label that has the
fewest.

*Balanced*: the class with the fewest labels, of those that are known; of the texts that are most likely its
own, the one least like the texts that were labelled before. Before there is a model, the text most like many
others and least like those labelled.

*Random*: one fixed order of all texts, whatever the model says.

Ties and balance are looked for in a pool of candidates: texts in another fixed order, and the nearest ties of
all texts as soon as these are scored. Copies come up once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np

from .._ties import ROUNDING, descending_order, first_maximum
from .._typing import Bools, Floats, Indices
from ..labels import ClassLabels
from .answers import LabelledTexts
from .corpus import TextColumns
from .model import LinearModel

SOURCES = ("balanced", "tie", "random")
# of the sources at the start, and texts after which each has a third
_FIRST_SHARES, _LEVEL_AFTER = (0.9, 0.0, 0.1), 300
POOL = 2_000  # candidates
_N_LIKELY = 20  # texts of a class among which the least familiar is taken
_N_TIES = 10  # nearest ties among which that of the rarest classes is taken
_N_REFERENCE = 300  # texts that say which ones are like many others
WHY = {
    "tie": "The two best classes were nearest here when it was chosen.",
    "balanced": "A class with few labels so far, and unlike the texts read before.",
    "random": "Drawn at random: quality is measured on these.",
}


@cache
def _turns(n: int) -> tuple[str, ...]:
    """The sources of the first n texts: always the one that is furthest behind its share."""
    counts, found = dict.fromkeys(SOURCES, 0), []
    for place in range(n):
        late = min(place / _LEVEL_AFTER, 1.0)
        behind = {
            name: ((1 - late) * first + late / len(SOURCES)) * (place + 1) - counts[name]
            for name, first in zip(SOURCES, _FIRST_SHARES, strict=True)
        }
        name = max(behind, key=lambda one: round(behind[one], 9))
        counts[name] += 1
        found.append(name)
    return tuple(found)


def has_met_all(model: LinearModel) -> bool:
    """Whether something is known of every class: before, nothing is asked because it is near."""
    return bool(model.decides and model.known.all())


def source_of(n: int) -> str:
    """Why the next text comes up, after n."""
    if n < 2 * _LEVEL_AFTER:
        return _turns(2 * _LEVEL_AFTER)[n]
    return SOURCES[n % len(SOURCES)]


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

    def choose(
        self,
        source: str,
        free: Bools,
        pool: Indices,
        scores: Floats,
        model: LinearModel,
        answers: LabelledTexts,
        thresholds: Floats | None = None,
    ) -> tuple[int, str]:
        """A text whose turn is a source's, and the source that it came from in the end.

        Parameters
        ----------
        source : str, one of `SOURCES`
        free : array (n_texts,) of bool, texts that may come up, at least one
        pool : array, candidates among them
        scores : array (n_candidates, n_problems), theirs
        model : LinearModel
        answers : LabelledTexts
        thresholds : array (n_problems,), default=None
        """
        if source == "tie" and not has_met_all(model):
            source = "balanced"
        looks_further = source == "balanced" and not has_met_all(model) and len(answers) % 2 == 1
        if source == "random" or not pool.size or (looks_further and model.labels.kind != "multiclass"):
            return int(self.order[free[self.order]][0]), "random"
        if source == "tie":
            return self.tie(pool, scores, model, answers, thresholds), "tie"
        if looks_further or not model.decides:
            return self.central(pool, answers.rows), "balanced"
        return self.balanced(pool, scores, model, answers), "balanced"

    def tie(
        self,
        pool: Indices,
        scores: Floats,
        model: LinearModel,
        answers: LabelledTexts,
        thresholds: Floats | None,
    ) -> int:
        """The candidate with the smallest lead; of the nearest few the one between the classes with the
        fewest labels.
        """
        counts = answers.member.sum(axis=0)
        if model.labels.multilabel:  # each label is a decision of its own: those with few labels come first
            k = _rarest(counts, model.known)
            columns = scores if thresholds is None else scores - thresholds
            nearest = descending_order(-np.abs(columns[:, k]))[:_N_TIES]
            familiar = self._familiarity(pool[nearest], answers.rows)
            return int(pool[nearest[int(first_maximum(-familiar, ROUNDING))]])
        leads = tie_leads(model.labels, scores, model.known, thresholds)
        nearest = descending_order(-leads)[:_N_TIES]
        best = np.argsort(-model.labels.class_scores(scores[nearest]), axis=1, kind="stable")[:, :2]
        together = counts[best].sum(axis=1)
        return int(pool[nearest[int(np.argmin(together))]])

    def balanced(self, pool: Indices, scores: Floats, model: LinearModel, answers: LabelledTexts) -> int:
        """The candidate that is most likely of the class with the fewest labels, and unlike those that were
        labelled.
        """
        class_scores = model.labels.class_scores(scores)
        known = np.ones(class_scores.shape[1], dtype=bool) if model.labels.kind == "binary" else model.known
        k = _rarest(answers.member.sum(axis=0), known)
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
    """How clear each text is, (n_texts,): the lead of its best class over the second, or the label nearest to
    its threshold.
    """
    if labels.kind != "multiclass":
        columns = scores if thresholds is None else scores - thresholds
        return np.asarray(np.abs(columns[:, known]).min(axis=1)) if known.any() else np.zeros(len(scores))
    own = scores[:, known]
    if own.shape[1] < 2:
        return np.zeros(len(scores))
    two = np.partition(own, -2, axis=1)[:, -2:]
    return np.asarray(two[:, 1] - two[:, 0])


def _rarest(counts: Indices, known: Bools) -> int:
    """The class with the fewest labels, of those that are known; the first of several."""
    return int(np.where(known, counts, np.iinfo(np.intp).max).argmin())


def _leads_for(class_scores: Floats, k: int) -> Floats:
    """By how much a class leads the best other, or falls short of it."""
    others = np.delete(class_scores, k, axis=1)
    return np.asarray(class_scores[:, k] - others.max(axis=1)) if others.shape[1] else class_scores[:, k]
