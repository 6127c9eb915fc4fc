"""One class: its texts ranked by score, and the threshold that a utility, a rule and floors put among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._ties import ROUNDING, descending_order
from .._typing import Floats
from ..errors import ScoreError
from .rules import UtilityCurve, relaxed, retrofit_beta, select_beta_gamma, utility_curve
from .utility import Measure

_FEW_ALPHA = 0.775


@dataclass(frozen=True)
class RankedTexts:
    """What the threshold of a class is set on, highest score first.

    Attributes
    ----------
    positive : array (n_texts,) of bool
    score : array (n_texts,)
    weight : array (n_texts,), or None
    utility : what decisions are worth.
    held_out : bool, whether the scores are leave-one-out scores or those of folds; else they are the fitted model's own.
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
    scores: str
    n_folds: int
    few_positives: int
    min_precision: float | None
    min_recall: float | None
    random_state: int | None

    @classmethod
    def of(cls, classifier: Any) -> Self:
        """The setting of a `ThresholdClassifier`."""
        return cls(**{field.name: getattr(classifier, field.name) for field in fields(cls)})

    def few(self, n_held_out: int) -> bool:
        """Whether a class has too few positives for the rule to choose on."""
        return self.rule in ("parameter-free", "select") and n_held_out < self.few_positives

    def uses_held_out(self, n_held_out: int) -> bool:
        """Whether a threshold is set on held-out scores, given how many positives have one."""
        return self.scores != "train" and self.rule != "zero" and n_held_out > 0 and not self.few(n_held_out)

    def rank(
        self, positive: NDArray[np.bool_], held_out: Floats, trained: Floats, weight: Floats | None, utility: Measure
    ) -> RankedTexts:
        """The texts of a class by the scores that its threshold is to be set on; texts without one are not ranked."""
        scored = ~np.isnan(held_out)  # a class missing from a fold's training texts leaves that fold without scores
        n_held_out = int((positive & scored).sum())
        wanted = self.uses_held_out(n_held_out)
        score, rows = (held_out, np.flatnonzero(scored)) if wanted else (trained, np.arange(trained.size))
        order = rows[descending_order(score[rows])]  # once; the rules' own sorting then costs next to nothing
        return RankedTexts(positive[order], score[order], None if weight is None else weight[order], utility, wanted, n_held_out)

    def rank_again(self, texts: RankedTexts, utility: Measure, name: Any) -> RankedTexts:
        """The same texts for another utility, if they are ranked by the scores that this setting asks for."""
        if self.uses_held_out(texts.n_held_out) != texts.held_out:
            kept, wanted = ("held-out", "training") if texts.held_out else ("training", "held-out")
            raise ScoreError(
                f"The {kept} scores of class {name!r} are kept, but rule={self.rule!r} with few_positives={self.few_positives} "
                f"sets its threshold on {wanted} scores; fit again."
            )
        return replace(texts, utility=utility)

    def threshold(self, texts: RankedTexts, name: Any) -> tuple[float, float, float]:
        """θ, β and γ."""
        curve = texts.curve
        theta, beta, gamma = 0.0, np.nan, None
        if self.rule != "zero":
            theta, beta, gamma = self._by_rule(texts, curve)
        return self._above_floors(curve, theta, name), beta, np.nan if gamma is None else gamma

    def _by_rule(self, texts: RankedTexts, curve: UtilityCurve) -> tuple[float, float, float | None]:
        y, score, utility = texts.positive, texts.score, texts.utility
        folds: dict[str, Any] = {"n_folds": self.n_folds, "random_state": self.random_state, "sample_weight": texts.weight}
        if self.few(texts.n_held_out):
            return relaxed(curve, _FEW_ALPHA), _FEW_ALPHA, None
        if callable(self.rule):
            return float(self.rule(y, score, utility=utility)), np.nan, None
        if self.rule == "select":
            chosen = select_beta_gamma(y, score, utility=utility, **folds)
            return chosen.theta, chosen.beta, chosen.gamma
        if self.rule == "best":
            return curve.best_middle, 0.0, None
        beta = retrofit_beta(y, score, self.gamma, utility, **folds) if self.rule == "parameter-free" else self.beta
        return relaxed(curve, beta, self.gamma), beta, self.gamma

    def _above_floors(self, curve: UtilityCurve, theta: float, name: Any) -> float:
        """θ, or the threshold of best utility that keeps the floors where θ does not."""
        if self.min_precision is None and self.min_recall is None:
            return theta
        with np.errstate(invalid="ignore", divide="ignore"):
            precision, recall = curve.tp / (curve.tp + curve.fp), curve.tp / curve.n_positive
        reached = np.ones(curve.tp.size, dtype=bool)
        for kind, value, floor in (("recall", recall, self.min_recall), ("precision", precision, self.min_precision)):
            if floor is None:
                continue
            best = np.nanmax(value[reached][1:], initial=0.0)
            reached &= value >= floor - ROUNDING
            if not reached.any():
                raise ScoreError(
                    f"No threshold for class {name!r} reaches min_{kind}={floor}; the best {kind} to be had here is {best:.3f}."
                )
        if reached[np.searchsorted(-curve.scores, -theta, side="right")]:
            return theta
        return float(curve.scores[curve.best_among(reached)[0] - 1])
