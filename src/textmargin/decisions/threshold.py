"""Any scorer and a rule: a threshold per class, set on scores the model could not know, by what decisions are worth.

The scores that a threshold is set on matter more than the rule. Training scores are far too sure of themselves; leave-one-out
scores (`PriorSVC` has them without training again) or refitted folds are held out. A class with fewer than four positives has no
held-out score that means anything, since leaving one out takes away a third of what is known or more; there the training scores
are used, relaxed by α = 0.775. Both numbers were chosen on training topics of Reuters-21578 from which all but a few positives
had been taken away (`benchmarks/bench_few_positives.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._sklearn import HasMethods, Interval, StrOptions, check_sample_weight, fit_context, validate_params
from .._ties import ROUNDING
from .._typing import Floats
from ..errors import LabelError, ScoreError
from ..labels import ClassLabels, column_names, positive_of
from .class_utilities import measures_of, named_positive
from .held_out import Fitter, score_columns
from .rules import UtilityCurve
from .setting import RankedTexts, Setting
from .utility import T10U, Measure


class ThresholdClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier whose thresholds are where the utility says.

    Parameters
    ----------
    estimator : classifier with `decision_function` or `predict_proba`
        Wrap it in `sklearn.frozen.FrozenEstimator` to keep a fitted one as it is.
    utility : measure, mapping class → measure, or sequence with one per class, default=T10U
        What decisions are worth. A mapping names every class, or has a measure under "*" for those it does not name; of two
        classes it may name one or both.
    rule : {"parameter-free", "select", "beta-gamma", "best", "zero"} or callable, default="parameter-free"
        `parameter-free`: β retrofitted on folds (`retrofit_beta`); `select`: β and γ by cross-validation
        (`select_beta_gamma`); `beta-gamma`: as given by `beta` and `gamma`; `best`: the middle of the best interval; `zero`: 0.
        A callable gets (y, score, utility=) and returns a threshold.
    beta, gamma : float, default=0.1 and None
        Of `rule="beta-gamma"`; `gamma` also of `parameter-free`.
    scores : {"loo", "cv", "train"}, default="loo"
        Which scores of the training texts the thresholds are set on: the estimator's own leave-one-out scores, refitted
        folds, or the scores of the fitted model itself. A fitted (frozen) estimator scores the texts given: use `train`, or
        `loo` on the very texts it was fitted on.
    n_folds : int, default=5
        Folds of `scores="cv"`, and of the rules that use folds.
    few_positives : int, default=4
        With `parameter-free` and `select`, classes with fewer positives get a threshold on the training scores, relaxed by
        α = 0.775. The other rules do as they are told.
    min_precision, min_recall : float, default=None
        Floors that the threshold must keep on the scores it is set on. Where the rule's threshold does not, the one of best
        utility among those that do.
    pos_label : class, default=None
        Of two classes the one that utility and floors speak of. By default the only one that the utility names; else 1 of 0 and
        1, or of −1 and 1; else the rarer.
    random_state : int, default=0
        Deals out the folds.
    n_jobs : int, default=None
        How many folds of `scores="cv"` are learnt at a time, through joblib.

    Attributes
    ----------
    classes_ : array (n_classes,)
    multilabel_ : bool
    estimator_ : the fitted estimator.
    pos_label_ : class
        Of two classes the one that has the threshold; None where there are not two.
    thresholds_ : array (n_problems,)
        One for two classes, on the scores for `pos_label_`, else one per class.
    beta_, gamma_ : arrays (n_problems,)
        What the rule used; NaN where it used none (γ: the form α = β).
    ranked_ : list of RankedTexts
        What each threshold was set on: labels, scores and weights of the texts, and which scores they are.
    curve_ : list of UtilityCurve
        The curves of these.
    n_features_in_, feature_names_in_
        Those of the estimator, where it has them.

    Examples
    --------
    >>> from textmargin import PriorSVC, ThresholdClassifier, Utility
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(300, weights=[0.9], random_state=0)
    >>> model = ThresholdClassifier(PriorSVC(), utility=Utility(tp=5, fp=-1)).fit(X, y)
    >>> bool(model.predict(X).sum() > PriorSVC().fit(X, y).predict(X).sum())  # a miss costs more, so more is accepted
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "decision_function"]), HasMethods(["fit", "predict_proba"])],
        "utility": [callable, Mapping, "array-like"],
        "rule": [StrOptions({"parameter-free", "select", "beta-gamma", "best", "zero"}), callable],
        "beta": [Interval(Real, None, None, closed="neither")],
        "gamma": [Interval(Real, None, None, closed="neither"), None],
        "scores": [StrOptions({"loo", "cv", "train"})],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "few_positives": [Interval(Integral, 0, None, closed="left")],
        "min_precision": [Interval(Real, 0, 1, closed="both"), None],
        "min_recall": [Interval(Real, 0, 1, closed="both"), None],
        "pos_label": [Real, str, "boolean", None],
        "random_state": [Integral, None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        utility: Measure | Mapping[Any, Measure] | Sequence[Measure] = T10U,
        rule: str | Callable[..., float] = "parameter-free",
        beta: float = 0.1,
        gamma: float | None = None,
        scores: str = "loo",
        n_folds: int = 5,
        few_positives: int = 4,
        min_precision: float | None = None,
        min_recall: float | None = None,
        pos_label: Any = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.utility = utility
        self.rule = rule
        self.beta = beta
        self.gamma = gamma
        self.scores = scores
        self.n_folds = n_folds
        self.few_positives = few_positives
        self.min_precision = min_precision
        self.min_recall = min_recall
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the estimator, then set the thresholds.

        Parameters
        ----------
        X : whatever the estimator takes
        y : array (n_texts,), or a 0/1 indicator matrix (n_texts, n_classes) for multilabel
        sample_weight : array (n_texts,), default=None
            Weighs the texts for the estimator and in the utility.
        """
        weight = None if sample_weight is None else check_sample_weight(sample_weight, X, dtype=np.float64)
        fitter = Fitter(self.estimator, self._weight_reaches_estimator(weight))
        estimator = fitter.fit(X, y, weight)
        names = column_names(y)
        multilabel = names is not None or type_of_target(y) == "multilabel-indicator"
        trained = score_columns(estimator, X, multilabel)
        if multilabel:
            labels = ClassLabels.of(np.arange(trained.shape[1]) if names is None else names, multilabel=True)
        else:
            labels = ClassLabels.of(estimator.classes_, multilabel=False)
            counted = np.asarray(y).ravel()
            counted = counted if weight is None else counted[weight > 0]
            labels = self._with_positive(labels, [float((counted == name).sum()) for name in labels.names])
        if trained.shape[1] != labels.n_problems:
            raise ScoreError(
                f"{type(estimator).__name__} gives {trained.shape[1]} scores per text, but there are {labels.n_problems} classes "
                f"to decide on; a threshold needs one score per class (for SVC: decision_function_shape='ovr')."
            )
        measures = measures_of(self.utility, labels)
        held_out = self._held_out_scores(fitter, estimator, X, y, weight, trained, labels)

        setting, positive, sign = Setting.of(self), _membership(y, labels), labels.sign
        ranked = [
            setting.rank(positive[:, k], sign * held_out[:, k], sign * trained[:, k], weight, utility)
            for k, utility in enumerate(measures)
        ]
        self._set_thresholds(ranked, labels)
        self._set_labels(labels, estimator)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))
        return self

    @property
    def curve_(self) -> list[UtilityCurve]:
        """The utility of every threshold, per class."""
        return [texts.curve for texts in self.ranked_]

    def decision_function(self, X: Any) -> Floats:
        """Scores less thresholds, so that zero is the decision: the second of two classes, or a label, is given from zero on."""
        check_is_fitted(self)
        return self._labels.shape(self._shift(score_columns(self.estimator_, X, self.multilabel_)))

    def predict(self, X: Any) -> NDArray[Any]:
        """What is accepted; with three classes or more the one furthest above its threshold."""
        check_is_fitted(self)
        return self._labels.decide(self._shift(score_columns(self.estimator_, X, self.multilabel_)))

    @property
    def offsets_(self) -> Floats:
        """What is taken off the estimator's own scores, (n_problems,): the thresholds, towards the second of two classes."""
        check_is_fitted(self)
        return self._labels.sign * self.thresholds_

    def _shift(self, columns: Floats) -> Floats:
        return shift(columns, self.offsets_, self._labels.sign)

    @property
    def _labels(self) -> ClassLabels:
        labels = ClassLabels.of(self.classes_, self.multilabel_)
        return labels if self.pos_label_ is None else replace(labels, positive=labels.index(self.pos_label_))

    def _set_labels(self, labels: ClassLabels, estimator: Any) -> None:
        self.classes_, self.multilabel_, self.estimator_ = labels.names, labels.multilabel, estimator
        self.pos_label_ = labels.threshold_names[0] if labels.kind == "binary" else None

    def _with_positive(self, labels: ClassLabels, counts: Sequence[float]) -> ClassLabels:
        """Which of two classes is looked for, by what was said or by how frequent they are."""
        if labels.kind != "binary":
            if self.pos_label is not None:
                raise LabelError(f"pos_label={self.pos_label!r} is for two classes; here are {labels.names.size}.")
            return labels
        wanted = named_positive(self.utility, labels) if self.pos_label is None else self.pos_label
        return replace(labels, positive=positive_of(labels.names.tolist(), counts, wanted, "pos_label"))

    def with_utility(self, utility: Any = None, **parameters: Any) -> ThresholdClassifier:
        """The same fitted estimator with its thresholds set anew, for another utility, rule or floor, without any texts.

        They are those of a new fit. Where that would need scores which are not in `ranked_` (after `rule="zero"`, for another
        rule), it is refused.

        Parameters
        ----------
        utility : as in the constructor, default=None
            Stays as it is where it is left out.
        **parameters : further ones of this class, such as `min_recall=0.9`; those left out stay as they are

        Examples
        --------
        >>> from textmargin import PriorSVC, ThresholdClassifier, Utility
        >>> from sklearn.datasets import make_classification
        >>> X, y = make_classification(300, weights=[0.9], random_state=0)
        >>> model = ThresholdClassifier(PriorSVC()).fit(X, y)
        >>> careful = model.with_utility(Utility(tp=1, fp=-10))
        >>> bool(careful.thresholds_[0] > model.thresholds_[0])
        True
        """
        check_is_fitted(self)
        if utility is not None:
            parameters["utility"] = utility
        other = ThresholdClassifier(**{**self.get_params(deep=False), **parameters})
        validate_params(other)
        fixed = {"scores", "estimator", "n_folds", "pos_label", *(["random_state"] if self.scores == "cv" else [])}
        if fixed & parameters.keys():
            raise ScoreError(f"{(fixed & parameters.keys()).pop()!r} cannot change once the scores are there; fit again.")
        other.__dict__.update(
            {name: value for name, value in vars(self).items() if name.endswith("_") and not name.startswith("_")}
        )
        setting = Setting.of(other)
        labels = self._labels
        parts = zip(self.ranked_, measures_of(other.utility, labels), labels.threshold_names, strict=True)
        other._set_thresholds([setting.rank_again(*part) for part in parts], labels)
        return other

    def _set_thresholds(self, ranked: list[RankedTexts], labels: ClassLabels) -> None:
        named = zip(ranked, labels.threshold_names, strict=True)
        found = [Setting.of(self).threshold(texts, name) for texts, name in named]
        self.ranked_ = ranked
        self.thresholds_, self.beta_, self.gamma_ = (np.array(column) for column in zip(*found, strict=True))

    def get_metadata_routing(self) -> MetadataRouter:
        """Where `sample_weight` goes: to itself and, if it asks for it, to the estimator."""
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))

    def _weight_reaches_estimator(self, weight: Floats | None) -> bool:
        if weight is None or isinstance(self.estimator, FrozenEstimator):
            return False
        if get_config()["enable_metadata_routing"]:
            return "sample_weight" in process_routing(self, "fit", sample_weight=weight).estimator.fit
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise LabelError(f"sample_weight is given, but {type(self.estimator).__name__}.fit does not take it.")
        return True

    def _held_out_scores(
        self, fitter: Fitter, estimator: Any, X: Any, y: Any, weight: Floats | None, trained: Floats, labels: ClassLabels
    ) -> Floats:
        """The scores that thresholds are set on, (n_texts, n_problems); NaN where a fold could not give one."""
        if self.scores == "train" or self.rule == "zero":
            return trained
        frozen = isinstance(self.estimator, FrozenEstimator)
        if self.scores == "cv":
            if frozen:
                raise ScoreError("A frozen estimator is not fitted again, so scores='cv' means nothing; use scores='train'.")
            return fitter.fold_scores(X, y, weight, labels, self.n_folds, self.random_state, self.n_jobs)
        if not hasattr(estimator, "loo_decision_function"):
            raise ScoreError(
                f"{type(estimator).__name__} has no leave-one-out scores of its own; use scores='cv', which trains it "
                f"{self.n_folds} times more, or scores='train' on texts that it was not fitted on."
            )
        scores = np.asarray(estimator.loo_decision_function())
        scores = scores.reshape(len(scores), -1)
        if scores.shape != trained.shape or (frozen and not _belong_together(scores, trained)):
            raise ScoreError(
                f"The leave-one-out scores are of the {len(scores)} texts the estimator was fitted on, not of the {len(trained)} "
                f"given; use scores='train'."
            )
        return scores

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            inner = get_tags(self.estimator)
            tags.input_tags = inner.input_tags
            tags.classifier_tags.multi_label = inner.classifier_tags is not None and inner.classifier_tags.multi_label
        return tags


def shift(columns: Floats, offsets: Floats, sign: float) -> Floats:
    """Scores less what is taken off them; `sign` is −1 where of two classes the first has the threshold.

    A text right at the threshold, but for rounding, is accepted: at zero, or for the first class, whose side it is not, below it.
    """
    shifted = columns - offsets
    at_threshold = np.abs(shifted) <= ROUNDING * np.maximum(np.abs(columns), 1.0)
    return np.where(at_threshold, 0.0 if sign > 0 else -2 * ROUNDING, shifted)


def _belong_together(held_out: Floats, trained: Floats) -> bool:
    """Whether leave-one-out scores can be of the texts that were scored: they go with them, where strangers' do not."""
    a, b = held_out - np.nanmean(held_out, axis=0), trained - trained.mean(axis=0)
    known = ~np.isnan(a)
    size = np.linalg.norm(a[known]) * np.linalg.norm(b[known])
    rounding = ROUNDING * np.linalg.norm(held_out[known]) * np.linalg.norm(trained[known])  # constant but for it
    return bool(size <= rounding or a[known] @ b[known] > 0.3 * size)


def _membership(y: Any, labels: ClassLabels) -> NDArray[np.bool_]:
    """Which texts are positive, per problem; of two classes for the one that is looked for."""
    y = np.asarray(y.toarray() if sp.issparse(y) else y)
    if labels.multilabel:
        return np.asarray(y != 0)
    wanted = labels.names[[labels.positive]] if labels.kind == "binary" else labels.names
    return y.ravel()[:, None] == wanted[None, :]
