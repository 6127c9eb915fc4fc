"""How good decisions will be on new texts, told from the held-out scores of the training texts; nothing is
trained again.

The figure is that of the thresholds in use on held-out scores, less their optimism: thresholds look better on
the scores that they were set on, by what those set without a fold lose on the texts of the fold
(`_cross_fitting.py`).

The interval is to hold the figure of m new texts in 90 % of cases. It is that of draws, each in two steps:
shares of the outcomes (truth and decision) as the n training texts leave them open, Dirichlet(counts / 1.5),
since the model is one of many, with half a text more whose decision is wrong, so that mistakes that were not
seen are possible; then m texts by these shares. The optimism is taken off, and a normal number of its size
added, since it is no better known than that. F1, and utilities that do not add up, are moved so that the mean
of the draws is the figure: averages over classes with few texts are lower in draws than in the texts drawn
from.

`benchmarks/bench_estimate.py` counts how often the interval holds the figure of a test part.
"""

from __future__ import annotations

from copy import copy
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Bools, Floats
from ..errors import ScoreError, SettingError
from ..labels import ClassLabels, Decisions
from ._cross_fitting import decisions_in_use, find_optimism, plain_decisions
from .class_utilities import measures_of
from .outcomes import LEVEL, N_DRAWS, Figures, Outcomes, distinct
from .utility import Measure, Utility

if TYPE_CHECKING:
    from .threshold import ThresholdClassifier

# texts times classes that thresholds are set on again; of more, a sample tells as well
_MOST_ENTRIES = 4_000_000
_UNSEEN = 0.5  # of a text, Jeffreys' for a share
# Held-out scores tell what models of so many texts give on average, and this is one of them: the variance of
# what n texts tell is raised by half. From 40 splits of SMS (300 texts: 1.6 times what the draws say) and of
# desk (1.1 times).
_ONE_OF_MANY = 1.5
_MOVED = ("macro_f1", "micro_f1")
_FIGURES = ("accuracy", "answered", "accuracy_answered", *_MOVED, "utility")


@dataclass(frozen=True)
class Figure:
    """A figure on new texts, and the ends of its 90 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Gain:
    """By how much something raises the figures; None where one is not there."""

    accuracy: Figure
    macro_f1: Figure
    micro_f1: Figure
    utility: Figure | None


@dataclass(frozen=True)
class Estimate:
    """What decisions will come to on new texts.

    Attributes
    ----------
    method : {"loo", "cv", "mixed"}, which held-out scores it rests on
    n_texts : int, the training texts
    n_new : int, of how many new texts the intervals are to hold the figures
    multilabel : bool
    accuracy : Figure, the share of texts whose labels are all right; an unsure one is not
    answered : Figure, the share of texts that get an answer
    accuracy_answered : Figure, the share of these that are right; None where there are none
    macro_f1, micro_f1 : Figure
    utility : Figure, per 1,000 texts, or the mean over classes where measures do not add up; None where there
        is none
    per_1000 : bool, which of these it is
    by_thresholds : Gain over the decisions of the scores themselves, at threshold 0; None where nothing else
        decides
    by_knowledge : Gain over a model of the same texts without it; None where there is none to compare with
    """

    method: str
    n_texts: int
    n_new: int
    multilabel: bool
    accuracy: Figure
    answered: Figure
    accuracy_answered: Figure | None
    macro_f1: Figure
    micro_f1: Figure
    utility: Figure | None
    per_1000: bool
    by_thresholds: Gain | None
    by_knowledge: Gain | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def estimate(
    model: ThresholdClassifier,
    *,
    n_new: int | None = None,
    without: ThresholdClassifier | None = None,
    with_utility: bool = True,
    random_state: int | None = 0,
) -> Estimate:
    """What a fitted model's decisions will come to on new texts like those it was trained on.

    Parameters
    ----------
    model : ThresholdClassifier, fitted
    n_new : int, default=None
        Of how many new texts the intervals are to hold the figures; by default as many as there were training
        texts.
    without : ThresholdClassifier, default=None
        Another model, fitted to the same texts in the same order without some knowledge, to tell what that
        adds.
    with_utility : bool, default=True
        Whether to value decisions by the model's utility.
    random_state : int, default=0
        Deals out folds and draws texts.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from textmargin import PriorSVC, ThresholdClassifier, Utility
    >>> from textmargin.decisions.estimate import estimate
    >>> X, y = make_classification(300, flip_y=0.2, random_state=0)
    >>> found = estimate(ThresholdClassifier(PriorSVC(), utility=Utility(tp=1, fp=-1)).fit(X, y), n_new=1000)
    >>> found.accuracy.low < found.accuracy.value < found.accuracy.high
    True
    """
    if n_new is not None and (isinstance(n_new, bool) or not float(n_new).is_integer() or n_new < 1):
        raise SettingError("n_new", f"must be a number of texts, 1 or more; got {n_new!r}.")
    held_out, labels = model.held_out_, model._labels
    if held_out.method == "train":
        raise ScoreError(
            "An estimate needs held-out scores; these are the fitted model's own (scores='train'), by "
            "which it looks better than "
            "it is. Use scores='loo' or scores='cv', or evaluate the model on other texts."
        )
    if without is not None and not np.array_equal(without.held_out_.positive, held_out.positive):
        raise ScoreError(
            "The two models were not fitted to the same texts in the same order, so that they cannot be "
            "compared."
        )
    measures = _measures(model, labels) if with_utility else [None] * labels.names.size
    n_all = len(held_out) if held_out.weight is None else int(np.count_nonzero(held_out.weight))
    if held_out.positive.size > _MOST_ENTRIES:
        model, without = _sample_texts(model), None if without is None else _sample_texts(without)
        held_out = model.held_out_
    truth = _truth(held_out.positive, labels)
    weight = np.ones(len(truth)) if held_out.weight is None else held_out.weight
    n_drawn = n_all if n_new is None else int(n_new)

    def scaled(figures: Figures, n: float) -> Figures:
        """With the utility per 1,000 texts, where measures add up."""
        return {**figures, "utility": figures["utility"] * (1000 / n if per_1000 else 1)}

    def value(decisions: Decisions) -> dict[str, float]:
        outcomes = Outcomes.of(truth, decisions.accepted, decisions.unsure, measures, labels.kind, weight)
        return {name: float(own[0]) for name, own in scaled(outcomes.figures(), weight.sum()).items()}

    per_1000 = all(isinstance(one, Utility) for one in measures if one is not None)
    in_use = {"own": decisions_in_use(model)}
    optimism = {"own": find_optimism(model, value, random_state)}
    if optimism["own"]:
        in_use["thresholds"], optimism["thresholds"] = plain_decisions(model), {}
    if without is not None:
        in_use["knowledge"] = decisions_in_use(without)
        optimism["knowledge"] = find_optimism(without, value, random_state)
    first, counts = distinct([truth, *(a for d in in_use.values() for a in (d.accepted, d.unsure))], weight)
    counts *= (weight > 0).sum() / counts.sum()
    alpha, rng = np.append(counts / _ONE_OF_MANY, _UNSEEN), np.random.default_rng(random_state)
    on_training, draws, state = {}, {}, rng.bit_generator.state
    for name, one in in_use.items():
        accepted, unsure = one.accepted[first], one.unsure[first]
        outcomes = Outcomes.of(truth[first], accepted, unsure, measures, labels.kind, counts)
        figures = scaled(outcomes.figures(), counts.sum())
        on_training[name] = {figure: float(own[0]) for figure, own in figures.items()}
        rng.bit_generator.state = state  # the same texts for all, so that differences are those of the models
        draws[name] = scaled(outcomes.with_mistake().drawn(n_drawn, rng, alpha), n_drawn)
    moved = _MOVED if per_1000 else (*_MOVED, "utility")
    compared = _Figures(on_training, draws, optimism, rng.standard_normal(N_DRAWS), moved)
    found: dict[str, Any] = {name: compared.figure(name) for name in _FIGURES}
    return Estimate(
        method=held_out.method,
        n_texts=n_all,
        n_new=n_drawn,
        multilabel=labels.multilabel,
        **found,
        per_1000=with_utility and per_1000,
        by_thresholds=compared.gain("thresholds"),
        by_knowledge=compared.gain("knowledge"),
    )


def _measures(model: ThresholdClassifier, labels: ClassLabels) -> list[Measure | None]:
    """What decisions on each class are worth; of two classes nothing of the one that has no threshold."""
    measures: list[Measure | None] = [*measures_of(model.utility, labels)]
    if labels.kind == "binary":
        measures.insert(1 - labels.positive, None)
    return measures


def _sample_texts(model: ThresholdClassifier) -> ThresholdClassifier:
    """The same decisions with the held-out scores of some texts."""
    other, scores = copy(model), model.held_out_
    other._held_out = scores.sample(_MOST_ENTRIES // scores.positive.shape[1])
    return other


@dataclass(frozen=True)
class _Figures:
    """Figures of a model, and of those that it is compared with.

    Attributes
    ----------
    on_training : dict, per model its figures on the training texts
    draws : dict, per model its figures in each draw
    optimism : dict, per model how much of a figure is optimism; nothing for one whose thresholds depend on no
        texts
    noise : array (n_draws,), standard normal
    moved : tuple of str, the figures whose draws are lower than what they are drawn from
    """

    on_training: dict[str, dict[str, float]]
    draws: dict[str, Figures]
    optimism: dict[str, dict[str, float]]
    noise: Floats
    moved: tuple[str, ...]

    def figure(self, name: str) -> Figure | None:
        """A figure of the model."""
        ends = (-np.inf, np.inf) if name == "utility" else (0.0, 1.0)
        return self._figure(
            name, self.on_training["own"][name], self.draws["own"][name], self._optimism("own", name), ends
        )

    def gain(self, other: str) -> Gain | None:
        """By how much the figures are higher than those of another."""
        if other not in self.on_training:
            return None
        found: dict[str, Any] = {}
        for name in ("accuracy", "macro_f1", "micro_f1", "utility"):
            value = self.on_training["own"][name] - self.on_training[other][name]
            draws = self.draws["own"][name] - self.draws[other][name]
            optimism = self._optimism("own", name) - self._optimism(other, name)
            found[name] = self._figure(name, value, draws, optimism, (-np.inf, np.inf))
        return Gain(**found)

    def _optimism(self, model: str, name: str) -> float:
        return float(np.nan_to_num(self.optimism[model].get(name, 0.0)))

    def _figure(
        self, name: str, value: float, draws: Floats, optimism: float, ends: tuple[float, float]
    ) -> Figure | None:
        if np.isnan(value):
            return None
        drawn = draws + abs(optimism) * self.noise
        moved = value - np.nanmean(drawn) if name in self.moved else 0.0
        low, high = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) + moved
        value, low, high = np.clip(
            [value - optimism, min(low, value) - optimism, max(high, value) - optimism], *ends
        )
        return Figure(float(value), float(low), float(high))


def _truth(positive: Bools, labels: ClassLabels) -> Bools:
    """(n_texts, n_classes), from a column per problem."""
    if labels.kind != "binary":
        return positive
    return np.column_stack([positive, ~positive] if labels.positive == 0 else [~positive, positive])
