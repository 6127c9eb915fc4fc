"""How far the prior score of a text is trusted by a kernel machine: the η of  f = Kβ + ηz + b, by the modes
of `trust.py`.

A kernel has no weights on whose scale a prior could be put, so scores are compared: *on the scale of the
scores* means that ηz is spread over the training texts as widely (standard deviation) as the scores that the
kernel alone gives.

With η given, ηz is an offset that moves the target of each text. To find η, the minimum over β and b is a
convex function of η whose slope is ρ(η − η₀) − z'β; its zero is looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from .._ties import ROUNDING
from .._typing import Floats, Indices
from ..errors import PriorError
from ._kernel_solver import Dual, KernelSolver
from .evidence import hinge_gains, prior_evidence, rank_gains, select_priors
from .kernel_matrix import KernelMatrix
from .trust import Mode

_N_FOLDS = 5
_LARGEST_OFFSET = 1e6
_FINE = 1e-5  # tol of a search for η: slopes tell more of what a solver left undone than scores do


@dataclass(frozen=True)
class KernelTrustSetting:
    """What is said of η: held at its target, or pulled there with strength ρ and at least `least`."""

    target: float = 0.0
    pull: float = np.inf
    least: float = -np.inf


_PLAIN = KernelTrustSetting()


@dataclass(frozen=True)
class KernelProblem:
    """One class against the rest."""

    y: Floats  # ±1
    costs: Floats  # 0: not there
    z: Floats  # prior scores, centred; 0 where there are none

    def without(self, held_out: Indices) -> KernelProblem:
        """The problem with some of the texts left out."""
        costs = self.costs.copy()
        costs[held_out] = 0.0
        return replace(self, costs=costs)


@dataclass(frozen=True)
class KernelFit:
    """A machine, the mode it was learnt with, and what `auto` found out about the prior scores on the way."""

    beta: Floats  # (n_texts,)
    intercept: float
    eta: float
    scores: Floats  # of all training texts
    setting: KernelTrustSetting
    mode: Mode = "plain"
    evidence: float = np.nan
    gain: float = np.nan


@dataclass(frozen=True)
class KernelLearner:
    """Learns machines over one kernel matrix."""

    gram: KernelMatrix
    solver: KernelSolver

    def learn(
        self, problems: list[KernelProblem], settings: list[KernelTrustSetting], start: Floats | None = None
    ) -> list[KernelFit]:
        """A machine for each problem; those whose η is to be found first find it, one by one."""
        starts = [None] * len(problems) if start is None else list(start)
        eta = [
            setting.target if np.isinf(setting.pull) else self._trust(problem, setting, begin)
            for problem, setting, begin in zip(problems, settings, starts, strict=True)
        ]
        if not problems:
            return []
        offset = np.array([_offset(problem.z, own) for problem, own in zip(problems, eta, strict=True)])
        y, costs = (np.array([getattr(problem, name) for problem in problems]) for name in ("y", "costs"))
        found = self.solver.solve(self.gram, Dual.of(y, costs, offset), start)
        scores = y - found.e + found.intercept[:, None]
        parts = zip(found.beta, map(float, found.intercept), eta, scores, settings, strict=True)
        return [KernelFit(*part) for part in parts]

    def fit(
        self,
        problems: list[KernelProblem],
        informed: Sequence[bool],
        trust: str | float,
        pull: float,
        start: Floats | None = None,
    ) -> list[KernelFit]:
        """A machine for each problem; `informed` are those of which prior scores were given, `pull` is that
        of `ridge`.
        """
        if trust not in ("auto", "ridge") and any(informed):
            mode, setting = _given(trust)
            fits = self.learn(problems, [setting if known else _PLAIN for known in informed], start)
            return [
                replace(fit, mode=mode) if known else fit for fit, known in zip(fits, informed, strict=True)
            ]
        fits = self.learn(problems, [_PLAIN] * len(problems), start)
        known = [k for k, problem in enumerate(problems) if problem.z.any()]
        scale = {k: self._scale(problems[k], fits[k]) for k in known}
        if trust == "ridge":
            settings = [KernelTrustSetting(scale[k], pull / scale[k] ** 2) for k in known]
            for k, fit in zip(known, self.learn([problems[k] for k in known], settings), strict=True):
                fits[k] = replace(fit, mode="ridge")
            return fits
        found = [self._evidence(problems[k], KernelTrustSetting(scale[k])) for k in known]
        trusted = select_priors(np.array([evidence for evidence, _ in found]).reshape(-1, 1))[:, 0]
        for k, (evidence, gain), trusts in zip(known, found, trusted, strict=True):
            if trusts:
                (fit,) = self.learn([problems[k]], [KernelTrustSetting(scale[k])], fits[k].beta[None])
                fits[k] = replace(fit, mode="fixed")
            fits[k] = replace(fits[k], evidence=evidence, gain=gain)
        return fits

    def _trust(self, problem: KernelProblem, setting: KernelTrustSetting, start: Floats | None) -> float:
        """The η at the minimum."""
        first = max(setting.target, setting.least)
        spread = self._spread(problem.z)
        if spread == 0:
            return first
        solver = replace(self.solver, tol=min(self.solver.tol, _FINE))
        y, costs = problem.y[None], problem.costs[None]
        beta = np.zeros_like(y) if start is None else start[None]

        def slope(eta: float) -> float:
            nonlocal beta
            beta = solver.solve(self.gram, Dual.of(y, costs, _offset(problem.z, eta)), beta).beta
            return setting.pull * (eta - setting.target) - float(problem.z @ beta[0])

        at_first = slope(first)
        noise = 1e-9 * float(np.abs(beta[0]) @ np.abs(problem.z))
        if abs(at_first) <= noise or (first == setting.least and at_first > 0):
            return first
        downhill = -float(np.sign(at_first))

        def descent(eta: float) -> float:
            return -downhill * slope(eta) - noise

        step = 1.0 / spread
        while step < 1e9 / spread and descent(first + downhill * step) > 0:
            # until past the minimum; where the prior alone reaches every margin, the slope is 0 from there on
            step *= 2
        end = first + downhill * step
        if step >= 1e9 / spread:
            return end
        return float(brentq(descent, first, end, xtol=1e-7 / spread, rtol=1e-7))

    def _evidence(self, problem: KernelProblem, setting: KernelTrustSetting) -> tuple[float, float]:
        """For the prior scores, from held-out texts, and the share of their loss that is saved."""
        texts = np.flatnonzero(problem.costs > 0)
        sides = [texts[problem.y[texts] > 0], texts[problem.y[texts] < 0]]
        n_folds = min(_N_FOLDS, *map(len, sides))
        if n_folds < 2:  # nothing can be held out; does the score speak for the only example?
            difference = problem.z[sides[0]].mean() - problem.z[sides[1]].mean()
            if abs(difference) <= ROUNDING * np.abs(problem.z[texts]).max():
                return 0.0, 0.0
            return 0.5 * float(np.sign(difference)), 0.0  # that may well be chance
        folds = [np.concatenate([side[j::n_folds] for side in sides]) for j in range(n_folds)]
        plain, informed = np.zeros((2, len(problem.y)))
        for scores, own in ((plain, _PLAIN), (informed, setting)):
            fits = self.learn([problem.without(fold) for fold in folds], [own] * n_folds)
            for fold, fit in zip(folds, fits, strict=True):
                scores[fold] = fit.scores[fold]
        y, costs, plain, informed = problem.y[texts], problem.costs[texts], plain[texts], informed[texts]
        without, with_prior = (costs * np.maximum(1 - y * score, 0) for score in (plain, informed))
        # The prior scores are spread as widely as the others; with a small C these are far below the margin.
        width = setting.target * self._spread(problem.z[texts])
        gains = hinge_gains(without, with_prior, costs, self.solver.tol * min(1.0, width))
        return prior_evidence(gains, rank_gains(plain, informed, y > 0, costs)), float(
            gains.sum() / max(without.sum(), 1e-300)
        )

    def _scale(self, problem: KernelProblem, plain: KernelFit) -> float:
        """The η at which ηz is spread as widely as the scores of the kernel alone."""
        there = problem.costs > 0
        return max(self._spread(plain.scores[there]), 1e-12) / self._spread(problem.z[there])

    def _spread(self, scores: Floats) -> float:
        """How wide scores are; beside an intercept it does not matter around what."""
        return float(scores.std() if self.solver.fit_intercept else np.sqrt(np.mean(scores**2)))


def _given(trust: str | float) -> tuple[Mode, KernelTrustSetting]:
    """The setting of a mode that needs to know nothing else."""
    if trust == "free":
        return "free", KernelTrustSetting(pull=0.0)
    if trust == "nonneg":
        return "nonneg", KernelTrustSetting(pull=0.0, least=0.0)
    return "fixed", KernelTrustSetting(1.0 if trust == "fixed" else float(trust))


def _offset(z: Floats, eta: float) -> Floats:
    """ηz, as far as margins of 1 mean anything beside it."""
    offset = eta * z
    furthest = float(np.abs(offset).max(initial=0.0))
    if furthest > _LARGEST_OFFSET:
        raise PriorError(
            f"prior_scores times their trust go up to {furthest:.0e}, where margins are 1; give smaller "
            "scores."
        )
    return offset
