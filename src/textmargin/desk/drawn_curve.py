"""A learning curve with what is read off it, which takes longer than an act may: it is computed where the
curve is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from .deciding import Costs
from .learning_curve import N_NEXT, CurvePoint, LabelGain, LearningCurve


@dataclass(frozen=True, eq=False)
class DrawnCurve(LearningCurve):
    """The curve by some costs.

    Attributes
    ----------
    costs : what decisions were worth when it was drawn
    """

    costs: Costs = field(default_factory=dict)
    drawn_points: tuple[CurvePoint, ...] = ()
    next_gain: LabelGain | None = None

    @classmethod
    def of(cls, curve: LearningCurve, costs: Costs) -> Self:
        """A curve that was drawn by these costs."""
        return cls(
            curve.sizes,
            curve.worths,
            curve.best,
            curve.learnt,
            costs,
            tuple(curve.points()),
            curve.gain(N_NEXT),
        )

    def points(self) -> list[CurvePoint]:
        """As they were drawn."""
        return list(self.drawn_points)

    def gain(self, n_more: int = N_NEXT) -> LabelGain | None:
        """Of the next labels, as it was found; of another number of labels, anew."""
        return self.next_gain if n_more == N_NEXT else super().gain(n_more)
