"""The scores that thresholds are set on, and probabilities and estimates rest on: what a model keeps of its
training texts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from .._typing import Bools, Floats, Indices
from ..labels import ClassLabels
from ..records import record

Method = Literal["loo", "cv", "mixed", "train"]

_MOST_ENTRIES = 2_000_000  # texts times classes that are all held; of more only what a threshold can need
_PER_POSITIVE, _AT_LEAST = 20, 1000  # rejected texts of a class that can need, the highest first
_BEST_CLASSES = 8  # of a text with one label
_LEAST_LENGTH = 0.3  # however few of a text's terms others have
_RARE = 2_000  # texts of a class that are all in a sample
_ROWS_AT_ONCE = 1 << 18


@record()
@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Labels and scores of the training texts, by models that did not know the text.

    A `TextClassifier` joins texts that occur again with the same label: these are one here, with the weight
    of all.

    Attributes
    ----------
    positive : array (n_texts, n_problems) of bool
        Which texts belong to each class; of two classes one column, that of the positive one.
    scores : array (n_texts, n_problems), in single precision where it is compressed
        For the class of the column; NaN where there is none, since a fold's training texts lacked the class.
    method : {"loo", "cv", "mixed", "train"}
        By models without the text itself, or without its fold; or by the model of all texts, which flatters.
    few_columns : array (n_few,)
        Classes with too few positives for held-out scores to mean anything.
    few_scores : array (n_texts, n_few)
        Their training scores.
    weight : array (n_texts,), or None
        Where a text may have several labels and their mix has changed, (n_texts, n_problems): for each class
        another.
    shared_length : array (n_texts,), or None
        Of a text's row of unit length, what is left without the terms that no other text has
        (`held_out.shared_length`).
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
        scores = cls(
            positive,
            held_out if labels.sign > 0 else -held_out,
            method,
            np.empty(0, dtype=np.intp),
            np.empty(0),
            weight,
        )
        few = np.flatnonzero(scores.n_held_out < max(few_positives, 1))
        scores = replace(scores, few_columns=few, few_scores=labels.sign * trained[:, few])
        return scores.compress(labels.kind == "multiclass") if scores.is_large else scores

    def __len__(self) -> int:
        return len(self.positive)

    @property
    def is_large(self) -> bool:
        """Whether only what a threshold can need is held."""
        return self.positive.size > _MOST_ENTRIES

    @property
    def n_held_out(self) -> Indices:
        """How many positives of each class have a held-out score."""
        return np.array([self.count_held_out(k) for k in range(self.positive.shape[1])], dtype=np.intp)

    def count_held_out(self, k: int) -> int:
        """The same of one class."""
        return int(np.count_nonzero(self.positive[:, k] & ~np.isnan(self.scores[:, k])))

    @property
    def truth(self) -> Indices:
        """The class of each text, where it has one."""
        return np.asarray(self.positive.argmax(axis=1))

    def complete(self) -> Floats:
        """Scores without gaps: where there is none, the lowest of the class, which decides nothing."""
        if not np.isnan(self.scores).any():
            return self.scores
        lowest = np.nanmin(np.where(np.isnan(self.scores), np.inf, self.scores), axis=0)
        return np.where(np.isnan(self.scores), np.where(np.isfinite(lowest), lowest, 0.0), self.scores)

    def class_weight(self, k: int) -> Floats | None:
        """The weights of the texts where class k is decided on."""
        return self.weight if self.weight is None or self.weight.ndim == 1 else self.weight[:, k]

    def part(self, rows: Indices | Bools) -> HeldOutScores:
        """Some of the texts."""
        names = ("positive", "scores", "few_scores", "weight", "shared_length")
        some: dict[str, Any] = {name: own[rows] for name in names if (own := getattr(self, name)) is not None}
        return replace(self, **some)

    def sample(self, n_texts: int) -> HeldOutScores:
        """About so many of the texts: all of the rare classes, and of the others a share, with weights that
        make up for it.
        """
        if len(self) <= n_texts:
            return self
        rare = self.positive.sum(axis=0) <= _RARE
        always = self.positive[:, rare].any(axis=1)
        share = max(n_texts - always.sum(), 1) / max((~always).sum(), 1)
        # wraps: spread evenly over all numbers
        number = np.arange(len(self), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        chosen = always | (number < np.uint64(min(share, 1.0) * 2**63) * np.uint64(2))
        factor = np.where(always, 1.0, 1 / min(share, 1.0))[chosen]
        part = self.part(chosen)
        return replace(part, weight=factor if part.weight is None else (part.weight.T * factor).T)

    def compress(self, one_label: bool) -> HeldOutScores:
        """Without what no threshold needs: low scores are raised to the lowest that matters, and pack to
        nothing in a file.
        """
        # a class after the other, without copies of all of them
        scores: Any = self.scores.astype(np.float32, order="F")
        for own, positive in zip(scores.T, self.positive.T, strict=True):
            if not one_label:
                n_needed = max(_AT_LEAST, _PER_POSITIVE * int(np.count_nonzero(positive)))
                highest = np.sort(-own[~positive & ~np.isnan(own)])
                floor = -highest[n_needed] if n_needed < highest.size else np.float32(-np.inf)
                own[~positive & (own < floor)] = floor
        if one_label:
            for start in range(0, len(scores), _ROWS_AT_ONCE):
                rows = slice(start, start + _ROWS_AT_ONCE)
                floors = _next_best(scores[rows])
                scores[rows] = np.where(self.positive[rows] | ~(scores[rows] < floors), scores[rows], floors)
        return replace(self, scores=scores)

    def as_new(self) -> Floats:
        """Scores without gaps, as the texts would have them if they were new: without the terms that no other
        text has.
        """
        scores = self.complete()
        if self.shared_length is None or self.intercept is None or self.is_large:
            return scores
        length = np.maximum(self.shared_length, _LEAST_LENGTH)[:, None]
        return np.asarray(self.intercept + (scores - self.intercept) / length)

    def align(self, new_scores: Floats, one_label: bool) -> Floats:
        """Scores of new texts (n_new, n_problems), raised as those here were if they are compressed, to be
        compared with them.
        """
        if not self.is_large:
            return new_scores
        if one_label:
            return np.maximum(new_scores, _next_best(new_scores))
        return np.fmax(new_scores, np.nanmin(np.where(self.positive, np.inf, self.scores), axis=0))


def _next_best(scores: Floats) -> Floats:
    """Per text the lowest score that can matter, (n_texts, 1)."""
    n_best = min(_BEST_CLASSES, scores.shape[1])
    floor: Floats = np.partition(np.nan_to_num(scores, nan=-np.inf), -n_best, axis=1)[:, -n_best][:, None]
    return floor
