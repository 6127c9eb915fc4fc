"""Thresholds from scores in parts: the ones that `textmargin.ThresholdClassifier` sets on the same scores.

Scores are computed where the texts are, and gathered: a number per text and class, which is little beside the texts. Where they
are too many for one memory, a sample is (`_gather.py`). Which scores these are:

    train   those of the fitted estimator
    cv      those of estimators fitted without a text's fold; the folds are those of the in-memory class, row by row (`_folds.py`)
    loo     leave-one-out scores, where the texts inside the margin fit one worker (`_leave_one_out.py`)
    auto    loo where they fit, else cv
"""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._sklearn import fit_context
from .._typing import Floats
from ..decisions import threshold
from ..decisions.class_utilities import measures_of
from ..decisions.held_out import Fitter, score_columns
from ..decisions.rule import shift
from ..decisions.scores import Method
from ..errors import LabelError, ScoreError, TooLargeError
from ..labels import ClassLabels
from ._blocks import Blocks
from ._client import broadcast_pickled
from ._folds import as_labels, fold_scores
from ._gather import gather_scores
from ._leave_one_out import leave_one_out_scores
from ._spill import SpilledArrays
from ._targets import Targets, read_targets
from .tasks import delay_each


class ThresholdClassifier(threshold.ThresholdClassifier):
    """`textmargin.ThresholdClassifier` for texts in parts.

    Parameters and learnt attributes are those of `textmargin.ThresholdClassifier`, and so are the thresholds. `fit`,
    `decision_function` and `predict` take `Blocks`; given a matrix in memory they do what that class does. The estimator is one
    of this package, such as `scale.PriorSVC`, or a fitted one in a `FrozenEstimator`. `n_jobs` has no effect on parts.

    Examples
    --------
    >>> from distributed import Client
    >>> from sklearn.datasets import make_classification
    >>> from textmargin import Utility
    >>> from textmargin.scale import Blocks, PriorSVC, ThresholdClassifier
    >>> X, y = make_classification(300, weights=[0.9], random_state=0)
    >>> with Client(processes=False, dashboard_address=None):
    ...     model = ThresholdClassifier(PriorSVC(), utility=Utility(tp=5, fp=-1)).fit(Blocks.split(X, 3), y).in_memory()
    >>> bool(model.predict(X).sum() > model.estimator_.predict(X).sum())  # a miss costs more, so more is accepted
    True
    """

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the estimator, then set the thresholds.

        Parameters
        ----------
        X : Blocks, or a matrix in memory
        y : classes, or a 0/1 indicator matrix with a column per class; in parts like X, or one array for all texts
        sample_weight : weights, in parts or for all texts, default=None
        """
        if not isinstance(X, Blocks):
            return super().fit(X, y, sample_weight)
        X = X.persist()
        targets = read_targets(y, sample_weight, X, type(self).__name__)
        weighted = sample_weight is not None
        weighs = weighted and self._weight_is_passed_on()
        # Read once is enough.
        y, weights = delay_each(_labels, targets.parts, targets.labels), delay_each(_weights, targets.parts)
        estimator = clone(self.estimator).fit(X, y, **({"sample_weight": weights} if weighs else {}))
        n_second = float(targets.counts.n_positive[0])
        labels = self._with_positive(targets.labels, [targets.counts.n_texts - n_second, n_second])
        measures_of(self.utility, labels)
        training_scores = score_blocks(estimator, X, labels.n_problems, labels.multilabel).persist()
        method, held_out_scores = self._held_out_parts(estimator, X, targets, weighs, training_scores)
        fresh = copy(self)
        fresh._set_labels(labels, estimator)
        if hasattr(estimator, "n_features_in_"):
            fresh.n_features_in_ = estimator.n_features_in_
        fresh._source, fresh._calibration = None, None
        fresh._held_out = gather_scores(held_out_scores, training_scores, targets, labels, method, self.few_positives, weighted)
        fresh.compute_held_out()
        fresh._set_thresholds()
        self.__dict__.update(fresh.__dict__)
        return self

    def decision_function(self, X: Any) -> Any:
        """Scores less thresholds, so that zero is the decision; for Blocks a Dask array."""
        if not isinstance(X, Blocks):
            return super().decision_function(X)
        return self._shift_blocks(X).array(self._labels.shape, float, flat=self._labels.kind == "binary")

    def predict(self, X: Any) -> Any:
        """What is accepted; for Blocks a Dask array."""
        if not isinstance(X, Blocks):
            return super().predict(X)
        check_is_fitted(self)
        may_ask = not self.multilabel_ and (not self.always_answer_ or (self.thresholds_ > self.ask_thresholds_).any())
        kind = int if self.multilabel_ else object if may_ask else self.classes_.dtype
        light = copy(self)
        light._held_out = None
        scores = score_blocks(self.estimator_, X, self.thresholds_.size, self.multilabel_)
        return scores.array(partial(_name, light), kind, flat=not self.multilabel_)

    def with_utility(self, utility: Any = None, **parameters: Any) -> threshold.ThresholdClassifier:
        """An in-memory classifier with its thresholds set anew; see `textmargin.ThresholdClassifier.with_utility`."""
        return self.in_memory().with_utility(utility, **parameters)

    def in_memory(self) -> threshold.ThresholdClassifier:
        """The `textmargin.ThresholdClassifier` with the same parameters and learnt attributes, for saving."""
        check_is_fitted(self)
        fitted = plain(self.estimator_)
        frozen = isinstance(self.estimator, FrozenEstimator)
        parameters = {**self.get_params(deep=False), "estimator": fitted if frozen else clone(fitted)}
        other = threshold.ThresholdClassifier(**parameters)
        learnt = {name: value for name, value in vars(self).items() if name.endswith("_") and not name.startswith("_")}
        private = {"_source": None, "_held_out": self._held_out, "_calibration": self._calibration}
        other.__dict__.update(learnt, estimator_=fitted, **private)
        return other

    def _held_out_parts(
        self, estimator: Any, X: Blocks, targets: Targets, weighs: bool, training_scores: Blocks
    ) -> tuple[Method, Blocks]:
        """Which scores thresholds are set on, and these; NaN where a fold could not give one."""
        frozen = isinstance(self.estimator, FrozenEstimator)
        if self.scores == "train" or (self.rule == "zero" and frozen):
            return "train", training_scores
        if frozen:
            raise ScoreError(
                f"A frozen estimator is not fitted again, so scores={self.scores!r} cannot be had; use scores='train'."
            )
        if self.scores != "cv":
            try:
                return "loo", leave_one_out_scores(estimator, X, targets, training_scores).persist()
            except (TooLargeError, ScoreError):
                if self.scores == "loo":
                    raise
        return "cv", fold_scores(Fitter(self.estimator, weighs), X, targets, self.n_folds, self.random_state)

    def _weight_is_passed_on(self) -> bool:
        if isinstance(self.estimator, FrozenEstimator):
            return False
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise LabelError(f"sample_weight is given, but {type(self.estimator).__name__}.fit does not take it.")
        return True

    def _shift_blocks(self, X: Blocks) -> Blocks:
        check_is_fitted(self)
        n_problems = self.thresholds_.size
        scores = score_blocks(self.estimator_, X, n_problems, self.multilabel_)
        return scores.map(_shift, [(self.offsets_, self._labels.sign)] * len(X), n_columns=n_problems)


def score_blocks(estimator: Any, X: Blocks, n_problems: int, multilabel: bool) -> Blocks:
    """Scores (n_texts, n_problems) by an estimator of this package, or by a fitted one that is in memory."""
    if callable(getattr(estimator, "scores", None)):
        scores: Blocks = estimator.scores(X)
        return scores
    shared = broadcast_pickled(estimator)
    return X.map(_score, [shared] * len(X), [(n_problems, multilabel)] * len(X), n_columns=n_problems)


def plain(estimator: Any) -> Any:
    """The in-memory twin of a fitted estimator."""
    if isinstance(estimator, FrozenEstimator):
        return FrozenEstimator(plain(estimator.estimator))
    return estimator.in_memory() if hasattr(estimator, "in_memory") else estimator


def _labels(target: SpilledArrays, labels: ClassLabels) -> NDArray[Any]:
    return as_labels(target.read(0), labels)


def _weights(target: SpilledArrays) -> Floats:
    return target.read(1)


def _score(matrix: Any, estimator: Any, about: tuple[int, bool]) -> Floats:
    n_problems, multilabel = about
    return score_columns(estimator, matrix, multilabel) if matrix.shape[0] else np.empty((0, n_problems))


def _shift(scores: Floats, by: tuple[Floats, float]) -> Floats:
    return shift(scores, *by)


def _name(classifier: threshold.ThresholdClassifier, scores: Floats) -> NDArray[Any]:
    named = classifier.name(classifier.decide_scores(scores))
    return named if classifier.multilabel_ or classifier.always_answer_ else named.astype(object)
