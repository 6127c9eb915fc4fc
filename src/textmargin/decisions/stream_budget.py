"""A budget on a stream without days: a threshold that follows the quantile of recent scores.

A window alone lags behind scores that rise or fall, and delivers too many or too few; so the quantile itself
is rate by what was delivered (Gibbs & Candès 2021): with the rate ρ = n/per wanted, the quantile's own rate
is ρ at first and moves by 0.2ρ(ρ − accepted) with every text, between ρ/4 and 4ρ.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from .._ties import ROUNDING
from .._typing import Bools, Floats
from ..errors import ScoreError, SettingError
from .budget import scored_texts

# On drawn scores whose mean rose or fell by three deviations within 30,000 texts the rate was held to 1 % at
# 5 of 100, and to 20 % at 1 of 1,000; without steering 6 % and 500 %.
_GAIN = 0.2
_RANGE = 4.0
_MIN_ACCEPTED = 5  # in a window


class StreamBudget:
    """About n of every `per` texts of a stream: a threshold at the quantile of recent scores.

    Parameters
    ----------
    n, per : int
    start_scores : array (n_texts,), held-out scores
        Stand in for recent ones until there are some; NaN are left out.
    threshold : float, default=-inf
        The decision's own; nothing below it is accepted, however little comes.
    n_window : int, default=None
        How many recent scores count; default: twice `per`, and at least as many as hold five acceptances.
    hard : bool, default=False
        Never more than n of any `per` texts in a row.

    Attributes
    ----------
    theta_ : float, the threshold for the next text.

    Examples
    --------
    >>> import numpy as np
    >>> from textmargin.decisions.stream_budget import StreamBudget
    >>> rng = np.random.default_rng(0)
    >>> budget = StreamBudget(20, 100, start_scores=rng.normal(size=500))
    >>> round(float(budget.accept(rng.normal(size=5000)).mean()), 1)
    0.2
    """

    def __init__(
        self,
        n: int,
        per: int,
        start_scores: Any,
        *,
        threshold: float = -np.inf,
        n_window: int | None = None,
        hard: bool = False,
    ) -> None:
        if not 0 < n <= per:
            raise SettingError("n", f"must be at least 1 and at most per={per}; got {n}.")
        if np.isnan(threshold):
            raise SettingError("threshold", "must be a number; got NaN.")
        n_window = max(2 * per, -(-_MIN_ACCEPTED * per // n)) if n_window is None else n_window
        if n_window * n < per:
            raise SettingError(
                "n_window",
                f"must be at least {-(-per // n)}, or not one text in it is accepted; got {n_window}.",
            )
        start, _, _ = scored_texts(start_scores, None)
        # Spread evenly over the ranks, so that a part of the start is as good as the whole and its order no
        # matter.
        ranks = (np.arange(n_window) + 0.5) / n_window
        start = np.quantile(start, np.random.default_rng(0).permutation(ranks))
        self._window = _SortedWindow(start)
        self._n, self._per, self._threshold, self._hard = n, per, threshold, hard
        self._rate = n / per
        self._recent: deque[bool] = deque(maxlen=max(1, per - 1))
        self._n_recent = 0

    @property
    def theta_(self) -> float:
        """The threshold for the next text, by the scores before it."""
        return max(self._threshold, self._window.quantile(1 - self._rate))

    def accept(self, scores: Any) -> Bools:
        """Which of further texts are accepted, (n_texts,); each is decided on by those before it alone.

        Parameters
        ----------
        scores : array (n_texts,), in the order of the texts
        """
        scores = np.asarray(scores, dtype=np.float64)
        if scores.ndim != 1 or not np.isfinite(scores).all():
            raise ScoreError(
                "scores must be a vector of finite numbers, in the order of the texts; got shape "
                f"{scores.shape}."
            )
        return np.array([self._accept_one(score) for score in scores.tolist()], dtype=bool)

    def _accept_one(self, score: float) -> bool:
        theta, wanted = self.theta_, self._n / self._per
        accepted = score >= theta - ROUNDING * abs(theta) if np.isfinite(theta) else theta < 0
        full = self._hard and self._n_recent >= self._n
        if not full and (accepted or theta > self._threshold):  # else it was not the quantile that decided
            rate = self._rate + _GAIN * wanted * (wanted - accepted)
            self._rate = min(max(rate, wanted / _RANGE), _RANGE * wanted, 1.0)
        accepted = bool(accepted and not full)
        if self._per > 1:
            self._n_recent += accepted - (self._recent[0] if len(self._recent) == self._recent.maxlen else 0)
            self._recent.append(accepted)
        self._window.push(score)
        return accepted


class _SortedWindow:
    """The last values of a stream, sorted at all times."""

    def __init__(self, values: Floats) -> None:
        self._queue = deque(values.tolist())
        self._sorted = np.sort(values)

    def push(self, value: float) -> None:
        """Let the oldest value go."""
        row, old = self._sorted, self._queue.popleft()
        self._queue.append(value)
        out, into = int(np.searchsorted(row, old)), int(np.searchsorted(row, value))
        if into > out:
            row[out : into - 1] = row[out + 1 : into]
            row[into - 1] = value
        else:
            row[into + 1 : out + 1] = row[into:out].copy()
            row[into] = value

    def quantile(self, rank: float) -> float:
        """Between the two values that a share `rank` of the window lies below; below all numbers for a share
        of nothing.
        """
        if rank <= 0:
            return -np.inf
        place = rank * self._sorted.size - 0.5
        low = min(max(int(np.floor(place)), 0), self._sorted.size - 1)
        high = min(low + 1, self._sorted.size - 1)
        return float(
            self._sorted[low] + min(max(place - low, 0.0), 1.0) * (self._sorted[high] - self._sorted[low])
        )
