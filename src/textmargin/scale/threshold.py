"""A threshold per class from scores in parts: the ones that `textmargin.ThresholdClassifier` sets on the same scores.

Scores stay where the texts are. Per class they are sorted part by part and merged in a tree of tasks (`_merge.py`); where one run
is left, the rule of the in-memory class is applied to it, in a task, and the threshold comes back. Which scores these are:

    train   those of the fitted estimator
    cv      those of estimators fitted without a text's fold; the folds are those of the in-memory class, row by row (`_folds.py`)
    loo     leave-one-out scores, where the texts inside the margin fit one worker (`_leave_one_out.py`)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from dask.delayed import Delayed, delayed
from distributed import Future
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._sklearn import fit_context
from .._typing import Floats
from ..decisions import threshold
from ..decisions.class_utilities import measures_of
from ..decisions.held_out import Fitter, score_columns
from ..decisions.setting import RankedTexts, Setting
from ..decisions.utility import Measure
from ..errors import ClusterError, LabelError, ScoreError
from ..labels import ClassLabels
from ._blocks import Blocks
from ._client import broadcast_pickled, client
from ._folds import as_labels, fold_scores
from ._leave_one_out import leave_one_out_scores
from ._merge import SortedScores, merge_tree, sort_scores
from ._spill import SpilledArrays, load
from ._targets import Targets, read_targets
from .tasks import delay_each


class ThresholdClassifier(threshold.ThresholdClassifier):
    """`textmargin.ThresholdClassifier` for texts in parts.

    Parameters and learnt attributes are those of `textmargin.ThresholdClassifier`, and so are the thresholds. `fit`,
    `decision_function` and `predict` take `Blocks`; given a matrix in memory they do what that class does. The estimator is one
    of this package, such as `scale.PriorSVC`, or a fitted one in a `FrozenEstimator`. The scores that thresholds were set on
    (`ranked_`) stay on the workers and are gathered when they are asked for, while the cluster is there; `in_memory()` takes
    them along. `n_jobs` has no effect on parts.

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
        training_scores = score_blocks(estimator, X, labels.n_problems, labels.multilabel).persist()
        held_out_scores = self._held_out_parts(estimator, X, targets, weighs, training_scores)

        setting = Setting.of(self)
        n_held_out = _count_held_out(held_out_scores, targets, labels.sign)
        rank: Any = delayed(_rank, pure=False)
        ranked = []
        for k, utility in enumerate(measures_of(self.utility, labels)):
            wanted = setting.uses_held_out(int(n_held_out[k]))
            run = merge_tree(_sort_parts(held_out_scores if wanted else training_scores, targets, k, weighted, labels.sign))
            ranked.append(rank(run, broadcast_pickled(utility), wanted, int(n_held_out[k])))
        self._set_in_tasks(ranked, setting, labels.threshold_names)
        self._set_labels(labels, estimator)
        if hasattr(estimator, "n_features_in_"):
            self.n_features_in_ = estimator.n_features_in_
        return self

    @property
    def ranked_(self) -> list[RankedTexts]:
        """What each threshold was set on; gathered from the cluster."""
        if "_ranked" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'ranked_'")
        if any(isinstance(texts, Future) and texts.status == "cancelled" for texts in self._ranked):
            raise ClusterError(
                "The scores that thresholds were set on lay on a cluster that is gone; call in_memory() while it is there."
            )
        return [texts.result() if isinstance(texts, Future) else texts for texts in self._ranked]

    @ranked_.setter
    def ranked_(self, ranked: list[RankedTexts]) -> None:
        self._ranked: Sequence[Any] = ranked  # futures, after a fit on parts

    def decision_function(self, X: Any) -> Any:
        """Scores less thresholds, so that zero is the decision; for Blocks a Dask array."""
        if not isinstance(X, Blocks):
            return super().decision_function(X)
        return self._shift_blocks(X).array(self._labels.shape, float, flat=self._labels.kind == "binary")

    def predict(self, X: Any) -> Any:
        """What is accepted; for Blocks a Dask array."""
        if not isinstance(X, Blocks):
            return super().predict(X)
        kind = int if self.multilabel_ else self.classes_.dtype
        return self._shift_blocks(X).array(self._labels.decide, kind, flat=not self.multilabel_)

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
        other.__dict__.update(learnt, estimator_=fitted, ranked_=self.ranked_)
        return other

    def _held_out_parts(self, estimator: Any, X: Blocks, targets: Targets, weighs: bool, training_scores: Blocks) -> Blocks:
        """The scores that thresholds are set on; NaN where a fold could not give one."""
        if self.scores == "train" or self.rule == "zero":
            return training_scores
        if isinstance(self.estimator, FrozenEstimator):
            raise ScoreError(
                f"A frozen estimator is not fitted again, so scores={self.scores!r} cannot be had; use scores='train'."
            )
        if self.scores == "cv":
            fitter = Fitter(self.estimator, weighs)
            return fold_scores(fitter, X, targets, self.n_folds, self.random_state)
        return leave_one_out_scores(estimator, X, targets, training_scores).persist()

    def _set_in_tasks(self, ranked: list[Delayed], setting: Setting, names: list[Any]) -> None:
        """A threshold per class, each set where its texts were merged."""
        cluster = client()
        futures = cluster.compute(ranked)
        shared = broadcast_pickled(setting)
        tasks = [cluster.submit(_threshold, shared, texts, name, pure=False) for texts, name in zip(futures, names, strict=True)]
        per_class = cluster.gather(tasks)
        self.ranked_ = futures
        self.thresholds_, self.beta_, self.gamma_ = (np.array(column) for column in zip(*per_class, strict=True))

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


def _sort_parts(scores: Blocks, targets: Targets, k: int, weighted: bool, sign: float) -> list[Delayed]:
    run: Any = delayed(_sort_part, pure=False)
    return [run(part, target, k, weighted, sign) for part, target in zip(scores.parts, targets.parts, strict=True)]


def _sort_part(scores: Any, target: SpilledArrays, k: int, weighted: bool, sign: float) -> SortedScores:
    positive = target.read(0)[k] == (sign > 0)
    return sort_scores(sign * load(scores)[:, k], positive, target.read(1) if weighted else None)


def _rank(run: SortedScores, utility: Measure, held_out: bool, n_held_out: int) -> RankedTexts:
    return RankedTexts(run.positive, run.score, run.weight, utility, held_out, n_held_out)


def _threshold(setting: Setting, texts: RankedTexts, name: Any) -> Any:
    return setting.threshold(texts, name)


def _count_held_out(held_out: Blocks, targets: Targets, sign: float) -> NDArray[np.int64]:
    """Per class, the positives that have a held-out score."""
    cluster = client()
    counts = cluster.gather(cluster.compute(held_out.delayed(partial(_with_score, sign=sign), targets.parts)))
    return np.sum(counts, axis=0)


def _with_score(scores: Floats, target: SpilledArrays, sign: float) -> NDArray[np.int64]:
    return np.asarray((~np.isnan(scores) & ((sign > 0) == target.read(0).T)).sum(axis=0))


def _score(matrix: Any, estimator: Any, about: tuple[int, bool]) -> Floats:
    n_problems, multilabel = about
    return score_columns(estimator, matrix, multilabel) if matrix.shape[0] else np.empty((0, n_problems))


def _shift(scores: Floats, by: tuple[Floats, float]) -> Floats:
    return threshold.shift(scores, *by)
