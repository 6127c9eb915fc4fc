"""One problem per topic, from labels and priors, where texts lie in parts.

What `learners.trust` asks of a problem's texts is little: the margins and total costs of both sides, and the typical size of the
scores of each prior. A problem of two texts that has the same stands for the real one, and handled by the same code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Floats
from ..labels import OneVsRest
from ..learners.newton import Solution
from ..learners.problem import Problem
from ..learners.trust import Fit, Mode, Trust, TrustSetting, anchored, coefficients, keep, trust_setting
from ._blocks import Blocks
from ._distributed_objective import DistributedObjective, Iterate
from ._median import medians
from ._requests import TopicSettings
from ._spill import SpilledArrays
from ._targets import Targets


@dataclass(frozen=True)
class TopicProblem:
    """One topic's problem, and what its trust mode says of the priors."""

    problem: Problem  # of two texts, one positive and one negative, that stand for all
    costs: tuple[float, float]
    mode: Mode
    anchor: Floats
    setting: TrustSetting

    def topic(self) -> TopicSettings:
        """What the parts must know."""
        margins = float(self.problem.margins[0]), float(self.problem.margins[1])
        return TopicSettings(self.costs, margins, self.problem.fit_intercept, self.problem.V[self.setting.moves])

    def objective(self, number: int) -> DistributedObjective:
        """What the driver must know."""
        setting, free = self.setting, np.zeros(int(self.problem.fit_intercept))
        pull = np.concatenate([free, setting.pull[setting.moves]])
        target = np.concatenate([free, setting.target[setting.moves]])
        offset = setting.target[~setting.moves] @ self.problem.V[~setting.moves]
        return DistributedObjective(number, self.topic(), self.problem.penalty, pull, target, offset if offset.any() else None)

    def iterate(self, start: Fit) -> Iterate:
        """Where an earlier fit ended."""
        return Iterate(start.w, coefficients(self.problem, self.setting, start))

    def fit(self, solution: Solution) -> Fit:
        """What was learnt."""
        return keep(self.problem, self.setting, self.mode, self.anchor, solution)


def build_problems(
    X: Blocks,
    targets: Targets,
    prior: Floats,
    *,
    C: float,
    margins: tuple[float, float],
    class_weight: Mapping[Any, float] | str | None,
    fit_intercept: bool,
    trust: Trust,
    strength: float,
) -> list[TopicProblem]:
    """The problems of all topics."""
    counts, labels = targets.counts, targets.labels
    row_size = _median_length(X, targets) if prior.size and trust == "ridge" else 0.0
    typical = _typical_scores(X, targets, prior) if prior.size and trust == "free" else np.zeros(prior.shape[:2])
    problems = []
    for k, V in enumerate(prior):
        own = counts.positive_weight[k]
        both_sides = np.array([own, counts.weight - own])
        two = OneVsRest(labels, np.tile([[True], [False]], labels.n_problems))
        costs = np.ones(2) * two.costs(class_weight, k, both_sides)
        problem = Problem(
            X=None,
            y=np.array([1.0, -1.0]),
            costs=both_sides * costs,
            margins=np.array(margins),
            penalty=1.0 / (2.0 * C),
            fit_intercept=fit_intercept,
            V=V,
            Z=np.tile(typical[k], (2, 1)),
            row_size=row_size,
        )
        mode, anchor = anchored(problem, trust)
        setting = trust_setting(problem, mode, anchor, strength)
        problems.append(TopicProblem(problem, (float(costs[0]), float(costs[1])), mode, anchor, setting))
    return problems


def _median_length(X: Blocks, targets: Targets) -> float:
    return float(np.sqrt(medians(_squared_lengths, X, targets.parts, 1)[0]))


def _typical_scores(X: Blocks, targets: Targets, prior: Floats) -> Floats:
    """The root of the median of the squared scores of each topic's priors that are not 0: (n_problems, n_priors)."""
    flat = prior.reshape(-1, prior.shape[-1])
    return np.sqrt(medians(partial(_squared_scores, flat), X, targets.parts, len(flat))).reshape(prior.shape[:2])


def _squared_lengths(X: Any, target: SpilledArrays) -> list[Floats]:
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    return [squares[(target.read(1) > 0) & (squares > 0)]]


def _squared_scores(prior: Floats, X: Any, target: SpilledArrays) -> list[Floats]:
    squares = (X @ prior.T)[target.read(1) > 0] ** 2
    return [column[column > 0] for column in squares.T]
