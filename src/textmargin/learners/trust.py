"""How far a prior is trusted: the coefficient η of each prior's scores Z = XV in  f = Xw + Zη + b.

| mode     | η                                                                                               |
|----------|-------------------------------------------------------------------------------------------------|
| `plain`  | 0: no prior                                                                                     |
| `free`   | whatever fits best (the paper); blind to the prior's sign and size                              |
| `nonneg` | whatever fits best but never negative                                                           |
| `ridge`  | drawn with strength ρ to where the prior lifts a text across the margin                         |
| `fixed`  | given beforehand: the weights are drawn towards the prior instead of towards zero               |
| `auto`   | `plain`, or `fixed` where the prior lifts a text across the margin, by the evidence (`auto.py`) |

*Lifts a text across the margin*: a text of nothing but the known terms, as long as the others are, would go
from one margin to the other by the prior alone, η = (m₊ + m₋)/(r‖v‖) with r the median length of a row. That
needs no labels, and no v is too large.

Every mode comes down to a *setting*: which priors may move, and where and how strongly each is held. Priors
that do not move enter the objective as an offset, the others as columns beside the intercept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ._batch import Batch
from ._grouping import Start
from ._held_out_cost import ProblemSize
from .leave_one_out import leave_one_out, suspicious
from .matrix import BlockMatrix, Rows
from .newton import Solution
from .objective import NEGLIGIBLE, ExtraColumns, Objective, Point
from .problem import Problem, typical_square

Mode = Literal["plain", "free", "nonneg", "ridge", "fixed"]
Trust = Mode | float

# A prior that says nothing on the active rows (Xv = 0 there, or constant beside an intercept) would leave its
# η undecided. A pull towards zero, this small beside the typical size of its scores, decides for zero and
# hardly matters elsewhere.
_SINGULAR_GUARD = 1e-10
_WORTH_IT = 1e-7  # of J: what a further prior must make it fall by
_ROUNDING = 1e-9  # of slopes beside the steepest, of shares, and beside the margin
# Refits without some texts start from the fit of all of them. Beside refits at 1e-11 on Reuters' 90 topics,
# 25 Wikipedia categories, and 10,000 and 40,000 short texts with wrong labels, scores are off by 7e-4 of the
# margin in the mean square, and drawn to the held-out label by less than 1 % of what training scores are.
FOLD_TOL = 1e-3


@dataclass(frozen=True)
class Fit:
    """What was learnt: f(x) = ⟨w + Vη, x⟩ + intercept."""

    w: Floats
    eta: Floats
    intercept: float
    mode: Mode
    # the η that the mode started from: given, drawn towards, or positive for the priors let in
    anchor: Floats
    n_iter: int
    converged: bool
    gap: float


@dataclass(frozen=True)
class Case:
    """One class to be learnt under a mode, with its η given, drawn towards, or let in."""

    problem: Problem
    mode: Mode
    anchor: Floats
    start: Fit | None = None


@dataclass(frozen=True)
class Refit:
    """A fit of one class, and the texts, by number, that a model without them is wanted for."""

    problem: Problem
    fit: Fit
    rows: Rows


@dataclass(frozen=True)
class Solver:
    """The settings that every fit of one estimator shares."""

    strength: float  # ρ of `ridge`
    tol: float
    max_iter: int
    n_jobs: int | None = None

    def fit(
        self, problems: Iterable[Problem], trust: Trust, starts: Iterable[Fit | None] = repeat(None)
    ) -> Iterator[Fit]:
        """Learn each class under a trust mode, or a fixed η given as a number."""
        if trust == "nonneg":
            return (
                self._fit_nonneg(problem, start) for problem, start in zip(problems, starts, strict=False)
            )
        return self.solve(
            Case(problem, *anchored(problem, trust), start)
            for problem, start in zip(problems, starts, strict=False)
        )

    def leave_one_out(self, problem: Problem, fit: Fit, trained: Floats | None = None) -> Floats:
        """The score of every text by the model trained on the others, the prior's trust mode held.

        `trained` are the scores by the fit itself, where these are known.
        """
        setting = trust_setting(problem, fit.mode, fit.anchor, self.strength)
        objective = _pose(problem, setting)
        scores = trained_scores(problem, fit) if trained is None else trained.copy()
        point = Point(fit.w, coefficients(problem, setting, fit), objective.margins - objective.y * scores)
        before = scores.copy()
        scores = leave_one_out(objective, point, scores, self.tol)
        if fit.mode in ("free", "nonneg"):
            for row in suspicious(objective, before, scores).tolist():
                scores[row] = self._without(problem, fit, row, scores[row])
        return scores

    def _without(self, problem: Problem, fit: Fit, row: int, estimate: float) -> float:
        """The score of a text by a model trained again without it; the estimate where no other text is on its
        side.
        """
        costs = problem.costs.copy()
        costs[row] = 0.0
        rest = replace(problem, costs=costs)
        if np.unique(rest.y[rest.counted]).size < 2:
            return estimate
        other = (
            self._fit_nonneg(rest, None)
            if fit.mode == "nonneg"
            else self._solve_one(rest, fit.mode, fit.anchor, fit)
        )
        return float(trained_scores(problem, other)[row])

    def fold_scores(self, refits: Iterable[Refit], tol: float = FOLD_TOL) -> Iterator[Floats]:
        """Per refit the scores of its texts by the model of the others and their contrasts, the prior's trust
        mode held.
        """
        posed: deque[tuple[Objective, Rows]] = deque()

        def cases() -> Iterator[tuple[Objective, Start | None]]:
            # of the class at hand, for all its folds
            whole: tuple[Problem, Fit, TrustSetting, Objective] | None = None
            for refit in refits:
                problem, fit = refit.problem, refit.fit
                if whole is None or whole[0] is not problem or whole[1] is not fit:
                    setting = trust_setting(problem, fit.mode, fit.anchor, self.strength)
                    whole = problem, fit, setting, _pose(problem, setting)
                setting = whole[2]
                objective = without(whole[3], problem.with_contrasts_of(refit.rows))
                posed.append((objective, refit.rows))
                start = Start(fit.w, coefficients(problem, setting, fit))
                yield objective, start if has_both_sides(objective, problem.n_texts) else None

        # Scores of all texts and classes take their part of the memory by then.
        for solution in Batch(tol, self.max_iter, self.n_jobs, memory_share=0.25).minimise(cases()):
            objective, rows = posed.popleft()
            yield solution.scores(objective, rows)

    def size(self, problem: Problem, trained: Floats) -> ProblemSize:
        """What leave-one-out costs depends on, from the scores of all texts by a fit."""
        missed = problem.margins - problem.y * trained
        return ProblemSize.of(
            problem.X, (problem.costs > 0) & (missed > max(self.tol, _ROUNDING) * problem.margins.max())
        )

    def solve(self, cases: Iterable[Case]) -> Iterator[Fit]:
        """Learn each case."""
        posed: deque[tuple[Case, TrustSetting]] = deque()

        def objectives() -> Iterator[tuple[Objective, Start | None]]:
            for case in cases:
                setting = trust_setting(case.problem, case.mode, case.anchor, self.strength)
                posed.append((case, setting))
                start = (
                    None
                    if case.start is None
                    else Start(case.start.w, coefficients(case.problem, setting, case.start))
                )
                yield _pose(case.problem, setting), start

        for solution in Batch(self.tol, self.max_iter, self.n_jobs).minimise(objectives()):
            case, setting = posed.popleft()
            yield keep(case.problem, setting, case.mode, case.anchor, solution)

    def _solve_one(self, *case: Any) -> Fit:
        return next(self.solve([Case(*case)]))

    def _fit_nonneg(self, problem: Problem, start: Fit | None) -> Fit:
        """Lawson and Hanson's way: let in the prior with the steepest descent; one that hits zero on the way
        leaves again. One that lowers J by next to nothing stays out.
        """
        moves = np.zeros(len(problem.V), dtype=bool)
        refused = moves.copy()
        fit = self._solve_one(problem, "nonneg", moves.astype(float), start)
        for _ in range(10 * moves.size):
            slope = np.where(moves | refused, 0.0, _slope(problem, fit))
            if not (slope < -_ROUNDING).any():
                return fit
            newcomer = int(slope.argmin())
            trial, value = self._let_in(problem, fit, moves, newcomer), self._value(problem, fit)
            least = _WORTH_IT * max(value, NEGLIGIBLE * np.sum(problem.costs))
            if self._value(problem, trial) < value - least:
                fit, refused = trial, np.zeros_like(refused)
            else:
                refused[newcomer] = True
            moves = fit.anchor > 0
        return replace(fit, converged=False)

    def _let_in(self, problem: Problem, fit: Fit, moves: NDArray[np.bool_], newcomer: int) -> Fit:
        """The fit with one prior more, less those that hit zero on the way; the same fit where it would be
        negative itself.
        """
        moves = moves.copy()
        moves[newcomer] = True
        trial = self._solve_one(problem, "nonneg", moves.astype(float), fit)
        if not trial.eta[newcomer] > 0:
            return replace(fit, converged=trial.converged, gap=trial.gap)
        while (trial.eta < 0).any():
            fit = _to_the_boundary(fit, trial)
            moves &= fit.eta > 0
            trial = self._solve_one(problem, "nonneg", moves.astype(float), fit)
        return trial

    def _value(self, problem: Problem, fit: Fit) -> float:
        """J at a fit."""
        setting = trust_setting(problem, fit.mode, fit.anchor, self.strength)
        objective = _pose(problem, setting)
        return objective.value(objective.point(fit.w, coefficients(problem, setting, fit)))


def anchored(problem: Problem, trust: Trust) -> tuple[Mode, Floats]:
    """The mode that `trust` stands for, and the η that it starts from."""
    no_trust = np.zeros(len(problem.V))
    if no_trust.size == 0:
        return "plain", no_trust
    if trust == "ridge":
        return "ridge", problem.margin_scale()
    return (trust, no_trust + 1.0) if isinstance(trust, str) else ("fixed", no_trust + trust)


@dataclass(frozen=True)
class TrustSetting:
    """Per prior whether it moves, and the value at which it is held or to which it is pulled; the pulls."""

    moves: NDArray[np.bool_]
    target: Floats
    pull: Floats


def trust_setting(problem: Problem, mode: Mode, anchor: Floats, strength: float) -> TrustSetting:
    """The setting of a mode; `anchor` as in `Fit`."""
    zero = np.zeros(anchor.size)
    if mode == "plain":
        return TrustSetting(zero > 0, zero, zero[:0])
    if mode == "fixed":
        return TrustSetting(zero > 0, anchor, zero[:0])
    if mode == "ridge":  # ½ρ(η/η₀ − 1)²: strength ρ once η is counted in units of its target
        moves = anchor > 0
        return TrustSetting(moves, anchor, strength / np.square(anchor[moves]))
    moves = problem.speaks & (anchor > 0) if mode == "nonneg" else problem.speaks
    squares = typical_square(problem.Z[np.ix_(problem.counted, moves)])
    return TrustSetting(moves, zero, _SINGULAR_GUARD * problem.costs.sum() * squares)


def _pose(problem: Problem, setting: TrustSetting) -> Objective:
    moves = setting.moves
    ones = ExtraColumns(problem.intercept_column[:, None], np.zeros(1), np.zeros(1))
    if not moves.any():
        columns = (
            ones
            if problem.fit_intercept
            else ExtraColumns(np.empty((problem.y.size, 0)), np.empty(0), np.empty(0))
        )
    else:
        priors = ExtraColumns(np.ascontiguousarray(problem.Z[:, moves]), setting.pull, setting.target[moves])
        columns = ExtraColumns.join(ones, priors) if problem.fit_intercept else priors
    return Objective(
        problem.X,
        problem.y,
        problem.costs,
        problem.margins,
        columns,
        problem.penalty,
        offset=problem.Z[:, ~moves] @ setting.target[~moves] if setting.target[~moves].any() else 0.0,
    )


def coefficients(problem: Problem, setting: TrustSetting, fit: Fit) -> Floats:
    """q, the coefficients of the columns, for a fit's intercept and trust."""
    moving = fit.eta[setting.moves]
    return np.concatenate([[fit.intercept], moving]) if problem.fit_intercept else moving


def keep(problem: Problem, setting: TrustSetting, mode: Mode, anchor: Floats, solution: Solution) -> Fit:
    """What a solution found, as a fit."""
    point = solution.point
    intercept = float(point.q[0]) if problem.fit_intercept else 0.0
    eta = setting.target.copy()
    eta[setting.moves] = point.q[1:] if problem.fit_intercept else point.q
    return Fit(point.w, eta, intercept, mode, anchor, solution.n_iter, solution.converged, solution.gap)


def trained_scores(problem: Problem, fit: Fit) -> Floats:
    """Of all rows; a contrast has no intercept."""
    return np.asarray(problem.X @ fit.w + problem.Z @ fit.eta + fit.intercept * problem.intercept_column)


def _slope(problem: Problem, fit: Fit) -> Floats:
    """∂J/∂η at a fit, as a fraction of what its terms sum up to without their signs."""
    missed = np.maximum(problem.margins - problem.y * trained_scores(problem, fit), 0)
    pull = problem.costs * problem.y * missed
    size = np.abs(pull) @ np.abs(problem.Z)
    return np.divide(-problem.Z.T @ pull, size, out=np.zeros_like(size), where=size > 0)


def _to_the_boundary(fit: Fit, trial: Fit) -> Fit:
    """As far from one fit towards another as no trust becomes negative; the one that would is 0 there."""
    share = np.where(trial.eta < 0, fit.eta / np.where(trial.eta < 0, fit.eta - trial.eta, 1.0), 1.0)
    t = share.min()
    eta = fit.eta + t * (trial.eta - fit.eta)
    eta[share <= t + _ROUNDING] = 0.0
    return replace(
        fit,
        w=fit.w + t * (trial.w - fit.w),
        eta=eta,
        intercept=fit.intercept + t * (trial.intercept - fit.intercept),
    )


def without(objective: Objective, rows: Rows) -> Objective:
    """The objective over all rows but these."""
    return (
        replace(objective, held_out=rows) if isinstance(objective.X, BlockMatrix) else objective.without(rows)
    )


def has_both_sides(objective: Objective, n_texts: int) -> bool:
    """Whether texts, the first rows, of both signs are there.

    Of one side alone, any intercept beyond its margin is a minimum; from the origin, at least no held-out
    text chooses it.
    """
    counted, positive = objective.counted[:n_texts], objective.y[:n_texts] > 0
    return bool((counted & positive).any() and (counted & ~positive).any())
