"""Floors for precision and recall of the decisions that are made, where a text has one label.

Class by class: one whose decisions miss a floor gets the threshold of most utility among those that keep it,
the others staying. That may push its texts into other classes, or take theirs, so it is done again until all
floors hold. For precision thresholds only rise, so that this ends; for recall they only fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._ties import ROUNDING
from .._typing import Floats
from ..errors import ScoreError
from .single_label import SingleLabelTexts, Sweep

_MOST_PASSES = 50


@dataclass(frozen=True)
class Floors:
    """What the decisions on every class must keep."""

    min_precision: float | None
    min_recall: float | None

    def keep(self, texts: SingleLabelTexts, thresholds: Floats, names: Sequence[Any]) -> Floats:
        """Thresholds that keep the floors on these texts, from those given; an error names the class that
        cannot.
        """
        thresholds = thresholds.copy()
        for _ in range(_MOST_PASSES):
            missed: dict[int, str] = {}
            moved = False
            standing = texts.standing(thresholds)
            for k in range(texts.n_classes):
                sweep = texts.sweep_class(k, standing, thresholds[k])
                precision, recall = _rates(texts, k, sweep)
                place = sweep.place(thresholds[k])
                holds = self._hold(precision, recall)
                # nothing is given it, at these costs
                if holds[place] or (self.min_recall is None and sweep.cuts[place] == 0):
                    continue
                places = np.arange(holds.size)
                if self.min_recall is None:
                    holds &= places < place
                elif self.min_precision is None:
                    holds &= places > place
                if not holds.any():
                    missed[k] = self._nearest(precision, recall)
                    continue
                allowed = np.flatnonzero(holds)
                best = allowed[
                    np.flatnonzero(sweep.utility[allowed] >= sweep.utility[allowed].max() - texts.rounding)[0]
                ]
                thresholds[k] = sweep.threshold(int(best))
                standing, moved = texts.standing(thresholds), True
                last = k
            if not moved:
                break
        if moved and not missed:
            missed[last] = "the classes take each other's texts, so ask for less"
        if missed:
            k = next(iter(missed))
            others = f" (nor do those for {len(missed) - 1} more)" if len(missed) > 1 else ""
            hint = " Let texts go unanswered: always_answer=False." if texts.always_answer else ""
            raise ScoreError(
                f"The decisions for class {names[k]!r} do not keep {self._wanted()}{others}: "
                f"{missed[k]}.{hint}"
            )
        return thresholds

    def _hold(self, precision: Floats, recall: Floats) -> Any:
        reached = np.ones(precision.size, dtype=bool)
        if self.min_precision is not None:
            reached &= precision >= self.min_precision - ROUNDING  # NaN, where nothing is accepted, is not
        if self.min_recall is not None:
            reached &= recall >= self.min_recall - ROUNDING
        return reached

    def _wanted(self) -> str:
        floors = {"min_precision": self.min_precision, "min_recall": self.min_recall}
        return " and ".join(f"{name}={floor:g}" for name, floor in floors.items() if floor is not None)

    def _nearest(self, precision: Floats, recall: Floats) -> str:
        """The best that can be had of what is missed."""
        if self.min_precision is None:
            return f"the best recall to be had is {np.nanmax(recall):.3f}"
        if self.min_recall is not None and (recall >= self.min_recall - ROUNDING).any():
            best = np.nanmax(np.where(recall >= self.min_recall - ROUNDING, precision, 0.0))
            return f"with that recall the best precision to be had is {best:.3f}"
        return f"the best precision to be had is {np.nanmax(precision, initial=0.0):.3f}"


def _rates(texts: SingleLabelTexts, k: int, sweep: Sweep) -> tuple[Floats, Floats]:
    """Precision and recall of a class at each cut of its sweep; NaN for the precision of accepting
    nothing.
    """
    weight = np.ones(len(texts)) if texts.weight is None else texts.weight
    own = weight * (texts.truth == k)
    tp, accepted = (np.append(0.0, np.cumsum(values[sweep.order]))[sweep.cuts] for values in (own, weight))
    with np.errstate(invalid="ignore", divide="ignore"):
        return tp / accepted, tp / own.sum()
