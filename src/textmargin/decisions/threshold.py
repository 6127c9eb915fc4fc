"""Any scorer and a rule: a threshold per class, set on scores the model could not know, by what decisions are
worth.

Of two classes, or where a text may have any number, each threshold is set for its class alone, as in the
paper; where a text has one label of several, all are set together (`joint.py`). Between yes and no there may
be "unsure", where a person is asked.

The scores that a threshold is set on matter more than the rule. Training scores are far too sure of
themselves; leave-one-out scores (`PriorSVC` has them without training again) or refitted folds are held out.
A class with fewer than four positives has no held-out score that means anything, since leaving one out takes
away a third of what is known or more; there the training scores are used, relaxed by α = 0.775. Both numbers
were chosen on training topics of Reuters-21578 from which all but a few positives had been taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
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

from .._sklearn import (
    HasMethods,
    Interval,
    StrOptions,
    check_sample_weight,
    fit_context,
    lies_elsewhere,
    validate_params,
)
from .._system.collections import in_memory
from .._system.stages import log, stage
from .._typing import Floats
from ..errors import LabelError, ScoreError
from ..labels import ClassLabels, Decisions, column_names, positive_of
from ..records import fields_of, record
from .calibration import Calibration
from .class_utilities import measures_of, named_positive
from .held_out import Fitter, HeldOutRows, HeldOutSource, score_columns
from .joint import joint_thresholds
from .joint_floors import Floors
from .rule import DecisionRule
from .rules import UtilityCurve
from .scores import HeldOutScores
from .setting import ClassThreshold, RankedTexts, Setting
from .single_label import SingleLabelTexts
from .utility import T10U, Measure

_MOST_CALIBRATED = 50_000  # texts that probabilities are fitted to; of more a sample


@record(
    "classes_ multilabel_ n_features_in_ feature_names_in_ estimator_ pos_label_ thresholds_ ask_thresholds_ "
    "beta_ gamma_ always_answer_ _held_out _calibration"
)
class ThresholdClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier whose thresholds are where the utility says.

    Parameters
    ----------
    estimator : classifier with `decision_function` or `predict_proba`
        Wrap it in `sklearn.frozen.FrozenEstimator` to keep a fitted one as it is.
    utility : measure, mapping class → measure, or sequence with one per class, default=T10U
        What decisions are worth. A mapping names every class, or has a measure under "*" for those it does
        not name; of two classes it may name one or both. With a price for asking (`Utility(ask=-0.5)`) a
        decision may be to ask a person.
    rule : {"parameter-free", "select", "beta-gamma", "best", "zero"} or callable, default="parameter-free"
        `parameter-free`: β retrofitted on folds (`retrofit_beta`); `select`: β and γ by cross-validation
        (`select_beta_gamma`); `beta-gamma`: as given by `beta` and `gamma`; `best`: the middle of the best
        interval; `zero`: 0. A callable gets (y, score, utility=) and returns a threshold. With three classes
        or more, `parameter-free` and `best` set all thresholds together for the decision that is made
        (`joint_thresholds`; `best` without damping); the others set each against the rest. With `zero` the
        highest score decides.
    beta, gamma : float, default=0.1 and None
        Of `rule="beta-gamma"`; `gamma` also of `parameter-free`.
    scores : {"auto", "loo", "cv", "train"}, default="auto"
        Which scores of the training texts the thresholds are set on: the estimator's own leave-one-out
        scores, refitted folds, or the scores of the fitted model itself; `auto` is leave-one-out where the
        estimator has it and it is cheap, class by class, else folds. A fitted (frozen) estimator scores the
        texts given: use `train`, or `loo` on the very texts it was fitted on.
    n_folds : int, default=5
        Folds of `scores="cv"`, and of the rules that use folds.
    few_positives : int, default=4
        With `parameter-free` and `select`, classes with fewer positives get a threshold on the training
        scores, relaxed by α = 0.775. The other rules do as they are told.
    min_precision, min_recall : float, default=None
        Floors that the threshold must keep on the scores it is set on. Where the rule's threshold does not,
        the one of best utility among those that do. With three classes or more they hold for the decisions
        that are made.
    always_answer : bool, default=False
        Whether every text gets an answer. By default a text with one label may get none: where a person's
        look has a price and is worth it, and with three classes or more where no class is above its
        threshold.
    unsure_label : class, default=None
        What `predict` gives where the answer is unsure.
    pos_label : class, default=None
        Of two classes the one that utility and floors speak of. By default the only one that the utility
        names; else 1 of 0 and 1, or of −1 and 1; else the rarer.
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
    ask_thresholds_ : array (n_problems,)
        From where on a person is asked; as `thresholds_` where nobody is. With three classes or more a text
        is open whose scores are all below their thresholds.
    always_answer_ : bool
        Whether no text stays without an answer: it was asked for, or pays.
    held_out_ : HeldOutScores
        Labels and scores of the training texts, on which thresholds are set, and which scores they are.
    calibration_ : Calibration
        What turns scores into probabilities.
    ranked_ : list of RankedTexts
        The same, class by class, highest score first.
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
    >>> plain = PriorSVC().fit(X, y)
    >>> bool(model.predict(X).sum() > plain.predict(X).sum())  # a miss costs more, so more is accepted
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "decision_function"]), HasMethods(["fit", "predict_proba"])],
        "utility": [callable, Mapping, "array-like"],
        "rule": [StrOptions({"parameter-free", "select", "beta-gamma", "best", "zero"}), callable],
        "beta": [Interval(Real, None, None, closed="neither")],
        "gamma": [Interval(Real, None, None, closed="neither"), None],
        "scores": [StrOptions({"auto", "loo", "cv", "train"})],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "few_positives": [Interval(Integral, 0, None, closed="left")],
        "min_precision": [Interval(Real, 0, 1, closed="both"), None],
        "min_recall": [Interval(Real, 0, 1, closed="both"), None],
        "always_answer": ["boolean"],
        "unsure_label": [Real, str, "boolean", None],
        "pos_label": [Real, str, "boolean", None],
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }

    _source: HeldOutSource | None = None  # not in a saved or pickled model
    _held_out: HeldOutScores | None
    _calibration: Calibration | None

    def __init__(
        self,
        estimator: Any = None,
        *,
        utility: Measure | Mapping[Any, Measure] | Sequence[Measure] = T10U,
        rule: str | Callable[..., float] = "parameter-free",
        beta: float = 0.1,
        gamma: float | None = None,
        scores: str = "auto",
        n_folds: int = 5,
        few_positives: int = 4,
        min_precision: float | None = None,
        min_recall: float | None = None,
        always_answer: bool = False,
        unsure_label: Any = None,
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
        self.always_answer = always_answer
        self.unsure_label = unsure_label
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        held_out: HeldOutRows | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the estimator, then set the thresholds.

        Parameters
        ----------
        X : whatever the estimator takes
        y : array (n_texts,), or a 0/1 indicator matrix (n_texts, n_classes) for multilabel
        sample_weight : array (n_texts,), default=None
            Weighs the texts for the estimator and in the utility.
        held_out : HeldOutRows, default=None
            Scores of some of the texts by models that did not know them, which thresholds and probabilities
            rest on in place of the estimator's own.
        **fit_params : what else the estimator's `fit` takes, such as the `contrasts` of `PriorSVC`
            Held-out scores are then the estimator's own, since it alone can hold these out with their texts.
        """
        y, sample_weight = in_memory(y), in_memory(sample_weight)
        weight = None if sample_weight is None else check_sample_weight(sample_weight, X, dtype=np.float64)
        fitter = Fitter(self.estimator, self._weight_reaches_estimator(weight), fit_params)
        estimator = fitter.fit(X, y, weight)
        if hasattr(estimator, "n_iter_"):
            steps = np.ravel(estimator.n_iter_)
            log.debug(f"{steps.sum()} solver steps, {steps.min()} to {steps.max()} a label")
        names = column_names(y)
        multilabel = names is not None or type_of_target(y) == "multilabel-indicator"
        trained = score_columns(estimator, X, multilabel)
        if lies_elsewhere(X):  # of so many texts, what single precision made
            trained = trained.astype(np.float32)
        if multilabel:
            labels = ClassLabels.of(np.arange(trained.shape[1]) if names is None else names, multilabel=True)
        else:
            labels = ClassLabels.of(estimator.classes_, multilabel=False)
            counted = np.asarray(y).ravel()
            counted = counted if weight is None else counted[weight > 0]
            labels = self._with_positive(labels, [float((counted == name).sum()) for name in labels.names])
        if trained.shape[1] != labels.n_problems:
            raise ScoreError(
                f"{type(estimator).__name__} gives {trained.shape[1]} scores per text, but there are "
                f"{labels.n_problems} classes "
                "to decide on; a threshold needs one score per class (for SVC: "
                "decision_function_shape='ovr')."
            )
        measures_of(self.utility, labels)  # an error now rather than when all is learnt
        fresh = copy(self)  # a fit that fails leaves the model as it was
        fresh._set_labels(labels, estimator)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(fresh, name, getattr(estimator, name))
        fresh._source = HeldOutSource(fresh, fitter, X, y, weight, trained, labels, held_out)
        fresh._held_out = fresh._calibration = None
        if self.rule != "zero":
            fresh.compute_held_out()
        with stage("thresholds"):
            fresh._set_thresholds()
        self.__dict__.update(fresh.__dict__)
        return self

    @property
    def held_out_(self) -> HeldOutScores:
        """Labels and held-out scores of the training texts; after `rule="zero"`, which needs none, computed
        when asked for.
        """
        check_is_fitted(self)
        return self.compute_held_out()[0]

    @property
    def calibration_(self) -> Calibration:
        """From scores for a class to its probability."""
        check_is_fitted(self)
        return self.compute_held_out()[1] if self._calibration is None else self._calibration

    def without_held_out(self) -> ThresholdClassifier:
        """The same decisions and probabilities, without the scores they rest on, which are as many as
        training texts.
        """
        light = copy(self)
        light._calibration, light._held_out, light._source = self.calibration_, None, None
        return light

    def compute_held_out(self) -> tuple[HeldOutScores, Calibration]:
        """Held-out scores, and what rests on them alone; computed once."""
        if self._held_out is None:
            if self._source is None:
                raise ScoreError(
                    "This model is without its held-out scores: it was pickled before they were computed, "
                    "or they were left out. "
                    "Save it with textmargin.save, or fit it again."
                )
            with stage("held-out scores"):
                self._held_out, self._source = self._source.scores(), None
        if self._calibration is None:
            texts = self._held_out.sample(_MOST_CALIBRATED)
            with stage("probabilities from held-out scores"):
                self._calibration = Calibration.fit(
                    texts.positive,
                    np.where(np.isnan(texts.scores), np.nan, texts.as_new()),
                    self._labels.kind,
                    texts.weight,
                )
        return self._held_out, self._calibration

    @property
    def ranked_(self) -> list[RankedTexts]:
        """What the threshold of each class is set on, where it is set for the class alone."""
        return list(self._ranked(Setting.of(self), self._labels))

    def _ranked(self, setting: Setting, labels: ClassLabels) -> Iterator[RankedTexts]:
        """The same class by class: together they are several times as large as the scores."""
        named = enumerate(zip(measures_of(self.utility, labels), labels.threshold_names, strict=True))
        return (setting.rank(self.held_out_, k, measure, name) for k, (measure, name) in named)

    @property
    def curve_(self) -> list[UtilityCurve]:
        """The utility of every threshold, per class against the rest."""
        return [texts.curve for texts in self.ranked_]

    def decision_function(self, X: Any) -> Floats:
        """Scores less thresholds, so that zero is the decision: the second of two classes, or a label, is
        given from zero on.
        """
        check_is_fitted(self)
        return self._labels.shape(
            self.decision_rule().shift(score_columns(self.estimator_, X, self.multilabel_))
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """What is accepted; of several classes the one furthest above its threshold, `unsure_label` where
        there is none.
        """
        check_is_fitted(self)
        return self.decision_rule().predict(score_columns(self.estimator_, X, self.multilabel_))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities (n_texts, n_classes), fitted to the held-out scores of the training texts."""
        check_is_fitted(self)
        return self.decision_rule(with_probabilities=True).probabilities(
            score_columns(self.estimator_, X, self.multilabel_)
        )

    @property
    def can_be_unsure(self) -> bool:
        """Whether there are scores on which a decision is left to a person."""
        check_is_fitted(self)
        return self.decision_rule().can_be_unsure

    def decide(self, X: Any, probabilities: bool = False) -> Decisions:
        """Scores, what is accepted, and what is left to a person; on demand with the probabilities of all
        classes.
        """
        check_is_fitted(self)
        return self.decision_rule(probabilities).decide(
            score_columns(self.estimator_, X, self.multilabel_), probabilities
        )

    def decide_scores(self, columns: Floats) -> Decisions:
        """The same from the estimator's own scores (n_texts, n_problems)."""
        return self.decision_rule().decide(columns)

    def decision_rule(self, with_probabilities: bool = False) -> DecisionRule:
        """What decides on scores. Held-out scores are computed for probabilities only."""
        return DecisionRule(
            self._labels,
            self.thresholds_,
            self.ask_thresholds_,
            self.always_answer_,
            self.calibration_ if with_probabilities else self._calibration,
            self.unsure_label,
        )

    def raw_scores(self, decisions: Decisions) -> Floats:
        """Scores (n_texts, n_problems) of decisions as `held_out_` has them, before thresholds were taken
        off.
        """
        labels = self._labels
        columns = decisions.scores[:, [labels.positive]] if labels.kind == "binary" else decisions.scores
        return columns + self.thresholds_

    def comparable_scores(self, decisions: Decisions) -> Floats:
        """The same to be compared with `held_out_`, which may be compressed."""
        return self.held_out_.align(self.raw_scores(decisions), self._labels.kind == "multiclass")

    def with_mix(self, positive_weight: Floats, negative_weight: Floats) -> ThresholdClassifier:
        """The same fitted estimator with thresholds and probabilities for another mix of classes, by the same
        rule.

        Parameters
        ----------
        positive_weight, negative_weight : arrays (n_problems,)
            How much more frequent texts of a class have become, and those that are not of it.
        """
        held_out, labels = self.held_out_, self._labels
        if labels.kind == "multiclass":
            factor: Floats = held_out.positive @ positive_weight
        else:
            factor = np.where(held_out.positive, positive_weight, negative_weight)
            factor = factor[:, 0] if labels.kind == "binary" else factor
        before = np.ones(len(held_out)) if held_out.weight is None else held_out.weight
        before = before[:, None] if factor.ndim > before.ndim else before
        other = copy(self)
        other._held_out = replace(held_out, weight=before * factor)
        other._calibration = self.calibration_.shift(np.log(positive_weight / negative_weight))
        other._set_thresholds()
        return other

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of texts whose labels are all right; those without an answer are not."""
        y = np.asarray(y.toarray() if sp.issparse(y) else y)
        decided = self.predict(X)
        right = (decided == (y != 0)).all(axis=1) if self.multilabel_ else decided == np.ravel(y)
        return float(np.average(right, weights=sample_weight))

    @property
    def offsets_(self) -> Floats:
        """What is taken off the estimator's own scores, (n_problems,): the thresholds, towards the second of
        two classes.
        """
        check_is_fitted(self)
        return self._labels.sign * self.thresholds_

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
                raise LabelError(
                    f"pos_label={self.pos_label!r} is for two classes; here are {labels.names.size}."
                )
            return labels
        wanted = named_positive(self.utility, labels) if self.pos_label is None else self.pos_label
        return replace(labels, positive=positive_of(labels.names.tolist(), counts, wanted, "pos_label"))

    def with_utility(self, utility: Any = None, **parameters: Any) -> ThresholdClassifier:
        """The same fitted estimator with its thresholds set anew, for another utility, rule or floor, without
        any texts.

        They are those of a new fit. Where training scores of a class would be needed that are not there (a
        larger `few_positives`), it is refused.

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
        fixed = {
            "scores",
            "estimator",
            "n_folds",
            "pos_label",
            *(["random_state"] if self.scores == "cv" else []),
        }
        if fixed & parameters.keys():
            raise ScoreError(
                f"{(fixed & parameters.keys()).pop()!r} cannot change once the scores are there; fit again."
            )
        held_out = self.held_out_
        learnt = {
            name: value
            for name, value in vars(self).items()
            if name.endswith("_") and not name.startswith("_")
        }
        other.__dict__.update(learnt, _held_out=held_out, _calibration=self.calibration_, _source=None)
        other._set_thresholds()
        return other

    def _set_thresholds(self) -> None:
        """By the rule, on the held-out scores."""
        setting, labels = Setting.of(self), self._labels
        n = labels.n_problems
        self.always_answer_ = self.always_answer or setting.rule == "zero"
        if setting.rule == "zero" and not setting.has_floors:
            found = [ClassThreshold(0.0, 0.0, np.nan, np.nan)] * n
        elif labels.kind == "multiclass" and setting.rule in ("parameter-free", "best", "zero"):
            found = self._joint_thresholds(setting, labels)
        else:
            named = zip(self._ranked(setting, labels), labels.threshold_names, strict=True)
            found = [setting.threshold(texts, name) for texts, name in named]
        columns = (np.array(column) for column in zip(*found, strict=True))
        self.thresholds_, self.ask_thresholds_, self.beta_, self.gamma_ = columns

    def _joint_thresholds(self, setting: Setting, labels: ClassLabels) -> list[ClassThreshold]:
        """The thresholds of all classes, for texts of one label."""
        held_out, measures = self.held_out_, tuple(measures_of(self.utility, labels))
        texts = SingleLabelTexts(
            held_out.truth, held_out.complete(), measures, self.always_answer, held_out.weight
        )
        if setting.rule == "zero":
            thresholds, self.always_answer_ = np.zeros(labels.n_problems), self.always_answer
        else:
            folds: dict[str, Any] = {"n_folds": setting.n_folds, "random_state": setting.random_state}
            joint = joint_thresholds(texts, damp=setting.rule != "best", **folds)
            thresholds, self.always_answer_ = joint.thresholds, joint.always_answer
        if setting.has_floors:
            floors = Floors(setting.min_precision, setting.min_recall)
            if self.always_answer_ and not self.always_answer:  # from where nothing is left out yet
                thresholds = np.full(labels.n_problems, np.nextafter(texts.scores.max(axis=1).min(), -np.inf))
            thresholds, self.always_answer_ = (
                floors.keep(texts, thresholds, labels.threshold_names),
                self.always_answer,
            )
        return [ClassThreshold(float(theta), float(theta), np.nan, np.nan) for theta in thresholds]

    def get_metadata_routing(self) -> MetadataRouter:
        """Where `sample_weight` goes: to itself and, if it asks for it, to the estimator."""
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(
            estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit")
        )

    def _weight_reaches_estimator(self, weight: Floats | None) -> bool:
        if weight is None or isinstance(self.estimator, FrozenEstimator):
            return False
        if get_config()["enable_metadata_routing"]:
            return "sample_weight" in process_routing(self, "fit", sample_weight=weight).estimator.fit
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise LabelError(
                f"sample_weight is given, but {type(self.estimator).__name__}.fit does not take it."
            )
        return True

    def to_record(self) -> dict[str, Any]:
        """With held-out scores, which costs that are set later need."""
        if hasattr(self, "thresholds_") and self._calibration is None:
            self.compute_held_out()
        return fields_of(self)

    def __getstate__(self) -> dict[str, Any]:
        """Without the training texts that held-out scores may still be computed from."""
        state = dict(super().__getstate__())
        return {**state, "_source": None} if "_source" in state else state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            inner = get_tags(self.estimator)
            tags.input_tags = inner.input_tags
            tags.classifier_tags.multi_label = (
                inner.classifier_tags is not None and inner.classifier_tags.multi_label
            )
        return tags
