"""The chance that a text is a hit, given its score, and how well that is known.

    log-odds of a hit at score s:   a·s + b    (a, b) drawn to N(m, S), so that a few judged texts are enough

Whether a text was judged depends on its score alone, so that the judged texts say without bias how often a
score means a hit: the selection that would spoil a share of hits, or a recall, does not touch a chance given
the score. Where nothing was judged (low scores) it is the straight line that speaks; its standard deviation
grows with the distance from what was judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from .._typing import Floats

# (a, b) before anything is judged. A support vector machine has its margins at −1 and 1: a = 4 takes the odds
# from 1 : 50 to 50 : 1 between them. b = −log 2 is T10U's break-even at the middle.
_MEAN = np.array([4.0, -np.log(2.0)])
_DEVIATION = np.array([2.0, 3.0])
_LEAST_SLOPE = 0.5  # scores that say the contrary of what they mean are no reason to accept the lowest
_STEPS = 100


@dataclass(frozen=True)
class Chance:
    """The log-odds of a hit as a line over scores.

    Attributes
    ----------
    line : array (2,), a and b
    covariance : array (2, 2), how far they may be elsewhere
    """

    line: Floats
    covariance: Floats

    @classmethod
    def fit(cls, score: Floats, truth: Floats, weight: Floats) -> Self:
        """The most probable line given judged texts, with the curvature there as its precision (Laplace)."""
        found = cls(*_posterior(score, truth, weight, _MEAN, _DEVIATION))
        if found.line[0] >= _LEAST_SLOPE:
            return found
        mean, deviation = np.array([_LEAST_SLOPE, _MEAN[1]]), np.array([1e-6, _DEVIATION[1]])
        return cls(*_posterior(score, truth, weight, mean, deviation))

    def threshold(self, log_odds: float) -> float:
        """The score at which a hit has these odds."""
        return float((log_odds - self.line[1]) / self.line[0])

    def optimistic_threshold(self, log_odds: float, optimism: float, reach: float) -> float:
        """The lowest score from which on the odds may be these, were the line `optimism` standard deviations
        higher.

        It is the upper root of a·s + b + κ·√(s, 1)V(s, 1)' = log-odds below `threshold`, and at most `reach`
        below it.
        """
        top = self.threshold(log_odds)
        (v_a, v_ab), (_, v_b) = optimism**2 * self.covariance
        a, c = self.line[0], self.line[1] - log_odds
        square, half, constant = a * a - v_a, a * c - v_ab, c * c - v_b
        discriminant = half * half - square * constant
        if square <= 0 or discriminant < 0:  # not even the slope is known: as far down as is allowed
            return top - reach
        return max(float((-half - np.sqrt(discriminant)) / square), top - reach)


def _posterior(
    score: Floats, truth: Floats, weight: Floats, mean: Floats, deviation: Floats
) -> tuple[Floats, Floats]:
    """Mode and covariance by Newton steps, halved until the objective falls."""
    columns, precision = np.column_stack([score, np.ones_like(score)]), np.diag(deviation**-2.0)

    def objective(line: Floats) -> float:
        odds = columns @ line
        return float(
            weight @ (np.logaddexp(0.0, odds) - truth * odds) + (line - mean) @ precision @ (line - mean) / 2
        )

    line = mean
    value = objective(line)
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(columns @ line, -500, 500)))
        gradient = columns.T @ (weight * (chance - truth)) + precision @ (line - mean)
        hessian = (columns * (weight * chance * (1 - chance))[:, None]).T @ columns + precision
        step = np.linalg.solve(hessian, gradient)
        decrease = float(gradient @ step)
        if decrease <= 1e-14 * max(value, 1.0):
            break
        size = 1.0
        while size > 1e-6 and objective(line - size * step) > value - 0.25 * size * decrease:
            size /= 2
        line = line - size * step
        value = objective(line)
    return line, np.asarray(np.linalg.inv(hessian), dtype=np.float64)
