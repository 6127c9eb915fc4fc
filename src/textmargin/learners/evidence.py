"""Whether a prior is to be believed: from how held-out texts fare with it, and from how the other classes'
priors do.

For a class, let dᵢ be what held-out text i gains by the prior, each time by models that were trained without
it. Σdᵢ/√Σdᵢ² is positive where the prior helps, and of size √m where m texts say so alike. The *evidence* for
a prior is the smaller of two such ratios. By losses, d is what a text loses less with the prior than without.
By ranks, d is what log(1 + r) falls by for a text of the class, r being how many texts of other classes have
a higher score.

Losses alone are not enough: most of the loss is that of the few texts of a class. Words half of which are
those of another class lift these, and also the texts of that other class, past some of them. Ranks alone are
not either: they say nothing of a prior that puts all texts of the class equally far below their margin, and
nothing where they are perfect with and without it. Where no rank changes, losses count alone. Where more
texts belong to a class than do not, the latter are ranked, from below; of two equal sides, each is, and the
smallest ratio counts: which of two classes comes first does not matter.

With few examples the evidence is near 0: the words that a person named need not occur in the one text at
hand. But who knew the words of other classes may be believed here, and who named wrong words there may not.
So, with H other classes where the same prior clearly helps (evidence ≥ 1) and D where it clearly does not (≤
−1), a prior is adopted where

    log((H + ½)/(D + ½)) + 1.5 · evidence > 0

the logarithm being held within ±4. That is the posterior log-odds of a prior that is right or wrong as often
as the others are. A prior none of whose terms any training text has cannot be tried: it is adopted unless
more others harm than help (sum ≥ 0), since somebody named it, and no text at hand is decided otherwise.

What was learnt from the training texts themselves is weighed on those of them that had no part in it
(`cross_fitting.py`), and is used where its own evidence is clear (≥ 1) only: nobody stands behind it who
might know more than these texts. (On the training folds of the recordings in `experiments/_recordings.py`,
priors from gaze that other classes spoke for lowered average precision.)

The ratio has no size of its own: gains that are nothing but what the solver and rounding left undone would
make as large an evidence as any. So a prior that moves the scores of held-out texts by no more than `tol`
leaves undecided has gains of exactly 0, and no evidence, whatever ranks it changes. For squared losses l the
solver stops where a step promises less than tol of the objective, so that scores are known to Σcδ² ≈ tol·½Σl;
for two models that is (Σ(√l₀ − √l₁)² ≤ tol·Σ(l₀ + l₁)). For hinge losses `tol` is in scores already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Bools, Floats
from ..records import record

_CLEAR = 1.0
# evidence this near to a limit is at it: one text alone has evidence 1, two that contradict each other 0
_TIE = 1e-6
_LEAST_TOL = 1e-18  # of squared losses: scores are rounded to 1e-9 of the margin or less
_WEIGHT = 1.5
_MOST_LOG_ODDS = 4.0


@record()
@dataclass(frozen=True)
class Verdict:
    """What the training data say of one prior of one class, or of its contrasts.

    Attributes
    ----------
    target : the class; None where all are meant.
    prior : int, which of its priors; None for its contrasts, and for unlabelled texts.
    status : str
        `supported`: used, and the held-out texts of the class clearly speak for it; `adopted`: used, though
        these alone do not say so clearly (they lean towards it, or the priors of other classes are
        supported); `contradicted`: not used, and they clearly speak against it; `dropped`: not used, though
        these alone do not say so clearly, or because another prior does better without it.
    evidence : float
        Positive where held-out texts fare better with the prior, by their losses and by their ranks; beyond
        ±1 it is clear.
    gain : float
        The share of the loss on held-out texts that the prior saves (or adds, if negative).
    knowledge : str
        What the prior comes from, such as "keywords", where a `TextClassifier` knows.
    """

    target: Any
    prior: int | None
    status: str
    evidence: float
    gain: float
    knowledge: str = ""


@dataclass(frozen=True)
class Disagreement:
    """A term of which a prior and the data say the opposite: the weight it has in the prior, and what the
    data add to that.

    `knowledge` is what the prior comes from, where a `TextClassifier` knows.
    """

    target: Any
    prior: int
    term: Any
    known: float
    data: float
    knowledge: str = ""


def squared_gains(without: Floats, with_prior: Floats, tol: float) -> Floats:
    """What each held-out text gains by a prior, of squared losses; nothing where `tol` leaves open whether it
    gains.
    """
    moved = np.sqrt(without) - np.sqrt(with_prior)
    undecided = moved @ moved <= max(tol, _LEAST_TOL) * (without.sum() + with_prior.sum())
    return np.zeros_like(without) if undecided else without - with_prior


def hinge_gains(without: Floats, with_prior: Floats, costs: Floats, tol: float) -> Floats:
    """The same of hinge losses, whose scores are within `tol` of the margin, or of what is missed of it."""
    undecided = np.abs(without - with_prior) <= 2 * tol * (costs + np.maximum(without, with_prior))
    return np.zeros_like(without) if undecided.all() else without - with_prior


def log_ranks(scores: Floats, positive: NDArray[np.bool_]) -> Floats:
    """Of each positive text, log(1 + m), m being how many others have a higher score; those that have the
    same count half.
    """
    others, own = np.sort(scores[~positive]), scores[positive]
    near = _TIE * np.maximum(np.abs(own), 1.0)
    lower, upper = np.searchsorted(others, own - near, "left"), np.searchsorted(others, own + near, "right")
    return np.log1p(others.size - (lower + upper) / 2)


def rank_gains(without: Floats, with_prior: Floats, positive: Bools, costs: Floats) -> list[Floats]:
    """What each text of the smaller side rises in rank by a prior, from held-out scores; of two equal sides,
    that of each.
    """
    sides = [(sign, side) for sign, side in ((1, positive), (-1, ~positive)) if 2 * side.sum() <= side.size]
    return [
        costs[side] * (log_ranks(sign * without, side) - log_ranks(sign * with_prior, side))
        for sign, side in sides
    ]


def prior_evidence(gains: Floats, by_rank: list[Floats]) -> float:
    """The evidence for a prior from what each text gains of its loss, and in rank."""
    return min(evidence_of(one) for one in (gains, *by_rank) if one.any()) if gains.any() else 0.0


def evidence_of(gains: Floats) -> float:
    """Σd/√Σd² of what each text gains; exactly 0 where gains and losses cancel."""
    size = float(np.linalg.norm(gains))
    evidence = float(gains.sum()) / size if size > 0 else 0.0
    return evidence if abs(evidence) > _TIE else 0.0


def is_harmful(evidence: float) -> bool:
    """Whether evidence speaks clearly against a prior."""
    return evidence <= _TIE - _CLEAR


def select_priors(
    evidence: Floats, silent: NDArray[np.bool_] | None = None, learnt: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Which priors are adopted, by the evidence of each class (row) and prior (column); NaN where there is no
    prior.

    `silent` are those that say nothing of any training text, `learnt` (n_priors,) those that were learnt from
    training texts.
    """
    helps, harms = evidence >= _CLEAR - _TIE, evidence <= _TIE - _CLEAR
    others_help, others_harm = (clear.sum(axis=0) - clear for clear in (helps, harms))
    log_odds = np.clip(np.log((others_help + 0.5) / (others_harm + 0.5)), -_MOST_LOG_ODDS, _MOST_LOG_ODDS)
    adopted = log_odds + _WEIGHT * evidence > _TIE
    if silent is not None:
        adopted |= silent & (log_odds > -_TIE) & (evidence == 0)
    return np.asarray(adopted if learnt is None else adopted & (helps | ~learnt))


def verdict(target: Any, prior: int | None, evidence: float, gain: float, *, trusted: bool) -> Verdict:
    """In words."""
    clear = (evidence if trusted else -evidence) >= _CLEAR - _TIE
    status = ("supported" if clear else "adopted") if trusted else ("contradicted" if clear else "dropped")
    return Verdict(target, prior, status, evidence, gain)
