"""Thresholds of a model set anew on what people said of its decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..classifier import TextClassifier
from ..decisions.class_utilities import measures_of
from ..decisions.feedback import LEAST, FeedbackThreshold, feedback_threshold
from ..decisions.joint_feedback import JudgedTexts, joint_feedback
from ..decisions.joint_floors import Floors
from ..decisions.leads import problem_columns
from ..decisions.threshold import ThresholdClassifier
from ..decisions.utility import Measure
from ..errors import LabelError, ScoreError
from ..labels import Decisions, listed
from .store import Feedback


@dataclass(frozen=True)
class RetuneResult:
    """A model with new thresholds, and what they rest on.

    Attributes
    ----------
    model : TextClassifier
    thresholds : dict label → FeedbackThreshold, of the labels that were looked at
    n_feedback : int
    n_other : int, feedback left out since this model decides otherwise on the texts, or does not have their
        labels: it is about
        another one
    way : str, how thresholds were set: each by itself; for one label of several all together, "as they were"
        where no others are
        worth more than chance
    """

    model: TextClassifier
    thresholds: dict[str, FeedbackThreshold]
    n_feedback: int
    n_other: int
    way: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the model."""
        thresholds = {label: asdict(one) for label, one in self.thresholds.items()}
        return {"n_feedback": self.n_feedback, "n_other": self.n_other, "way": self.way, "labels": thresholds}


def retune(
    model: TextClassifier,
    feedback: Iterable[Feedback],
    utility: Measure | Mapping[str, Measure] | None = None,
    *,
    only: Sequence[str] = (),
    min_precision: float | None = None,
    least: int = LEAST,
) -> RetuneResult:
    """The same model with thresholds set anew on feedback alone.

    Of two labels, or where a text may have any number, each by the rule of `feedback_threshold`; of several
    labels that exclude each other all together, by that of `joint_feedback`. They stay as they are where
    others are not worth more than chance.

    Parameters
    ----------
    model : TextClassifier, with a ThresholdClassifier
        The model that decided; what another one decided otherwise is left out.
    feedback : iterable of Feedback
        Where only correct or not was said, it counts for the labels that were given; where the correct labels
        were named, for all, but a text that was accepted for other labels alone tells nothing of this one. Of
        several about one text the last counts.
    utility : Utility, or mapping label → Utility, default=None
        What decisions are worth; by default as in training.
    only : sequence of str, default=()
        The labels to move; all by default. Each must have feedback on `least` texts that were accepted; of
        labels that exclude each other, by default, all of them together.
    min_precision : float, default=None
    least : int, default=20
    """
    decision, labels = _decision(model), model.labels_
    names = [labels.text_names[column] for column in problem_columns(labels)]  # those that have a threshold
    unknown = [label for label in only if label not in names]
    if unknown:
        raise LabelError(f"There is no threshold of {unknown[0]!r}; there are {listed(unknown[0], names)}")
    latest = list({one.text: one for one in feedback}.values())  # who judges a text again corrects himself
    own, decisions, n_other = _own_feedback(model, latest)
    new: dict[str, Any] = {} if min_precision is None else {"min_precision": min_precision}
    if utility is not None:
        new["utility"] = labels.respell(utility) if isinstance(utility, Mapping) else utility
    measures = measures_of(new.get("utility", decision.utility), labels)
    floor = decision.min_precision if min_precision is None else min_precision
    if labels.kind == "multiclass":
        way, moved, found = _retune_together(decision, own, decisions, measures, new, only, floor, least)
    else:
        way = "each by itself"
        found = _retune_each(decision, own, decisions, measures, model, only, floor, least)
        moved = _with_thresholds(
            decision, {names.index(label): one.theta for label, one in found.items()}, new
        )
    return RetuneResult(model.with_decision(moved), found, len(own), n_other, way)


def _retune_each(
    decision: ThresholdClassifier,
    own: list[Feedback],
    decisions: Decisions,
    measures: Sequence[Measure],
    model: TextClassifier,
    only: Sequence[str],
    floor: float | None,
    least: int,
) -> dict[str, FeedbackThreshold]:
    """The threshold of each label alone."""
    raw, columns = decision.raw_scores(decisions), problem_columns(model.labels_)
    found: dict[str, FeedbackThreshold] = {}
    refused = []
    for k, label in enumerate(model.labels_.text_names[column] for column in columns):
        if only and label not in only:
            continue
        truth = [_is_correct(one, label, model) for one in own]
        rows = [row for row, one in enumerate(truth) if one is not None and _tells(own[row], label, model)]
        theta = float(decision.thresholds_[k])
        try:
            found[label] = feedback_threshold(
                [truth[row] for row in rows],
                raw[rows, k],
                theta,
                measures[k],
                least=least,
                min_precision=floor,
            )
        except ScoreError as error:
            refused.append(f"{label!r}: {error}")
    if refused:
        others = f" only= moves those with enough: {', '.join(map(repr, found))}." if found else ""
        more = f"; and {len(refused) - 3} more" if len(refused) > 3 else ""
        raise ScoreError(
            f"No threshold can be set on feedback on {len(own)} texts for "
            f"{'; '.join(refused[:3])}{more}.{others}"
        )
    return found


def _retune_together(
    decision: ThresholdClassifier,
    own: list[Feedback],
    decisions: Decisions,
    measures: Sequence[Measure],
    parameters: dict[str, Any],
    only: Sequence[str],
    floor: float | None,
    least: int,
) -> tuple[str, ThresholdClassifier, dict[str, FeedbackThreshold]]:
    """The thresholds of all labels, for the decision that is made of them."""
    names, before = decisions.names, decision.thresholds_
    judged = [
        (row, own_truth) for row, one in enumerate(own) if (own_truth := _truth(one, names)) is not None
    ]
    rows, truth = np.array(judged, dtype=np.intp).reshape(-1, 2).T
    answered, unsure, right = (
        decisions.accepted[rows],
        decisions.unsure[rows],
        truth[:, None] == np.arange(len(names)),
    )
    n_accepted = answered.sum(axis=0)
    short = [name for k, name in enumerate(names) if name in only and n_accepted[k] < least]
    if short or answered.sum() < least:
        n_judged = n_accepted[names.index(short[0])] if short else answered.sum()
        which = f" for {short[0]!r}" if short else ""
        raise ScoreError(
            f"No threshold can be set on feedback on {len(own)} texts: {n_judged} decisions{which} were "
            f"judged; it takes {least}."
        )
    may_ask = not decision.always_answer and not (only and decision.always_answer_)
    texts = JudgedTexts(
        truth, decision.raw_scores(decisions)[rows], tuple(measures), always_answer=not may_ask
    )
    settings: dict[str, Any] = {
        "least": least,
        "can_fall": floor is None,
        "random_state": decision.random_state,
    }
    found = joint_feedback(
        texts, before, decision.always_answer_, movable=np.isin(names, only) if only else None, **settings
    )
    thresholds, always_answer = found.thresholds, found.always_answer
    if floor is not None:
        # of the others a sample is judged: precision would look too high
        sure = texts.part(np.asarray(answered.any(axis=1)))
        if always_answer and may_ask:  # from where nothing is left out yet
            thresholds = np.full(len(names), np.nextafter(sure.scores.max(axis=1).min(), -np.inf))
        thresholds, always_answer = Floors(floor, None).keep(sure, thresholds, names), not may_ask
    new = _with_thresholds(decision, dict(enumerate(thresholds.tolist())), parameters)
    new.always_answer_ = always_answer
    counts = np.column_stack(
        [n_accepted, (answered & right).sum(axis=0), unsure.sum(axis=0), (unsure & right).sum(axis=0)]
    )
    by_label = {}
    for k, name in enumerate(names):
        if not only or name in only:
            n_own, n_right, n_guessed, n_missed = (int(n) for n in counts[k])
            ends = float(before[k]), float(thresholds[k])
            by_label[name] = FeedbackThreshold(
                *ends, n_own, n_right, n_guessed, n_missed, found.gain, bool(found.can_fall[k])
            )
    return found.way, new, by_label


def _truth(one: Feedback, names: list[str]) -> int | None:
    """The class of a text as far as it was said; n_classes + k where only class k was called wrong."""
    if not isinstance(one.correct, bool):
        return names.index(one.correct[0]) if len(one.correct) == 1 else None
    if not one.predicted:
        return None
    k = names.index(one.predicted[0])
    return k if one.correct else len(names) + k


def _decision(model: TextClassifier) -> ThresholdClassifier:
    decision = model.model_
    if not isinstance(decision, ThresholdClassifier) or (
        decision.rule == "zero" and decision.min_precision is None
    ):
        raise ScoreError(
            "This model was trained without a utility, so it has no thresholds to move; train it with one."
        )
    if decision.min_recall is not None:
        raise ScoreError(
            f"This model keeps a floor for recall, min_recall={decision.min_recall:g}, which feedback "
            "cannot vouch for: nobody "
            f"knows how much was missed. Use one without it."
        )
    return decision


def _own_feedback(model: TextClassifier, feedback: list[Feedback]) -> tuple[list[Feedback], Decisions, int]:
    """Feedback on what this model decides as well, the decisions, and how much other feedback there is."""
    if not feedback:
        raise ScoreError("There is no feedback to set a threshold on.")
    decisions = model.decide([one.text for one in feedback])
    same = [
        set(one.predicted) == set(own) and _known(one, model)
        for one, own in zip(feedback, decisions.labels, strict=True)
    ]
    own = [one for one, ours in zip(feedback, same, strict=True) if ours]
    if not own:
        raise ScoreError(
            f"All feedback, on {len(same)} texts, is about decisions that this model does not make; give "
            "the one that made them."
        )
    return own, decisions[np.array(same)], len(same) - len(own)


def _known(one: Feedback, model: TextClassifier) -> bool:
    """Whether the model has the labels that were called correct; a misspelt one must not count against the
    others.
    """
    return isinstance(one.correct, bool) or set(one.correct) <= set(model.labels_.text_names)


def _tells(one: Feedback, label: str, model: TextClassifier) -> bool:
    """Whether a text tells something of a label's threshold.

    Where a text may have several labels, one that was accepted for another label and not for this one is no
    fair sample of those that nobody saw: labels go together. Only texts that were accepted for nothing stand
    for these.
    """
    return not model.labels_.multilabel or label in one.predicted or not one.predicted


def _is_correct(one: Feedback, label: str, model: TextClassifier) -> bool | None:
    """Whether a label is correct, as far as it was said."""
    predicted, correct = one.predicted, one.correct
    if not isinstance(correct, bool):
        return label in correct
    if not model.labels_.multilabel and not predicted:
        return None  # a text left to a person, of which nothing was said
    n_classes = model.labels_.names.size
    if n_classes <= 2 and not (model.labels_.multilabel and n_classes == 2):
        return (label in predicted) == correct  # yes or no: what is not correct is the other
    if label in predicted:
        return correct if correct or len(predicted) == 1 else None  # of several wrong ones it may be another
    return False if correct and not predicted else None


def _with_thresholds(
    decision: ThresholdClassifier, thetas: dict[int, float], parameters: dict[str, Any]
) -> ThresholdClassifier:
    """The decision with other thresholds, of the problems named, and other parameters."""
    new = copy(decision).set_params(**parameters)
    rows = list(thetas)
    new.thresholds_, new.beta_, new.gamma_ = (
        values.copy() for values in (decision.thresholds_, decision.beta_, decision.gamma_)
    )
    new.thresholds_[rows] = list(thetas.values())
    new.beta_[rows] = new.gamma_[rows] = np.nan  # these rest on no relaxation
    nobody = decision.ask_thresholds_ >= decision.thresholds_
    new.ask_thresholds_ = np.where(
        nobody, new.thresholds_, np.minimum(decision.ask_thresholds_, new.thresholds_)
    )
    return new
