"""What a file may name: the classes and functions that models consist of, and nothing else.

A class is listed under its own name, so that files outlive moves between modules; one of ours that
scikit-learn has too, with `textmargin.` before it. Of scikit-learn those are listed whose state is numbers
and strings and that predict by NumPy and SciPy alone: compiled code that takes a model's arrays on trust
could be led astray by a file that was made up.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ._seal import Refused

_HOMES = {
    "textmargin.classifier": "TextClassifier",
    "textmargin.labels": "ClassLabels",
    "textmargin.decisions.calibration": "Calibration",
    "textmargin.decisions.scores": "HeldOutScores",
    "textmargin.decisions.threshold": "ThresholdClassifier",
    "textmargin.decisions.utility": "FBeta ScaledUtility Utility",
    "textmargin.knowledge.contrasts": "RationaleContrasts",
    "textmargin.knowledge.gaze": "GazePrior",
    "textmargin.knowledge.keywords": "KeywordPrior",
    "textmargin.knowledge.passages": "Rationale RationalePrior",
    "textmargin.knowledge.transfer": "ModelPrior",
    "textmargin.learners.evidence": "Verdict",
    "textmargin.learners._row_pairs": "MatrixPairs RowPairs",
    "textmargin.learners.kernel": "KernelSVC",
    "textmargin.learners.primal": "PriorSVC",
    "textmargin.learners.rocchio": "Rocchio",
    "textmargin.learners.two_view": "SVM2K _View",
    "textmargin.representations._backends": "Diagonal",
    "textmargin.representations.encode": "Sequences",
    "textmargin.representations.bow": "BagOfWords",
    "textmargin.representations.features": "KernelLandmarks SubsequenceFeatures",
    "textmargin.representations.spectrum": "SpectrumKernel _SpectrumPairs",
    "textmargin.representations.strings": "SubsequenceKernel _SubsequencePairs",
    "textmargin.gram.store": "KernelStore",
    "sklearn.decomposition": "TruncatedSVD",
    "sklearn.dummy": "DummyClassifier",
    "sklearn.feature_extraction": "DictVectorizer FeatureHasher",
    "sklearn.feature_extraction.text": "CountVectorizer HashingVectorizer TfidfTransformer TfidfVectorizer",
    "sklearn.feature_selection": "SelectKBest SelectPercentile VarianceThreshold",
    "sklearn.frozen": "FrozenEstimator",
    "sklearn.linear_model": "LogisticRegression Ridge RidgeClassifier SGDClassifier",
    "sklearn.model_selection": "FixedThresholdClassifier",
    "sklearn.multiclass": "OneVsRestClassifier",
    "sklearn.naive_bayes": "BernoulliNB ComplementNB MultinomialNB",
    "sklearn.pipeline": "FeatureUnion Pipeline",
    "sklearn.preprocessing": (
        "Binarizer LabelBinarizer LabelEncoder MaxAbsScaler MinMaxScaler MultiLabelBinarizer Normalizer "
        "StandardScaler"
    ),
    "sklearn.svm": "LinearSVC LinearSVR",
}
_CLASSES = {name: home for home, names in _HOMES.items() for name in names.split()}
_CLASSES |= {  # which scikit-learn has under the same name
    f"textmargin.{name}": "textmargin.representations.vectorizers"
    for name in ("CountVectorizer", "TfidfVectorizer")
}

_FUNCTION_HOMES = {
    "textmargin.decisions.rules": "beta_gamma_threshold",
    "sklearn.feature_extraction.text": "strip_accents_ascii strip_accents_unicode",
    "sklearn.feature_selection": "chi2 f_classif mutual_info_classif",
}
_FUNCTIONS = {name: home for home, names in _FUNCTION_HOMES.items() for name in names.split()}
_STRING_METHODS = {
    f"str.{function.__name__}": function for function in (str.casefold, str.lower, str.split, str.upper)
}

# what one part may ask of another
METHODS = frozenset({"decision_function", "predict", "predict_proba", "transform"})

# what a fitted kernel compares with
PAIRS = {"SpectrumKernel": "_SpectrumPairs", "SubsequenceKernel": "_SubsequencePairs"}

# What is only of use in the process that made it: an object's address, and a compiled loss that fit makes
# anew.
_LEFT_BEHIND = frozenset({"_loss_function_", "_source", "_sklearn_version", "_stop_words_id"})


def home_of(name: Any) -> str:
    """The module of the class of this name."""
    if not isinstance(name, str) or name not in _CLASSES:
        raise Refused(
            f"names a class {name!r:.80}, which is not one that models consist of", "do not trust it"
        )
    return _CLASSES[name]


def known_class(name: Any) -> type:
    """The class of this name."""
    found: type = getattr(import_module(home_of(name)), name.rpartition(".")[2])
    return found


def class_name(cls: type) -> str | None:
    """The name that a class is listed by, if it is."""
    names = (cls.__name__, f"textmargin.{cls.__name__}")
    return next((name for name in names if name in _CLASSES and known_class(name) is cls), None)


def known_function(name: Any) -> Callable[..., Any]:
    """The function of this name."""
    if isinstance(name, str) and name in _STRING_METHODS:
        return _STRING_METHODS[name]
    if not isinstance(name, str) or name not in _FUNCTIONS:
        raise Refused(f"names a function {name!r:.80}, which is not one that models use", "do not trust it")
    found: Callable[..., Any] = getattr(import_module(_FUNCTIONS[name]), name)
    return found


def function_name(function: Any) -> str | None:
    """The name that a function is listed by, if it is."""
    name = getattr(function, "__name__", None)
    for candidate in (f"str.{name}", name):
        if candidate in _STRING_METHODS or candidate in _FUNCTIONS:
            return candidate if known_function(candidate) is function else None
    return None


def state_of(part: Any) -> dict[str, Any]:
    """A part's attributes, as far as they are to be kept."""
    if class_name(type(part)) == "ThresholdClassifier" and hasattr(part, "thresholds_"):
        part.compute_held_out()  # if it was not needed before: costs may come later
    state = {name: value for name, value in (part.__getstate__() or {}).items() if name not in _LEFT_BEHIND}
    if type(part).__name__ in PAIRS and "_fitted" in state:  # which refers back to the kernel
        state["_fitted"] = {name: value for name, value in vars(part._fitted).items() if name != "kernel"}
    if class_name(type(part)) == "GazePrior":
        if hasattr(part.readings, "columns"):  # a table of any kind, as a mapping of its columns
            state["readings"] = {str(name): np.asarray(part.readings[name]) for name in part.readings.columns}
        # addresses, which change
        state["_learnt_with"] = getattr(part, "_learnt_with", None) == part._settings()
    return state


def check_names(cls: type, state: Any) -> None:
    """Attributes must be plain ones, and stand in for nothing that the class defines."""
    allowed = parameters(cls)
    for name in state:
        hides = name not in allowed and inspect.getattr_static(cls, name, None) is not None
        if not name.isidentifier() or name.startswith("__") or hides:
            raise Refused(f"sets {name!r:.60} of {cls.__name__}, which no model does", "do not trust it")


@cache
def parameters(cls: type) -> Mapping[str, inspect.Parameter]:
    """What a class is made from."""
    return inspect.signature(cls).parameters
