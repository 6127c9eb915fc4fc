"""Rocchio's classifier: the difference of class centroids, as text filtering used it before support vectors.

    w = 16 · mean of positives − 4 · mean of negatives    f(x) = ⟨w, x⟩ + b, zero halfway between the means

Meant for rows of unit length, and for scores whose threshold is set afterwards.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._sklearn import Interval, fit_context
from .._typing import Floats
from ..labels import LabelsMixin, OneVsRest, column_names
from ..records import record


@record("classes_ multilabel_ n_features_in_ feature_names_in_ coef_ intercept_")
class Rocchio(LabelsMixin, ClassifierMixin, BaseEstimator):
    """Linear classifier by centroids; its scores rank, and zero is halfway between the centroids' own scores.

    Parameters
    ----------
    positive, negative : float, default=16.0 and 4.0
        Weights of the two centroids.

    Attributes
    ----------
    classes_ : array (n_classes,)
    multilabel_ : bool
    coef_ : array (n_problems, n_features)
    intercept_ : array (n_problems,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from textmargin import Rocchio
    >>> Rocchio().fit([[1.0, 0], [0, 1]], ["left", "right"]).predict([[0.9, 0.2]])
    array(['left'], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "positive": [Interval(Real, 0, None, closed="neither")],
        "negative": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, positive: float = 16.0, negative: float = 4.0) -> None:
        self.positive = positive
        self.negative = negative

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the centroids."""
        names = column_names(y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True)
        targets = OneVsRest.read(y, None, type(self).__name__, names)
        own = targets.positive / targets.positive.sum(axis=0)
        other = ~targets.positive / (~targets.positive).sum(axis=0)
        centre, rest = np.asarray((X.T @ own).T), np.asarray((X.T @ other).T)
        self.coef_ = self.positive * centre - self.negative * rest
        self.intercept_ = -0.5 * np.einsum("kd,kd->k", self.coef_, centre + rest)
        self.classes_, self.multilabel_ = targets.labels.names, targets.labels.multilabel
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores: (n_texts,) for two classes, else (n_texts, n_classes)."""
        return self._labels.shape(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each text; an indicator matrix if it was trained on one."""
        return self._labels.decide(self._scores(X))

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_.T) + self.intercept_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags
