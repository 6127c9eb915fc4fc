"""Thresholds set anew on texts that people judged, when what they see is what the old threshold let through.

In filtering only accepted texts are read, so nothing is known of scores below the old threshold θ₀ unless
somebody looked there too. With n accepted and m rejected texts judged, θ is the threshold of the highest
utility on the judged texts among

    θ ≥ θ₀                                    if m < least: it can rise, never fall
    θ ≥ the lowest score that was judged      otherwise: it falls only as far as somebody looked

The utility must be additive (`Utility`): then texts that nobody judged change all these thresholds alike, and
it does not matter how few rejected texts were judged, as long as whether a text was judged does not depend on
what it is. F1 and scaled utilities need the number of missed texts, which nobody knows here.

Thresholds of one label of several are not set this way: set one against the rest, on the judged texts of six
draws of wikipedia25 and Reuters, they lost up to 490 per 1,000 texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .._typing import Bools, Floats
from ..classifier import TextClassifier
from ..decisions.class_utilities import measures_of
from ..decisions.rules import UtilityCurve, utility_curve
from ..decisions.threshold import ThresholdClassifier
from ..decisions.utility import T10U, Measure, Utility
from ..errors import ScoreError
from .store import Feedback

_LEAST = 20


@dataclass(frozen=True)
class FeedbackThreshold:
    """A threshold, and the feedback it rests on.

    Attributes
    ----------
    before, theta : float, θ₀ and θ
    n_accepted, n_right : int, judged texts with a score of θ₀ or more, and how many of them were correct
    n_rejected, n_missed : int, judged texts below θ₀, and how many of them should have been accepted
    gain : float, the utility of θ less that of θ₀, on the judged texts
    """

    before: float
    theta: float
    n_accepted: int
    n_right: int
    n_rejected: int
    n_missed: int
    gain: float


@dataclass(frozen=True)
class RetuneResult:
    """A model with new thresholds, and what they rest on.

    Attributes
    ----------
    model : TextClassifier
    thresholds : dict label → FeedbackThreshold, of the labels with enough feedback
    refused : dict label → str, why the threshold of a label stays
    n_feedback : int
    n_other : int
        Feedback left out, because this model decides differently on the text or does not have its labels.
    """

    model: TextClassifier
    thresholds: dict[str, FeedbackThreshold]
    refused: dict[str, str]
    n_feedback: int
    n_other: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the model."""
        labels = {label: asdict(one) for label, one in self.thresholds.items()}
        counts = {"n_feedback": self.n_feedback, "n_other": self.n_other}
        return {**counts, "labels": labels, "refused": self.refused}


def retune(
    model: TextClassifier,
    feedback: Iterable[Feedback],
    utility: Measure | Mapping[str, Measure] | None = None,
    *,
    least: int = _LEAST,
) -> RetuneResult:
    """The same model with thresholds set anew on feedback alone, each label's by the module's rule.

    Parameters
    ----------
    model : TextClassifier, with a ThresholdClassifier
        The model that decided: of two labels, or with any number of labels per text.
    feedback : iterable of Feedback
        Of several on one text the last counts.
    utility : Utility, or mapping label → Utility, default=None
        What decisions are worth; by default as in training.
    least : int, default=20
        How many accepted texts of a label must have been judged, and how many rejected ones for its threshold
        to fall.
    """
    decision, labels = _thresholds_of(model), model.labels_
    latest = list({one.text: one for one in feedback}.values())
    if not latest:
        raise ScoreError("There is no feedback to set a threshold on.")
    decisions = model.decide([one.text for one in latest])
    same = [
        set(one.predicted) == set(own)
        and (isinstance(one.correct, bool) or set(one.correct) <= set(labels.text_names))
        for one, own in zip(latest, decisions.labels, strict=True)
    ]
    own = [one for one, ours in zip(latest, same, strict=True) if ours]
    if not own:
        raise ScoreError(
            f"All feedback, on {len(same)} texts, is about decisions that this model does not make; give "
            "the model that made them."
        )
    new: Any = decision.utility if utility is None else utility
    new = labels.respell(new) if isinstance(utility, Mapping) else new
    measures, raw = measures_of(new, labels), decision.raw_scores(decisions[np.array(same)])
    found: dict[str, FeedbackThreshold] = {}
    refused: dict[str, str] = {}
    moved = copy(decision).set_params(utility=new)
    moved.thresholds_, moved.beta_, moved.gamma_, moved.ask_thresholds_ = (
        values.copy()
        for values in (decision.thresholds_, decision.beta_, decision.gamma_, decision.ask_thresholds_)
    )
    columns = [labels.positive] if labels.kind == "binary" else range(labels.names.size)
    for k, column in enumerate(columns):
        label, before = labels.text_names[column], float(decision.thresholds_[k])
        truth = [_is_correct(one, label, labels.multilabel) for one in own]
        rows = [row for row, one in enumerate(truth) if one is not None]
        try:
            one = feedback_threshold([truth[row] for row in rows], raw[rows, k], before, measures[k], least)
        except ScoreError as error:
            refused[label] = str(error)
            continue
        found[label], moved.thresholds_[k] = one, one.theta
        moved.beta_[k] = moved.gamma_[k] = np.nan  # it rests on no relaxation
        asks = decision.ask_thresholds_[k] < before
        moved.ask_thresholds_[k] = min(decision.ask_thresholds_[k], one.theta) if asks else one.theta
    if not found:
        first, why = next(iter(refused.items()))
        raise ScoreError(f"No threshold can be set on feedback on {len(own)} texts. {first!r}: {why}.")
    return RetuneResult(model.with_decision(moved), found, refused, len(own), len(same) - len(own))


def feedback_threshold(
    y: Any, score: Any, theta: float, utility: Measure = T10U, least: int = _LEAST
) -> FeedbackThreshold:
    """The threshold of best utility that feedback can vouch for, by the module's rule.

    It stays unless another is worth more by more than a standard error; of several equally good ones the
    nearest is taken, in the middle of the gap between two judged texts.

    Parameters
    ----------
    y : array (n_texts,) of bool, what people said
    score : array (n_texts,)
    theta : float
        θ₀, the threshold when the texts were decided on.
    utility : Utility, default=T10U
    least : int, default=20

    Examples
    --------
    Accepted at 1.0 and more; what scored below 1.5 was wrong more often than two correct ones make up for.

    >>> from textmargin.feedback.retune import feedback_threshold
    >>> y = [1, 1, 0, 1, 0, 0, 0]
    >>> feedback_threshold(y, [2.0, 1.9, 1.8, 1.6, 1.4, 1.2, 1.0], theta=1.0, least=5).theta
    1.5
    """
    if not isinstance(utility, Utility):
        raise ScoreError(
            f"{utility} needs the number of texts that were missed, which is unknown where only accepted "
            "texts are judged; use utility=Utility(tp=2, fp=-1), for instance"
        )
    y, score = np.asarray(y, dtype=bool), np.asarray(score, dtype=np.float64)
    accepted = score >= theta
    n_accepted, n_right = int(accepted.sum()), int((y & accepted).sum())
    n_rejected, n_missed = int((~accepted).sum()), int((y & ~accepted).sum())
    if n_accepted < least:
        raise ScoreError(f"{n_accepted} accepted texts were judged, and it takes {least}")
    seen = np.ones(y.size, dtype=bool) if n_rejected >= least else accepted
    if not y[seen].any():
        raise ScoreError(f"none of the {n_accepted} accepted texts was correct; train the model again")
    curve = utility_curve(y[seen], score[seen], utility)
    k_before = int(np.searchsorted(-curve.scores, -theta, side="right"))
    best = curve.best_among(np.ones(curve.utility.size, dtype=bool))
    k = int(best[np.argmin(np.abs(best - k_before))])
    if k == 0:
        raise ScoreError("accepting nothing would be worth most; train the model again, or change the costs")
    gain, new = float(curve.utility[k] - curve.utility[k_before]), _below(curve, k)
    if gain <= _standard_error(y[seen], score[seen], theta, new, utility):  # which chance may give as well
        gain, new = 0.0, theta
    return FeedbackThreshold(theta, new, n_accepted, n_right, n_rejected, n_missed, gain)


def _standard_error(y: Bools, score: Floats, before: float, after: float, utility: Utility) -> float:
    """Of what one threshold is worth beyond another on these texts."""
    turned = (score >= after).astype(int) - (score >= before)
    gain = turned * np.where(y, utility.tp - utility.fn, utility.fp - utility.tn)
    return float(np.sqrt(gain.size) * gain.std())


def _below(curve: UtilityCurve, k: int) -> float:
    """A threshold that accepts k groups: the middle of the gap below them, or the lowest score itself."""
    high = float(curve.scores[k - 1])
    if k == curve.scores.size:
        return high
    middle = (high + float(curve.scores[k])) / 2
    return middle if middle > curve.scores[k] else high


def _thresholds_of(model: TextClassifier) -> ThresholdClassifier:
    """The decision of a model whose thresholds feedback can move."""
    decision = model.model_
    if not isinstance(decision, ThresholdClassifier) or decision.rule == "zero":
        raise ScoreError(
            "This model was trained without a utility, so it has no thresholds to move; train it with one."
        )
    if model.labels_.kind == "multiclass":
        raise ScoreError(
            "Feedback moves thresholds of two labels, or of any number per text; where a text has one of "
            "several labels, add the judged texts to the training texts and train again."
        )
    for name in ("min_recall", "min_precision"):
        if getattr(decision, name) is not None:
            raise ScoreError(
                f"This model keeps a floor, {name}={getattr(decision, name):g}, which feedback on part of "
                f"the texts cannot vouch for; use model.with_utility({name}=None)."
            )
    return decision


def _is_correct(one: Feedback, label: str, multilabel: bool) -> bool | None:
    """Whether a label is correct, as far as feedback on a text tells anything of its threshold.

    With several labels per text, one that was accepted for another label and not for this one is no fair
    sample of those that nobody saw: labels go together. Only texts that were accepted for nothing stand for
    these.
    """
    predicted, correct = one.predicted, one.correct
    if multilabel and predicted and label not in predicted:
        return None
    if not isinstance(correct, bool):
        return label in correct
    if not multilabel:  # what is not correct is the other label; of a text left to a person nothing was said
        return (label in predicted) == correct if predicted else None
    if label in predicted:
        return correct if correct or len(predicted) == 1 else None  # of several wrong ones it may be another
    return False if correct else None
