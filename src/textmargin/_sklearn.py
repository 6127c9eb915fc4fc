"""The one door to scikit-learn's private helpers, so that an upgrade touches one file."""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import _fit_context as fit_context
from sklearn.feature_extraction.text import CountVectorizer
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
    "OpenVectorizer",
    "QuietCountVectorizer",
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


class OpenVectorizer:
    """A mixin before a vectoriser of scikit-learn, whose inner loop may be another."""

    def check_vocabulary(self) -> None:
        """An error for n-grams or a vocabulary that cannot be, warnings of what has no meaning; sets
        `fixed_vocabulary_`.
        """
        vectorizer: Any = self
        vectorizer._validate_ngram_range()
        vectorizer._warn_for_unused_params()
        vectorizer._validate_vocabulary()

    def count_terms(self, raw_documents: Any, fixed_vocabulary: bool) -> tuple[Any, Any] | None:
        """The vocabulary, in the order its terms are met where it is not fixed, and the counts; None to leave
        it to Python.
        """

    def _count_vocab(self, raw_documents: Any, fixed_vocab: bool) -> tuple[Any, Any]:
        counts = self.count_terms(raw_documents, fixed_vocab)
        return super()._count_vocab(raw_documents, fixed_vocab) if counts is None else counts  # type: ignore[misc]


class QuietCountVectorizer(CountVectorizer):
    """CountVectorizer for subclasses whose defaults for words simply do not apply to another analyzer."""

    @classmethod
    def constraints(cls, *without: str) -> dict[str, list[Any]]:
        """The rules for parameters, without those that the subclass does not have."""
        return {name: rule for name, rule in cls._parameter_constraints.items() if name not in without}

    def count_known_terms(self, texts: Sequence[str]) -> sp.csr_matrix:
        """The counts (n_texts, n_terms) of the vocabulary's terms."""
        return sp.csr_matrix(self._count_vocab(texts, True)[1])

    def count_new_terms(self, texts: Sequence[str]) -> tuple[dict[Any, int], sp.csr_matrix | None]:
        """All terms of some texts with their columns, and the counts; no counts where there are no terms."""
        try:
            vocabulary, counts = self._count_vocab(texts, False)
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            return {}, None
        return vocabulary, counts

    def _warn_for_unused_params(self) -> None:
        pass

    def _limit_features(
        self, X: Any, vocabulary: dict[str, int], high: Any = None, low: Any = None, limit: Any = None
    ) -> Any:
        """Of terms that are as frequent as the last of `max_features` the first in order.

        scikit-learn's own sort is not stable, and deals with ties as the processor's vector instructions do.
        """
        X = super()._limit_features(X, vocabulary, high, low)
        if limit is None or X.shape[1] <= limit:
            return X
        most = np.sort(np.argsort(-np.asarray(X.sum(axis=0)).ravel(), kind="stable")[:limit])
        places = {int(old): new for new, old in enumerate(most)}
        for term, old in list(vocabulary.items()):
            if old in places:
                vocabulary[term] = places[old]
            else:
                del vocabulary[term]
        return X[:, most]


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
