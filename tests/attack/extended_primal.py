"""The objective of the linear learner by its definition, and its minimum, in extended precision and by nobody
else's code.

    J(w, η, b) = ½λ‖w‖² + ½ Σᵢ cᵢ max(0, mᵢ − yᵢ(xᵢ'w + zᵢ'η + b))² + ½ Σₖ ρₖ(ηₖ − η⁰ₖ)²
    λ = 1/(2C),  η ≥ 0 where asked

The minimum is looked for by least squares on the rows inside the margin (Householder's QR, rows in the order
of their size, columns exchanged, which no scale of rows or columns harms), and an exact search along each
step. The dual gives a bound from below, so that a minimum is one by proof and not by faith.
"""

from dataclasses import dataclass

import numpy as np

LONG = np.longdouble
STEPS = 200


@dataclass
class Definition:
    """One problem; η that do not move have their scores in `offset`."""

    X: np.ndarray
    y: np.ndarray
    costs: np.ndarray
    margins: np.ndarray
    C: float
    Z: np.ndarray  # (n_texts, n_moving)
    pull: np.ndarray
    target: np.ndarray
    offset: np.ndarray
    intercept: bool

    def __post_init__(self):
        for name in ("X", "y", "costs", "margins", "Z", "pull", "target", "offset"):
            setattr(self, name, np.asarray(getattr(self, name), dtype=LONG))
        n, d = self.X.shape
        self.penalty = 1 / (2 * LONG(self.C))
        self.rows = np.hstack([self.X, self.Z, np.full((n, int(self.intercept)), LONG(1))])
        self.ridge = np.concatenate(
            [np.full(d, self.penalty), self.pull, np.zeros(int(self.intercept), LONG)]
        )
        self.centre = np.concatenate([np.zeros(d, LONG), self.target, np.zeros(int(self.intercept), LONG)])

    def join(self, w, eta, b):
        return np.concatenate(
            [np.asarray(w, LONG), np.asarray(eta, LONG), np.full(int(self.intercept), LONG(b))]
        )

    def missed(self, u):
        return np.where(
            self.costs > 0, np.maximum(0, self.margins - self.y * (self.rows @ u + self.offset)), 0
        )

    def value(self, u):
        return (self.ridge @ (u - self.centre) ** 2 + self.costs @ self.missed(u) ** 2) / 2

    def value_of_nothing(self):
        """J where every score is 0: what an objective is small beside."""
        return self.costs @ self.margins**2 / 2

    def minimum(self, start=None):
        """Where J is least, every coefficient free."""
        u = self.centre.copy() if start is None else np.asarray(start, LONG)
        best = self.value(u)
        for _ in range(STEPS):
            step = self._newton_point(u) - u
            trial = u + self._length(u, step) * step
            value = self.value(trial)
            if not value < best:
                break
            enough, u, best = best - value <= LONG(1e-17) * best, trial, value
            if enough:
                break
        return u

    def _newton_point(self, u):
        active = np.flatnonzero(self.missed(u) > 0)
        root = np.sqrt(self.costs[active])
        held = np.flatnonzero(self.ridge > 0)
        A = np.vstack([root[:, None] * self.rows[active], np.diag(np.sqrt(self.ridge))[held]])
        goal = self.y[active] * self.margins[active] - self.offset[active]
        return least_squares(
            A, np.concatenate([root * goal, np.sqrt(self.ridge[held]) * self.centre[held]]), u
        )

    def _length(self, u, step):
        """Where the slope along a step is 0: it is linear between the places where a text crosses its
        margin.
        """
        a, move = self.margins - self.y * (self.rows @ u + self.offset), self.y * (self.rows @ step)
        counted = self.costs > 0
        a, move, costs = a[counted], move[counted], self.costs[counted]
        linear, bend = self.ridge * (u - self.centre) @ step, self.ridge @ step**2

        def slope(t):
            left = np.maximum(0, a - t * move)
            return linear + t * bend - (costs * left) @ move

        with np.errstate(divide="ignore", invalid="ignore"):
            crossings = a / move
        crossings = np.unique(crossings[np.isfinite(crossings) & (crossings > 0)])
        low, high = LONG(0), LONG(np.inf)
        first, last = 0, crossings.size
        while first < last:
            middle = (first + last) // 2
            if slope(crossings[middle]) < 0:
                low, first = crossings[middle], middle + 1
            else:
                high, last = crossings[middle], middle
        inside = low + (1 if not np.isfinite(high) else (high - low) / 2)
        at, curvature = slope(inside), bend + costs[a - inside * move > 0] @ move[a - inside * move > 0] ** 2
        t = inside - at / curvature if curvature > 0 else LONG(0)
        return min(max(t, low), high)

    def lower_bound(self, u, least=-np.inf):
        """What no point is below, by the dual of the shortfalls at u; `least` is 0 where η may not be
        negative.
        """
        alpha = self.costs * self.missed(u)
        if self.intercept:
            plus, minus = alpha[self.y > 0].sum(), alpha[self.y < 0].sum()
            if min(plus, minus) == 0:
                alpha = np.zeros_like(alpha)
            else:
                alpha = np.where(self.y > 0, alpha * min(1, minus / plus), alpha * min(1, plus / minus))
        signed = self.y * alpha
        counted = self.costs > 0
        bound = (
            alpha @ (np.where(counted, self.margins, 0) - self.y * self.offset)
            - (alpha[counted] ** 2 / self.costs[counted]).sum() / 2
        )
        through = self.X.T @ signed
        bound -= through @ through / (2 * self.penalty)
        lift = self.Z.T @ signed
        for pull, target, t in zip(self.pull, self.target, lift, strict=True):
            if pull > 0:
                eta = max(LONG(least), target + t / pull)
                bound += pull * (eta - target) ** 2 / 2 - eta * t
            elif t > 0 or (t < 0 and least < 0):
                return LONG(0)
        return max(bound, LONG(0))


def least_squares(A, b, fallback):
    """The least squares of Ax = b by Householder reflections; a column that adds nothing keeps the
    `fallback`.
    """
    A, b, n = A.copy(), b.copy(), A.shape[1]
    sizes = np.sqrt((A * A).sum(axis=0))
    sizes[sizes == 0] = 1
    A /= sizes
    order = np.argsort(-np.abs(A).max(axis=1, initial=0), kind="stable")
    A, b = A[order], b[order]
    columns, rank = np.arange(n), 0
    first = LONG(0)
    for k in range(min(A.shape)):
        norms = (A[k:, k:] ** 2).sum(axis=0)
        pivot = k + int(np.argmax(norms))
        first = max(first, norms.max(initial=LONG(0)))
        if not norms.max(initial=LONG(0)) > first * LONG(1e-36):
            break
        A[:, [k, pivot]], columns[[k, pivot]] = A[:, [pivot, k]], columns[[pivot, k]]
        largest = k + int(np.argmax(np.abs(A[k:, k])))  # the row of the largest first: rows of any size
        A[[k, largest]], b[[k, largest]] = A[[largest, k]], b[[largest, k]]
        v = A[k:, k].copy()
        v[0] += np.copysign(np.sqrt(v @ v), v[0])
        scale = 2 / (v @ v)
        A[k:, k:] -= scale * np.outer(v, v @ A[k:, k:])
        b[k:] -= scale * v * (v @ b[k:])
        rank = k + 1
    x = np.asarray(fallback, LONG)[columns] * sizes[columns]
    for k in range(rank - 1, -1, -1):
        x[k] = (b[k] - A[k, k + 1 :] @ x[k + 1 :]) / A[k, k]
    found = np.empty(n, LONG)
    found[columns] = x
    return found / sizes
