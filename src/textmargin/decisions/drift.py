"""Do recent texts still look like those that the thresholds were set on? Asked again and again, without
crying wolf.

Every half window the last `n_window` scores of each class are compared with the held-out ones (Kolmogorov and
Smirnov, two samples). The level of a comparison is `alpha`, divided by the comparisons that fall into
`n_horizon` texts and by the classes (Bonferroni), so that of streams of that length in which nothing changes
at most a share `alpha` raises an alarm. After one, `estimate_mix` says whether other shares explain it.

Held-out scores are never quite those of new texts, and over many comparisons any difference shows: a
`tolerance` is taken off the distance. With leave-one-out scores of SMS and of a random part of Reuters'
training texts (ten topics), and streams of 20,000 of the others, an alarm came in all of 20 streams without
it, in 2 (Reuters) and none (SMS) with .04, in none with .05.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import kstwo

from .._typing import Floats, Indices
from ..errors import SettingError
from .calibration import Kind, by_class, checked_texts
from .mix import MIN_NEW_TEXTS, MixEstimate, checked_scores, estimate_mix


@dataclass(frozen=True, eq=False)
class DriftAlarm:
    """Recent texts that do not look like the old ones.

    Attributes
    ----------
    cause : "mix" (other shares explain it) or "texts" (they are of another kind)
    classes : array of the columns whose scores changed
    distance, p_value : arrays (n_problems,), of the comparison of recent with held-out scores
    mix : MixEstimate of these classes; of all where they exclude each other
    n_seen : int, texts since the start
    message : str
    """

    cause: Literal["mix", "texts"]
    classes: Indices
    distance: Floats
    p_value: Floats
    mix: MixEstimate
    n_seen: int
    message: str


class DriftMonitor:
    """Watches the scores of a stream of texts, in memory for `n_window` of them.

    Parameters
    ----------
    positive, scores, kind, weight : the texts that the thresholds were set on, as in `Calibration.fit`
    names : sequence of str, default=None
        Of the classes, for messages; their numbers by default.
    n_window : int, default=1000
        How many recent texts are compared.
    alpha : float, default=0.05
        The share of streams of `n_horizon` texts without any change in which there may be an alarm.
    n_horizon : int, default=20_000
    tolerance : float, default=0.05
        A distance between the scores of recent and of old texts that is no cause for alarm.
    random_state : int, default=0

    Attributes
    ----------
    n_seen : int

    Examples
    --------
    >>> import numpy as np
    >>> from textmargin.decisions.drift import DriftMonitor
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(1000)[:, None] < 100
    >>> monitor = DriftMonitor(positive, rng.normal(np.where(positive, 1, -1), 0.7), "binary")
    >>> monitor.update(rng.normal(np.where(rng.random((500, 1)) < 0.1, 1, -1), 0.7)) is None
    True
    >>> monitor.update(rng.normal(np.where(rng.random((1000, 1)) < 0.5, 1, -1), 0.7)).cause
    'mix'
    """

    def __init__(
        self,
        positive: Any,
        scores: Any,
        kind: Kind,
        *,
        weight: Any = None,
        names: Sequence[str] | None = None,
        n_window: int = 1000,
        alpha: float = 0.05,
        n_horizon: int = 20_000,
        tolerance: float = 0.05,
        random_state: int | None = 0,
    ) -> None:
        if n_window < 2 * MIN_NEW_TEXTS:
            raise SettingError(
                "n_window",
                f"must be at least {2 * MIN_NEW_TEXTS} for two samples to be compared; got {n_window}.",
            )
        if not 0 < alpha < 1:
            raise SettingError("alpha", f"must lie between 0 and 1; got {alpha}.")
        if n_horizon < n_window:
            raise SettingError("n_horizon", f"must be at least n_window={n_window}; got {n_horizon}.")
        if not 0 <= tolerance < 1:
            raise SettingError("tolerance", f"must be at least 0 and below 1; got {tolerance}.")
        self._tolerance = tolerance
        self._positive, self._scores, self._weight = checked_texts(positive, scores, kind, weight)
        self._kind: Kind = kind
        self._names = [f"class {k}" for k in range(self._scores.shape[1])] if names is None else list(names)
        self._random_state = random_state
        self._n_window, self._stride = n_window, n_window // 2
        n_problems = self._scores.shape[1]
        self._level = alpha * self._stride / n_horizon / n_problems
        # A class without any held-out score has nothing to compare with, and never raises an alarm.
        weights = by_class(self._weight, n_problems)
        self._old = [
            _OldScores.of(column, own) for column, own in zip(self._scores.T, weights.T, strict=True)
        ]
        self._recent = np.empty((0, n_problems))
        self.n_seen = 0

    def update(self, new_scores: Any) -> DriftAlarm | None:
        """Take the scores of further texts, in their order; the last alarm that they raise, or None.

        Parameters
        ----------
        new_scores : array (n_new, n_problems), finite; any number of rows
        """
        new = checked_scores(new_scores, self._scores.shape[1])
        alarm = None
        while len(new):
            n_taken = min(len(new), self._stride - self.n_seen % self._stride)
            self._recent = np.vstack([self._recent, new[:n_taken]])[-self._n_window :]
            self.n_seen += n_taken
            new = new[n_taken:]
            if self.n_seen % self._stride == 0:
                alarm = self._compare() or alarm
        return alarm

    def _compare(self) -> DriftAlarm | None:
        tests = [
            old.compare(np.sort(recent), self._tolerance)
            for old, recent in zip(self._old, self._recent.T, strict=True)
        ]
        distance, p_value = (np.array(column) for column in zip(*tests, strict=True))
        alarming = np.flatnonzero(p_value < self._level)
        if not alarming.size:
            return None
        columns = np.arange(distance.size) if self._kind == "multiclass" else alarming
        mix = estimate_mix(
            self._positive[:, columns],
            self._scores[:, columns],
            self._recent[:, columns],
            self._kind,
            weight=self._weight if self._weight.ndim == 1 else self._weight[:, columns],
            random_state=self._random_state,
        )
        cause: Literal["mix", "texts"] = "mix" if mix.explained.all() else "texts"
        return DriftAlarm(
            cause, alarming, distance, p_value, mix, self.n_seen, self._words(mix, columns, alarming)
        )

    def _words(self, mix: MixEstimate, columns: Indices, alarming: Indices) -> str:
        n_recent = len(self._recent)
        parts = []
        for k in alarming:
            j = int(np.flatnonzero(columns == k)[0])
            if mix.explained[j]:
                interval = f"{mix.low[j]:.1%} to {mix.high[j]:.1%}"
                parts.append(
                    f"{self._names[k]}: the mix changed, share {mix.shares[j]:.1%} ({interval}), was "
                    f"{mix.old_shares[j]:.1%}"
                )
            else:
                parts.append(
                    f"{self._names[k]}: texts of another kind (distance {mix.distance[j]:.2f} from any "
                    "mix of the old ones)"
                )
        return (
            f"The last {n_recent:,} texts are not like those that the thresholds were set on; "
            + "; ".join(parts)
            + "."
        )


@dataclass(frozen=True, eq=False)
class _OldScores:
    """Held-out scores of a class, sorted, with the share of the weight up to each."""

    scores: Floats
    share: Floats
    n: float

    @classmethod
    def of(cls, scores: Floats, weight: Floats) -> _OldScores:
        order = np.argsort(scores, kind="stable")[: int(np.sum(~np.isnan(scores)))]  # NaN come last
        own = weight[order]
        # Kish: as many texts of equal weight
        n = float(own.sum() ** 2 / np.sum(own**2)) if own.any() else 0.0
        return cls(scores[order], np.append(0.0, np.cumsum(own) / own.sum()) if n else np.zeros(1), n)

    def compare(self, new: Floats, tolerance: float) -> tuple[float, float]:
        """Kolmogorov and Smirnov's distance to a sorted sample, and the p-value of what it is beyond the
        tolerance.
        """
        if not self.n:
            return 0.0, 1.0
        places = np.concatenate([self.scores, new])
        gap = (
            self.share[np.searchsorted(self.scores, places, side="right")]
            - np.searchsorted(new, places, side="right") / new.size
        )
        distance = float(np.abs(gap).max())
        return distance, float(
            kstwo.sf(max(0.0, distance - tolerance), max(1, round(self.n * new.size / (self.n + new.size))))
        )
