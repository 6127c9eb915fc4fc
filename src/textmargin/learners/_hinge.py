"""The kernel SVM with a prior score per text, on as many texts as one matrix holds; LIBSVM solves it.

Over β, b and the trust η in the prior scores z (C inside the costs)

    ½β'Kβ + Σᵢ cᵢ max(0, 1 − yᵢfᵢ) + ½ρ(η − η₀)²        f = Kβ + ηz + b

*With η given*, ηz is an offset o, for which LIBSVM's classifier has no place, but its regression has: with a tube as wide as M
around yᵢ(1 + M) − oᵢ the loss max(0, |f − t| − ε) is the hinge above, so long as no score is beyond 1 + 2M.

*To find η*, the minimum over β and b is a convex function of η whose slope is ρ(η − η₀) − z'β; its zero is looked for.

*Without intercept* b is 0, and `_fixed_threshold.py` solves it in LIBSVM's place.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, LinAlgWarning, solve
from scipy.optimize import brentq
from sklearn.svm import SVC, SVR

from .._ties import ROUNDING
from .._typing import Floats
from ..errors import PriorError
from ._fixed_threshold import box_weights

_CACHE_MB = 200
_ROUNDING = 1e-9  # relative, within which a weight is at its bound
_LARGEST_OFFSET = 1e6
_MAX_POLISHED = 3000  # free support vectors, the side of a dense system


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
class Chunk:
    """Some texts of one class against the rest."""

    K: Floats
    y: Floats  # ±1
    costs: Floats
    z: Floats
    fit_intercept: bool = True

    def solve(self, setting: KernelTrustSetting, tol: float) -> tuple[Floats, float, float]:
        """β, b and η at the minimum."""
        eta = setting.target if setting.held else self._trust(setting, tol)
        beta = self._weights(eta, tol)
        b = intercept(self.K @ beta + eta * self.z, self.y, beta, self.costs) if self.fit_intercept else 0.0
        return beta, b, eta

    def _weights(self, eta: float, tol: float) -> Floats:
        """β for a given η; exact if the solver found out which texts are on their margin and which beyond."""
        beta: Floats = np.zeros(self.y.size)
        for precision in (tol, tol / 100):
            if self.fit_intercept:
                beta = self._libsvm(eta, precision)
            else:
                beta = box_weights(self.K, self.y, self.costs, 1 - self.y * eta * self.z, precision, beta)
            exact = self._polished(beta, eta, tol)
            if exact is not None:
                return exact
        return beta

    def _libsvm(self, eta: float, tol: float) -> Floats:
        if eta == 0 or not self.z.any():
            machine = SVC(C=1.0, kernel="precomputed", tol=tol, cache_size=_CACHE_MB)
            return self._spread(machine.fit(self.K, self.y, sample_weight=self.costs))
        offset = eta * self.z
        furthest = float(np.abs(offset).max())
        if furthest > _LARGEST_OFFSET:
            raise PriorError(f"prior_scores times their trust go up to {furthest:.0e}, where margins are 1; give smaller scores.")
        for width in (10.0 * (1 + furthest), 1e3 * (1 + furthest), 1e5 * (1 + furthest)):
            machine = SVR(C=1.0, kernel="precomputed", tol=max(tol, 1e-12 * width), cache_size=_CACHE_MB, epsilon=width)
            beta = self._spread(machine.fit(self.K, self.y * (1 + width) - offset, sample_weight=self.costs))
            if (self.y * beta >= 0).all():  # nobody beyond the far side of the tube
                break
        return np.where(self.y * beta > 0, beta, 0.0)

    def _polished(self, beta: Floats, eta: float, tol: float) -> Floats | None:
        """β with the free texts exactly on their margin, the others left where they are; None where that does not fit."""
        size = self.y * beta
        free, bound = _free(size, self.costs), size >= self.costs * (1 - _ROUNDING)
        n_free = int(free.sum())
        if not 0 < n_free <= _MAX_POLISHED:
            return beta
        rest = self.K[free][:, bound] @ beta[bound]
        system, goal = self.K[free][:, free], self.y[free] - eta * self.z[free] - rest
        if self.fit_intercept:
            system = np.pad(system, (0, 1), constant_values=1.0)
            system[-1, -1] = 0.0
            goal = np.append(goal, -beta[bound].sum())
        solution = _solved(system, goal)
        size = self.y * beta
        size[free] = self.y[free] * solution[:n_free]
        size[np.abs(size) <= ROUNDING * self.costs] = 0.0  # whether a text supports at all must not hang on rounding
        full = np.abs(size - self.costs) <= ROUNDING * self.costs
        size[full] = self.costs[full]
        exact = self.y * size
        excess = self.y * (self.K @ exact + eta * self.z + solution[n_free:].sum()) - 1
        inside = (size >= 0).all() and (size <= self.costs).all()
        fits = (np.abs(excess[free]) < 1e-9).all() and (excess[size == 0] > -tol).all() and (excess[bound] < tol).all()
        return exact if inside and fits else None

    def _spread(self, machine: SVC | SVR) -> Floats:
        beta = np.zeros(self.y.size)
        beta[machine.support_] = machine.dual_coef_[0]
        return beta

    def _trust(self, setting: KernelTrustSetting, tol: float) -> float:
        """The η nearest to where it is looked for from (0, or the target) that minimises the objective."""
        start = max(setting.target, setting.least)
        spread = spread_of(self.z, self.fit_intercept)
        if spread == 0:
            return start
        tol = min(tol, 1e-5)  # slopes tell more of what a solver left undone than scores do

        def slope(eta: float) -> float:
            return setting.pull * (eta - setting.target) - float(self.z @ self._weights(eta, tol))

        noise = 1e-9 * float(np.abs(self._weights(start, tol)) @ np.abs(self.z))
        first = slope(start)
        if abs(first) <= noise or (start == setting.least and first > 0):
            return start
        downhill = -float(np.sign(first))

        def descent(eta: float) -> float:
            return -downhill * slope(eta) - noise

        step = 1.0 / spread
        while step < 1e9 / spread and descent(start + downhill * step) > 0:
            step *= 2  # until past the minimum; where the prior alone reaches every margin, the slope is 0 from there on
        end = start + downhill * step
        if step >= 1e9 / spread:
            return end
        return float(brentq(descent, start, end, xtol=1e-7 / spread, rtol=1e-7))


def spread_of(scores: Floats, fit_intercept: bool) -> float:
    """How wide scores are; beside an intercept it does not matter around what."""
    return float(scores.std() if fit_intercept else np.sqrt(np.mean(scores**2)))


def _free(size: Floats, costs: Floats) -> NDArray[np.bool_]:
    """Which weights are neither 0 nor at their bound."""
    return np.asarray((size > 0) & (size < costs * (1 - _ROUNDING)))


def _solved(system: Floats, goal: Floats) -> Floats:
    """The solution of a symmetric system; the least one where there are many, as with equal texts."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", LinAlgWarning)
        try:
            return np.asarray(solve(system, goal, assume_a="sym"))
        except (LinAlgWarning, LinAlgError):
            return np.asarray(np.linalg.lstsq(system, goal, rcond=1e-12)[0])


def intercept(scores: Floats, y: Floats, beta: Floats, costs: Floats) -> float:
    """b for scores without it: what puts the free support vectors on their margin, or else the middle of what all texts allow."""
    wanted, size = y - scores, y * beta
    free = _free(size, costs)
    if free.any():
        return float(wanted[free].mean())
    at_least = (y > 0) == (size == 0)  # not empty, nor are the others: Σβ = 0
    return float((wanted[at_least].max() + wanted[~at_least].min()) / 2)
