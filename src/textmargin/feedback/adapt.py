"""Thresholds and probabilities of a model for another mix of labels, from new texts that nobody labelled.

Shares of the labels among the new texts are estimated from their scores (`estimate_mix`), held-out texts of training weighed by
how much more frequent their labels have become, and the model's own rule sets its thresholds on these. Where no mix of the
training texts has such scores, nothing is moved: the texts are of another kind, and a person must look at some.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..classifier import TextClassifier
from ..decisions.mix import MixEstimate, estimate_mix


@dataclass(frozen=True, eq=False)
class AdaptResult:
    """Shares of the labels among new texts, and the model for them.

    Attributes
    ----------
    model : TextClassifier, or None where it was refused: a change of mix does not explain the scores
    labels : list of str, those that have a threshold: of two the positive one
    mix : MixEstimate, of these
    before, after : arrays (n_labels,), thresholds; after a refusal the same
    """

    model: TextClassifier | None
    labels: list[str]
    mix: MixEstimate
    before: np.ndarray[Any, Any]
    after: np.ndarray[Any, Any]

    @property
    def refused(self) -> dict[str, str]:
        """The labels whose scores a change of mix does not explain, and why."""
        return {label: reason for label, reason in zip(self.labels, self.mix.reasons, strict=True) if reason}

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the model."""
        columns = {
            "share_before": self.mix.old_shares,
            "share": self.mix.shares,
            "low": self.mix.low,
            "high": self.mix.high,
            "distance": self.mix.distance,
            "threshold_before": self.before,
            "threshold": self.after,
        }
        labels = {
            label: {**{name: float(column[k]) for name, column in columns.items()}, "refused": self.mix.reasons[k] or None}
            for k, label in enumerate(self.labels)
        }
        return {"n_texts": self.mix.n_new, "level": self.mix.level, "adapted": self.model is not None, "labels": labels}


def adapt(model: TextClassifier, texts: Any, **settings: Any) -> AdaptResult:
    """The same model for the mix of labels that new texts have; no labels are needed.

    Of labels that exclude each other all are adapted to or none; else each that a change of mix explains, and the others stay.

    Parameters
    ----------
    model : TextClassifier, with held-out scores
    texts : list of str
    **settings : of `estimate_mix`, such as `level=0.9`

    Examples
    --------
    >>> from textmargin import TextClassifier, load_dataset
    >>> from textmargin.feedback.adapt import adapt
    >>> desk = load_dataset("desk")
    >>> model = TextClassifier().fit(desk.part("train").texts, desk.part("train").labels)
    >>> result = adapt(model, desk.part("test").texts)
    >>> result.labels[0], float(result.mix.shares.sum().round(6))
    ('accessibility', 1.0)
    """
    held_out, labels = model.held_out_, model.labels_
    decision = model.model_
    new = decision.comparable_scores(model.decide(texts))
    mix = estimate_mix(held_out.positive, held_out.as_new(), new, labels.kind, weight=held_out.weight, **settings)
    before = decision.thresholds_
    usable = mix.explained.all() if labels.kind == "multiclass" else mix.explained.any()
    adapted = decision.with_mix(*_weights(mix)) if usable else None
    names = [str(name) for name in labels.threshold_names]
    after = before if adapted is None else adapted.thresholds_
    return AdaptResult(None if adapted is None else model.with_decision(adapted), names, mix, before, after)


def _weights(mix: MixEstimate) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Those of `class_weights`, but no label vanishes: half a text may have gone unseen."""
    rare = 0.5 / mix.n_new
    positive, negative = mix.class_weights()
    lowest = rare / mix.old_shares
    return np.maximum(positive, np.minimum(lowest, 1.0)), np.maximum(negative, np.minimum(rare / (1 - mix.old_shares), 1.0))
