"""Solves the duals of `_dual.py` on a GPU, those of all classes at once.

By the alternating direction method of multipliers (Boyd et al. 2011, Sec. 5.2): one inverse A = (K + P)⁻¹ for
all problems, then every step of all of them is one product with A, a clip and a difference; a ridge is left
to the clip. With an intercept A is A − A11'A/1'A1, whose columns sum to 0, so that the equality costs
nothing.

*The penalty* P is 3·diag(K), a text's own scale: a problem whose texts are scaled has the same steps. It need
not follow C: from C·K(x, x) = 0.1 to 1000 the fewest steps are taken between 1 and 5, so that one inverse
serves a whole grid of costs.

*Precision.* Steps are in single precision, and relative to a solution in double precision: every so often the
step so far is added to β, margins t − Kβ are computed anew in double, and what is left to do is posed again,
in units of a margin. The solution is where nothing is left, however exact A is.

Runs with CuPy on the device where K is, or with NumPy.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from copy import copy
from typing import Any, cast

import numpy as np

from .._typing import Floats, Indices
from ..errors import DeviceError, TooLargeError
from ._dual import DualProblems, DualSolution
from ._jump import jump

MAX_ITER = 20_000
_PENALTY = 3.0  # of K(x, x)
_RELAXATION = 1.6
_STEPS_OF_ROUND = 25
_STEPS_OF_JUMP = 2000  # after which a problem is thought to get nowhere
_BYTES_OF_WEIGHT = 128  # of one text in one problem, all arrays of a round together
_CAST_ENTRIES = 1 << 24  # of K, in double precision at a time


def solve_dual(
    K: Any,
    problems: DualProblems,
    fit_intercept: bool,
    tol: float,
    start: Floats | None = None,
    xp: Any = None,
) -> DualSolution:
    """All problems over K, (n, n) of single precision in an array of xp (default: CuPy).

    Parameters
    ----------
    tol : the largest violation that is left; a problem that has more after MAX_ITER steps comes as it is,
        with its violation
    start : (n_problems, n) β to start from
    """
    return DeviceDual(K, fit_intercept, xp).solve(problems, tol, start)


class DeviceDual:
    """K with its inverse on the device, for one set of problems after another: a grid of costs, folds.

    Examples
    --------
    >>> import numpy as np
    >>> from textmargin.learners._device_dual import DeviceDual
    >>> from textmargin.learners._dual import DualProblems
    >>> signs = np.array([[1.0, -1.0]])
    >>> machine = DeviceDual(np.eye(2, dtype=np.float32), fit_intercept=False, xp=np)
    >>> problems = [DualProblems.of(signs, np.full((1, 2), C), np.zeros((1, 2)), "hinge") for C in (0.5, 2.0)]
    >>> [machine.solve(one, 1e-6).beta.round(3) for one in problems]
    [array([[ 0.5, -0.5]]), array([[ 1., -1.]])]
    """

    def __init__(self, K: Any, fit_intercept: bool = True, xp: Any = None) -> None:
        self.K, self.fit_intercept, self.xp = K, fit_intercept, _cupy() if xp is None else xp
        with self._device():
            self._prepare()

    def _prepare(self) -> None:
        xp, K = self.xp, self.K
        self._check()
        own = xp.asarray(K.diagonal(), dtype=np.float64)
        self.scale = float(own.mean()) or 1.0
        self.penalty = _PENALTY * xp.maximum(own, 1e-3 * self.scale)  # an empty text has 0
        self._steps, self._shift = self._inverse(self.penalty.astype(np.float32))

    def _inverse(self, penalty: Any) -> tuple[Any, Any]:
        """A times the penalty, what a step multiplies with in units of a margin; and what a step does about
        Σβ = 1.
        """
        A = self.K.copy()
        A.reshape(-1)[:: len(A) + 1] += penalty
        A = self.xp.linalg.inv(A)
        rows = A.sum(axis=1)
        total = float(rows.sum())
        if not (np.isfinite(total) and total > 0 and bool((A.diagonal() > 0).all())):
            raise TooLargeError(
                "The kernel matrix is far from positive semi-definite, so that no margin can be learnt on it."
            )
        if self.fit_intercept:
            A -= (rows / total)[:, None] * rows
        A *= penalty
        return A, rows * penalty / total

    def solve(
        self, problems: DualProblems, tol: float, start: Floats | None = None, max_iter: int = MAX_ITER
    ) -> DualSolution:
        """β, b, what is violated and the steps taken of each problem."""
        n_problems, n = problems.target.shape
        beta, intercept, violation = np.empty((n_problems, n)), np.empty(n_problems), np.empty(n_problems)
        n_iter = np.zeros(n_problems, dtype=np.intp)
        with self._device():
            at_once = self._problems_at_once(n_problems)
            for first in range(0, n_problems, at_once):
                part = slice(first, first + at_once)
                group = _Group(
                    self, problems.take(np.arange(n_problems)[part]), None if start is None else start[part]
                )
                beta[part], intercept[part], violation[part], n_iter[part] = group.solve(tol, max_iter)
        return DualSolution(beta, intercept, violation, n_iter)

    def scores(self, beta: Any) -> Any:
        """βK in double precision, (n_problems, n)."""
        out = self.xp.empty(beta.shape)
        step = max(1, _CAST_ENTRIES // len(self.K))
        for first in range(0, len(self.K), step):
            rows = slice(first, first + step)
            out[:, rows] = beta @ self.K[rows].astype(np.float64).T
        return out

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """K between some texts, on the host."""
        part = self.K[self.xp.asarray(rows)][:, self.xp.asarray(columns)]
        return np.asarray(_host(part), dtype=np.float64)

    def advance(
        self, w: Any, slope: Any, low: Any, high: Any, excess: Any, shrinkage: Any | None
    ) -> tuple[Any, Any]:
        """Some steps of all problems, in units of a margin: what becomes of w, and β's step.

        w are residuals less multipliers, which a solution has both alike: all is small in the end, and so is
        what is rounded.
        """
        step = self.xp.zeros_like(w)
        shift = excess.astype(np.float32)[:, None] * self._shift if self.fit_intercept else None
        for _ in range(_STEPS_OF_ROUND):
            x = (w + step) @ self._steps
            if shift is not None:
                x -= shift
            x *= _RELAXATION
            x -= (_RELAXATION - 1) * step
            x -= w
            point = x + slope
            if shrinkage is not None:
                point *= shrinkage
            step = self.xp.clip(point, low, high)
            w = step - x
        return w, step

    def _check(self) -> None:
        n = len(self.K)
        if self.K.dtype != np.float32 or self.K.shape != (n, n):
            raise ValueError(
                f"K must be a square matrix of float32; got {self.K.dtype} of shape {self.K.shape}."
            )
        # inverting takes a matrix, its factors and the inverse
        needed, free = 3 * 4.0 * n * n, self._free_bytes()
        if needed > free:
            raise DeviceError(
                f"Learning from {n:,} texts at once takes {needed / 1e9:,.1f} GB of the GPU's memory "
                "beside their kernel matrix, "
                f"and {free / 1e9:,.1f} GB are free; free some, learn from fewer texts, or use a kernel "
                "with backend='cpu'."
            )
        if not bool(self.xp.isfinite(self.K).all()):
            raise TooLargeError(
                "The kernel matrix has values that are not finite, so nothing can be learnt from it; use "
                "a normalised kernel."
            )

    def _problems_at_once(self, n_problems: int) -> int:
        fit = int(min(n_problems, self._free_bytes() // (_BYTES_OF_WEIGHT * len(self.K))))
        if n_problems and not fit:
            raise DeviceError(
                f"The GPU's memory is too small to learn a class from {len(self.K):,} texts; free some, "
                "or use backend='cpu'."
            )
        return max(fit, 1)

    def _device(self) -> AbstractContextManager[Any]:
        """Where K is; with several GPUs it need not be the current one."""
        return nullcontext() if self.xp is np else cast(AbstractContextManager[Any], self.K.device)

    def _free_bytes(self) -> float:
        if self.xp is np:
            return np.inf
        pool = self.xp.get_default_memory_pool()
        return float(self.xp.cuda.runtime.memGetInfo()[0]) + float(pool.free_bytes())


class _Group:
    """Problems on the device that are solved in step; those that are done leave."""

    residual: Any
    intercept: Any
    violation: Any

    def __init__(self, machine: DeviceDual, problems: DualProblems, start: Floats | None) -> None:
        self.machine, self.xp = machine, machine.xp
        first = (
            np.zeros_like(problems.target) if start is None else problems.clip(start, machine.fit_intercept)
        )
        self.target, self.low, self.high, self.ridge, self.beta = (
            self.xp.asarray(values)
            for values in (problems.target, problems.low, problems.high, problems.ridge, first)
        )
        self._measure()
        self.w = self.residual.astype(np.float32)
        if start is not None:
            self.w[...] = 0.0  # a solution's multipliers are its residuals: from there nothing moves

    def solve(self, tol: float, max_iter: int) -> tuple[Floats, Floats, Floats, Indices]:
        """As DualSolution has them."""
        n_problems, n = self.target.shape
        beta, intercept, violation = np.empty((n_problems, n)), np.empty(n_problems), np.empty(n_problems)
        n_iter = np.zeros(n_problems, dtype=np.intp)
        there, steps = np.arange(n_problems), 0
        while there.size:
            near = np.flatnonzero((_host(self.violation) <= tol) | (steps >= max_iter))
            if near.size:
                ready = self._take(near)
                ready._balance()
                worst = _host(ready.violation)
                done = (worst <= tol) | (steps >= max_iter)
                rows = there[near[done]]
                beta[rows], intercept[rows] = _host(ready.beta)[done], _host(ready._intercepts())[done]
                violation[rows], n_iter[rows] = worst[done], steps
                rest = np.setdiff1d(np.arange(there.size), near[done])
                self, there = self._take(rest), there[rest]
            if there.size:
                if steps and steps % _STEPS_OF_JUMP == 0:
                    self._jump()
                self._round()
                steps += _STEPS_OF_ROUND
        return beta, intercept, violation, n_iter

    def _take(self, rows: Indices) -> _Group:
        part, chosen = copy(self), self.xp.asarray(rows)
        for name in ("target", "low", "high", "ridge", "beta", "residual", "w", "intercept", "violation"):
            setattr(part, name, getattr(self, name)[chosen])
        return part

    def _round(self) -> None:
        """Some steps from where β is, and β there."""
        xp, single, penalty = self.xp, np.float32, self.machine.penalty
        low, high = (((bound - self.beta) * penalty).astype(single) for bound in (self.low, self.high))
        residual, slope = self.residual, (self.residual - self.ridge * self.beta).astype(single)
        shrinkage = (penalty / (penalty + self.ridge)).astype(single) if bool(self.ridge.any()) else None
        w, step = self.machine.advance(self.w, slope, low, high, self.beta.sum(axis=1), shrinkage)
        beta = xp.clip(self.beta + step / penalty, self.low, self.high)
        self.beta = xp.where(step <= low, self.low, xp.where(step >= high, self.high, beta))  # exactly there
        self._measure()
        self.w = (w + (self.residual - residual)).astype(single)

    def _jump(self) -> None:
        """For those that get nowhere: their free weights together, on the host; K is asked for between these
        alone.
        """
        problems = DualProblems(*(_host(values) for values in (self.target, self.low, self.high, self.ridge)))
        beta = problems.clip(_host(self.beta), self.machine.fit_intercept)
        for k in range(len(beta)):
            beta[k] = jump(
                self.machine.block, problems.take(np.array([k])), beta[k], self.machine.fit_intercept
            )
        self.beta = self.xp.asarray(beta)
        self._measure()
        self.w[...] = 0.0

    def _balance(self) -> None:
        """Σβ = 0 to the last digit, by the weights that are neither 0 nor at their bound."""
        if not self.machine.fit_intercept:
            return
        xp, excess = self.xp, self.beta.sum(axis=1)[:, None]
        room = xp.where(excess > 0, self.beta - self.low, self.high - self.beta)
        room = xp.minimum(room, xp.abs(self.beta).max(axis=1)[:, None]) * self._free()
        total = room.sum(axis=1)[:, None]
        part = xp.minimum(xp.abs(excess), total) / xp.maximum(total, np.finfo(np.float64).tiny)
        self.beta = self.beta - xp.sign(excess) * part * room
        self._measure()
        # where none was free
        self.violation = xp.maximum(self.violation, xp.abs(self.beta.sum(axis=1)) * self.machine.scale)

    def _free(self) -> Any:
        return (self.beta > self.low) & (self.beta < self.high)

    def _measure(self) -> None:
        """The b amid what all texts allow, the residual t − Kβ − b without the ridge, and the largest
        violation.
        """
        xp, residual = self.xp, self.target - self.machine.scores(self.beta)
        gradient = residual - self.ridge * self.beta
        # a lower b, and one of these wants more weight
        least = xp.where(self.beta < self.high, gradient, -np.inf).max(axis=1)
        most = xp.where(self.beta > self.low, gradient, np.inf).min(axis=1)
        if self.machine.fit_intercept:
            self.violation = xp.maximum(least - most, 0.0)
            least = xp.where(xp.isfinite(least), least, xp.where(xp.isfinite(most), most, 0.0))
            most = xp.where(xp.isfinite(most), most, least)
            self.intercept = (least + most) / 2
        else:
            self.violation = xp.maximum(xp.maximum(least, -most), 0.0)
            self.intercept = xp.zeros(len(gradient))
        self.residual = residual - self.intercept[:, None]

    def _intercepts(self) -> Any:
        """b that puts the free support vectors on their margin, or else the middle of what all texts
        allow.
        """
        if not self.machine.fit_intercept:
            return self.intercept
        free = self._free()
        missing = (self.residual - self.ridge * self.beta) * free
        return self.intercept + missing.sum(axis=1) / self.xp.maximum(free.sum(axis=1), 1)


def _cupy() -> Any:
    import cupy

    return cupy


def _host(values: Any) -> Any:
    """A NumPy array, from whatever device."""
    return values.get() if hasattr(values, "get") else values
