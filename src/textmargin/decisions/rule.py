"""From the scores of a learner to decisions, with NumPy alone: who loads a model to decide needs nothing
else.

| kind       | accepted                               | left to a person                                     |
|------------|----------------------------------------|------------------------------------------------------|
| binary     | at its threshold or above              | from the lower threshold up to it; guess: nearer end |
| multilabel | each at its threshold or above         | the same, label by label                             |
| multiclass | the one furthest above, or least below | all below, unless always answered; guess: the least  |

A score that differs from a threshold by rounding alone is at it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._ties import ROUNDING
from .._typing import Bools, Floats
from ..errors import ScoreError
from ..labels import ClassLabels, Decisions, as_sets
from ..records import record
from .calibration import Calibration


@record()
@dataclass(frozen=True, eq=False)
class DecisionRule:
    """What decides on scores.

    Parameters
    ----------
    labels : ClassLabels
    thresholds, ask_thresholds : arrays (n_problems,), default=None
        From where on a class is accepted, and from where on a person is asked, on the scores of the class
        that `labels` say is positive; None where the learner decides by itself: at 0, or for the highest
        score, and never asks.
    always_answer : bool, default=True
        With three classes or more: whether no text stays without an answer.
    calibration : Calibration, default=None
        What turns scores into probabilities.
    unsure_label : class, default=None
        What `predict` gives a text of one label that is left to a person.

    Examples
    --------
    >>> import numpy as np
    >>> from textmargin.decisions.rule import DecisionRule
    >>> from textmargin.labels import ClassLabels
    >>> labels = ClassLabels.of(["ham", "spam"], multilabel=False)
    >>> rule = DecisionRule(labels, np.array([0.5]), np.array([-0.5]))
    >>> decisions = rule.decide(np.array([[0.7], [0.2], [-0.4], [-2.0]]))
    >>> decisions.labels, decisions.guesses
    ([('spam',), (), (), ('ham',)], [(), ('spam',), ('ham',), ()])
    """

    labels: ClassLabels
    thresholds: Floats | None = None
    ask_thresholds: Floats | None = None
    always_answer: bool = True
    calibration: Calibration | None = None
    unsure_label: Any = None

    @property
    def can_be_unsure(self) -> bool:
        """Whether there are scores on which a decision is left to a person."""
        if self.thresholds is None or self.ask_thresholds is None:
            return False
        if self.labels.kind == "multiclass":
            return not self.always_answer
        return bool((self.thresholds > self.ask_thresholds).any())

    def shift(self, columns: Floats) -> Floats:
        """Scores (n_texts, n_problems) less thresholds, so that zero is the decision."""
        if self.thresholds is None:
            return columns
        return shift(columns, self.labels.sign * self.thresholds, self.labels.sign)

    def decide(self, columns: Floats, probabilities: bool = False) -> Decisions:
        """Decisions on texts with these scores (n_texts, n_problems); on demand with the probabilities of all
        classes.
        """
        labels = self.labels
        scores = labels.class_scores(self.shift(columns))
        accepted = labels.accepted(scores)
        unsure = self._unsure(scores, accepted)
        if not labels.multilabel and self.can_be_unsure:
            accepted &= ~unsure.any(axis=1, keepdims=True)
        known = self.probabilities(columns) if probabilities else None
        return Decisions(labels.text_names, scores, accepted, unsure, known)

    def predict(self, columns: Floats) -> NDArray[Any]:
        """The label of each text, in the form that labels were given in."""
        decided, labels = self.decide(columns), self.labels
        if labels.multilabel:
            return (
                as_sets(labels.names, decided.accepted)
                if labels.form == "sets"
                else decided.accepted.astype(int)
            )
        names, unsure = labels.names[decided.accepted.argmax(axis=1)], decided.unsure.any(axis=1)
        if not unsure.any():
            return names
        named = names.astype(object)
        named[unsure] = self.unsure_label
        same = self.unsure_label is not None and isinstance(self.unsure_label, str) == (
            names.dtype.kind == "U"
        )
        return np.array(named.tolist()) if same else named  # labels of one kind make a plain array

    def _unsure(self, scores: Floats, accepted: Bools) -> Bools:
        """What is left to a person, of scores (n_texts, n_classes) less thresholds and the classes they would
        be given.
        """
        labels = self.labels
        if (
            self.thresholds is None
            or self.ask_thresholds is None
            or (labels.kind == "multiclass" and self.always_answer)
        ):
            return np.zeros_like(accepted)
        if labels.kind == "multiclass":
            return accepted & (scores < -ROUNDING)
        width = self.thresholds - self.ask_thresholds
        if labels.multilabel:
            return ~accepted & (scores >= -width - ROUNDING) & (width > 0)
        below = -scores[:, [labels.positive]]  # how far, where it is
        band = ~accepted[:, [labels.positive]] & (below <= width + ROUNDING) & (width > 0)
        # the nearer end of the band
        guess = np.where(below <= width / 2 + ROUNDING, labels.positive, 1 - labels.positive)
        return np.asarray(band & (guess == np.arange(2)))

    def probabilities(self, columns: Floats) -> Floats:
        """Probabilities (n_texts, n_classes) from scores (n_texts, n_problems)."""
        labels = self.labels
        if self.calibration is None:
            raise ScoreError(
                "This model has no held-out scores, from which probabilities are told; train it with such."
            )
        found = self.calibration.predict(labels.sign * columns)
        if labels.kind != "binary":
            return found
        return np.column_stack([found, 1 - found] if labels.positive == 0 else [1 - found, found])


def shift(columns: Floats, offsets: Floats, sign: float) -> Floats:
    """Scores less what is taken off them; `sign` is −1 where of two classes the first has the threshold.

    A text right at the threshold, but for rounding, is accepted: at zero, or for the first class, whose side
    it is not, below it.
    """
    shifted: Floats = columns - offsets
    # of scores that are at a threshold, too
    sizes = np.where(np.isfinite(offsets), np.maximum(np.abs(offsets), 1.0), 0.0)
    at_threshold = np.abs(shifted) <= ROUNDING * sizes
    if at_threshold.any():
        shifted[at_threshold] = 0.0 if sign > 0 else -2 * ROUNDING
    return shifted
