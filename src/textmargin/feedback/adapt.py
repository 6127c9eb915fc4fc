"""Thresholds and probabilities of a model for another mix of labels, from new texts that nobody labelled.

Shares of the labels among the new texts are estimated from their scores (`estimate_mix`), held-out texts of
training weighed by how much more frequent their labels have become, and the model's own rule sets its
thresholds on these. Where no mix of the training texts has such scores, nothing is moved: the texts are of
another kind, and a person must look at some.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from .._typing import Bools, Floats
from ..classifier import TextClassifier
from ..decisions.mix import MixEstimate, estimate_mix

# a distance that says nothing: scores of folds are those of models that knew fewer texts
_FOLD_TOLERANCE = 0.05


@dataclass(frozen=True, eq=False)
class AdaptResult:
    """Shares of the labels among new texts, and the model for them.

    Attributes
    ----------
    model : TextClassifier, or None where it was refused: a change of mix does not explain the scores
        The same as before where no share has changed.
    labels : list of str, those that have a threshold: of two the positive one mix : MixEstimate, of these
    before, after : arrays (n_labels,), thresholds; after a refusal the same moves : array (n_labels,) of
    bool, the labels that are adapted to: their shares have changed by more than chance
    """

    model: TextClassifier | None
    labels: list[str]
    mix: MixEstimate
    before: Floats
    after: Floats
    moves: Bools

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
            label: {
                **{name: float(column[k]) for name, column in columns.items()},
                "refused": self.mix.reasons[k] or None,
            }
            for k, label in enumerate(self.labels)
        }
        facts = {
            "n_texts": self.mix.n_new,
            "level": self.mix.level,
            "refused": self.model is None,
            "changed": bool(self.moves.any()),
        }
        return {**facts, "labels": labels}


def adapt(model: TextClassifier, texts: Any, **settings: Any) -> AdaptResult:
    """The same model for the mix of labels that new texts have; no labels are needed.

    Of labels that exclude each other all are adapted to or none; else each that a change of mix explains, and
    the others stay, as do those whose share has not changed by more than chance.

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
    if held_out.method in ("cv", "mixed"):
        settings.setdefault("tolerance", _FOLD_TOLERANCE)
    mix = estimate_mix(
        held_out.positive, held_out.as_new(), new, labels.kind, weight=held_out.weight, **settings
    )
    before = decision.thresholds_
    moves = mix.explained & _changed(mix)
    if labels.kind == "multiclass":
        moves = np.full(moves.size, mix.explained.all() and moves.any())
    adapted = decision.with_mix(*_weights(mix, moves)) if moves.any() else decision
    usable = mix.explained.all() if labels.kind == "multiclass" else mix.explained.any()
    names = [str(name) for name in labels.threshold_names]
    new_model = (model.with_decision(adapted) if moves.any() else model) if usable else None
    return AdaptResult(new_model, names, mix, before, adapted.thresholds_, moves)


def _changed(mix: MixEstimate) -> Bools:
    """Whether the share of a label lies outside its interval, widened so that it holds for all labels at a
    time.

    Thresholds set anew on a mix that is the same but for chance would move by chance.
    """
    tail = (1 - mix.level) / 2
    wider = norm.isf(tail / mix.shares.size) / norm.isf(tail)
    low, high = mix.shares - wider * (mix.shares - mix.low), mix.shares + wider * (mix.high - mix.shares)
    return (mix.old_shares < low) | (mix.old_shares > high)


def _weights(mix: MixEstimate, moves: Bools) -> tuple[Floats, Floats]:
    """How much more frequent texts of each label that moves, and others, have become; half a text may have
    gone unseen.
    """
    shares = np.clip(mix.shares, 0.5 / mix.n_new, 1 - 0.5 / mix.n_new)
    positive = np.where(moves, shares / mix.old_shares, 1.0)
    if mix.kind == "multiclass":
        return positive, np.ones(shares.size)
    return positive, np.where(moves, (1 - shares) / (1 - mix.old_shares), 1.0)
