"""How far the prior score of a text is trusted by a kernel machine: the η of  f = Kβ + ηz + b, by the modes
of `trust.py`.

A kernel has no weights on whose scale a prior could be put, so scores are compared: *on the scale of the
scores* means that ηz is spread over the training texts as widely (standard deviation) as the scores that the
kernel alone gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .._ties import ROUNDING
from .._typing import Floats, Indices
from ._hinge import KernelTrustSetting, spread_of
from ._machine import GramColumns, KernelProblem, Machine, MachineLearner
from .evidence import hinge_gains, prior_evidence, rank_gains, select_priors

if TYPE_CHECKING:  # which needs the compiled core; on a GPU this does not
    from .trust import Mode

_PLAIN = KernelTrustSetting()
_N_FOLDS = 5


@dataclass(frozen=True)
class KernelFit:
    """A machine, the mode it was learnt with, and what `auto` found out about the prior scores on the way."""

    machine: Machine
    mode: Mode
    setting: KernelTrustSetting
    evidence: float = np.nan
    gain: float = np.nan


@dataclass(frozen=True)
class KernelSolver:
    """The settings that every problem of one estimator shares."""

    learner: MachineLearner
    trust: str | float
    pull: float  # C times the strength of `ridge`

    def fit(
        self,
        gram: GramColumns,
        problems: list[KernelProblem],
        informed: Sequence[bool],
        starts: list[Machine] | None = None,
    ) -> list[KernelFit]:
        """A machine for each problem; `informed` are those of which prior scores were given, `starts`
        machines that are alike.
        """
        if self.trust not in ("auto", "ridge") and any(informed):
            mode, setting = self._given()
            settings = [setting if known else _PLAIN for known in informed]
            machines = self.learner.learn(gram, problems, settings, starts)
            modes: list[Mode] = [mode if known else "plain" for known in informed]
            return [KernelFit(*learnt) for learnt in zip(machines, modes, settings, strict=True)]
        machines = self.learner.learn(gram, problems, [_PLAIN] * len(problems), starts)
        plain = [KernelFit(machine, "plain", _PLAIN) for machine in machines]
        better = self._ridge if self.trust == "ridge" else self._auto
        known = [k for k, problem in enumerate(problems) if problem.z.any()]
        for k, fit in zip(
            known, better(gram, [problems[k] for k in known], [plain[k] for k in known]), strict=True
        ):
            plain[k] = fit
        return plain

    def _given(self) -> tuple[Mode, KernelTrustSetting]:
        """The setting of a mode that needs to know nothing else."""
        if self.trust == "free":
            return "free", KernelTrustSetting(pull=0.0)
        if self.trust == "nonneg":
            return "nonneg", KernelTrustSetting(pull=0.0, least=0.0)
        return "fixed", KernelTrustSetting(1.0 if self.trust == "fixed" else float(self.trust))

    def _ridge(
        self, gram: GramColumns, problems: list[KernelProblem], plain: list[KernelFit]
    ) -> list[KernelFit]:
        scales = [
            self._scale(gram, problem, fit.machine) for problem, fit in zip(problems, plain, strict=True)
        ]
        settings = [KernelTrustSetting(scale, self.pull / scale**2) for scale in scales]
        machines = self.learner.learn(gram, problems, settings) if problems else []
        return [
            KernelFit(machine, "ridge", setting) for machine, setting in zip(machines, settings, strict=True)
        ]

    def _auto(
        self, gram: GramColumns, problems: list[KernelProblem], plain: list[KernelFit]
    ) -> list[KernelFit]:
        """No prior scores, or these as widely spread as the others, by the evidence of all classes."""
        settings = [
            KernelTrustSetting(self._scale(gram, problem, fit.machine))
            for problem, fit in zip(problems, plain, strict=True)
        ]
        found = [
            self._evidence(gram, problem, setting)
            for problem, setting in zip(problems, settings, strict=True)
        ]
        trusted = select_priors(np.array([evidence for evidence, _ in found]).reshape(-1, 1))[:, 0]
        fits = []
        for problem, setting, fit, (evidence, gain), trusts in zip(
            problems, settings, plain, found, trusted, strict=True
        ):
            if trusts:
                fit = KernelFit(
                    self.learner.learn(gram, [problem], [setting], [fit.machine])[0], "fixed", setting
                )
            fits.append(replace(fit, evidence=evidence, gain=gain))
        return fits

    def _evidence(
        self, gram: GramColumns, problem: KernelProblem, setting: KernelTrustSetting
    ) -> tuple[float, float]:
        """For the prior scores, from held-out texts, and the share of their loss that is saved."""
        texts = np.flatnonzero(problem.costs > 0)
        positive, negative = texts[problem.y[texts] > 0], texts[problem.y[texts] < 0]
        n_folds = min(_N_FOLDS, positive.size, negative.size)
        if n_folds < 2:  # nothing can be held out; does the score speak for the only example?
            difference = problem.z[positive].mean() - problem.z[negative].mean()
            if abs(difference) <= ROUNDING * np.abs(problem.z[texts]).max():
                return 0.0, 0.0
            return 0.5 * float(np.sign(difference)), 0.0  # that may well be chance
        fold = np.empty(len(gram), dtype=np.intp)
        for side in (positive, negative):
            fold[side] = np.arange(side.size) % n_folds
        plain, informed = (self._held_out_scores(gram, problem, texts, fold, s) for s in (_PLAIN, setting))
        y, costs = problem.y[texts], problem.costs[texts]
        without, with_prior = (costs * np.maximum(1 - y * score, 0) for score in (plain, informed))
        # The prior scores are spread as widely as the others; with a small C these are far below the margin.
        width = setting.target * spread_of(problem.z[texts], self.learner.settings.fit_intercept)
        gains = hinge_gains(without, with_prior, costs, self.learner.settings.tol * min(1.0, width))
        return prior_evidence(gains, rank_gains(plain, informed, y > 0, costs)), float(
            gains.sum() / max(without.sum(), 1e-300)
        )

    def _held_out_scores(
        self,
        gram: GramColumns,
        problem: KernelProblem,
        texts: Indices,
        fold: Indices,
        setting: KernelTrustSetting,
    ) -> Floats:
        """Of these texts, each by the machine that was trained without its fold."""
        scores = np.zeros(len(gram))
        folds = [texts[fold[texts] == j] for j in range(fold[texts].max() + 1)]
        problems = [replace(problem, costs=without(problem.costs, held_out)) for held_out in folds]
        machines = self.learner.quiet().learn(gram, problems, [setting] * len(folds))
        for held_out, machine in zip(folds, machines, strict=True):
            scores[held_out] = machine.scores(gram, held_out, problem.z)
        return scores[texts]

    def _scale(self, gram: GramColumns, problem: KernelProblem, plain: Machine) -> float:
        """The η at which ηz is spread as widely as the scores of the kernel alone."""
        texts = np.flatnonzero(problem.costs > 0)
        scores = plain.scores(gram, texts, problem.z)
        widths = [
            spread_of(values, self.learner.settings.fit_intercept) for values in (scores, problem.z[texts])
        ]
        return max(widths[0], 1e-12) / widths[1]


def without(costs: Floats, held_out: Indices) -> Floats:
    """Costs with some of the texts left out."""
    costs = costs.copy()
    costs[held_out] = 0.0
    return costs
