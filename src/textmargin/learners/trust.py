"""How far a prior is trusted: the coefficient η of each prior's scores Z = XV in  f = Xw + Zη + b.

| mode     | η                                                                                                |
|----------|--------------------------------------------------------------------------------------------------|
| `plain`  | 0: no prior                                                                                      |
| `free`   | whatever fits best (the paper); blind to the prior's sign and size                               |
| `nonneg` | whatever fits best but never negative                                                            |
| `ridge`  | drawn with strength ρ to where the prior lifts a text across the margin                          |
| `fixed`  | given beforehand: the weights are drawn towards the prior instead of towards zero                |
| `auto`   | `plain`, or `fixed` where the prior lifts a text across the margin, by the evidence (`evidence.py`) |

*Lifts a text across the margin*: a text of nothing but the known terms, as long as the others are, would go from one margin to
the other by the prior alone, η = (m₊ + m₋)/(r‖v‖) with r the median length of a row. That needs no labels, and no v is too large.

Every mode comes down to a *setting*: which priors may move, and where and how strongly each is held. Priors that do not
move enter the objective as an offset, the others as columns beside the intercept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._ties import first_maximum
from .._typing import Floats
from ._folds import deal_folds
from ._held_out_cost import ProblemSize, leave_one_out_pays
from ._refit import FOLD_TOL, Fold, refit_without
from .evidence import evidence_of, squared_gains
from .leave_one_out import leave_one_out
from .newton import Solution, newton
from .objective import ExtraColumns, Matrix, Objective, Point

Mode = Literal["plain", "free", "nonneg", "ridge", "fixed"]
Trust = Mode | float

# A prior that says nothing on the active rows (Xv = 0 there, or constant beside an intercept) would leave its η undecided.
# A pull towards zero, this small beside the typical size of its scores, decides for zero and hardly matters elsewhere.
_SINGULAR_GUARD = 1e-10
_N_FOLDS = 5
_ROUNDING = 1e-9  # of slopes beside the steepest, of shares, and beside the margin


@dataclass(frozen=True)
class Problem:
    """One class against the rest, before anything is said about trust."""

    X: Matrix
    y: Floats
    costs: Floats
    margins: Floats
    penalty: float
    fit_intercept: bool
    V: Floats  # (n_priors, n_features)
    Z: Floats  # (n_texts, n_priors), the priors' scores XV'
    row_size: float  # median length of a row

    @property
    def speaks(self) -> NDArray[np.bool_]:
        """Per prior, whether it says anything about the texts that count."""
        return np.asarray(self.Z[self.costs > 0].any(axis=0))

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Per prior, whether no text has any of its terms."""
        present = np.bincount(self.X.indices, minlength=self.X.shape[1]) > 0 if sp.issparse(self.X) else self.X.any(axis=0)
        return ~(self.V[:, np.asarray(present)] != 0).any(axis=1)

    def typical_square(self) -> Floats:
        """Per prior, the median of its squared scores that are not 0."""
        return np.array([np.median(z[z != 0] ** 2) if z.any() else 0.0 for z in self.Z[self.costs > 0].T])

    def margin_scale(self) -> Floats:
        """Per prior, the η by which a text of nothing but its terms goes from one margin to the other; 0 for an empty prior."""
        width = sum(self.margins[self.y == side].max(initial=0.0) for side in (1.0, -1.0))
        size = self.row_size * np.linalg.norm(self.V, axis=1)
        return np.divide(width, size, out=np.zeros(len(self.V)), where=size > 0)

    def joint_margin_scale(self, trusted: NDArray[np.bool_]) -> Floats:
        """The same for several priors together: what they have in common counts once."""
        alone = np.where(trusted, self.margin_scale(), 0.0)
        size = np.linalg.norm(alone @ self.V)
        largest = np.linalg.norm(alone[:, None] * self.V, axis=1).max()
        return alone * (largest / size) if size > largest else alone


@dataclass(frozen=True)
class Fit:
    """What was learnt: f(x) = ⟨w + Vη, x⟩ + intercept."""

    w: Floats
    eta: Floats
    intercept: float
    mode: Mode
    anchor: Floats  # the η that the mode started from: given, drawn towards, or positive for the priors let in
    n_iter: int
    converged: bool
    gap: float


@dataclass(frozen=True)
class PriorEvaluation:
    """What is known of one class before its priors are adopted or dropped."""

    plain: Fit
    fits: list[Fit]  # with each prior alone
    evidence: Floats  # (n_priors,), NaN for an empty prior
    gain: Floats  # (n_priors,)
    silent: NDArray[np.bool_]  # (n_priors,), whether no text has any of its terms


@dataclass(frozen=True)
class Solver:
    """The settings that every fit of one estimator shares."""

    strength: float  # ρ of `ridge`
    tol: float
    max_iter: int

    def fit(self, problem: Problem, trust: Trust, start: Fit | None = None) -> Fit:
        """Learn one class under a trust mode, or a fixed η given as a number."""
        mode, anchor = anchored(problem, trust)
        return self._fit_nonneg(problem, start) if mode == "nonneg" else self._solve(problem, mode, anchor, start)

    def leave_one_out(self, problem: Problem, fit: Fit) -> Floats:
        """The score of every text by the model trained on the others, the prior's trust mode held."""
        setting = trust_setting(problem, fit.mode, fit.anchor, self.strength)
        objective = _pose(problem, setting)
        return leave_one_out(objective, objective.point(fit.w, coefficients(problem, setting, fit)), self.tol)

    def fold_scores(self, problem: Problem, fit: Fit, trained: Floats, fold: Fold, tol: float = FOLD_TOL) -> Floats:
        """The scores of a fold's texts by the model of the others, the prior's trust mode held.

        `trained` are the scores of all texts by the fit, from which the refit starts.
        """
        setting = trust_setting(problem, fit.mode, fit.anchor, self.strength)
        objective = _pose(problem, setting)
        start = Point(fit.w, coefficients(problem, setting, fit), objective.margins - objective.y * trained)
        refitted = keep(problem, setting, fit.mode, fit.anchor, refit_without(objective, start, fold.rows, tol, self.max_iter))
        return np.asarray(fold.X @ refitted.w + problem.Z[fold.rows] @ refitted.eta + refitted.intercept)

    def size(self, problem: Problem, trained: Floats) -> ProblemSize:
        """What leave-one-out costs depends on, from the scores of all texts by a fit."""
        missed = problem.margins - problem.y * trained
        return ProblemSize.of(problem.X, (problem.costs > 0) & (missed > max(self.tol, _ROUNDING) * problem.margins.max()))

    def _solve(self, problem: Problem, mode: Mode, anchor: Floats, start: Fit | None) -> Fit:
        setting = trust_setting(problem, mode, anchor, self.strength)
        objective = _pose(problem, setting)
        origin = None if start is None else objective.point(start.w, coefficients(problem, setting, start))
        solution = newton(objective, start=origin, tol=self.tol, max_iter=self.max_iter)
        return keep(problem, setting, mode, anchor, solution)

    def _fit_nonneg(self, problem: Problem, start: Fit | None) -> Fit:
        """Lawson and Hanson's way: let in the prior with the steepest descent; one that hits zero on the way leaves again."""
        moves = np.zeros(len(problem.V), dtype=bool)
        fit = self._solve(problem, "nonneg", moves.astype(float), start)
        for _ in range(10 * moves.size):
            slope = np.where(moves, 0.0, _slope(problem, fit, self.tol))
            newcomer = int(first_maximum(-slope, _ROUNDING))  # of equal priors the first
            if not slope[newcomer] < 0:
                return fit
            moves[newcomer] = True
            trial = self._solve(problem, "nonneg", moves.astype(float), fit)
            if not trial.eta[newcomer] > 0:
                return fit  # its slope was rounding
            while (trial.eta < 0).any():
                fit = _to_the_boundary(fit, trial)
                moves &= fit.eta > 0
                trial = self._solve(problem, "nonneg", moves.astype(float), fit)
            fit = trial
        return replace(fit, converged=False)

    def evaluate_priors(self, problem: Problem, start: Fit | None = None) -> PriorEvaluation:
        """The first half of `auto`: what held-out texts gain by each prior."""
        plain = self._solve(problem, "plain", np.zeros(len(problem.V)), start)
        scale = problem.margin_scale()
        if not scale.any():  # nothing to weigh: leaving texts out would cost more than the fit
            return PriorEvaluation(plain, [plain] * scale.size, np.full(scale.size, np.nan), np.zeros(scale.size), scale > 0)
        fits = [self._solve(problem, "fixed", np.where(np.arange(scale.size) == j, scale, 0.0), plain) for j in range(scale.size)]
        losses = self._held_out_losses(problem, [plain, *fits], plain)
        gains = [squared_gains(losses[0], loss, self.tol) for loss in losses[1:]]
        evidence = np.array([evidence_of(gain) if known else np.nan for gain, known in zip(gains, scale > 0, strict=True)])
        gain = np.array([gain.sum() / max(losses[0].sum(), 1e-300) for gain in gains])
        return PriorEvaluation(plain, fits, evidence, gain, problem.silent)

    def fit_selected(self, problem: Problem, evaluation: PriorEvaluation, trusted: NDArray[np.bool_]) -> Fit:
        """The second half: the priors that are adopted, and no others."""
        if not trusted.any():
            return evaluation.plain
        if trusted.sum() == 1:
            return evaluation.fits[int(trusted.argmax())]
        return self._solve(problem, "fixed", problem.joint_margin_scale(trusted), evaluation.plain)

    def selected_losses(self, problem: Problem, evaluation: PriorEvaluation, trusted: NDArray[np.bool_]) -> Floats:
        """Of each held-out text, with the priors that are adopted."""
        return self._held_out_losses(problem, [self.fit_selected(problem, evaluation, trusted)], evaluation.plain)[0]

    def _held_out_losses(self, problem: Problem, fits: list[Fit], plain: Fit) -> list[Floats]:
        """Of each text under each fit, by leave-one-out or by refitted folds: the same for all fits, as the plain one decides."""
        # With fewer weights than texts, leaving one out moves others across their margins, and the formula may err by far.
        few_weights = problem.X.shape[1] < np.count_nonzero(problem.costs)
        by_folds = few_weights or not leave_one_out_pays([self.size(problem, _scores(problem, plain))])
        scores = self._all_folds(problem, fits) if by_folds else [self.leave_one_out(problem, fit) for fit in fits]
        missed = [np.maximum(problem.margins - problem.y * score, 0) for score in scores]
        return [problem.costs * one * one for one in missed]

    def _all_folds(self, problem: Problem, fits: list[Fit]) -> list[Floats]:
        """Scores of all texts, each by a refit without its fold, at the tolerance of the fits: small gains count as well."""
        counted = np.flatnonzero(problem.costs > 0)
        dealt = deal_folds(problem.y[counted, None] > 0, min(_N_FOLDS, counted.size), random_state=0)
        folds = [Fold(rows, problem.X[rows]) for rows in (counted[dealt == j] for j in range(dealt.max() + 1))]
        found = []
        for fit in fits:
            trained = _scores(problem, fit)
            scores = trained.copy()
            for fold in folds:
                scores[fold.rows] = self.fold_scores(problem, fit, trained, fold, self.tol)
            found.append(scores)
        return found


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
    """Per prior: whether it moves, and the value at which it is held, or towards which it is pulled."""

    moves: NDArray[np.bool_]
    target: Floats
    pull: Floats


def trust_setting(problem: Problem, mode: Mode, anchor: Floats, strength: float) -> TrustSetting:
    """The setting of a mode; `anchor` as in `Fit`."""
    zero = np.zeros(anchor.size)
    if mode == "plain":
        return TrustSetting(zero > 0, zero, zero)
    if mode == "fixed":
        return TrustSetting(zero > 0, anchor, zero)
    if mode == "ridge":  # ½ρ(η/η₀ − 1)²: strength ρ once η is counted in units of its target
        moves = anchor > 0
        return TrustSetting(moves, anchor, np.divide(strength, anchor * anchor, out=np.zeros(anchor.size), where=moves))
    moves = problem.speaks & (anchor > 0) if mode == "nonneg" else problem.speaks
    return TrustSetting(moves, zero, _SINGULAR_GUARD * problem.costs.sum() * problem.typical_square())


def _pose(problem: Problem, setting: TrustSetting) -> Objective:
    n_texts = problem.y.size
    moves = setting.moves
    priors = ExtraColumns(np.ascontiguousarray(problem.Z[:, moves]), setting.pull[moves], setting.target[moves])
    ones = ExtraColumns(np.ones((n_texts, 1)), np.zeros(1), np.zeros(1))
    return Objective(
        problem.X,
        problem.y,
        problem.costs,
        problem.margins,
        ExtraColumns.join(ones, priors) if problem.fit_intercept else priors,
        problem.penalty,
        offset=problem.Z[:, ~moves] @ setting.target[~moves],
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


def _scores(problem: Problem, fit: Fit) -> Floats:
    return np.asarray(problem.X @ fit.w + problem.Z @ fit.eta + fit.intercept)


def _slope(problem: Problem, fit: Fit, tol: float) -> Floats:
    """∂J/∂η at a fit, as a fraction of the steepest it could be; 0 where it is what rounding or the solver left."""
    missed = problem.costs * problem.y * np.maximum(problem.margins - problem.y * _scores(problem, fit), 0)
    size = np.linalg.norm(problem.Z, axis=0) * np.linalg.norm(missed)
    slope = np.divide(-problem.Z.T @ missed, size, out=np.zeros_like(size), where=size > 0)
    return np.where(np.abs(slope) > max(tol, _ROUNDING), slope, 0.0)


def _to_the_boundary(fit: Fit, trial: Fit) -> Fit:
    """As far from one fit towards another as no trust becomes negative; the one that would is 0 there."""
    share = np.where(trial.eta < 0, fit.eta / np.where(trial.eta < 0, fit.eta - trial.eta, 1.0), 1.0)
    t = share.min()
    eta = fit.eta + t * (trial.eta - fit.eta)
    eta[share <= t + _ROUNDING] = 0.0
    return replace(fit, w=fit.w + t * (trial.w - fit.w), eta=eta, intercept=fit.intercept + t * (trial.intercept - fit.intercept))
