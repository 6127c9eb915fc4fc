"""Any scorer and a rule: a threshold per class, set on scores the model could not know, by what decisions are worth.

The scores that a threshold is set on matter more than the rule. Training scores are far too sure of themselves; leave-one-out
scores (`PriorSVC` has them without training again) or refitted folds are honest. A class with fewer than four positives has no
honest score that means anything, since leaving one out takes away a third of what is known or more; there the training scores
are used, relaxed by α = 0.8. Both numbers were chosen on training topics of Reuters-21578 from which all but two, three or five
positives had been taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._sklearn import HasMethods, Interval, StrOptions, check_sample_weight, fit_context
from ..errors import LabelError, ScoreError
from .rules import Floats, UtilityCurve, relaxed, retrofit_beta, select_beta_gamma, utility_curve
from .utility import T10U, Measure

_FEW_ALPHA = 0.8


class ThresholdClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier whose thresholds are where the utility says.

    Parameters
    ----------
    estimator : classifier with `decision_function` or `predict_proba`
        Wrap it in `sklearn.frozen.FrozenEstimator` to keep a fitted one as it is.
    utility : measure, mapping class → measure, or sequence with one per class, default=T10U
        What decisions are worth.
    rule : {"parameter-free", "select", "beta-gamma", "best", "zero"} or callable, default="parameter-free"
        `parameter-free`: β retrofitted on folds (`retrofit_beta`); `select`: β and γ by cross-validation
        (`select_beta_gamma`); `beta-gamma`: as given by `beta` and `gamma`; `best`: the middle of the best interval; `zero`: 0.
        A callable gets (y, score, utility) and returns a threshold.
    beta, gamma : float, default=0.1 and None
        Of `rule="beta-gamma"`; `gamma` also of `parameter-free`.
    scores : {"loo", "cv", "train"}, default="loo"
        Which scores of the training texts the thresholds are set on: the estimator's own leave-one-out scores, refitted
        folds, or the scores of the fitted model itself. A fitted (frozen) estimator scores the texts given: use `train`.
    n_folds : int, default=5
        Folds of `scores="cv"`, and of the rules that use folds.
    few_positives : int, default=4
        Classes with fewer positives get a threshold on the training scores, relaxed by α = 0.8.
    min_precision, min_recall : float, default=None
        Floors that the threshold must keep on the scores it is set on; the best utility among those that do.
    random_state : int, default=0
        Deals out the folds.

    Attributes
    ----------
    classes_ : array (n_classes,)
    multilabel_ : bool
    estimator_ : the fitted estimator.
    thresholds_ : array (n_problems,)
        One for two classes (of the second), else one per class.
    beta_, gamma_ : arrays (n_problems,)
        What the rule used; NaN where it used none (γ: the form α = β).
    curve_ : list of UtilityCurve
        The curve each threshold was set on.
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
        "random_state": [Integral, None],
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
        random_state: int | None = 0,
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
        self.random_state = random_state

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
        estimator = _fitted(self.estimator, X, y, weight)
        trained = _score_columns(estimator, X)
        self.classes_ = estimator.classes_
        self.multilabel_ = type_of_target(y) == "multilabel-indicator"
        positive = _indicator(y, self.classes_, self.multilabel_)
        honest = self._honest_scores(estimator, X, y, weight, trained)

        utilities = self._utilities(trained.shape[1])
        found = [
            self._threshold(positive[:, k], honest[:, k], trained[:, k], utilities[k], weight) for k in range(trained.shape[1])
        ]
        self.estimator_ = estimator
        self.curve_ = [curve for curve, *_ in found]
        self.thresholds_, self.beta_, self.gamma_ = (np.array(column) for column in list(zip(*found, strict=True))[1:])
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores less thresholds, so that zero is the decision."""
        check_is_fitted(self)
        shifted = _score_columns(self.estimator_, X) - self.thresholds_
        return shifted if self.multilabel_ or shifted.shape[1] > 1 else shifted[:, 0]

    def predict(self, X: Any) -> NDArray[Any]:
        """What is accepted; with three classes or more the one furthest above its threshold."""
        shifted = self.decision_function(X)
        if self.multilabel_:
            return (shifted >= 0).astype(int)
        if shifted.ndim == 1:
            return self.classes_[(shifted >= 0).astype(int)]
        return self.classes_[shifted.argmax(axis=1)]

    def _utilities(self, n_problems: int) -> list[Measure]:
        if isinstance(self.utility, Mapping):
            unknown = [label for label in self.utility if label not in self.classes_]
            if unknown:
                raise LabelError(f"utility names {unknown[0]!r}, which is not among the classes: {self.classes_[:10].tolist()}.")
            names = self.classes_ if n_problems == self.classes_.size else self.classes_[1:]
            return [self.utility.get(name, T10U) for name in names.tolist()]
        if callable(self.utility):
            return [self.utility] * n_problems
        if len(self.utility) != n_problems:
            raise LabelError(f"utility has {len(self.utility)} measures, but there are {n_problems} thresholds to set.")
        return list(self.utility)

    def _honest_scores(self, estimator: Any, X: Any, y: Any, weight: Floats | None, trained: Floats) -> Floats:
        if self.scores == "train":
            return trained
        if self.scores == "cv":
            return _fold_scores(self.estimator, X, y, weight, estimator.classes_, trained.shape, self.n_folds, self.random_state)
        if not hasattr(estimator, "loo_decision_function"):
            raise ScoreError(
                f"{type(estimator).__name__} has no leave-one-out scores of its own; use scores='cv', which trains it "
                f"{self.n_folds} times more, or scores='train' on texts that it was not fitted on."
            )
        scores = np.asarray(estimator.loo_decision_function())
        scores = scores.reshape(len(scores), -1)
        if scores.shape != trained.shape:
            raise ScoreError(
                f"The leave-one-out scores are of the {len(scores)} texts the estimator was fitted on, not of the {len(trained)} "
                f"given; use scores='train'."
            )
        return scores

    def _threshold(
        self, positive: NDArray[np.bool_], honest: Floats, trained: Floats, utility: Measure, weight: Floats | None
    ) -> tuple[UtilityCurve, float, float, float]:
        """The curve, θ, β and γ of one class."""
        scored = ~np.isnan(honest)  # a class missing from a fold's training texts leaves that fold without scores
        n_positive = int((positive & scored).sum())
        few = n_positive < max(self.few_positives, 1)
        score = trained if few else np.where(scored, honest, np.inf)
        order = np.argsort(-score, kind="stable")[0 if few else np.count_nonzero(~scored) :]
        y, score = positive[order], score[order]  # sorted once; the rules' own sorting then costs next to nothing
        curve = utility_curve(y, score, utility, None if weight is None else weight[order])
        theta, beta, gamma = (relaxed(curve, _FEW_ALPHA), _FEW_ALPHA, None) if few else self._by_rule(y, score, curve, utility)
        if self.rule == "zero":
            theta, beta, gamma = 0.0, np.nan, None
        return curve, self._above_floors(curve, theta), beta, np.nan if gamma is None else gamma

    def _by_rule(
        self, y: NDArray[np.bool_], score: Floats, curve: UtilityCurve, utility: Measure
    ) -> tuple[float, float, float | None]:
        if callable(self.rule):
            return float(self.rule(y, score, utility)), np.nan, None
        if self.rule == "select":
            chosen = select_beta_gamma(y, score, utility=utility, n_folds=self.n_folds, random_state=self.random_state)
            return chosen.theta, chosen.beta, chosen.gamma
        if self.rule == "best":
            return float(np.mean(curve.best_interval)), 0.0, None
        beta = self.beta
        if self.rule == "parameter-free":
            beta = retrofit_beta(y, score, self.gamma, utility, self.n_folds, self.random_state)
        return relaxed(curve, beta, self.gamma), beta, self.gamma

    def _above_floors(self, curve: UtilityCurve, theta: float) -> float:
        """θ, or the threshold of best utility that keeps the floors where θ does not."""
        if self.min_precision is None and self.min_recall is None:
            return theta
        with np.errstate(invalid="ignore", divide="ignore"):
            precision, recall = curve.tp / (curve.tp + curve.fp), curve.tp / curve.n_positive
        reached = np.ones(curve.tp.size, dtype=bool)
        for name, value, floor in (("recall", recall, self.min_recall), ("precision", precision, self.min_precision)):
            if floor is None:
                continue
            within = np.where(reached, value, np.nan)
            best = np.nanmax(within) if not np.isnan(within).all() else 0.0
            reached &= value >= floor
            if not reached.any():
                raise ScoreError(f"No threshold reaches min_{name}={floor}; the best {name} to be had here is {best:.3f}.")
        k = int(np.searchsorted(-curve.scores, -theta, side="right"))
        if reached[k]:
            return theta
        k = int(np.argmax(np.where(reached, curve.utility, -np.inf)))
        return float(curve.scores[k - 1]) if k else curve.theta_max

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            inner = get_tags(self.estimator)
            tags.input_tags = inner.input_tags
            tags.classifier_tags.multi_label = inner.classifier_tags is not None and inner.classifier_tags.multi_label
        return tags


def _fitted(estimator: Any, X: Any, y: Any, weight: Floats | None) -> Any:
    if weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise LabelError(f"sample_weight is given, but {type(estimator).__name__}.fit does not take it.")
    return clone(estimator).fit(X, y) if weight is None else clone(estimator).fit(X, y, sample_weight=weight)


def _score_columns(estimator: Any, X: Any) -> Floats:
    """Scores (n_texts, n_problems), by `decision_function` or else `predict_proba`."""
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
        return scores.reshape(len(scores), -1)
    scores = estimator.predict_proba(X)
    if isinstance(scores, list):  # one table per label
        return np.column_stack([np.asarray(table)[:, -1] for table in scores])
    scores = np.asarray(scores, dtype=np.float64)
    two = scores.shape[1] == 2 and len(estimator.classes_) == 2 and not getattr(estimator, "multilabel_", False)
    return scores[:, 1:] if two else scores


def _indicator(y: Any, classes: Any, multilabel: bool) -> NDArray[np.bool_]:
    """Which texts are positive, per problem."""
    if multilabel:
        return np.asarray(y.toarray() if hasattr(y, "toarray") else y) != 0
    y = np.ravel(np.asarray(y))
    names = classes[1:] if len(classes) == 2 else classes
    return np.column_stack([y == name for name in names])


def _fold_scores(
    estimator: Any,
    X: Any,
    y: Any,
    weight: Floats | None,
    classes: Any,
    shape: tuple[int, ...],
    n_folds: int,
    random_state: int | None,
) -> Floats:
    """Scores by models refitted without the text's fold; NaN where a class was missing from the other folds."""
    multilabel = type_of_target(y) == "multilabel-indicator"
    y = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    folds = (KFold if multilabel else StratifiedKFold)(
        min(n_folds, len(y)) if multilabel else _n_folds(y, n_folds), shuffle=True, random_state=random_state
    )
    X = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
    scores = np.full(shape, np.nan)
    for rest, held_out in folds.split(np.zeros(len(y)), None if multilabel else np.ravel(y)):
        target = y[rest]
        if multilabel:
            kept = target.any(axis=0) & ~target.all(axis=0)
            target = target[:, kept] if kept.sum() > 1 else target[:, kept].ravel()
        else:
            kept = np.isin(classes, target) if shape[1] > 1 else np.ones(1, dtype=bool)
        if target.size == 0 or np.unique(target).size < 2 or (not multilabel and shape[1] > 1 and kept.sum() < 3):
            continue
        model = _fitted(estimator, X[rest], target, None if weight is None else weight[rest])
        scores[np.ix_(held_out, kept)] = _score_columns(model, X[held_out])
    return scores


def _n_folds(y: NDArray[Any], n_folds: int) -> int:
    """As many folds as every class can fill, but at least two."""
    return max(2, min(n_folds, int(np.unique(y, return_counts=True)[1].min())))
