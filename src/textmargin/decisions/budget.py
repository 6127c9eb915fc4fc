"""So many and no more: "we can read 200 a day".

From held-out scores, the threshold that delivers the number on average, and what is to be expected of those
delivered; of a batch or a day, the highest of those accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._ties import ROUNDING, descending_order, just_above, without_rounding
from .._typing import Bools, Floats
from ..errors import LabelError, ScoreError, SettingError


@dataclass(frozen=True)
class BudgetOutcome:
    """What a budget is expected to deliver.

    Attributes
    ----------
    theta : float, the threshold.
    n_accept, n_texts : float, how many of how many texts; fewer than asked for where not so many reach the
        decision's threshold.
    precision : float, NaN where nothing is accepted.
    recall : float, the share of all hits that is delivered.
    hits : float, how many of those accepted are right.
    """

    theta: float
    n_accept: float
    n_texts: float
    precision: float
    recall: float
    hits: float

    def __str__(self) -> str:
        return (
            f"{self.n_accept:,.0f} of {self.n_texts:,.0f}: precision {self.precision:.2f}, "
            f"{self.recall:.0%} of all hits"
        )


def budget_threshold(scores: Any, n_accept: float, n_texts: float, weight: Any = None) -> float:
    """The threshold that accepts n_accept of n_texts texts on average, and no more where scores tie.

    Parameters
    ----------
    scores : array (n,) of held-out scores; NaN for texts that have none
    n_accept : float
        How many are to be accepted; 0 gives a threshold just above all scores.
    n_texts : float
        Of how many, a day's for instance.
    weight : array (n,), default=None

    Examples
    --------
    >>> from textmargin.decisions.budget import budget_threshold
    >>> budget_threshold([0.1, 0.9, 0.4, 0.7, 0.2, 0.3, 0.0, 0.5, 0.8, 0.6], n_accept=200, n_texts=1000)
    0.75
    """
    scores, weight, _ = scored_texts(scores, weight)
    _check_budget(n_accept, n_texts)
    distinct, group = np.unique(-without_rounding(scores), return_inverse=True)
    accepted = np.cumsum(np.bincount(group, weight)) / weight.sum()
    # so many groups fit
    k = int(np.searchsorted(accepted, n_accept / n_texts * (1 + ROUNDING), side="right"))
    if k == 0:
        return just_above(scores.max())
    if k == distinct.size:
        return float(np.nextafter(-distinct[-1], -np.inf))
    middle = -(distinct[k - 1] + distinct[k]) / 2
    return float(middle if middle > -distinct[k] else -distinct[k - 1])


def budget_outcome(
    positive: Any,
    scores: Any,
    n_accept: float,
    n_texts: float,
    *,
    threshold: float | None = None,
    weight: Any = None,
) -> BudgetOutcome:
    """What is to be expected of a budget, by held-out scores.

    Parameters
    ----------
    positive : array (n,) of bool
    scores, n_accept, n_texts, weight : as in `budget_threshold`
    threshold : float, default=None
        The decision's own; nothing below it is accepted, whatever the budget.

    Examples
    --------
    >>> from textmargin.decisions.budget import budget_outcome
    >>> y, scores = [1, 1, 0, 1, 0, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    >>> outcome = budget_outcome(y, scores, n_accept=200, n_texts=1000)
    >>> print(outcome)
    200 of 1,000: precision 1.00, 67% of all hits
    """
    positive = np.asarray(positive)
    if positive.shape != np.shape(scores) or not np.isin(positive, (0, 1)).all():
        raise LabelError(
            f"positive must hold True or False for each of the {np.size(scores)} scores; got shape "
            f"{positive.shape}."
        )
    theta = budget_threshold(scores, n_accept, n_texts, weight)
    theta = theta if threshold is None else max(theta, float(threshold))
    scores, weight, scored = scored_texts(scores, weight)
    hit, accepted = positive[scored].astype(bool), scores >= theta
    n_hits, n_accepted, n_delivered = (float(weight[rows].sum()) for rows in (hit, accepted, hit & accepted))
    precision = n_delivered / n_accepted if n_accepted else float("nan")
    recall = n_delivered / n_hits if n_hits else float("nan")
    per_text = n_texts / float(weight.sum())
    return BudgetOutcome(theta, n_accepted * per_text, n_texts, precision, recall, n_delivered * per_text)


@dataclass(frozen=True)
class Budget:
    """Of those accepted the highest n, of a batch or of each group.

    Parameters
    ----------
    n : int
    by : str, default=None
        The name of what texts are grouped by, such as a column of dates; None for the whole batch.

    Examples
    --------
    >>> from textmargin.decisions.budget import Budget
    >>> Budget(1, by="day").select([0.5, 0.7, -0.1, 0.2], groups=["Mon", "Mon", "Mon", "Tue"])
    array([False,  True, False,  True])
    """

    n: int
    by: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.n, int | np.integer) or isinstance(self.n, bool) or self.n < 0:
            raise SettingError("n", f"must be a whole number of texts, 0 or more; got {self.n!r}.")

    def select(self, leads: Any, groups: Any = None) -> Bools:
        """Which texts are delivered, (n_texts,).

        Parameters
        ----------
        leads : array (n_texts,), scores less threshold; those from 0 on are accepted
        groups : array (n_texts,), default=None
            The day, or whatever else the budget is for, of each text; of equal leads the first texts are
            taken.
        """
        leads = np.asarray(leads, dtype=np.float64)
        if leads.ndim != 1 or np.isnan(leads).any():
            raise ScoreError(
                f"leads must be a vector of scores less threshold, without NaN; got shape {leads.shape}."
            )
        if (groups is None) != (self.by is None):
            wanted = (
                f"groups by {self.by!r} are needed"
                if groups is None
                else "groups were given, but by=None is for a whole batch"
            )
            raise SettingError("by", f"is {self.by!r}: {wanted}.")
        group = np.zeros(leads.size, dtype=np.intp)
        if groups is not None:
            if len(groups) != leads.size:
                raise ScoreError(f"groups has {len(groups)} values, but there are {leads.size} leads.")
            number: dict[Any, int] = {}
            group = np.array([number.setdefault(own, len(number)) for own in groups], dtype=np.intp)
        order = descending_order(leads)
        order = order[leads[order] >= 0]
        order = order[np.argsort(group[order], kind="stable")]  # group after group, each highest first
        own = group[order]
        place = np.arange(own.size) - np.searchsorted(own, own, side="left")
        chosen = np.zeros(leads.size, dtype=bool)
        chosen[order[place < self.n]] = True
        return chosen


def _check_budget(n_accept: float, n_texts: float) -> None:
    if not (np.isfinite(n_texts) and n_texts > 0):
        raise SettingError("n_texts", f"must be a positive number of texts; got {n_texts}.")
    if not 0 <= n_accept <= n_texts:
        raise SettingError(
            "n_accept", f"must be at least 0 and at most n_texts={n_texts:g}; got {n_accept:g}."
        )


def scored_texts(scores: Any, weight: Any) -> tuple[Floats, Floats, Bools]:
    """Scores and weights of the texts that have them, and which these are."""
    scores = np.asarray(scores, dtype=np.float64)
    weight = np.ones(scores.shape) if weight is None else np.asarray(weight, dtype=np.float64)
    if scores.ndim != 1 or weight.shape != scores.shape:
        raise ScoreError(
            f"scores and weight must be vectors of one length, a class at a time; got {scores.shape} and "
            f"{weight.shape}."
        )
    if np.isinf(scores).any() or not (np.isfinite(weight) & (weight >= 0)).all():
        raise ScoreError(
            "scores must be finite, or NaN for a text without one, and weights finite and not negative."
        )
    scored = ~np.isnan(scores) & (weight > 0)
    if not scored.any():
        raise ScoreError(
            "No text has a score and a weight; a budget needs held-out scores to set its threshold on."
        )
    return scores[scored], weight[scored], scored
