"""The one door to scikit-learn's private helpers, so that an upgrade touches one file."""

import inspect
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import _fit_context as fit_context
from sklearn.feature_extraction.text import _align_api_if_sparse as align_sparse
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads as effective_n_threads
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions, validate_parameter_constraints
from sklearn.utils._repr_html.estimator import _VisualBlock
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import _num_samples as n_samples

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "align_sparse",
    "check_changed_params",
    "check_sample_weight",
    "effective_n_threads",
    "fit_context",
    "lies_elsewhere",
    "n_samples",
    "serial_diagram",
    "take_rows",
    "term_names",
    "validate_params",
]


def validate_params(estimator: Any) -> None:
    """Check an estimator's parameters against their constraints, as `fit` does."""
    estimator._validate_params()


def check_changed_params(estimator: Any) -> None:
    """The same of those that are not at their defaults, which may be what only a fit fills in."""
    given = estimator.get_params(deep=False)
    defaults = {
        name: parameter.default for name, parameter in inspect.signature(type(estimator)).parameters.items()
    }
    changed = {name: value for name, value in given.items() if value is not defaults.get(name)}
    if changed.get("estimator", estimator) is None and not hasattr(estimator, "estimator_"):
        del changed["estimator"]  # of a decision, which gets a learner later
    validate_parameter_constraints(estimator._parameter_constraints, changed, type(estimator).__name__)


def lies_elsewhere(X: Any) -> bool:
    """Whether a matrix is a `learners.matrix.BlockMatrix`, for those who may not import learners."""
    return hasattr(X, "transposed_times")


def term_names(representation: Any) -> NDArray[Any] | None:
    """The names of a representation's columns; None where it has none."""
    return representation.get_feature_names_out() if _names_columns(representation) else None


def _names_columns(representation: Any) -> bool:
    """A pipeline or a union has the method whether its parts have it or not."""
    parts = getattr(representation, "steps", None) or getattr(representation, "transformer_list", None) or []
    # "passthrough", "drop"
    named = (isinstance(part, str | None) or _names_columns(part) for _, part in parts)
    return hasattr(representation, "get_feature_names_out") and all(named)


def serial_diagram(steps: dict[str, Any]) -> Any:
    """The block of scikit-learn's HTML diagram for estimators one after the other."""
    names = [f"{name}: {type(step).__name__}" for name, step in steps.items()]
    return _VisualBlock(
        "serial", list(steps.values()), names=names, name_details=[str(step) for step in steps.values()]
    )


def dense_coef(learner: Any) -> NDArray[np.float64]:
    """The weights of a linear model, (n_problems, n_features), also where it keeps them in a sparse
    matrix.
    """
    coef = learner.coef_
    return np.atleast_2d(np.asarray(coef.toarray() if sp.issparse(coef) else coef, dtype=np.float64))
