"""One class: its texts ranked by score, and the thresholds that a utility, a rule and floors put among them.

Where a person can be asked there are three answers and two thresholds: accept from θ on, reject below θ_ask,
ask in between. By accepting a text rather than asking, a hit saves the price and a false alarm costs what it
costs and saves the price; by asking rather than rejecting, the price buys that what is missed is not. So each
of the two is the threshold of a utility of its own, set by the same rule. Where they cross, asking does not
pay, and there is one threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._ties import ROUNDING, descending_order, just_above
from .._typing import Floats
from ..errors import ScoreError
from .rules import UtilityCurve, relaxed, retrofit_beta, select_beta_gamma, utility_curve
from .scores import HeldOutScores
from .utility import Measure, Utility

_FEW_ALPHA = 0.775


class ClassThreshold(NamedTuple):
    """θ, from where on a person is asked (θ where nobody is), β and γ."""

    theta: float
    ask: float
    beta: float
    gamma: float


@dataclass(frozen=True)
class RankedTexts:
    """What the threshold of a class is set on, highest score first.

    Attributes
    ----------
    positive : array (n_texts,) of bool
    score : array (n_texts,)
    weight : array (n_texts,), or None
    utility : what decisions are worth.
    held_out : bool, whether the scores are leave-one-out scores or those of folds; else they are the fitted
        model's own.
    n_held_out : int, how many positives have a held-out score.
    """

    positive: NDArray[np.bool_]
    score: Floats
    weight: Floats | None
    utility: Measure
    held_out: bool
    n_held_out: int

    @property
    def curve(self) -> UtilityCurve:
        """The utility of every threshold."""
        return utility_curve(self.positive, self.score, self.utility, self.weight)


@dataclass(frozen=True)
class Setting:
    """How thresholds are set: the parameters of `ThresholdClassifier` that have these names."""

    rule: str | Callable[..., float]
    beta: float
    gamma: float | None
    n_folds: int
    few_positives: int
    min_precision: float | None
    min_recall: float | None
    always_answer: bool
    random_state: int | None

    @classmethod
    def of(cls, classifier: Any) -> Self:
        """The setting of a `ThresholdClassifier`."""
        return cls(**{field.name: getattr(classifier, field.name) for field in fields(cls)})

    @property
    def has_floors(self) -> bool:
        return self.min_precision is not None or self.min_recall is not None

    def few(self, n_held_out: int) -> bool:
        """Whether a class has too few positives for the rule to choose on."""
        return self.rule in ("parameter-free", "select") and n_held_out < self.few_positives

    def uses_held_out(self, n_held_out: int) -> bool:
        """Whether a threshold is set on held-out scores, given how many positives have one."""
        return n_held_out > 0 and not self.few(n_held_out)

    def rank(self, texts: HeldOutScores, k: int, utility: Measure, name: Any) -> RankedTexts:
        """The texts of a class by the scores that its threshold is to be set on; texts without one are not
        ranked.
        """
        n_held_out = texts.count_held_out(k)
        wanted = texts.method != "train" and self.uses_held_out(n_held_out)
        if wanted or texts.method == "train":
            score = texts.scores[:, k]
        elif k not in texts.few_columns:
            raise ScoreError(
                f"The held-out scores of class {name!r} are there, but rule={self.rule!r} with few_positives="
                f"{self.few_positives} sets its threshold on training scores; fit again."
            )
        else:
            score = texts.few_scores[:, int(np.flatnonzero(texts.few_columns == k)[0])]
        rows = np.flatnonzero(~np.isnan(score))
        order = rows[descending_order(score[rows])]  # once; the rules' own sorting then costs next to nothing
        own = texts.class_weight(k)
        weight = None if own is None else own[order]
        return RankedTexts(texts.positive[order, k], score[order], weight, utility, wanted, n_held_out)

    def threshold(self, texts: RankedTexts, name: Any) -> ClassThreshold:
        """The thresholds of a class."""
        curve = texts.curve
        theta, beta, gamma = self._by_rule(texts, curve) if self.rule != "zero" else (0.0, np.nan, None)
        theta = self._above_floors(curve, theta, name)
        ends = None
        if isinstance(texts.utility, Utility) and texts.utility.ask is not None and not self.always_answer:
            ends = self._asking(texts, texts.utility, curve, name)
        theta, ask = (theta, theta) if ends is None else ends
        return ClassThreshold(theta, ask, beta, np.nan if gamma is None else gamma)

    def _asking(
        self, texts: RankedTexts, utility: Utility, curve: UtilityCurve, name: Any
    ) -> tuple[float, float] | None:
        """θ, which keeps the floors, and θ_ask; None where asking does not pay."""
        price = -(utility.ask or 0.0)
        saved, lost = utility.tp - utility.fn - price, utility.tn - utility.fp - price
        if saved <= 0 or lost <= 0:  # a person costs more than a mistake
            return None
        if price == 0:  # who costs nothing is always asked
            highest, lowest = float(texts.score[0]), float(texts.score[-1])
            return just_above(highest), float(np.nextafter(lowest, -np.inf))
        ends = (Utility(tp=price, fp=-lost), Utility(tp=saved, fp=-price))
        high, low = (
            self._by_rule(ranked, ranked.curve)[0] for ranked in (replace(texts, utility=end) for end in ends)
        )
        high = self._above_floors(curve, high, name)
        return (high, low) if high > low else None

    def _by_rule(self, texts: RankedTexts, curve: UtilityCurve) -> tuple[float, float, float | None]:
        y, score, utility = texts.positive, texts.score, texts.utility
        folds: dict[str, Any] = {
            "n_folds": self.n_folds,
            "random_state": self.random_state,
            "sample_weight": texts.weight,
        }
        if self.few(texts.n_held_out):
            return relaxed(curve, _FEW_ALPHA), _FEW_ALPHA, None
        if callable(self.rule):
            return float(self.rule(y, score, utility=utility)), np.nan, None
        if self.rule == "select":
            chosen = select_beta_gamma(y, score, utility=utility, **folds)
            return chosen.theta, chosen.beta, chosen.gamma
        if self.rule == "best":
            return curve.best_middle, 0.0, None
        beta = (
            retrofit_beta(y, score, self.gamma, utility, **folds)
            if self.rule == "parameter-free"
            else self.beta
        )
        return relaxed(curve, beta, self.gamma), beta, self.gamma

    def _above_floors(self, curve: UtilityCurve, theta: float, name: Any) -> float:
        """θ, or the threshold of best utility that keeps the floors where θ does not."""
        if not self.has_floors:
            return theta
        with np.errstate(invalid="ignore", divide="ignore"):
            precision, recall = curve.tp / (curve.tp + curve.fp), curve.tp / curve.n_positive
        reached = np.ones(curve.tp.size, dtype=bool)
        for kind, value, floor in (
            ("recall", recall, self.min_recall),
            ("precision", precision, self.min_precision),
        ):
            if floor is None:
                continue
            others = "" if reached.all() else f" with min_recall={self.min_recall}"
            best = np.nanmax(value[reached][1:], initial=0.0)
            reached &= value >= floor - ROUNDING
            if not reached.any():
                raise ScoreError(
                    f"No threshold for class {name!r} reaches min_{kind}={floor}{others}; the best {kind} "
                    "to be had here is "
                    f"{best:.3f}."
                )
        if reached[np.searchsorted(-curve.scores, -theta, side="right")]:
            return theta
        return float(curve.scores[curve.best_among(reached)[0] - 1])
