"""What the next labels are worth: the learning curve of held-out utility, continued, times the texts that are still to decide.

The curve: for some numbers m of labels, the first m that were given are learnt from, and the random sample is decided on, each
text by a model that did not know its label. Its values are fitted by

    U(m) = a − b·m^(−c)        b ≥ 0,   a at most what deciding all rightly is worth

and the next 20 labels are worth U(n + 20) − U(n) a text. The interval is that of draws of the sample's texts, the same ones at
all m, so that what a text is by itself does not count, with noise as large as the points are off a smooth curve; each draw takes
the c of a few that fits it best. It is an interval of what is to be expected: what 20 labels bring in one case varies by more.

They are not worth their price where even the upper end is below what the reader's minutes cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Floats, Indices
from .answers import LabelledTexts
from .corpus import TextColumns
from .deciding import FEWEST, Costs, Deciding, best_worth, worth_of_each
from .keywords import KeywordPriors
from .learning import BackgroundFit, score_held_out

N_NEXT = 20
_FEWEST_IN_SAMPLE = 20
_FEWEST_LABELS = 12
_N_SIZES, _N_FOLDS, _N_DRAWS = 5, 3, 400
_MOST_TESTED = 300  # texts of the sample
_EXPONENTS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
_LEVEL = 0.9


@dataclass(frozen=True)
class CurvePoint:
    """What decisions were worth, per text, after so many labels, with a 90 % interval."""

    n_labels: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Held-out worth over the number of labels.

    Attributes
    ----------
    sizes : array (n_sizes,), numbers of labels
    worths : array (n_texts, n_sizes), of each text of the random sample
    best : float, what deciding all rightly would be worth a text
    """

    sizes: Indices
    worths: Floats
    best: float

    def points(self) -> list[CurvePoint]:
        """With intervals over the texts of the sample."""
        means = self._draws()
        low, high = np.quantile(means, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2], axis=0)
        values = self.worths.mean(axis=0)
        return [CurvePoint(int(m), *map(float, own)) for m, *own in zip(self.sizes, values, low, high, strict=True)]

    def gain(self, n_more: int = N_NEXT) -> tuple[float, float, float] | None:
        """What so many more labels add a text: the value and its interval; None where the curve is too short to tell."""
        if self.sizes.size < 3:
            return None
        error, _ = _continue(self.sizes, self.worths.mean(axis=0), self.best, n_more)
        # How far the points lie from a smooth curve is how much luckier one set of labels is than another.
        spread = np.sqrt(error * self.sizes.size / (self.sizes.size - 2))
        noise = np.random.default_rng(1).normal(0.0, 1.0, (_N_DRAWS, self.sizes.size)) * spread
        drawn = self._draws()
        draws = np.array([_continue(self.sizes, own, self.best, n_more)[1] for own in drawn + noise])
        draws = np.minimum(draws, np.maximum(self.best - drawn[:, -1], 0.0))  # no more is to be had
        low, high = np.quantile(draws, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
        value = float(draws.mean())
        return value, float(min(low, value)), float(max(high, value))

    def _draws(self) -> Floats:
        """Means over texts drawn with replacement, (n_draws, n_sizes)."""
        rng, n = np.random.default_rng(0), len(self.worths)
        return np.asarray(rng.multinomial(n, np.full(n, 1 / n), _N_DRAWS) @ self.worths / n)


def _continue(sizes: Indices, values: Floats, best: float, n_more: int) -> tuple[float, float]:
    """Of the curve that fits best, how far points are from it (mean square), and U(n + n_more) − U(n)."""
    m, n = sizes.astype(float), float(sizes[-1])
    weight = m / m.sum()  # the end of the curve is what is continued
    found = []
    for c in _EXPONENTS:
        x = m**-c
        mean_x, mean_u = weight @ x, weight @ values
        b = max(-(weight @ ((x - mean_x) * (values - mean_u))) / (weight @ (x - mean_x) ** 2), 0.0)
        a = mean_u + b * mean_x
        if a > best:  # no curve rises beyond what deciding all rightly is worth
            a, b = best, max(float(weight @ (x * (best - values)) / (weight @ x**2)), 0.0)
        found.append((float(weight @ (a - b * x - values) ** 2), b * (n**-c - (n + n_more) ** -c)))
    return min(found)


def learning_curve(
    texts: TextColumns, answers: LabelledTexts, knowledge: KeywordPriors, learnt: BackgroundFit, unlabelled: Indices, costs: Costs
) -> LearningCurve | None:
    """From the first label to the last; None where there are too few, or too few of them at random."""
    sample = np.flatnonzero(answers.sample)
    if sample.size < FEWEST and np.count_nonzero(answers.given) >= FEWEST:
        sample = np.flatnonzero(answers.sample | answers.given)
    if len(answers) < _FEWEST_LABELS or sample.size < FEWEST:
        return None
    sample = sample[np.linspace(0, sample.size - 1, min(sample.size, _MOST_TESTED)).astype(np.intp)]
    fold = np.random.default_rng(0).permutation(np.arange(sample.size) % _N_FOLDS)
    n = len(answers)
    sizes = np.unique(np.geomspace(max(n / 8, 6), n, _N_SIZES).round().astype(np.intp))
    test, member = answers.take(sample), answers.member[sample]
    worths = []
    for m in sizes.tolist():
        columns = np.empty((sample.size, answers.labels.n_problems))
        for number in range(_N_FOLDS):
            out = sample[fold == number]
            rest = answers.take(np.setdiff1d(np.arange(m), out))
            columns[fold == number] = score_held_out(texts, rest, learnt, knowledge, unlabelled, answers.rows[out])
        worths.append(_held_out_worths(test, columns, costs))
    deciding = Deciding.of(test, columns, costs)
    best = best_worth(deciding.rule.labels, deciding.utilities, member)
    return LearningCurve(sizes, np.column_stack(worths), best)


def _held_out_worths(test: LabelledTexts, columns: Floats, costs: Costs) -> Floats:
    """Of each text, with thresholds that were set on the others' halves: none is decided on by what it set itself."""
    found = np.empty(len(test))
    half = np.arange(len(test)) % 2 == 0
    whole = Deciding.of(test, columns, costs)
    for own in (half, ~half):
        if whole.utilities is None or np.count_nonzero(~own) < FEWEST:
            found[own] = whole.worths(columns[own], test.member[own])
            continue
        other = Deciding.of(test.take(~own), columns[~own], costs)
        decided = other.decide(columns[own])
        found[own] = worth_of_each(other.rule.labels, other.utilities, test.member[own], decided)
    return found


@dataclass(frozen=True)
class Worth:
    """What the next labels bring and cost, for the texts that are still to decide.

    Attributes
    ----------
    n : int, labels
    gain, low, high : float or None, in the currency of the costs, or in texts that are decided rightly; None: it cannot be told
    minutes, price : float or None
    stop : bool, whether even the upper end does not pay
    text : str, the same in a sentence
    """

    n: int
    gain: float | None
    low: float | None
    high: float | None
    minutes: float | None
    price: float | None
    stop: bool
    text: str


def next_worth(
    curve: LearningCurve | None,
    *,
    n_sample: int,
    n_left: int,
    money: bool,
    currency: str,
    seconds: float | None,
    minute: float | None,
) -> Worth:
    """Of the next 20 labels.

    Parameters
    ----------
    curve : LearningCurve or None
    n_sample : int, labelled texts that were drawn at random
    n_left : int, texts without a label, which the model decides on
    money : bool, whether the curve is in a currency
    currency : str
    seconds : float or None, the annotator's pace, for one label
    minute : float or None, what a minute of the annotator costs
    """
    minutes = None if seconds is None else N_NEXT * seconds / 60
    price = None if minutes is None or minute is None else minutes * minute
    time = "" if minutes is None else f"; they cost you {_minutes(minutes)}"
    time += "" if price is None else f" ({_money(price, currency)})"
    gain = None if curve is None or len(curve.worths) < _FEWEST_IN_SAMPLE else curve.gain()
    if gain is None:
        n_more = _FEWEST_IN_SAMPLE - n_sample
        why = "it is being worked out"
        if n_more > 0:
            why = f"about {n_more} more text{'s' if n_more > 1 else ''} drawn at random {'are' if n_more > 1 else 'is'} needed"
        text = f"What the next {N_NEXT} labels are worth cannot be told yet: {why}"
        return Worth(N_NEXT, None, None, None, minutes, price, stop=False, text=f"{text}{time}.")
    value, low, high = (n_left * one for one in gain)
    stop = bool(high < price) if money and price is not None else n_left == 0 or (not money and high < 0.5)
    what = f"{_money(value, currency)}" if money else f"{value:,.0f} more texts decided rightly"
    text = (
        f"The next {N_NEXT} labels are worth about {what} on the {n_left:,} texts without a label, as the learning curve goes; "
        f"a single step may bring more or less{time}."
    )
    if stop:
        text += " More labels would not pay."
    return Worth(N_NEXT, value, low, high, minutes, price, stop, text)


def _minutes(minutes: float) -> str:
    if minutes < 1:
        return "less than a minute"
    return f"{minutes:.0f} minute{'s' if round(minutes) != 1 else ''}"


def _money(amount: float, currency: str) -> str:
    digits = 2 if abs(amount) < 10 else 0
    return f"{amount:,.{digits}f} {currency}".strip()
