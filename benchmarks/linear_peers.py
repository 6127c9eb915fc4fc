"""Linear SVMs of many labels by several solvers, each stopped as early as its objective allows.

The objective of a label is ½‖w‖² + C Σ max(0, 1 − yf)². An intercept is free in `PriorSVC`; LIBLINEAR
penalises it like a weight, so each of the two is held to its own optimum. LIBLINEAR's own library is taken
where it is installed (`liblinear-official`); its matrix is converted beforehand and not timed, as if it had
lain in a file.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from textmargin import PriorSVC

try:
    from liblinear import liblinear
    from liblinear.liblinearutil import train
except ImportError:
    liblinear = None

TOLS = [10.0**-k for k in np.arange(1, 8.5, 0.5)]  # from loose to tight
WITHOUT_LIBRARY = "LIBLINEAR's own library is left out: liblinear-official is not installed"


@dataclass(frozen=True)
class Planes:
    """Weights (n_labels, n_terms) and intercepts (n_labels,)."""

    w: np.ndarray
    b: np.ndarray


Solve = Callable[..., Planes]  # of X, Y, C, tol, intercept


def by_prior_svc(X, Y, C: float, tol: float, intercept: bool, n_jobs: int = 1) -> Planes:
    model = PriorSVC(C, tol=tol, max_iter=1000, fit_intercept=intercept, n_jobs=n_jobs).fit(
        X, Y if Y.shape[1] > 1 else Y[:, 0]
    )
    return Planes(model.coef_, model.intercept_)


def by_linear_svc(X, Y, C: float, tol: float, intercept: bool, dual: bool) -> Planes:
    options = {"dual": dual, "fit_intercept": intercept, "max_iter": 100_000, "random_state": 0}
    models = [LinearSVC(C=C, tol=tol, **options).fit(X, y) for y in Y.T]
    return Planes(
        np.vstack([model.coef_ for model in models]),
        np.ravel([model.intercept_ for model in models]) + np.zeros(len(models)),
    )


class ByLibrary:
    """LIBLINEAR itself: solver 1 is the dual, 2 the primal."""

    def __init__(self, X, solver: int) -> None:
        self.solver, self.n_columns = solver, X.shape[1]
        # a copy of X each
        self.problem = cache(lambda bias: liblinear.problem(np.ones(X.shape[0]), sp.csr_matrix(X), bias))

    def __call__(self, X, Y, C: float, tol: float, intercept: bool) -> Planes:
        problem = self.problem(1 if intercept else -1)
        options = liblinear.parameter(f"-s {self.solver} -c {C} -e {tol} -B {1 if intercept else -1} -q")
        rows = [self._weights(problem, y, options) for y in Y.T]
        planes = np.array(rows)
        return Planes(planes[:, : self.n_columns], planes[:, -1] if intercept else np.zeros(len(rows)))

    def _weights(self, problem, y, options) -> np.ndarray:
        np.ctypeslib.as_array(problem.y, (y.size,))[:] = 2.0 * y - 1
        model = train(problem, options)
        size = model.nr_feature + (model.bias >= 0)
        return model.label[0] * np.ctypeslib.as_array(model.w, (size,))  # for the label seen first


def solvers(X) -> dict[str, Solve]:
    """By name, ours first."""
    found: dict[str, Solve] = {
        "PriorSVC, 1 thread": by_prior_svc,
        "PriorSVC, 2 threads": partial(by_prior_svc, n_jobs=2),
        "LinearSVC(dual=True)": partial(by_linear_svc, dual=True),
        "LinearSVC(dual=False)": partial(by_linear_svc, dual=False),
    }
    if liblinear is not None:
        found |= {"LIBLINEAR 2.50 dual": ByLibrary(X, 1), "LIBLINEAR 2.50 primal": ByLibrary(X, 2)}
    return found


def objectives(X, Y, C: float, planes: Planes, penalised: bool) -> np.ndarray:
    """Per label; `penalised`: with the intercept as a weight."""
    values = 0.5 * (planes.w**2).sum(axis=1) + 0.5 * penalised * planes.b**2
    for part in batches(Y.shape[1]):  # not all scores of thousands of labels at once
        missed = np.maximum(0, 1 - (2.0 * Y[:, part] - 1) * (X @ planes.w[part].T + planes.b[part]))
        values[part] += C * (missed**2).sum(axis=0)
    return values


def batches(n: int, size: int = 100) -> Iterator[slice]:
    """Of labels."""
    return (slice(start, start + size) for start in range(0, n, size))


@dataclass
class Optima:
    """Of a matrix and its labels, found once: with a free intercept, with a penalised one, or with none."""

    X: sp.csr_matrix
    Y: np.ndarray
    C: float
    intercept: bool

    def __post_init__(self) -> None:
        self._values: dict[bool, np.ndarray] = {}

    def gap(self, planes: Planes, penalised: bool) -> float:
        """The largest over the labels, as a share of the optimum."""
        penalised = penalised and self.intercept
        if penalised not in self._values:  # a penalised intercept is the weight of a column of ones
            X = sp.hstack([self.X, np.ones((self.X.shape[0], 1))], format="csr") if penalised else self.X
            best = by_prior_svc(X, self.Y, self.C, 1e-10, self.intercept and not penalised)
            self._values[penalised] = objectives(X, self.Y, self.C, best, penalised=False)
        return float(
            (objectives(self.X, self.Y, self.C, planes, penalised) / self._values[penalised] - 1).max()
        )


def loosest(
    solve: Solve, optima: Optima, goal: float, penalised: bool, tols: list[float] = TOLS
) -> tuple[float, float]:
    """The largest tol that comes as close as `goal` to the optimum of every label, and how close that is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for tol in tols:
            gap = optima.gap(solve(optima.X, optima.Y, optima.C, tol, optima.intercept), penalised)
            if gap <= goal:
                break
    return tol, gap
