"""Objects from their attributes: what is checked of a part before it is made, and what before it is used.

Attributes come from a file, so that a class must not do anything with them, not even print them, before their types are known.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from functools import cache
from numbers import Real
from pathlib import PurePath
from types import NoneType
from typing import Any

import numpy as np

from ..errors import TextmarginWarning
from ..representations.saved_terms import check_terms
from ._archive import Refused
from ._known import PAIRS, check_names, home_of, known_class, parameters
from ._manifest import versions_here

# What attributes must be, by class: types, and names of classes that models consist of.
_TYPES: Mapping[str, Mapping[str, tuple[type | str, ...]]] = {
    "ClassLabels": {"names": (np.ndarray,), "kind": (str,), "positive": (int,), "form": (str,)},
    "FBeta": {"beta": (Real,)},
    "KernelStore": {"folder": (PurePath,), "max_bytes": (int,)},
    "KernelSVC": {"cache": (str, PurePath, "KernelStore", NoneType)},
    "Calibration": {
        "kind": (str,),
        **dict.fromkeys(("slope", "intercept", "knot_scores", "knot_log_odds", "knot_ends"), (np.ndarray,)),
    },
    "HeldOutScores": {
        **dict.fromkeys(("positive", "scores", "few_columns", "few_scores"), (np.ndarray,)),
        **dict.fromkeys(("weight", "shared_length", "intercept"), (np.ndarray, NoneType)),
        "method": (str,),
    },
    "ScaledUtility": {"utility": ("Utility",), "floor": (Real,), "absolute": (bool,)},
    "TextClassifier": {
        "labels_": ("ClassLabels",),
        "metadata_": (dict,),
        "classes_": (np.ndarray,),
        "text_digests_": (np.ndarray, NoneType),
    },
    "ThresholdClassifier": {"_held_out": ("HeldOutScores", NoneType), "_calibration": ("Calibration", NoneType)},
    "Utility": {**dict.fromkeys(("tp", "fp", "fn", "tn"), (Real,)), "ask": (Real, NoneType)},
}


_FITTED = ("classes_", "labels_", "metadata_", "model_", "representation_", "text_digests_")  # what a fitted TextClassifier has


def made(cls: type, state: dict[str, Any], versions: Mapping[str, str]) -> Any:
    """An object with these attributes. From another version, parameters may be missing: defaults are used, with a warning."""
    package = "scikit-learn" if cls.__module__.startswith("sklearn") else "textmargin"
    estimator = hasattr(cls, "get_params")
    missing = [name for name in parameters(cls) if name not in state]
    strange = [name for name in state if estimator and name not in parameters(cls) and name.strip("_") == name]
    if missing or strange:
        here = versions_here()
        what = f"{cls.__name__} {'without' if missing else 'with'} {(missing or strange)[0]!r}"
        needed = [name for name in missing if parameters(cls)[name].default is inspect.Parameter.empty]
        if needed or versions[package] == here[package]:
            raise Refused(f"has a {what}, which does not fit {package} {here[package]} (it was saved with {versions[package]})")
        warnings.warn(
            f"The file was saved with {package} {versions[package]} and has a {what}; {package} {here[package]} "
            f"{'uses its default' if missing else 'does not use it'}. Check the model's decisions, or train it again.",
            TextmarginWarning,
            stacklevel=5,
        )
    _check_types(cls.__name__, state)
    _check_terms(cls.__name__, state)
    part: Any = object.__new__(cls)
    state = {name: parameters(cls)[name].default for name in missing} | state
    if "_term_block" in state:
        part.__setstate__(state)
    else:
        vars(part).update(state)
    if hasattr(cls, "__post_init__"):
        part.__post_init__()
    _settle(part)
    return part


def stand_in(name: str, state: dict[str, Any]) -> Any:
    """An object with these attributes that is called like a class of models, and can do nothing: the class is not imported."""
    _check_types(name, state)
    _check_terms(name, state)
    part: Any = object.__new__(_stand_in_class(name))
    vars(part).update(state)
    if name == "TextClassifier" and is_fitted(part):
        _check_classes(part)
    return part


@cache
def _stand_in_class(name: str) -> type:
    return type(name, (), {"__module__": home_of(name)})


def is_fitted(model: Any) -> bool:
    """Whether a TextClassifier, or what stands in for it, is fitted."""
    return "labels_" in vars(model) or "model_" in vars(model)


def _check_types(name: str, state: Mapping[str, Any]) -> None:
    for attribute, kinds in _TYPES.get(name, {}).items():
        if attribute in state:
            value = state[attribute]
            types = tuple(kind for kind in kinds if isinstance(kind, type))
            if not isinstance(value, types) and type(value).__name__ not in kinds:
                raise Refused(f"has a {name} whose {attribute} is a {type(value).__name__}")


def _check_terms(name: str, state: Mapping[str, Any]) -> None:
    """Matrices rely on terms that are numbered, and compiled code on where they end, unchecked."""
    if "_term_block" in state:
        try:
            check_terms(state["_term_block"], state.get("_term_ends"))
        except ValueError as error:
            raise Refused(f"has a {name} with a vocabulary {error}") from error
    for vocabulary in (state.get("vocabulary_", {}), state.get("_vocabulary", {})):
        if type(vocabulary) is not dict or sorted(vocabulary.values()) != list(range(len(vocabulary))):
            raise Refused(f"has a {name} whose vocabulary does not number its terms 0, 1, 2 …")


def _settle(part: Any) -> None:
    """What has to hold, or to be done, before a part is used."""
    name = type(part).__name__
    if name == "GazePrior":
        part._learnt_with = part._settings() if part._learnt_with is True else None
    if name in PAIRS and "_fitted" in vars(part):
        pairs = known_class(PAIRS[name])
        check_names(pairs, part._fitted)
        part._fitted, texts = object.__new__(pairs), part._fitted
        vars(part._fitted).update(texts, kernel=part)
    if name in ("FeatureHasher", "HashingVectorizer"):
        from .._sklearn import validate_params

        validate_params(part)  # compiled code divides by n_features
    if name == "ThresholdClassifier":
        part._source = None  # the training texts stayed behind
    if name == "TextClassifier" and is_fitted(part):
        _check_classes(part)
    if name == "KernelSVC" and part.cache is not None:
        warnings.warn(
            f"This KernelSVC keeps kernel values in {getattr(part.cache, 'folder', part.cache)!s:.200}, as soon as it predicts; "
            f"set cache=None if that is not yours.",
            TextmarginWarning,
            stacklevel=6,
        )


def _check_classes(model: Any) -> None:
    """The names of classes must be those that the learner decides on, for a label is found by its place."""
    fitted = vars(model)
    missing = [name for name in _FITTED if name not in fitted]
    if missing:
        raise Refused(f"has a TextClassifier that is fitted but for {missing[0]!r}")
    labels, learner = model.labels_, model.model_
    if labels.kind not in ("binary", "multiclass", "multilabel") or labels.form not in ("names", "sets", "indicator"):
        raise Refused(f"has labels of kind {labels.kind!r:.40}, given as {labels.form!r:.40}")
    names = labels.names
    two = names.size == 2 and labels.positive in (0, 1)
    right = names.ndim == 1 and names.dtype.kind in "Ubiuf" and (two or labels.kind != "binary")
    if not right or not np.array_equal(names, model.classes_):
        raise Refused("has labels that are not its classes")
    for one in (learner, getattr(learner, "estimator_", learner)):
        ours = type(one).__module__.startswith("textmargin.")  # scikit-learn's number the columns of an indicator matrix
        own = getattr(one, "multilabel_", None) if ours else None
        if own is not None and (own != labels.multilabel or not np.array_equal(one.classes_, names)):
            raise Refused(f"has {names.size} names of classes, where its model decides on others")
        if own is None and not labels.multilabel and np.size(one.classes_) != names.size:
            raise Refused(f"has {names.size} names of classes, where its model decides on {np.size(one.classes_)}")
    if not isinstance(model.metadata_.get("n_texts"), int) or not isinstance(model.metadata_.get("label_counts"), dict):
        raise Refused("has a TextClassifier whose metadata does not say what it was trained on")
    for name in ("text_column", "label_column", "label_separator"):
        if not isinstance(model.metadata_.get(name), str | None):
            raise Refused(f"has a TextClassifier whose {name} is a {type(model.metadata_[name]).__name__}")
    digests = model.text_digests_
    if digests is not None and (digests.ndim != 1 or digests.dtype != np.uint64):
        raise Refused("has a TextClassifier whose digests of texts are not 64-bit numbers")
