"""What the desk decides, and how good that is: thresholds, probabilities and quality from held-out scores of
the random sample.

Costs move thresholds, and what is left to a person, without training (`decisions/threshold.py`). While the
sample is small, the other labelled texts help to set thresholds, at three tenths of the weight: they are not
like new texts, but thresholds set on twenty texts err by more (on desk, as `benchmarks/bench_desk.py` reads
them). Quality is of the sample alone, and nothing is said of it where that is too small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator

from .._ties import descending_order
from .._typing import Bools, Floats, Indices
from ..decisions.class_utilities import OTHERS, measures_of
from ..decisions.estimate import Estimate, estimate
from ..decisions.held_out import HeldOutRows
from ..decisions.rule import DecisionRule
from ..decisions.single_label import answer_table
from ..decisions.threshold import ThresholdClassifier
from ..decisions.utility import Utility
from ..errors import LabelError
from ..labels import ClassLabels, Decisions, Indicator
from .answers import LabelledTexts
from .model import OUT_OF_QUESTION

FEWEST = 10  # texts of a sample from which on anything is said
_ENOUGH = 150  # texts of a sample from which on thresholds rest on it alone
_OTHERS = 0.3  # what labelled texts beside a smaller sample count
_UNSEEN = 0.01  # of a text
_N_DRAWS = 300
_LEVEL = 0.9

Costs = Mapping[str, Mapping[str, float]]
Utilities = dict[str, Utility]


class GivenScores(BaseEstimator):
    """An estimator whose scores were computed before: its X are the scores."""

    def __init__(self, names: Any = ()) -> None:
        self.names = names
        self.classes_ = np.asarray(names)

    def fit(self, X: Any, y: Any = None) -> GivenScores:
        """Nothing to learn."""
        return self

    def decision_function(self, X: Any) -> Floats:
        """The scores as they are; a vector where there is one column."""
        X = np.asarray(X)
        return X[:, 0] if X.shape[1] == 1 else X

    def predict(self, X: Any) -> Any:
        """The class of the highest score."""
        return self.classes_[np.asarray(X).argmax(axis=1)]

    def __sklearn_is_fitted__(self) -> bool:
        return True


def utilities_of(costs: Costs, labels: ClassLabels) -> tuple[Utilities | None, str]:
    """What decisions on each class are worth; None, and why, where costs say nothing, or not of every
    class.
    """
    if not costs:
        return None, ""
    found = {
        name: Utility(own["hit"], own["false_alarm"], own["miss"], ask=own.get("ask"))
        for name, own in costs.items()
    }
    try:
        measures_of(found, labels)
    except LabelError:
        missing = [name for name in labels.text_names if name not in found]
        return (
            None,
            f"Costs say nothing of {missing[0]!r}: give its own, or those of all other classes ({OTHERS}).",
        )
    return found, ""


class DisputedText(NamedTuple):
    """A text whose label and held-out prediction differ: a label that may be wrong, or a text that says
    something new. Labels and predictions are by class.
    """

    text: int
    label: Bools
    predicted: Bools


@dataclass(frozen=True, eq=False)
class Deciding:
    """What decides on scores, and how well.

    Attributes
    ----------
    labels : ClassLabels
    rule : DecisionRule
    classifier : ThresholdClassifier or None, of the random sample alone, where there is one
    utilities : dict class → Utility, or None without costs
    places : array, which of the answers thresholds rest on
    unbiased : bool, whether these are the random sample
    note : str, what they are, in words
    """

    labels: ClassLabels
    rule: DecisionRule
    classifier: ThresholdClassifier | None
    utilities: Utilities | None
    places: Indices
    unbiased: bool
    note: str

    @classmethod
    def of(cls, answers: LabelledTexts, held_out: Floats, costs: Costs) -> Deciding:
        """From held-out scores of the answers (n_answers, n_problems); NaN for an answer that has none."""
        labels = answers.labels
        utilities, note = utilities_of(costs, labels)
        scored: Bools = (
            np.asarray(~np.isnan(held_out).all(axis=1)) if len(answers) else np.zeros(0, dtype=bool)
        )
        places, unbiased, basis = _basis(answers, scored)
        note = " ".join(part for part in (note, basis) if part)
        if places.size < FEWEST or labels.names.size < 2:
            return cls(labels, DecisionRule(labels), None, utilities, places, False, note)
        others = (
            np.flatnonzero(scored & ~np.isin(np.arange(len(answers)), places))
            if places.size < _ENOUGH
            else places[:0]
        )
        weighed = np.concatenate([places, others])
        weight = np.where(np.isin(weighed, places), 1.0, _OTHERS)
        rule = _fit(answers, weighed, weight, held_out, utilities).decision_rule(with_probabilities=True)
        sample = _fit(answers, places, np.ones(places.size), held_out, utilities) if unbiased else None
        return cls(labels, rule, sample, utilities, places, unbiased, note)

    def decide(self, columns: Floats, probabilities: bool = False) -> Decisions:
        """Decisions on texts with these scores, with probabilities where there are any."""
        return self.rule.decide(columns, probabilities and self.rule.calibration is not None)

    @property
    def thresholds(self) -> list[float | None]:
        """By class; None where nothing moved them."""
        own, n = self.rule.thresholds, self.labels.names.size
        if own is None or self.utilities is None:
            return [None] * n
        return [float(one) for one in self.labels.class_scores(np.atleast_2d(self.rule.labels.sign * own))[0]]

    @cached_property
    def quality(self) -> Estimate | None:
        """How good decisions will be on the other texts, where a random sample tells."""
        if self.classifier is None or not self.unbiased:
            return None
        return estimate(self.classifier, with_utility=self.utilities is not None)

    def f1_by_class(self, answers: LabelledTexts, held_out: Floats) -> list[dict[str, float] | None]:
        """F1 of each class on the random sample with its 90 % interval; None where no text of the sample has
        the class.
        """
        if self.classifier is None or not self.unbiased:
            return [None] * self.labels.names.size
        decided = self.decide(complete(held_out[self.places])).accepted
        truth = answers.member[self.places]
        rng = np.random.default_rng(0)
        weight = np.vstack(
            [np.ones(truth.shape[0]), rng.dirichlet(np.ones(truth.shape[0]), _N_DRAWS) * truth.shape[0]]
        )
        tp, wrong = weight @ (decided & truth), weight @ (decided ^ truth)
        f1 = 2 * tp / np.maximum(2 * tp + wrong, 1e-12)
        # half a mistake more, so that those not seen are possible
        unseen = rng.gamma(0.5, size=(_N_DRAWS, truth.shape[1]))
        f1[1:] = 2 * tp[1:] / np.maximum(2 * tp[1:] + wrong[1:] + unseen, 1e-12)
        low, high = np.quantile(f1[1:], [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2], axis=0)
        low, high = np.minimum(low, f1[0]), np.maximum(high, f1[0])
        return [
            {"f1": float(f1[0, k]), "low": float(low[k]), "high": float(high[k])}
            if truth[:, k].any()
            else None
            for k in range(truth.shape[1])
        ]

    def disputed(self, answers: LabelledTexts, held_out: Floats, n: int) -> list[DisputedText]:
        """The n answers whose held-out prediction leads over their label by most."""
        scored = np.flatnonzero(~np.isnan(held_out).all(axis=1))
        if not scored.size:
            return []
        decided, member = self.decide(complete(held_out[scored])), answers.member[scored]
        predicted, scores = decided.accepted, decided.scores
        wrong = (predicted != member).any(axis=1) & ~decided.unsure.any(axis=1)
        if answers.labels.multilabel:
            lead = np.where(predicted != member, np.abs(scores), 0.0).max(axis=1)
        else:
            own = np.where(member, scores, -np.inf).max(axis=1)
            lead = np.where(predicted, scores, -np.inf).max(axis=1) - own
        places = np.flatnonzero(wrong & np.isfinite(lead))
        best = places[descending_order(lead[places])[:n]].tolist()
        return [DisputedText(int(answers.rows[scored[i]]), member[i], predicted[i]) for i in best]

    def worths(self, columns: Floats, member: Bools) -> Floats:
        """What the decision on each text (n_texts,) is worth by costs; without these 1 where all of its
        labels are right.
        """
        decided = self.decide(columns)
        return worth_of_each(self.rule.labels, self.utilities, member, decided)


def worth_of_each(
    labels: ClassLabels, utilities: Utilities | None, member: Bools, decided: Decisions
) -> Floats:
    """What each decision is worth; without costs 1 where all labels are right and nothing is left to a
    person.
    """
    accepted, unsure = decided.accepted, decided.unsure
    if utilities is None:
        return ((accepted == member).all(axis=1) & ~unsure.any(axis=1)).astype(np.float64)
    measures: Any = measures_of(utilities, labels)
    if labels.kind == "multiclass":
        answer = np.where(accepted.any(axis=1), accepted.argmax(axis=1), accepted.shape[1])
        return np.asarray(answer_table(tuple(measures))[member.argmax(axis=1), answer])
    columns = slice(labels.positive, labels.positive + 1) if labels.kind == "binary" else slice(None)
    left: Bools = np.asarray(unsure.any(axis=1, keepdims=True)) if labels.kind == "binary" else unsure
    total = np.zeros(len(member))
    for k, one in enumerate(measures):
        truth, yes = member[:, columns][:, k], accepted[:, columns][:, k]
        own = np.where(truth, np.where(yes, one.tp, one.fn), np.where(yes, one.fp, one.tn))
        if one.ask is not None:
            own = np.where(left[:, k], np.where(truth, one.tp, one.tn) + one.ask, own)
        total += own
    return total


def best_worth(labels: ClassLabels, utilities: Utilities | None, member: Bools) -> float:
    """What deciding all rightly is worth on average: no more can be had."""
    right = Decisions(labels.text_names, member.astype(float), member, np.zeros_like(member))
    return float(worth_of_each(labels, utilities, member, right).mean())


def _fit(
    answers: LabelledTexts, places: Indices, weight: Floats, held_out: Floats, utilities: Utilities | None
) -> ThresholdClassifier:
    """Thresholds on the held-out scores of some answers.

    Of two classes, and of several labels, one that none of the texts has is given a trace of a text at its
    margin.
    """
    labels = answers.labels
    columns, member = complete(held_out[places]), answers.member[places]
    if labels.kind != "multiclass":
        for k in np.flatnonzero(~member.any(axis=0)).tolist():
            trace = np.full((1, columns.shape[1]), 2.0 * k - 1.0 if labels.kind == "binary" else -1.0)
            trace[0, 0 if labels.kind == "binary" else k] = 2.0 * k - 1.0 if labels.kind == "binary" else 1.0
            own = np.arange(member.shape[1])[None, :] == k
            columns, member, weight = (
                np.vstack([columns, trace]),
                np.vstack([member, own]),
                np.append(weight, _UNSEEN),
            )
    target = member.astype(np.uint8) if labels.multilabel else labels.names[member.argmax(axis=1)]
    model = ThresholdClassifier(
        FrozenEstimator(GivenScores(labels.names)),
        utility=utilities if utilities is not None else Utility(),
        rule="parameter-free" if utilities is not None else "zero",
        pos_label=None if labels.kind != "binary" else _positive(utilities, labels),
        few_positives=0,  # the scores of few positives are held out as well, and there are no others here
    )
    target = Indicator(target, labels.names) if labels.multilabel else target
    return model.fit(
        columns, target, sample_weight=weight, held_out=HeldOutRows(np.arange(len(columns)), columns)
    )


def complete(columns: Floats) -> Floats:
    """Scores without gaps: a class of which a fold knew nothing is out of the question there."""
    return np.where(np.isnan(columns), OUT_OF_QUESTION, columns)


def _basis(answers: LabelledTexts, scored: Bools) -> tuple[Indices, bool, str]:
    """Which answers thresholds rest on, whether these are an unbiased sample, and what to say of it."""
    sample = np.flatnonzero(answers.sample & scored)
    if sample.size >= FEWEST:
        return (
            sample,
            True,
            f"From {sample.size} texts drawn at random, each scored by models that did not know its label.",
        )
    given = np.flatnonzero((answers.sample | answers.given) & scored)
    if given.size >= FEWEST:
        return (
            given,
            True,
            f"From {given.size} texts whose labels came with the file, taken to be like the others.",
        )
    missing = max(FEWEST - int(np.count_nonzero(answers.sample)), 1)
    note = f"Too few texts drawn at random to tell: {missing} more {'is' if missing == 1 else 'are'} needed."
    every = np.flatnonzero(scored)
    return (every, False, note) if every.size >= 2 * FEWEST else (np.empty(0, dtype=np.intp), False, note)


def _positive(utilities: Utilities | None, labels: ClassLabels) -> Any:
    """Of two classes the only one that costs name, else the second."""
    named = [name for name in utilities or {} if name != OTHERS]
    return named[0] if len(named) == 1 and OTHERS not in (utilities or {}) else labels.names.tolist()[1]
