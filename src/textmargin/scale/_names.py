"""A fitted classifier as something that names the labels it gives."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import TextmarginError


@dataclass(frozen=True)
class NamedClassifier:
    """A classifier of texts whose classes go by their names, or by their numbers where it knows no others."""

    model: Any
    classes: list[str]
    multilabel: bool

    def scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(n_texts, n_classes), 0 being the decision; of two classes that of the second, and its negative."""
        scores = np.asarray(self.model.decision_function(list(texts)))
        return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores

    def labels(self, scores: NDArray[np.float64]) -> list[tuple[str, ...]]:
        """What is accepted: with several labels a text all that reach 0, else the class with the highest score."""
        if self.multilabel:
            return [tuple(self.classes[k] for k in np.flatnonzero(row >= 0)) for row in scores]
        best = (scores[:, 1] >= 0).astype(int) if len(self.classes) == 2 else scores.argmax(axis=1)
        return [(self.classes[k],) for k in best]


def name_classes(model: Any) -> Any:
    """What decides and names labels, without the scores that its thresholds were set on: these are as many as training texts."""
    if hasattr(model, "labels") and hasattr(model, "classes"):
        light = copy(model)
        light.model = _light(model.model)
        return light
    if not hasattr(model, "classes_") or not hasattr(model, "decision_function"):
        raise TextmarginError(
            f"model must be a fitted TextClassifier, or what `textmargin train` keeps; got {type(model).__name__}."
        )
    return NamedClassifier(
        _light(model), [str(name) for name in model.classes_.tolist()], bool(getattr(model.model_, "multilabel_", False))
    )


def _light(model: Any) -> Any:
    """A TextClassifier without such scores."""
    inner = getattr(model, "model_", None)
    if not hasattr(inner, "ranked_"):
        return model
    light = copy(model)
    light.model_ = copy(inner)
    light.model_.ranked_ = []
    return light
