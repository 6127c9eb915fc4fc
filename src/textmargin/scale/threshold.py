"""A threshold per class from scores in parts: the ones that `textmargin.ThresholdClassifier` sets on the same scores.

Scores stay where the texts are. Per class they are sorted part by part and merged in a tree of tasks (`_runs.py`); where one run
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
from ..decisions.held_out import Fitter, score_columns
from ..decisions.setting import RankedTexts, Setting
from ..decisions.utility import Measure
from ..errors import ClusterError, LabelError, ScoreError
from ..labels import Labels, decide, shaped
from ._blocks import Blocks
from ._client import carried, client
from ._folds import as_labels, fold_scores
from ._leave_one_out import leave_one_out_scores
from ._merge import Run, merge_tree, sorted_run
from ._spill import Stored, opened
from ._targets import Targets, read_targets
from .tasks import later


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
        y, weights = later(_labels, targets.parts, targets.labels), later(_weights, targets.parts)  # read once is enough
        estimator = clone(self.estimator).fit(X, y, **({"sample_weight": weights} if weighs else {}))
        classes, multilabel = targets.labels.classes, targets.labels.multilabel
        trained = scores_of(estimator, X, targets.labels.n_problems, multilabel).persist()
        held_out = self._held_out_parts(estimator, X, targets, weighs, trained)

        setting, names = Setting.of(self), threshold._names(classes, targets.labels.n_problems)
        n_held_out = _count_held_out(held_out, targets)
        rank: Any = delayed(_ranked, pure=False)
        ranked = []
        for k, utility in enumerate(self._utilities(classes, len(names))):
            wanted = setting.uses_held_out(int(n_held_out[k]))
            run = merge_tree(_runs(held_out if wanted else trained, targets, k, weighted))
            ranked.append(rank(run, carried(utility), wanted, int(n_held_out[k])))
        self._set_in_tasks(ranked, setting, names)
        self.classes_, self.multilabel_, self.estimator_ = classes, multilabel, estimator
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
        flat = not self.multilabel_ and self.thresholds_.size == 1
        return self._shifted(X).array(partial(shaped, multilabel=self.multilabel_), float, flat=flat)

    def predict(self, X: Any) -> Any:
        """What is accepted; for Blocks a Dask array."""
        if not isinstance(X, Blocks):
            return super().predict(X)
        read = partial(decide, classes=self.classes_, multilabel=self.multilabel_)
        return self._shifted(X).array(read, int if self.multilabel_ else self.classes_.dtype, flat=not self.multilabel_)

    def moved(self, **parameters: Any) -> threshold.ThresholdClassifier:
        """An in-memory classifier with its thresholds set anew; see `textmargin.ThresholdClassifier.moved`."""
        return self.in_memory().moved(**parameters)

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

    def _held_out_parts(self, estimator: Any, X: Blocks, targets: Targets, weighs: bool, trained: Blocks) -> Blocks:
        """The scores that thresholds are set on; NaN where a fold could not give one."""
        if self.scores == "train" or self.rule == "zero":
            return trained
        if isinstance(self.estimator, FrozenEstimator):
            raise ScoreError(
                f"A frozen estimator is not fitted again, so scores={self.scores!r} cannot be had; use scores='train'."
            )
        if self.scores == "cv":
            fitter = Fitter(self.estimator, weighs)
            return fold_scores(fitter, X, targets, self.n_folds, self.random_state)
        return leave_one_out_scores(estimator, X, targets, trained).persist()

    def _set_in_tasks(self, ranked: list[Delayed], setting: Setting, names: list[Any]) -> None:
        """A threshold per class, each set where its texts were merged."""
        at = client()
        futures = at.compute(ranked)
        there = carried(setting)
        tasks = [at.submit(_threshold, there, texts, name, pure=False) for texts, name in zip(futures, names, strict=True)]
        found = at.gather(tasks)
        self.ranked_ = futures
        self.thresholds_, self.beta_, self.gamma_ = (np.array(column) for column in zip(*found, strict=True))

    def _weight_is_passed_on(self) -> bool:
        if isinstance(self.estimator, FrozenEstimator):
            return False
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise LabelError(f"sample_weight is given, but {type(self.estimator).__name__}.fit does not take it.")
        return True

    def _shifted(self, X: Blocks) -> Blocks:
        check_is_fitted(self)
        n_problems = self.thresholds_.size
        scores = scores_of(self.estimator_, X, n_problems, self.multilabel_)
        return scores.map(_less, [self.thresholds_] * len(X), n_columns=n_problems)


def scores_of(estimator: Any, X: Blocks, n_problems: int, multilabel: bool) -> Blocks:
    """Scores (n_texts, n_problems) by an estimator of this package, or by a fitted one that is in memory."""
    if callable(getattr(estimator, "scores", None)):
        scores: Blocks = estimator.scores(X)
        return scores
    there = carried(estimator)
    return X.map(_scored, [there] * len(X), [(n_problems, multilabel)] * len(X), n_columns=n_problems)


def plain(estimator: Any) -> Any:
    """The in-memory twin of a fitted estimator."""
    if isinstance(estimator, FrozenEstimator):
        return FrozenEstimator(plain(estimator.estimator))
    return estimator.in_memory() if hasattr(estimator, "in_memory") else estimator


def _labels(target: Stored, labels: Labels) -> NDArray[Any]:
    return as_labels(target.read(0), labels)


def _weights(target: Stored) -> Floats:
    return target.read(1)


def _runs(scores: Blocks, targets: Targets, k: int, weighted: bool) -> list[Delayed]:
    run: Any = delayed(_run, pure=False)
    return [run(part, target, k, weighted) for part, target in zip(scores.parts, targets.parts, strict=True)]


def _run(scores: Any, target: Stored, k: int, weighted: bool) -> Run:
    return sorted_run(opened(scores)[:, k], target.read(0)[k], target.read(1) if weighted else None)


def _ranked(run: Run, utility: Measure, held_out: bool, n_held_out: int) -> RankedTexts:
    return RankedTexts(run.positive, run.score, run.weight, utility, held_out, n_held_out)


def _threshold(setting: Setting, texts: RankedTexts, name: Any) -> Any:
    return setting.threshold(texts, name)


def _count_held_out(held_out: Blocks, targets: Targets) -> NDArray[np.int64]:
    """Per class, the positives that have a held-out score."""
    at = client()
    counts = at.gather(at.compute(held_out.delayed(_with_score, targets.parts)))
    return np.sum(counts, axis=0)


def _with_score(scores: Floats, target: Stored) -> NDArray[np.int64]:
    return np.asarray((~np.isnan(scores) & target.read(0).T).sum(axis=0))


def _scored(matrix: Any, estimator: Any, about: tuple[int, bool]) -> Floats:
    n_problems, multilabel = about
    return score_columns(estimator, matrix, multilabel) if matrix.shape[0] else np.empty((0, n_problems))


def _less(scores: Floats, thresholds: Floats) -> Floats:
    return scores - thresholds
