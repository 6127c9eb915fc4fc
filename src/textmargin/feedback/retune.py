"""Thresholds of a model moved on what people said of its decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..decisions.feedback import LEAST, FeedbackThreshold, feedback_threshold
from ..decisions.threshold import ThresholdClassifier
from ..decisions.utility import Measure
from ..errors import LabelError, ScoreError
from ..labelling import Labelling
from ..trained import Trained
from .store import Judgement


@dataclass(frozen=True)
class Moved:
    """A model with new thresholds, and what they rest on.

    Attributes
    ----------
    trained : Trained
    thresholds : dict label → FeedbackThreshold, of the labels that were looked at
    n_judged : int
    n_other : int, judgements left out since this model decides otherwise on their texts, or does not have their labels: they are
        about another one
    """

    trained: Trained
    thresholds: dict[str, FeedbackThreshold]
    n_judged: int
    n_other: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the model."""
        thresholds = {label: asdict(one) for label, one in self.thresholds.items()}
        return {"n_judged": self.n_judged, "n_other": self.n_other, "labels": thresholds}


def retune(
    trained: Trained,
    judgements: Iterable[Judgement],
    utility: Measure | Mapping[str, Measure] | None = None,
    *,
    only: Sequence[str] = (),
    min_precision: float | None = None,
    least: int = LEAST,
) -> Moved:
    """The same model with thresholds set anew on judged texts alone, by the rule of `feedback_threshold`.

    Parameters
    ----------
    trained : Trained
        The model that decided; what another one decided otherwise is left out.
    judgements : iterable of Judgement
        Where only right or wrong was said, it counts for the labels that were given; where the right labels were named, for all,
        but a text that was accepted for other labels alone tells nothing of this one. Of several about one text the last counts.
    utility : Utility, or mapping label → Utility, default=None
        What decisions are worth; by default as in training.
    only : sequence of str, default=()
        The labels to move; all by default. Each must have `least` judged texts that were accepted.
    min_precision : float, default=None
    least : int, default=20
    """
    decision = _decision(trained)
    labels = trained.classes[-len(decision.thresholds_) :]  # of two labels the second has one
    unknown = [label for label in only if label not in labels]
    if unknown:
        raise LabelError(f"There is no threshold of {unknown[0]!r}; there are {', '.join(labels[:10])}.")
    latest = list({one.text: one for one in judgements}.values())  # who judges a text again corrects himself
    judged, n_other, scores = _decided_by(trained, latest)
    found: dict[str, FeedbackThreshold] = {}
    refused = []
    for k, (label, measure) in enumerate(zip(labels, _measures(trained, decision, utility), strict=True)):
        if only and label not in only:
            continue
        said = [_said(one, label, trained) for one in judged]
        theta = float(decision.thresholds_[k])
        rows = [row for row, one in enumerate(said) if one is not None and _seen(judged[row], label, trained)]
        raw = scores[rows, k - len(labels)] + theta
        floor = decision.min_precision if min_precision is None else min_precision
        try:
            found[label] = feedback_threshold([said[row] for row in rows], raw, theta, measure, least=least, min_precision=floor)
        except ScoreError as error:
            refused.append(f"{label!r}: {error}")
    if refused:
        others = f" --only LABEL moves those with enough: {', '.join(map(repr, found))}." if found else ""
        more = f"; and {len(refused) - 3} more" if len(refused) > 3 else ""
        raise ScoreError(f"No threshold can be set on {len(judged)} judgements for {'; '.join(refused[:3])}{more}.{others}")
    new = {} if utility is None else {"utility": Labelling(trained.classes, trained.multilabel).measures(utility)}
    new |= {} if min_precision is None else {"min_precision": min_precision}
    moved = _with(trained, decision, {labels.index(label): one.theta for label, one in found.items()}, new)
    return Moved(moved if utility is None else replace(moved, worth=utility), found, len(judged), n_other)


def _decision(trained: Trained) -> ThresholdClassifier:
    decision = trained.model.model_
    if not isinstance(decision, ThresholdClassifier):
        raise ScoreError(
            "This model was trained without costs, so it has no thresholds to move; train it with --hit and --false-alarm, or "
            "any other costs."
        )
    if decision.min_recall is not None:
        raise ScoreError(
            f"This model keeps a floor for recall ({decision.min_recall:g}), which judgements cannot vouch for: nobody knows how "
            f"much was missed. Use one without --min-recall."
        )
    return decision


def _measures(trained: Trained, decision: ThresholdClassifier, utility: Any) -> list[Measure]:
    if utility is None:
        return [texts.utility for texts in decision.ranked_]
    measures = Labelling(trained.classes, trained.multilabel).measures(utility)
    return measures if isinstance(measures, list) else [measures] * len(decision.thresholds_)


def _decided_by(trained: Trained, judgements: list[Judgement]) -> tuple[list[Judgement], int, Any]:
    """Judgements of what this model decides as well, how many others there are, and the scores (n_judged, n_classes)."""
    if not judgements:
        raise ScoreError("There are no judgements to set a threshold on.")
    scores = trained.scores([one.text for one in judgements])
    decided = trained.labels(scores)
    same = [set(one.decided) == set(own) and _known(one, trained) for one, own in zip(judgements, decided, strict=True)]
    kept = [one for one, own in zip(judgements, same, strict=True) if own]
    if not kept:
        raise ScoreError(
            f"All {len(same)} judgements are about decisions that this model does not make; give the one that made them."
        )
    return kept, len(same) - len(kept), scores[np.array(same)]


def _known(judgement: Judgement, trained: Trained) -> bool:
    """Whether the model has the labels that were called right; a misspelt one must not count against the others."""
    return isinstance(judgement.right, bool) or set(judgement.right) <= set(trained.classes)


def _seen(judgement: Judgement, label: str, trained: Trained) -> bool:
    """Whether a text tells something of a label's threshold.

    Where a text may have several labels, one that was accepted for another label and not for this one is no fair sample of
    those that nobody saw: labels go together. Only texts that were accepted for nothing stand for these.
    """
    return not trained.multilabel or label in judgement.decided or not judgement.decided


def _said(judgement: Judgement, label: str, trained: Trained) -> bool | None:
    """Whether a label is right, as far as it was said."""
    decided, right = judgement.decided, judgement.right
    if not isinstance(right, bool):
        return label in right
    if len(trained.classes) <= 2 and not (trained.multilabel and len(trained.classes) == 2):
        return (label in decided) == right  # yes or no: what is not right is the other
    if label in decided:
        return right if right or len(decided) == 1 else None  # of several wrong ones it may be another
    return False if right and not decided else None


def _with(trained: Trained, decision: ThresholdClassifier, thetas: dict[int, float], parameters: dict[str, Any]) -> Trained:
    """The model with other thresholds, of the problems named, and other parameters of its decision."""
    new = copy(decision).set_params(**parameters)
    rows = list(thetas)
    new.thresholds_, new.beta_, new.gamma_ = (values.copy() for values in (decision.thresholds_, decision.beta_, decision.gamma_))
    new.thresholds_[rows] = list(thetas.values())
    new.beta_[rows] = new.gamma_[rows] = np.nan  # these rest on no relaxation
    model = copy(trained.model)
    model.model_ = new
    model.decision = clone(trained.model.decision).set_params(**parameters)
    return replace(trained, model=model)
