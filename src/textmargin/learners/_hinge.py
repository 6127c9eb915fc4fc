"""The kernel SVM of one class with a prior score per text, on as many texts as one matrix holds.

Over β, b and the trust η in the prior scores z (C inside the costs; with squared losses for the squared
hinge)

    ½β'Kβ + Σᵢ cᵢ max(0, 1 − yᵢfᵢ) + ½ρ(η − η₀)²        f = Kβ + ηz + b

*With η given*, ηz is an offset, by which the target of each text changes (`_dual.py`).

*To find η*, the minimum over β and b is a convex function of η whose slope is ρ(η − η₀) − z'β; its zero is
looked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from .._typing import Floats
from ..errors import PriorError
from ._dual import DualProblems, DualSolution, Loss
from ._gram_dual import solve_dual, warn_if_unsolved

_LARGEST_OFFSET = 1e6


@dataclass(frozen=True)
class KernelTrustSetting:
    """What is said of η: held at its target, or pulled there with strength ρ and at least `least`."""

    target: float = 0.0
    pull: float = np.inf
    least: float = -np.inf

    @property
    def held(self) -> bool:
        return bool(np.isinf(self.pull))


@dataclass(frozen=True)
class MachineSettings:
    """What the machines of all classes share."""

    tol: float
    fit_intercept: bool = True
    loss: Loss = "hinge"


@dataclass(frozen=True)
class Chunk:
    """Some texts of one class against the rest, with their kernel matrix, in single precision or double, or
    both.
    """

    K: Any
    y: Floats  # ±1
    costs: Floats
    z: Floats
    settings: MachineSettings
    exact: Floats | None = None

    def solve(self, setting: KernelTrustSetting, start: Floats | None = None) -> tuple[Floats, float, float]:
        """β, b and η at the minimum."""
        tol = self.settings.tol
        eta = setting.target if setting.held else self._trust(setting, start)
        solution = self._solution(eta, tol, start)
        warn_if_unsolved(float(solution.violation[0]), tol)
        return solution.beta[0], float(solution.intercept[0]), eta

    def _solution(self, eta: float, tol: float, start: Floats | None) -> DualSolution:
        problems = DualProblems.of(
            self.y[None], self.costs[None], offset_of(self.z, eta)[None], self.settings.loss
        )
        begin = None if start is None else start[None]
        return solve_dual(self.K, problems, self.settings.fit_intercept, tol, begin, exact=self.exact)

    def _trust(self, setting: KernelTrustSetting, begin: Floats | None) -> float:
        """The η nearest to where it is looked for from (0, or the target) that minimises the objective."""
        start = max(setting.target, setting.least)
        spread = spread_of(self.z, self.settings.fit_intercept)
        if spread == 0:
            return start
        tol = min(self.settings.tol, 1e-5)  # slopes tell more of what a solver left undone than scores do
        beta = self._solution(start, tol, begin).beta[0]

        def slope(eta: float) -> float:
            nonlocal beta
            beta = self._solution(eta, tol, beta).beta[0]
            return setting.pull * (eta - setting.target) - float(self.z @ beta)

        noise = 1e-9 * float(np.abs(beta) @ np.abs(self.z))
        first = slope(start)
        if abs(first) <= noise or (start == setting.least and first > 0):
            return start
        downhill = -float(np.sign(first))

        def descent(eta: float) -> float:
            return -downhill * slope(eta) - noise

        step = 1.0 / spread
        while step < 1e9 / spread and descent(start + downhill * step) > 0:
            # until past the minimum; where the prior alone reaches every margin, the slope is 0 from there on
            step *= 2
        end = start + downhill * step
        if step >= 1e9 / spread:
            return end
        return float(brentq(descent, start, end, xtol=1e-7 / spread, rtol=1e-7))


def offset_of(z: Floats, eta: float) -> Floats:
    """ηz, as far as margins of 1 mean anything beside it."""
    offset = eta * z
    furthest = float(np.abs(offset).max(initial=0.0))
    if furthest > _LARGEST_OFFSET:
        raise PriorError(
            f"prior_scores times their trust go up to {furthest:.0e}, where margins are 1; give smaller "
            "scores."
        )
    return offset


def spread_of(scores: Floats, fit_intercept: bool) -> float:
    """How wide scores are; beside an intercept it does not matter around what."""
    return float(scores.std() if fit_intercept else np.sqrt(np.mean(scores**2)))
