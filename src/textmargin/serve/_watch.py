"""Decisions, and one eye on whether texts stay like those of training."""

from __future__ import annotations

import logging
from threading import Lock

from ..classifier import TextClassifier
from ..labels import Decisions


class Watch:
    """A model that decides, in any thread, and says once in the log that its texts have changed.

    Parameters
    ----------
    model : TextClassifier, fitted

    Attributes
    ----------
    drifted : bool
    """

    def __init__(self, model: TextClassifier) -> None:
        self._model = model
        self._known = model.has_held_out
        self._monitor = model.drift_monitor() if self._known and model.held_out_.method != "train" else None
        self._lock = Lock()
        self.drifted = False

    def decide(self, texts: list[str]) -> Decisions:
        """Decisions, with probabilities where the model has them."""
        decisions = self._model.decide(texts, probabilities=self._known)
        if self._monitor is not None and texts and not self.drifted:
            with self._lock:
                alarm = self._monitor.update(self._model.model_.comparable_scores(decisions))
                if alarm is not None and not self.drifted:
                    self.drifted = True
                    logging.getLogger(__name__).warning("%s", alarm.message)
        return decisions
