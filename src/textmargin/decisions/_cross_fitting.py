"""Decisions on training texts whose thresholds were set without them: on the held-out scores of the other
folds.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._ties import just_above
from .._typing import Bools, Indices
from ..labels import Decisions
from .class_utilities import measures_of
from .scores import HeldOutScores
from .setting import Setting

if TYPE_CHECKING:
    from .threshold import ThresholdClassifier

# Texts times classes up to which there are so many folds, dealt out so often: of more texts thresholds know
# little of each.
_DEALS = ((40_000, 5, 4), (400_000, 5, 1), (np.inf, 2, 1))


def decisions_in_use(model: ThresholdClassifier) -> Decisions:
    """On the training texts, by their held-out scores and the thresholds in use."""
    return model.decide_scores(model._labels.sign * model.held_out_.as_new())


def plain_decisions(model: ThresholdClassifier) -> Decisions:
    """What the scores themselves decide, at threshold 0, every text answered."""
    labels = model._labels
    scores = labels.class_scores(labels.sign * model.held_out_.as_new())
    accepted = labels.accepted(scores)
    return Decisions(labels.text_names, scores, accepted, np.zeros_like(accepted))


def find_optimism(
    model: ThresholdClassifier, value: Callable[[Decisions], dict[str, float]], random_state: int | None = 0
) -> dict[str, float]:
    """By how much each figure is higher on texts that thresholds were set on; empty where they depend on no
    texts.

    Thresholds set without one of K folds know a share (K − 1)/K of all texts, so that what they give on all
    of them, beyond what they give outside, is that share of their optimism; and it falls as 1/n, so that with
    all texts it is that much.
    """
    scores, setting = model.held_out_, Setting.of(model)
    if len(scores) < 2 or (setting.rule == "zero" and not setting.has_floors):
        return {}
    columns = model._labels.sign * scores.as_new()
    rng, rows = np.random.default_rng(random_state), np.arange(len(scores))
    n_folds, n_repeats = next(
        (min(n_folds, len(scores)), n) for largest, n_folds, n in _DEALS if scores.scores.size <= largest
    )
    found: list[dict[str, float]] = []
    for _ in range(n_repeats):
        fold = _deal(scores, n_folds, rng)
        parts = [_without(model, setting, scores, fold == j).decide_scores(columns) for j in range(n_folds)]
        accepted, unsure = (np.array([getattr(p, name) for p in parts]) for name in ("accepted", "unsure"))
        outside = value(replace(parts[0], accepted=accepted[fold, rows], unsure=unsure[fold, rows]))
        every = [value(part) for part in parts]
        found.append({name: float(np.mean([one[name] for one in every])) - outside[name] for name in outside})
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


def _without(
    model: ThresholdClassifier, setting: Setting, scores: HeldOutScores, fold: Bools
) -> ThresholdClassifier:
    """The model with the thresholds that texts outside a fold give it."""
    part = scores.part(~fold)
    other = copy(model)
    other._held_out = part
    if model._labels.kind == "multiclass" and setting.rule in ("parameter-free", "best", "zero"):
        other._set_thresholds()
        return other
    other.thresholds_, other.ask_thresholds_ = model.thresholds_.copy(), model.ask_thresholds_.copy()
    names = model._labels.threshold_names
    for k, measure in enumerate(measures_of(model.utility, model._labels)):
        if not setting.uses_held_out(scores.count_held_out(k)):
            continue  # few positives: set on training scores, so that it does not know the held-out ones
        if part.count_held_out(k):
            # Without the fold positives may be few; the rule stays that of all texts.
            own = replace(setting, few_positives=min(setting.few_positives, part.count_held_out(k)))
            other.thresholds_[k], other.ask_thresholds_[k], *_ = own.threshold(
                own.rank(part, k, measure, names[k]), names[k]
            )
        else:  # its only positive is in the fold: nothing would be accepted
            other.thresholds_[k] = other.ask_thresholds_[k] = just_above(np.nanmax(scores.scores[:, k]))
    return other


def _deal(scores: HeldOutScores, n_folds: int, rng: np.random.Generator) -> Indices:
    """A fold for each text; texts of a class, or of the rarest of several, are dealt out evenly."""
    n_texts, n_problems = scores.positive.shape
    rarity = np.where(scores.positive, scores.positive.sum(axis=0), n_texts + 1)
    group = np.where(scores.positive.any(axis=1), rarity.argmin(axis=1), n_problems)
    shuffled = rng.permutation(n_texts)
    order = shuffled[np.argsort(group[shuffled], kind="stable")]
    fold = np.empty(n_texts, dtype=np.intp)
    fold[order] = np.arange(n_texts) % n_folds
    return fold
