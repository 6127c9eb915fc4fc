"""Decisions, with probabilities where the model has them."""

from __future__ import annotations

from ..classifier import TextClassifier
from ..labels import Decisions


class Watch:
    """A model that decides, in any thread.

    Parameters
    ----------
    model : TextClassifier, fitted
    """

    def __init__(self, model: TextClassifier) -> None:
        self._model = model
        self._known = model.has_held_out

    def decide(self, texts: list[str]) -> Decisions:
        """Decisions, with probabilities where the model has them."""
        return self._model.decide(texts, probabilities=self._known)
