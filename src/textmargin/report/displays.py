"""Plots of what thresholds do (needs the extra `plot`)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..decisions.rules import UtilityCurve, relaxed, utility_curve
from ..decisions.threshold import ThresholdClassifier
from ..decisions.utility import T10U, Measure
from ..errors import ScoreError, install_hint
from ..labels import listed


class UtilityCurveDisplay:
    """Ranked scores and cumulative utility, with θ_max, θ_zero and the relaxed threshold: the three figures
    of the paper in one.

    Parameters
    ----------
    curve : UtilityCurve
    threshold : float, default=None
        The threshold in use.
    name : str, default=None

    Attributes
    ----------
    figure_, axes_ : the matplotlib figure and its two axes (scores above, utility below).
    """

    def __init__(
        self, curve: UtilityCurve, *, threshold: float | None = None, name: str | None = None
    ) -> None:
        self.curve = curve
        self.threshold = threshold
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        score: Any,
        *,
        utility: Measure = T10U,
        beta: float = 0.1,
        gamma: float | None = None,
        name: str | None = None,
        axes: Any = None,
    ) -> Self:
        """From labels and scores of one class; the threshold is the beta-gamma one."""
        curve = utility_curve(y, score, utility)
        return cls(curve, threshold=relaxed(curve, beta, gamma), name=name).plot(axes)

    @classmethod
    def from_estimator(cls, estimator: Any, *, target: Any = None, axes: Any = None) -> Self:
        """From a fitted ThresholdClassifier, or a TextClassifier that decides by one: the curve its threshold
        was set on.

        Parameters
        ----------
        target : class, default=None
            Which class; of two the one that has the threshold, else by default the first.
        """
        estimator = getattr(estimator, "model_", estimator)
        if not isinstance(estimator, ThresholdClassifier):
            raise ScoreError(
                "UtilityCurveDisplay shows what a ThresholdClassifier was set on; "
                f"{type(estimator).__name__} has no such curve."
            )
        classes = estimator.classes_.tolist()
        if target is not None and target not in classes:
            raise ScoreError(f"target {target!r} is not among the classes: {listed(target, classes)}")
        own = estimator.pos_label_
        if own is not None and target not in (None, own):
            raise ScoreError(
                f"With two classes there is one threshold, that of {str(own)!r}; ask for it, or for none."
            )
        k = 0 if own is not None or target is None else classes.index(target)
        name = str(classes[k] if own is None else own)
        return cls(estimator.curve_[k], threshold=float(estimator.thresholds_[k]), name=name).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw on two axes, or on a new figure."""
        if axes is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise ImportError(
                    f"Plots need matplotlib, which is not installed: {install_hint('plot')}."
                ) from error
            _, axes = plt.subplots(2, 1, sharex=True, layout="constrained")
        self.axes_ = axes
        self.figure_ = axes[0].figure
        ranked, gained = axes
        n_accepted = self.curve.tp + self.curve.fp
        ranked.step(n_accepted[1:], self.curve.scores, where="pre", color="black")
        ranked.set_ylabel("score")
        gained.plot(n_accepted, self.curve.utility, color="black")
        gained.axhline(self.curve.utility[0], color="grey", linewidth=0.5)
        gained.set(xlabel="texts accepted, highest score first", ylabel="utility")
        marks = {"θ max": self.curve.theta_max, "θ zero": self.curve.theta_zero, "threshold": self.threshold}
        for color, (label, theta) in zip(("tab:green", "tab:red", "tab:blue"), marks.items(), strict=True):
            if theta is not None:
                k = int(np.searchsorted(-self.curve.scores, -theta, side="right"))
                ranked.axhline(theta, color=color, linewidth=0.8)
                gained.axvline(n_accepted[k], color=color, linewidth=0.8, label=f"{label} = {theta:.3g}")
        gained.legend()
        ranked.set_title(self.name or "")
        return self
