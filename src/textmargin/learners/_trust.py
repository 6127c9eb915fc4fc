"""How far a prior is trusted: the coefficient η of each prior's scores Z = XV in  f = Xw + Zη + b.

| mode     | η                                                                                                |
|----------|--------------------------------------------------------------------------------------------------|
| `plain`  | 0: no prior                                                                                      |
| `free`   | whatever fits best (the paper); blind to the prior's sign and size                               |
| `nonneg` | whatever fits best but never negative                                                            |
| `ridge`  | drawn towards 1 with strength ρ, after the prior is put on the scale of the margin               |
| `fixed`  | given beforehand: the weights are drawn towards the prior instead of towards zero                |
| `auto`   | of `plain`, `nonneg` and `fixed` (on the margin's scale) that with the least leave-one-out loss  |

Every mode comes down to a *stance*: which priors may move, and where and how strongly each is held. Priors that do not
move enter the objective as an offset, the others as columns beside the intercept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ._leave_one_out import leave_one_out
from ._newton import Solution, newton
from ._objective import Columns, Floats, Matrix, Objective

Mode = Literal["plain", "free", "nonneg", "ridge", "fixed"]
Trust = Mode | Literal["auto"] | float

# A prior that says nothing on the active rows (v = 0, or Xv constant beside an intercept) would leave its η undecided.
# A pull towards zero this small beside the column's own size decides for zero there and changes nothing elsewhere.
_SINGULAR_GUARD = 1e-10


@dataclass(frozen=True)
class Problem:
    """One class against the rest, before anything is said about trust."""

    X: Matrix
    y: Floats
    costs: Floats
    margins: Floats
    penalty: float
    fit_intercept: bool
    Z: Floats  # (n_texts, n_priors), the priors' scores

    @property
    def speaks(self) -> NDArray[np.bool_]:
        """Per prior, whether it says anything about these texts."""
        return self.Z.any(axis=0)

    def margin_scale(self) -> Floats:
        """Per prior, the η that gives its scores root mean square 1 where they are not 0 (0 for a silent prior)."""
        n_touched = np.maximum(np.count_nonzero(self.Z, axis=0), 1)
        size = np.sqrt((self.Z * self.Z).sum(axis=0) / n_touched)
        return np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)


@dataclass(frozen=True)
class Fit:
    """What was learnt: f(x) = ⟨w + Vη, x⟩ + intercept."""

    w: Floats
    eta: Floats
    intercept: float
    mode: Mode
    n_iter: int
    converged: bool
    gap: float


@dataclass(frozen=True)
class Solver:
    """The settings that every fit of one estimator shares."""

    strength: float  # ρ of `ridge`
    tol: float
    max_iter: int

    def fit(self, problem: Problem, trust: Trust, start: Fit | None = None) -> Fit:
        """Learn one class under a trust mode, or a fixed η given as a number."""
        if problem.Z.shape[1] == 0:
            trust = "plain"
        if trust == "auto":
            return self._fit_auto(problem, start)
        if trust == "nonneg":
            return self._fit_nonneg(problem, start)
        if isinstance(trust, str):
            eta = np.ones(problem.Z.shape[1]) if trust == "fixed" else np.zeros(problem.Z.shape[1])
            return self._solve(problem, trust, eta, start)
        return self._solve(problem, "fixed", np.full(problem.Z.shape[1], float(trust)), start)

    def leave_one_out(self, problem: Problem, fit: Fit) -> Floats:
        """The score of every text by the model trained on the others, the prior's trust mode held."""
        stance = _stance(problem, fit.mode, fit.eta, self.strength)
        objective = _pose(problem, stance)
        return leave_one_out(objective, objective.point(fit.w, _coefficients(problem, stance, fit)))

    def _solve(self, problem: Problem, mode: Mode, eta: Floats, start: Fit | None) -> Fit:
        stance = _stance(problem, mode, eta, self.strength)
        objective = _pose(problem, stance)
        origin = None if start is None else objective.point(start.w, _coefficients(problem, stance, start))
        solution = newton(objective, start=origin, tol=self.tol, max_iter=self.max_iter)
        return _keep(problem, stance, mode, solution)

    def _fit_nonneg(self, problem: Problem, start: Fit | None) -> Fit:
        """Priors are let in one at a time, the one with the steepest descent first, and leave again at zero."""
        moves = np.zeros(problem.Z.shape[1], dtype=bool)
        fit = self._solve(problem, "nonneg", np.zeros(moves.size), start)
        for _ in range(3 * moves.size):
            slope = np.where(moves, 0.0, _slope(problem, fit))
            if not slope.min() < 0:
                break
            moves[slope.argmin()] = True
            while True:
                trial = self._solve(problem, "nonneg", moves.astype(float), fit)
                negative = trial.eta < 0
                if not negative.any():
                    break
                moves &= ~negative
            if not moves[slope.argmin()]:
                break  # its slope was rounding
            fit = trial
        return fit

    def _fit_auto(self, problem: Problem, start: Fit | None) -> Fit:
        """The stance with the least leave-one-out loss; a tie goes to the one that assumes less."""
        n_priors = problem.Z.shape[1]
        fits = [self._solve(problem, "plain", np.zeros(n_priors), start)]
        if problem.speaks.any():
            fits.append(self._fit_nonneg(problem, fits[0]))
            fits.append(self._solve(problem, "fixed", problem.margin_scale(), fits[0]))
        return min(fits, key=lambda fit: self._leave_one_out_loss(problem, fit))

    def _leave_one_out_loss(self, problem: Problem, fit: Fit) -> float:
        missed = np.maximum(problem.margins - problem.y * self.leave_one_out(problem, fit), 0)
        return float(problem.costs @ (missed * missed))


@dataclass(frozen=True)
class _Stance:
    """Per prior: whether it moves, and the value at which it is held, or towards which it is pulled."""

    moves: NDArray[np.bool_]
    target: Floats
    pull: Floats


def _stance(problem: Problem, mode: Mode, eta: Floats, strength: float) -> _Stance:
    """The stance of a mode; `eta` is the trust itself (fixed) or tells by η > 0 which priors are let in (nonneg)."""
    zero = np.zeros(eta.size)
    if mode == "plain":
        return _Stance(zero > 0, zero, zero)
    if mode == "fixed":
        return _Stance(zero > 0, eta, zero)
    if mode == "ridge":
        scale = np.where(problem.speaks, problem.margin_scale(), 1.0)
        return _Stance(problem.speaks, np.where(problem.speaks, scale, 0.0), strength / scale**2)
    guard = _SINGULAR_GUARD * (problem.costs @ (problem.Z * problem.Z))
    moves = problem.speaks & (eta > 0) if mode == "nonneg" else problem.speaks
    return _Stance(moves, zero, guard)


def _pose(problem: Problem, stance: _Stance) -> Objective:
    n_texts = problem.y.size
    priors = Columns(
        np.ascontiguousarray(problem.Z[:, stance.moves]), stance.pull[stance.moves], stance.target[stance.moves]
    )
    ones = Columns(np.ones((n_texts, 1)), np.zeros(1), np.zeros(1))
    return Objective(
        problem.X,
        problem.y,
        problem.costs,
        problem.margins,
        Columns.join(ones, priors) if problem.fit_intercept else priors,
        problem.penalty,
        offset=problem.Z[:, ~stance.moves] @ stance.target[~stance.moves],
    )


def _coefficients(problem: Problem, stance: _Stance, fit: Fit) -> Floats:
    """q, the coefficients of the columns, for a fit's intercept and trust."""
    moving = fit.eta[stance.moves]
    return np.concatenate([[fit.intercept], moving]) if problem.fit_intercept else moving


def _keep(problem: Problem, stance: _Stance, mode: Mode, solution: Solution) -> Fit:
    point = solution.point
    intercept = float(point.q[0]) if problem.fit_intercept else 0.0
    eta = stance.target.copy()
    eta[stance.moves] = point.q[1:] if problem.fit_intercept else point.q
    return Fit(point.w, eta, intercept, mode, solution.n_iter, solution.converged, solution.gap)


def _slope(problem: Problem, fit: Fit) -> Floats:
    """∂J/∂η at a fit, as a fraction of the steepest it could be; 0 where it is rounding."""
    scores = problem.X @ fit.w + problem.Z @ fit.eta + fit.intercept
    missed = problem.costs * problem.y * np.maximum(problem.margins - problem.y * scores, 0)
    size = np.linalg.norm(problem.Z, axis=0) * np.linalg.norm(missed)
    slope = np.divide(-problem.Z.T @ missed, size, out=np.zeros_like(size), where=size > 0)
    return np.where(np.abs(slope) > 1e-9, slope, 0.0)
