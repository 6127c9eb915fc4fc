"""One label a text: what an answer, and none, is worth, and what every threshold of one class would change.

With thresholds θ the answer is k* = argmax_k (s_k − θ_k) where s_k* ≥ θ_k*, else *unsure*; where every text
must get an answer, k* alone. Its utility is that of the table truth × answer: for measures that add up
(`Utility`) the sum over texts of

    right       tp_y + Σ_{j≠y} tn_j
    wrong, k    fn_y + fp_k + Σ_{j≠y,k} tn_j
    unsure      fn_y + Σ_{j≠y} tn_j; at a price for asking, ask_y + the worth of the right answer (a person's)

and for others the mean of the measures of the classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._ties import ROUNDING
from .._typing import Bools, Floats, Indices
from ..labels import best_class
from .utility import Measure, Utility

# cuts of a sweep whose measures do not add up: so many at the top and around the one in use, ever fewer
# elsewhere
_NEAR = 60


@dataclass(frozen=True)
class Sweep:
    """Utilities as texts turn, those of the highest margin first, from one answer to another.

    Attributes
    ----------
    order : array (n_texts,), the texts, those of the highest margin first
    margins : array (n_texts,), theirs
    cuts : array (n_cuts,), how many texts have turned
    utility : array (n_cuts,)
    resolution : float, by how much a threshold past the first or the last margin is past it
    """

    order: Indices
    margins: Floats
    cuts: Indices
    utility: Floats
    resolution: float

    def threshold(self, place: int) -> float:
        """A threshold between the margins that have turned and the others: the middle of the gap, just past
        the ends.
        """
        cut = int(self.cuts[place])
        if cut == 0:
            return float(self.margins[0]) + self.resolution
        if cut == self.margins.size:
            return float(self.margins[-1]) - self.resolution
        return float(self.margins[cut] + self.margins[cut - 1]) / 2

    def place(self, theta: float) -> int:
        """The cut that a threshold makes."""
        n_turned = np.searchsorted(-self.margins, -theta, side="right")
        return int(np.searchsorted(self.cuts, n_turned))


@dataclass(frozen=True)
class Standing:
    """Per text the class furthest above its threshold, the next one, and how far they are above it."""

    first: Indices
    lead: Floats
    second: Indices
    second_lead: Floats

    @property
    def leads(self) -> tuple[Floats, Floats]:
        """Without the best class, and with it."""
        return self.second_lead, self.lead


@dataclass(frozen=True)
class SingleLabelTexts:
    """Texts of one label each, with held-out scores.

    Attributes
    ----------
    truth : array (n_texts,), the class of each
    scores : array (n_texts, n_classes)
    measures : tuple of measures, one per class
    always_answer : bool
    weight : array (n_texts,), or None
    """

    truth: Indices
    scores: Floats
    measures: tuple[Measure, ...]
    always_answer: bool = False
    weight: Floats | None = None

    def __len__(self) -> int:
        return self.truth.size

    @property
    def n_classes(self) -> int:
        return self.scores.shape[1]

    def part(self, rows: Indices | Bools) -> SingleLabelTexts:
        """Some of the texts."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, truth=self.truth[rows], scores=self.scores[rows], weight=weight)

    @cached_property
    def table(self) -> Floats | None:
        """The worth of an answer (n_classes, n_classes + 1), unsure being the last; None where measures do
        not add up.
        """
        utilities = tuple(measure for measure in self.measures if isinstance(measure, Utility))
        return answer_table(utilities) if len(utilities) == len(self.measures) else None

    @property
    def rounding(self) -> float:
        """By how much utilities may differ that are equal."""
        if self.table is None:
            return ROUNDING
        return (
            ROUNDING
            * len(self)
            * float(np.abs(self.table).max())
            * (1.0 if self.weight is None else self.weight.max())
        )

    @cached_property
    def resolution(self) -> float:
        """From where on two margins are apart: well beyond the rounding that decisions forgive beside the
        largest score.
        """
        return 8 * ROUNDING * float(np.abs(self.scores[np.isfinite(self.scores)]).max(initial=1.0))

    def answers(self, thresholds: Floats) -> Indices:
        """The class that each text is given; n_classes where the answer is unsure."""
        above = self.scores - thresholds
        best = best_class(above)
        if self.always_answer:
            return best
        sure = above[np.arange(len(self)), best] >= -ROUNDING
        return np.where(sure, best, self.n_classes)

    def text_utilities(self, answers: Indices) -> Floats | None:
        """What each text's answer is worth; None where measures do not add up."""
        if self.table is None:
            return None
        worth: Floats = self.table[self.truth, answers]
        return worth if self.weight is None else self.weight * worth

    def utility(self, thresholds: Floats) -> float:
        """What the decisions are worth."""
        answers = self.answers(thresholds)
        worth = self.text_utilities(answers)
        if worth is not None:
            return float(worth.sum())
        counts = _Counts.of(self, answers)
        return float(self._mean(counts.tp[None], counts.accepted[None], counts)[0])

    def standing(self, thresholds: Floats) -> Standing:
        """The best two classes of every text."""
        above = self.scores - thresholds
        rows = np.arange(len(self))
        first = above.argmax(axis=1)
        lead = above[rows, first]
        above[rows, first] = -np.inf
        second = above.argmax(axis=1)
        return Standing(first, lead, second, above[rows, second])

    def sweep_class(self, k: int, standing: Standing, theta: float) -> Sweep:
        """The utility of every threshold of class k while the others stay; `theta` is the one it has."""
        is_first = standing.first == k
        other, lead = (
            np.where(is_first, a, b) for a, b in ((standing.second, standing.first), standing.leads)
        )
        if self.always_answer:
            margins = self.scores[:, k] - lead
        else:
            margins = self.scores[:, k] - np.maximum(lead, 0.0)
            other = np.where(lead >= -ROUNDING, other, self.n_classes)
        return self.sweep(margins, other, np.full(len(self), k), theta)

    def sweep(self, margins: Floats, before: Indices, after: Indices, theta: float | None = None) -> Sweep:
        """The utility of turning from the answers before to those after, text by text, those of the highest
        margin first.
        """
        order = np.argsort(-margins, kind="stable")
        ordered, before, after, truth = margins[order], before[order], after[order], self.truth[order]
        weight = None if self.weight is None else self.weight[order]
        # Margins turn together whose gap has no room for a threshold that decisions tell from both.
        apart = ordered[:-1] - ordered[1:] > 2 * self.resolution
        cuts = np.concatenate([[0], np.flatnonzero(apart) + 1, [ordered.size]])
        if self.table is not None:
            own = self.table[truth, before]
            gain = self.table[truth, after] - own
            if weight is not None:
                own, gain = weight * own, weight * gain
            return Sweep(
                order, ordered, cuts, own.sum() + np.append(0.0, np.cumsum(gain))[cuts], self.resolution
            )
        cuts = cuts[
            _some(cuts.size, 0 if theta is None else int(np.searchsorted(-ordered[cuts[:-1]], -theta)))
        ]
        ranked = replace(self, truth=truth, scores=self.scores[:0], weight=weight)
        return Sweep(order, ordered, cuts, ranked._cut_utilities(cuts, before, after), self.resolution)

    def _cut_utilities(self, cuts: Indices, before: Indices, after: Indices) -> Floats:
        """Utilities at some cuts, where measures do not add up: from the counts of every class there."""
        counts = _Counts.of(self, before)
        # after which cut a text turns
        stretch = np.searchsorted(cuts, np.arange(self.truth.size), side="right") - 1
        n, shape = self.n_classes, (cuts.size, self.n_classes + 1)
        weight = np.ones(self.truth.size) if self.weight is None else self.weight

        def moved(answers: Indices, rows: Bools | slice) -> Floats:
            flat = stretch[rows] * (n + 1) + answers[rows]
            turned = np.bincount(flat, weight[rows], shape[0] * shape[1]).reshape(shape)
            return np.vstack([np.zeros((1, n)), np.cumsum(turned, axis=0)[:-1, :n]])

        every = slice(None)
        tp = counts.tp + moved(after, after == self.truth) - moved(before, before == self.truth)
        accepted = counts.accepted + moved(after, every) - moved(before, every)
        return self._mean(tp, accepted, counts)

    def _mean(self, tp: Floats, accepted: Floats, counts: _Counts) -> Floats:
        fp, fn = accepted - tp, counts.total - tp
        tn = counts.n - counts.total - fp
        values = np.empty(tp.shape)
        for measure in set(self.measures):
            own = [k for k, one in enumerate(self.measures) if one == measure]
            values[:, own] = measure(tp[:, own], fp[:, own], fn[:, own], tn[:, own])
        defined = ~np.isnan(values)
        return np.asarray(np.where(defined, values, 0.0).sum(axis=1) / np.maximum(defined.sum(axis=1), 1))


@dataclass(frozen=True)
class _Counts:
    """Of each class: texts, texts accepted, and rightly so."""

    total: Floats
    accepted: Floats
    tp: Floats
    n: float

    @classmethod
    def of(cls, texts: SingleLabelTexts, answers: Indices) -> _Counts:
        n, weight = texts.n_classes, texts.weight
        right = answers == texts.truth
        return cls(
            np.bincount(texts.truth, weight, n).astype(np.float64),
            np.bincount(answers, weight, n + 1)[:n].astype(np.float64),
            np.bincount(texts.truth[right], None if weight is None else weight[right], n).astype(np.float64),
            float(texts.truth.size if weight is None else weight.sum()),
        )


def answer_table(utilities: tuple[Utility, ...]) -> Floats:
    """The worth of each answer to each truth (n_classes, n_classes + 1); the last column is unsure."""
    tp, fp, fn, tn = np.array([[one.tp, one.fp, one.fn, one.tn] for one in utilities]).T
    unsure = fn + tn.sum() - tn
    right = tp + tn.sum() - tn
    table = unsure[:, None] + (fp - tn)[None, :]
    np.fill_diagonal(table, right)
    asked = np.array(
        [u if one.ask is None else r + one.ask for one, u, r in zip(utilities, unsure, right, strict=True)]
    )
    return np.column_stack([table, asked])


def _some(n_cuts: int, near: int) -> Indices:
    """Places of cuts to look at."""
    wide = np.geomspace(1, max(n_cuts - 1, 1), 2 * _NEAR).astype(np.intp)
    places = np.concatenate([np.arange(_NEAR), np.arange(near - _NEAR, near + _NEAR), wide, [0, n_cuts - 1]])
    return np.unique(places[(places >= 0) & (places < n_cuts)])
