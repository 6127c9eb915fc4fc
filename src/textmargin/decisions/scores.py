"""The scores that thresholds are set on, and probabilities and estimates rest on: what a model keeps of its training texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from .._typing import Bools, Floats, Indices
from ..labels import ClassLabels

Method = Literal["loo", "cv", "train"]

_MOST_ENTRIES = 2_000_000  # texts times classes that are all held; of more only what a threshold can need
_PER_POSITIVE, _AT_LEAST = 20, 1000  # rejected texts of a class that can need, the highest first
_BEST_CLASSES = 8  # of a text with one label


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Labels and scores of the training texts, by models that did not know the text.

    Attributes
    ----------
    positive : array (n_texts, n_problems) of bool
        Which texts belong to each class; of two classes one column, that of the positive one.
    scores : array (n_texts, n_problems)
        For the class of the column; NaN where there is none, since a fold's training texts lacked the class.
    method : {"loo", "cv", "train"}
        By models without the text itself, or without its fold; or by the model of all texts, which flatters.
    few_columns : array (n_few,)
        Classes with too few positives for held-out scores to mean anything.
    few_scores : array (n_texts, n_few)
        Their training scores.
    weight : array (n_texts,), or None
    shared_length : array (n_texts,), or None
        Of a text's row of unit length, what is left without the terms that no other text has (`_unseen_terms.py`).
    intercept : array (n_problems,), or None
        The score of a text without a term, where the model is linear.
    """

    positive: Bools
    scores: Floats
    method: Method
    few_columns: Indices
    few_scores: Floats
    weight: Floats | None = None
    shared_length: Floats | None = None
    intercept: Floats | None = None

    @classmethod
    def of(
        cls,
        positive: Bools,
        held_out: Floats,
        trained: Floats,
        method: Method,
        labels: ClassLabels,
        few_positives: int,
        weight: Floats | None,
    ) -> HeldOutScores:
        """From scores of the estimator as they come."""
        held_out, trained = labels.sign * held_out, labels.sign * trained
        n_held_out = (positive & ~np.isnan(held_out)).sum(axis=0)
        few = np.flatnonzero(n_held_out < max(few_positives, 1))
        scores = cls(positive, held_out, method, few, trained[:, few], weight)
        return scores.compress(labels.kind == "multiclass") if held_out.size > _MOST_ENTRIES else scores

    def __len__(self) -> int:
        return len(self.positive)

    @property
    def n_held_out(self) -> Indices:
        """How many positives of each class have a held-out score."""
        return np.asarray((self.positive & ~np.isnan(self.scores)).sum(axis=0))

    @property
    def truth(self) -> Indices:
        """The class of each text, where it has one."""
        return np.asarray(self.positive.argmax(axis=1))

    def complete(self) -> Floats:
        """Scores without gaps: where there is none, the lowest of the class, which decides nothing."""
        lowest = np.nanmin(np.where(np.isnan(self.scores), np.inf, self.scores), axis=0)
        return np.where(np.isnan(self.scores), np.where(np.isfinite(lowest), lowest, 0.0), self.scores)

    def as_new(self) -> Floats:
        """Scores without gaps, as the texts would have them if they were new: without the terms that no other text has."""
        scores = self.complete()
        if self.shared_length is None or self.intercept is None:
            return scores
        known = (self.shared_length > 0)[:, None]
        length = np.where(known, self.shared_length[:, None], 1.0)
        return np.where(known, self.intercept + (scores - self.intercept) / length, self.intercept)

    def part(self, rows: Indices | Bools) -> HeldOutScores:
        """Some of the texts."""
        names = ("positive", "scores", "few_scores", "weight", "shared_length")
        some: dict[str, Any] = {name: own[rows] for name in names if (own := getattr(self, name)) is not None}
        return replace(self, **some)

    def compress(self, one_label: bool) -> HeldOutScores:
        """Without what no threshold needs: low scores are raised to the lowest that matters, and pack to nothing in a file."""
        scores = self.scores.astype(np.float32)
        if one_label:
            n_best = min(_BEST_CLASSES, scores.shape[1])
            floor = np.partition(np.nan_to_num(scores, nan=-np.inf), -n_best, axis=1)[:, -n_best][:, None]
        else:
            n_needed = np.maximum(_AT_LEAST, _PER_POSITIVE * self.positive.sum(axis=0))
            ordered = -np.sort(-np.where(self.positive, -np.inf, scores), axis=0)  # NaN comes last
            floor = ordered[np.minimum(n_needed, len(scores) - 1), np.arange(scores.shape[1])]
        raised = np.where(self.positive | ~(scores < floor), scores, floor)
        return replace(self, scores=raised.astype(np.float64))
