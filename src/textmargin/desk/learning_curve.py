"""The learning curve: what decisions on the random sample are worth after so many labels, and where it goes.

For some numbers m of labels, the first m that were given are learnt from. Texts are in five parts. Each part
is scored by a model of the labels outside of it, and decided on by thresholds that were set on these, as the
desk sets them: a point is what the desk would have brought with four fifths of m labels, on the texts of the
random sample. The values are fitted by

    U(m) = a − b·m^(−c)        b ≥ 0,   a at most what deciding all rightly is worth

with the c of a few that fits best, the smallest of which is nearly a logarithm. The next labels bring U(n +
20) − U(n) a text.

The interval of what is to be expected is that of draws of the sample's texts, the same ones at all m, so that
what a text is by itself does not count, with noise as large as the points are off a smooth curve: one set of
labels is luckier than another. What 20 labels bring in one case has that noise once more, and what a text
that the sample lacks may change: a sample that is decided without a mistake does not say that there are none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .._typing import Bools, Floats, Indices
from .answers import LabelledTexts
from .corpus import TextColumns
from .deciding import FEWEST, Costs, Deciding, best_worth
from .keywords import KeywordPriors
from .learning import BackgroundFit, score_held_out

N_NEXT = 20
_FEWEST_LABELS = 12
_N_SIZES, _FIRST, _N_FOLDS, _N_DRAWS = 5, 1 / 4, 5, 400  # the first point is at a quarter of the labels
_MOST_TESTED = 300  # texts of the sample
_EXPONENTS = (0.02, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
_LEVEL = 0.9


@dataclass(frozen=True)
class CurvePoint:
    """What decisions were worth, per text, after so many labels, with a 90 % interval."""

    n_labels: int
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LabelGain:
    """What more labels add, per text.

    Attributes
    ----------
    value : float, what is to be expected
    low, high : float, a 90 % interval of what they bring in one case
    most : float, the upper end of what is to be expected
    """

    value: float
    low: float
    high: float
    most: float


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Held-out worth over the number of labels.

    Attributes
    ----------
    sizes : array (n_sizes,), numbers of labels
    worths : array (n_texts, n_sizes), of each text of the random sample
    best : float, what deciding all rightly would be worth a text
    learnt : float, of so large a part of the labels each point was learnt
    costs : what decisions were worth when it was drawn
    """

    sizes: Indices
    worths: Floats
    best: float
    learnt: float = 1.0
    costs: Costs = field(default_factory=dict)

    @cached_property
    def points(self) -> list[CurvePoint]:
        """The points with intervals over the texts of the sample."""
        means = self._draws()
        low, high = np.quantile(means, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2], axis=0)
        values = self.worths.mean(axis=0)
        return [
            CurvePoint(int(m), *map(float, own))
            for m, *own in zip(self.sizes, values, low, high, strict=True)
        ]

    @cached_property
    def next_gain(self) -> LabelGain | None:
        """What the next labels add; None where the curve is too short to tell."""
        return self.gain(N_NEXT)

    def gain(self, n_more: int) -> LabelGain | None:
        """What so many more labels add; None where the curve is too short to tell."""
        if self.sizes.size < 3:
            return None
        error, _ = self._continue(self.worths.mean(axis=0), n_more)
        spread = np.sqrt(error * self.sizes.size / (self.sizes.size - 2))
        rng, drawn = np.random.default_rng(1), self._draws()
        left = np.maximum(self.best - drawn[:, -1], 0.0)  # no more is to be had
        noise = rng.normal(0.0, spread, (_N_DRAWS, self.sizes.size))
        expected = np.minimum([self._continue(own, n_more)[1] for own in drawn + noise], left)
        # what a single text that the sample lacks may change
        one = float(np.ptp(self.worths)) / len(self.worths)
        brought = np.minimum(expected + rng.normal(0.0, np.hypot(spread, one / 2), _N_DRAWS), left + one)
        value = float(expected.mean())
        low, high = np.quantile(brought, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
        most = float(np.quantile(expected, (1 + _LEVEL) / 2))
        return LabelGain(value, float(min(low, value)), float(max(high, value)), max(most, value))

    def _draws(self) -> Floats:
        """Means over texts drawn with replacement, (n_draws, n_sizes)."""
        rng, n = np.random.default_rng(0), len(self.worths)
        return np.asarray(rng.multinomial(n, np.full(n, 1 / n), _N_DRAWS) @ self.worths / n)

    def _continue(self, values: Floats, n_more: int) -> tuple[float, float]:
        """Of the curve that fits best, how far points are from it (mean square), and U(n + n_more) − U(n)."""
        m, n = self.sizes * self.learnt, float(self.sizes[-1])
        weight = m / m.sum()  # the end of the curve is what is continued
        found = []
        for c in _EXPONENTS:
            x = m**-c
            mean_x, mean_u = weight @ x, weight @ values
            b = max(-(weight @ ((x - mean_x) * (values - mean_u))) / (weight @ (x - mean_x) ** 2), 0.0)
            a = mean_u + b * mean_x
            # No curve rises beyond what deciding all rightly is worth; a logarithm would, but not within the
            # next labels.
            if a > self.best and c >= _EXPONENTS[1]:
                a, b = self.best, max(float(weight @ (x * (self.best - values)) / (weight @ x**2)), 0.0)
            found.append((float(weight @ (a - b * x - values) ** 2), b * (n**-c - (n + n_more) ** -c)))
        return min(found)


def learning_curve(
    texts: TextColumns,
    answers: LabelledTexts,
    knowledge: KeywordPriors,
    learnt: BackgroundFit,
    unlabelled: Indices,
    costs: Costs,
) -> LearningCurve | None:
    """From a quarter of the labels to all; None where there are too few, or too few of them at random."""
    sample = np.flatnonzero(answers.sample)
    if sample.size < FEWEST and np.count_nonzero(answers.given) >= FEWEST:
        sample = np.flatnonzero(answers.sample | answers.given)
    n = len(answers)
    if n < _FEWEST_LABELS or sample.size < FEWEST:
        return None
    sample = sample[np.linspace(0, sample.size - 1, min(sample.size, _MOST_TESTED)).astype(np.intp)]
    tested = np.isin(np.arange(n), sample)
    fold = np.random.default_rng(0).permutation(np.arange(n) % _N_FOLDS)
    sizes = np.unique(np.geomspace(max(_FIRST * n, 6), n, _N_SIZES).round().astype(np.intp))
    worths = np.empty((sample.size, sizes.size))
    for j, m in enumerate(sizes.tolist()):
        first = np.arange(n) < m
        scores = np.full((n, answers.labels.n_problems), np.nan)
        for number in range(_N_FOLDS):
            own, rest = (
                (first | tested) & (fold == number),
                answers.take(np.flatnonzero(first & (fold != number))),
            )
            scores[own] = score_held_out(texts, rest, learnt, knowledge, unlabelled, answers.rows[own])
        worths[:, j] = _held_out_worths(answers, scores, first, fold, costs)[sample]
    best = best_worth(answers.labels, Deciding.of(answers, scores, costs).utilities, answers.member[sample])
    return LearningCurve(sizes, worths, best, 1 - 1 / _N_FOLDS, costs)


def _held_out_worths(
    answers: LabelledTexts, scores: Floats, first: Bools, fold: Indices, costs: Costs
) -> Floats:
    """Of each answer with scores, by thresholds from the first answers of the other folds; NaN of the
    others.
    """
    found = np.full(len(answers), np.nan)
    for number in range(_N_FOLDS):
        own, rest = (
            np.flatnonzero((fold == number) & ~np.isnan(scores).all(axis=1)),
            np.flatnonzero(first & (fold != number)),
        )
        deciding = Deciding.of(answers.take(rest), scores[rest], costs)
        found[own] = deciding.worths(scores[own], answers.member[own])
    return found
