"""One topic of a report: what every threshold would give on these texts, and the texts it turns on.

A text's *lead* over a topic's threshold is by how much the threshold could be raised with the text still
accepted, the other topics' thresholds staying where they are: with several labels a text its score; with one
label what it has over the best other topic, and over 0 where a text may stay without an answer; of two
topics, with a band in between where a person is asked, what it has over the end of the band. So 0 is the
threshold in use, and what is accepted at 0 is what the model decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from .._ties import ROUNDING, first_maximum
from .._typing import Bools, Floats
from ..classifier import TextClassifier
from ..decisions.rules import ThresholdInterval, threshold_interval
from ..decisions.threshold import ThresholdClassifier
from ..decisions.utility import Measure
from ..labels import Decisions
from ..learners.evidence import Verdict
from .reasons import Matched, Word
from .reliability import Reliability


@dataclass(frozen=True)
class Points:
    """Decisions that thresholds would make, the highest threshold first; each list has a value per
    threshold.
    """

    threshold: list[float]  # 0 is the one in use
    tp: list[int]
    fp: list[int]
    precision: list[float | None]
    recall: list[float | None]
    utility: list[float | None]


@dataclass(frozen=True)
class Borderline:
    """A text near the threshold: its row in the corpus, by how much it is accepted, and whether it belongs to
    the topic.
    """

    row: int
    score: float
    truth: bool


@dataclass(frozen=True)
class Topic:
    """What there is to see of one topic."""

    label: str
    n_texts: int
    threshold: float  # on the learner's own scores
    points: Points
    in_use: int  # which of the points
    best: int | None  # the point of most utility here
    average_precision: float | None
    interval: ThresholdInterval | None  # where these texts would put it; 0 is the threshold in use
    borderline: list[Borderline]  # highest score first
    reliability: Reliability | None  # None where the model gives no probabilities
    words: list[Word] = field(default_factory=list)
    disagreements: list[Word] = field(default_factory=list)
    matched: list[Matched] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)


def leads(model: TextClassifier, decisions: Decisions) -> Floats:
    """(n_texts, n_classes), by how much each text is accepted: 0 or more exactly where the model accepts
    it.
    """
    if model.labels_.multilabel:
        return decisions.scores
    scores, decision = decisions.scores, model.model_
    lead = scores.copy()
    if len(model.classes_) > 2:
        second, best = np.sort(scores, axis=1)[:, -2:].T[:, :, None]
        other = np.where(scores == best, second, best)
        lead -= other if getattr(decision, "always_answer_", True) else np.maximum(other, 0.0)
    elif isinstance(decision, ThresholdClassifier):
        lead[:, 1 - model.labels_.positive] -= decision.thresholds_[0] - decision.ask_thresholds_[0]
    just_below = np.nextafter(0.0, -1.0)  # of topics with equal scores one gets the text
    return np.where(decisions.accepted, np.maximum(lead, 0.0), np.minimum(lead, just_below))


def points_of(
    truth: Bools, lead: Floats, utility: Measure | None, n_points: int
) -> tuple[Points, int, int | None]:
    """The thresholds that matter, of many those near the one in use and the best; and which of them these two
    are.
    """
    groups = np.unique(lead)[::-1]
    ends = np.concatenate([[groups[0] + 0.1], groups, [groups[-1] - 0.1]])
    thresholds = _short(low=ends[1:], high=ends[:-1])  # the k-th accepts the k highest groups
    in_use = int((groups >= 0).sum())
    thresholds[in_use] = 0.0
    tp, fp = (n_above(lead[side], thresholds) for side in (truth, ~truth))
    gained = (
        np.full(tp.size, np.nan) if utility is None else np.asarray(utility(tp, fp, tp[-1] - tp, fp[-1] - fp))
    )
    best = None
    if not np.isnan(gained).all():
        best = int(first_maximum(np.nan_to_num(gained, nan=-np.inf), ROUNDING * np.nanmax(np.abs(gained))))
    shown = _near([in_use] if best is None else [in_use, best], groups.size, n_points)
    tp, fp, n_positive = tp[shown], fp[shown], int(truth.sum())
    points = Points(
        threshold=thresholds[shown].tolist(),
        tp=tp.tolist(),
        fp=fp.tolist(),
        precision=[_share(a, a + b) for a, b in zip(tp.tolist(), fp.tolist(), strict=True)],
        recall=[_share(a, n_positive) for a in tp.tolist()],
        utility=[None if np.isnan(value) else float(f"{value:.6g}") for value in gained[shown]],
    )
    return (
        points,
        int(np.searchsorted(shown, in_use)),
        None if best is None else int(np.searchsorted(shown, best)),
    )


def n_above(lead: Floats, thresholds: Floats) -> NDArray[np.intp]:
    """How many texts each threshold accepts."""
    return lead.size - np.searchsorted(np.sort(lead), thresholds, side="left")


def interval_of(
    truth: Bools, lead: Floats, utility: Measure | None, n_bootstrap: int
) -> ThresholdInterval | None:
    """How sure the threshold is that these texts would have; None without a text of the topic, or a
    utility.
    """
    if utility is None or not truth.any() or not n_bootstrap:
        return None
    return threshold_interval(truth, lead, utility, n_bootstrap=n_bootstrap)


def borderline_of(truth: Bools, lead: Floats, n: int) -> list[Borderline]:
    """The n texts nearest the threshold on each side, those with the highest score first."""
    order = np.argsort(-lead, kind="stable")
    in_use = int((lead >= 0).sum())
    rows = order[max(0, in_use - n) : in_use + n].tolist()
    return [Borderline(row, float(lead[row]), bool(truth[row])) for row in rows]


def ranking_of(truth: Bools, lead: Floats) -> float | None:
    """Average precision: the area below the precision-recall curve; None without a text of the topic."""
    return float(average_precision_score(truth, lead)) if truth.any() else None


def _near(centres: list[int], last: int, n_points: int) -> NDArray[np.intp]:
    """Indices from 0 to last: all, or of too many those near the centres, further away ever fewer."""
    if last < n_points:
        return np.arange(last + 1)
    steps = np.unique(np.geomspace(1, last, n_points // (2 * len(centres))).astype(np.intp))
    parts = [
        np.array([0, last]),
        *(centre + side * steps for centre in centres for side in (-1, 1)),
        np.array(centres),
    ]
    every = np.unique(np.concatenate(parts))
    return every[(every >= 0) & (every <= last)]


def _short(low: Floats, high: Floats) -> Floats:
    """Numbers with few digits above low and not above high."""
    found, middle = high.copy(), (low + high) / 2
    for digits in range(12, 0, -1):
        rounded = np.round(middle, digits) + 0.0  # no −0
        found = np.where((rounded > low) & (rounded <= high), rounded, found)
    return found


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None
