"""SVM-2K: two views of the same texts that are to agree (Farquhar et al. 2005), squared losses.

With views A and B minimises over w_A, b_A, w_B, b_B

    ½‖w_A‖² + ½‖w_B‖² + C Σᵢ max(0, 1 − yᵢf_A)² + C Σᵢ max(0, 1 − yᵢf_B)² + D Σᵢ max(0, |f_A − f_B| − ε)²

That is one primal SVM on rows [x_A, 0], [0, x_B] and, twice, [x_A, −x_B] with margin −ε, so `_newton.py`
solves it. The paper has hinge losses; `test_two_view.py` holds both forms to an interior-point solver. D = 0:
two SVMs of their own; D → ∞: one score.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import Tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_array, check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from .._sklearn import Interval, StrOptions, check_sample_weight, fit_context
from .._typing import Floats
from ..errors import LabelError
from ..labels import LabelsMixin, OneVsRest, column_names
from ..records import record
from .matrix import Matrix
from .newton import newton
from .objective import ExtraColumns, Objective, canonical

_NAMED = {"linear", "rbf", "poly", "polynomial", "sigmoid", "cosine", "laplacian"}


@record(
    "classes_ multilabel_ n_features_in_ feature_names_in_ coef_ intercept_ second_coef_ second_intercept_ "
    "n_iter_ _first_map _second_map _n_second"
)
class SVM2K(LabelsMixin, ClassifierMixin, BaseEstimator):
    """Two views of the same texts, such as words and how they were read, learnt together so that they agree.

    Predicts from the words alone where the second view is missing. Several classes are learnt one against the
    rest; a 0/1 indicator matrix as `y` makes it multilabel. Fitted without a second view it is a plain SVM.

    Parameters
    ----------
    C : float, default=1.0
        Cost of missing the margin in either view.
    coupling : float, default=1.0
        Cost of disagreement (D).
    epsilon : float, default=0.0
        Disagreement that costs nothing (ε).
    predict_view : {"mean", "first", "second"}, default="mean"
        Whose score counts where both views are there.
    kernel : str or pair of str, default="linear"
        The kernel of the views, of scikit-learn's pairwise ones.
    class_weight : mapping or "balanced", default=None
        As in `PriorSVC`.
    tol : float, default=1e-6
        Stop when the Newton decrement is below tol times the objective.
    max_iter : int, default=100
        Largest number of Newton steps per class.
    n_jobs : int, default=None
        How many classes are learnt at a time, through joblib.

    Attributes
    ----------
    classes_ : array (n_classes,)
    multilabel_ : bool
        Whether it was trained on an indicator matrix.
    coef_, second_coef_ : arrays (n_problems, n_columns)
        Weights of the views; of a kernel, those of its root on the training texts. `second_coef_` is None
        without a second view.
    intercept_, second_intercept_ : arrays (n_problems,)
    n_iter_ : array (n_problems,)
        Newton steps.
    n_features_in_, feature_names_in_
        As in scikit-learn, of the first view.

    Examples
    --------
    >>> import numpy as np
    >>> from textmargin import SVM2K
    >>> words = np.array([[1.0, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0]])
    >>> reading = np.array([[2.0], [-1], [1], [np.nan]])  # nobody read the last one
    >>> model = SVM2K().fit(words, [1, 0, 1, 0], second=reading)
    >>> model.predict(words)
    array([1, 0, 1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "coupling": [Interval(Real, 0, None, closed="left")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "predict_view": [StrOptions({"mean", "first", "second"})],
        "kernel": [StrOptions(_NAMED), tuple, list],
        "class_weight": [Mapping, StrOptions({"balanced"}), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        coupling: float = 1.0,
        epsilon: float = 0.0,
        predict_view: str = "mean",
        kernel: Any = "linear",
        class_weight: Mapping[Any, float] | str | None = None,
        tol: float = 1e-6,
        max_iter: int = 100,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.coupling = coupling
        self.epsilon = epsilon
        self.predict_view = predict_view
        self.kernel = kernel
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, second: Any = None) -> Self:
        """Learn from texts and labels.

        Parameters
        ----------
        X : array or sparse matrix (n_texts, n_features), the first view
        y : array (n_texts,), or a 0/1 indicator matrix (n_texts, n_classes) for multilabel
        sample_weight : array (n_texts,), default=None
        second : array (n_texts, n_second), default=None
            The second view; a row of NaN where a text does not have it.
        """
        names = column_names(y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        targets = OneVsRest.read(y, weight, type(self).__name__, names)
        labels = targets.labels
        other, there = self._second(second, X.shape[0])
        first_kernel, second_kernel = self._kernels()
        self._first_map = _View.of(X, first_kernel)
        self._second_map = None if other is None else _View.of(other[there], second_kernel)
        A = self._first_map.columns(X)
        B = None if self._second_map is None else self._second_map.columns(other[there])

        joint = _Joint(self.C, self.coupling, self.epsilon, self.tol, self.max_iter)
        costs = [2.0 * weight * targets.costs(self.class_weight, k, weight) for k in range(labels.n_problems)]
        with threadpool_limits(limits=1, user_api="blas"):
            machines = Parallel(self.n_jobs, prefer="threads")(
                delayed(joint.solve)(A, B, there, targets.signs(k), costs[k], weight)
                for k in range(labels.n_problems)
            )
        weights, intercepts, steps, converged = zip(*machines, strict=True)
        if not all(converged):
            warnings.warn(
                f"SVM2K stopped at max_iter={self.max_iter} Newton steps before reaching "
                f"tol={self.tol:g}; raise max_iter.",
                ConvergenceWarning,
                stacklevel=2,
            )

        self.classes_, self.multilabel_ = labels.names, labels.multilabel
        self._n_second = 0 if other is None else other.shape[1]
        n_first = A.shape[1]
        self.coef_ = np.array([w[:n_first] for w in weights])
        self.second_coef_ = None if B is None else np.array([w[n_first:] for w in weights])
        self.intercept_ = np.array([b[0] for b in intercepts])
        self.second_intercept_ = None if B is None else np.array([b[1] for b in intercepts])
        self.n_iter_ = np.array(steps)
        return self

    def decision_function(self, X: Any, second: Any = None) -> Floats:
        """Scores: (n_texts,) for two classes, else (n_texts, n_classes); by the first view where there is no
        second.
        """
        return self._labels.shape(self._scores(X, second))

    def predict(self, X: Any, second: Any = None) -> NDArray[Any]:
        """The class of each text; an indicator matrix if it was trained on one."""
        return self._labels.decide(self._scores(X, second))

    def _scores(self, X: Any, second: Any) -> Floats:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = np.asarray(self._first_map.columns(X) @ self.coef_.T) + self.intercept_
        other, there = self._second(second, X.shape[0])
        view, weights = self._second_map, self.second_coef_
        if other is None or view is None or weights is None or self.predict_view == "first":
            return scores
        if other.shape[1] != self._n_second:
            raise LabelError(
                f"The second view has {other.shape[1]} columns; it was fitted with {self._n_second}."
            )
        read = np.asarray(view.columns(other[there]) @ weights.T) + self.second_intercept_
        scores[there] = read if self.predict_view == "second" else (scores[there] + read) / 2
        return scores

    def _second(self, second: Any, n_texts: int) -> tuple[Any, NDArray[np.bool_]]:
        """The second view, and which texts have it."""
        if second is None:
            return None, np.zeros(n_texts, dtype=bool)
        second = check_array(
            second, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan", input_name="second"
        )
        if second.shape[0] != n_texts:
            raise LabelError(f"There are {n_texts} texts, but the second view has {second.shape[0]} rows.")
        missing = np.zeros(n_texts, dtype=bool) if sp.issparse(second) else np.isnan(second).all(axis=1)
        values = second.data if sp.issparse(second) else second[~missing]
        if not np.isfinite(values).all():
            raise LabelError(
                "Some rows of the second view are NaN or infinite in part; a text without it has a row of "
                "NaN only."
            )
        if missing.all():
            return None, np.zeros(n_texts, dtype=bool)
        return second, ~missing

    def _kernels(self) -> tuple[str, str]:
        pair = (self.kernel, self.kernel) if isinstance(self.kernel, str) else tuple(self.kernel)
        if len(pair) != 2 or any(name not in _NAMED for name in pair):
            raise ValueError(f"kernel must be a name or two names, of {sorted(_NAMED)}; got {self.kernel!r}.")
        return pair[0], pair[1]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True)
class _Joint:
    """The settings that every class of one estimator shares."""

    C: float
    coupling: float
    epsilon: float
    tol: float
    max_iter: int

    def solve(
        self, A: Matrix, B: Matrix | None, there: NDArray[np.bool_], y: Floats, costs: Floats, weight: Floats
    ) -> tuple[Floats, Floats, int, bool]:
        """Weights of both views, their intercepts, the steps it took, and whether these were enough."""
        n, ones = y.size, np.ones(y.size)
        if B is None:
            rows, Z, signs, margins, all_costs = A, ones[:, None], y, ones, self.C * costs
        else:
            m = int(there.sum())
            apart = _blocks(A[there], -1.0 * B)
            rows = _stacked(_blocks(A, _zeros(n, B)), _blocks(_zeros(m, A), B), apart, apart)
            Z = np.zeros((n + 3 * m, 2))
            Z[:n, 0] = Z[n : n + m, 1] = Z[n + m :, 0] = 1.0
            Z[n + m :, 1] = -1.0
            signs = np.concatenate([y, y[there], np.ones(m), -np.ones(m)])
            margins = np.concatenate([ones, ones[there], np.full(2 * m, -self.epsilon)])
            apart_costs = 2.0 * self.coupling * weight[there]
            all_costs = np.concatenate([self.C * costs, self.C * costs[there], apart_costs, apart_costs])
        free = ExtraColumns(Z, np.zeros(Z.shape[1]), np.zeros(Z.shape[1]))
        solution = newton(
            Objective(rows, signs, all_costs, margins, free, 1.0), tol=self.tol, max_iter=self.max_iter
        )
        return solution.point.w, solution.point.q, solution.n_iter, solution.converged


@record()
class _View:
    """A view as columns whose inner products are its kernel: its own for a linear one, else the root of the
    kernel matrix.
    """

    def __init__(self, kernel: str, rows: Any = None, root: Floats | None = None) -> None:
        self.kernel, self.rows, self.root = kernel, rows, root

    @classmethod
    def of(cls, X: Any, kernel: str) -> _View:
        if kernel == "linear":
            return cls(kernel)
        values, vectors = np.linalg.eigh(pairwise_kernels(X, metric=kernel))
        kept = values > 1e-12 * values[-1]
        return cls(kernel, X, vectors[:, kept] / np.sqrt(values[kept]))

    def columns(self, X: Any) -> Matrix:
        """The columns of some texts."""
        if self.root is None:
            return canonical(X) if sp.issparse(X) else np.ascontiguousarray(X)
        # rbf and others take their scale from the number of columns, so both arguments must have the same.
        return np.ascontiguousarray(pairwise_kernels(X, self.rows, metric=self.kernel) @ self.root)


def _zeros(n: int, like: Matrix) -> Matrix:
    shape = (n, like.shape[1])
    return sp.csr_matrix(shape) if sp.issparse(like) else np.zeros(shape)


def _blocks(left: Matrix, right: Matrix) -> Matrix:
    if sp.issparse(left) or sp.issparse(right):
        return canonical(sp.hstack([sp.csr_matrix(left), sp.csr_matrix(right)], format="csr"))
    return np.hstack([left, right])


def _stacked(*parts: Matrix) -> Matrix:
    return canonical(sp.vstack(parts, format="csr")) if sp.issparse(parts[0]) else np.vstack(parts)
