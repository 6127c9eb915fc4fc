"""Objects from their attributes: what is checked of a part before it is made, and what before it is used.

Attributes come from a file, so that a class must not do anything with them, not even print them, before their
types are known.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from numbers import Real
from typing import Any

import numpy as np

from .._system.forms import FormError, check_state
from ..errors import TextmarginWarning
from ..representations.saved_terms import check_terms
from ._foreign import FOREIGN_FORMS, check_foreign
from ._known import PAIRS, check_names, home_of, known_class, parameters, state_of
from ._manifest import versions_here
from ._seal import Refused

# what a fit leaves
_FITTED = ("_unlabelled", "classes_", "labels_", "metadata_", "model_", "representation_", "text_digests_")


def made(cls: type, state: dict[str, Any], versions: Mapping[str, str]) -> Any:
    """An object with these attributes. From another version, parameters may be missing: defaults are used,
    with a warning.
    """
    package = "scikit-learn" if cls.__module__.startswith("sklearn") else "textmargin"
    estimator = hasattr(cls, "get_params")
    missing = [name for name in parameters(cls) if name not in state]
    strange = [
        name for name in state if estimator and name not in parameters(cls) and name.strip("_") == name
    ]
    if missing or strange:
        here = versions_here()
        what = f"{cls.__name__} {'without' if missing else 'with'} {(missing or strange)[0]!r}"
        needed = [name for name in missing if parameters(cls)[name].default is inspect.Parameter.empty]
        if needed or versions[package] == here[package]:
            raise Refused(
                f"has a {what}, which does not fit {package} {here[package]} (it was saved with "
                f"{versions[package]})"
            )
        warnings.warn(
            f"The file was saved with {package} {versions[package]} and has a {what}; {package} "
            f"{here[package]} "
            f"{'uses its default' if missing else 'does not use it'}. Check the model's decisions, or "
            "train it again.",
            TextmarginWarning,
            stacklevel=5,
        )
    check_parts(cls, state)
    part: Any = object.__new__(cls)
    state = {name: parameters(cls)[name].default for name in missing} | state
    if "_term_block" in state:
        part.__setstate__(state)
    else:
        vars(part).update(state)
    if hasattr(cls, "__post_init__"):
        part.__post_init__()
    _settle(part)
    check_whole(part)
    return part


def check_part(part: Any) -> None:
    """Refuse a part that could not be loaded again."""
    check_parts(type(part), state_of(part))
    check_whole(part)


def check_parts(cls: type, state: Mapping[str, Any]) -> None:
    """Refuse attributes that are not what their class says they are."""
    name = cls.__name__
    own = not cls.__module__.startswith("sklearn.")
    _check_terms(name, state)
    try:
        # a type can be called as a function can, and does something else
        for attribute, value in state.items():
            if isinstance(value, type) and attribute != "dtype":
                raise FormError(f"{attribute} is the type {value.__name__}")
        check_state(getattr(cls, "_forms", {}) if own else FOREIGN_FORMS.get(name, {}), state)
        if not own:
            check_foreign(name, state, parameters(cls))
    except FormError as error:
        raise Refused(f"has a {name} whose {error}") from error


def check_whole(part: Any) -> None:
    """Refuse a part whose attributes do not fit each other, or whose parameters are out of range."""
    name = type(part).__name__
    try:
        if hasattr(part, "_parameter_constraints"):
            from .._sklearn import check_changed_params

            check_changed_params(part)
        n_jobs = getattr(part, "n_jobs", None)
        if isinstance(n_jobs, int) and n_jobs == 0:  # False is
            raise FormError(f"n_jobs is {n_jobs}")
        if hasattr(type(part), "_check_whole"):
            part._check_whole()
    except FormError as error:
        raise Refused(f"has a {name} whose {error}") from error
    except ValueError as error:
        raise Refused(f"has a {name} that cannot be: {error!s:.200}") from error
    if name == "TextClassifier" and is_fitted(part):
        _check_classes(part)


def stand_in(name: str, state: dict[str, Any]) -> Any:
    """An object with these attributes that is called like a class of models, and can do nothing: the class is
    not imported.
    """
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
        if not isinstance(part._fitted, dict):
            raise Refused(f"has a {name} whose _fitted is a {type(part._fitted).__name__}")
        check_names(pairs, part._fitted)
        check_parts(pairs, part._fitted)
        part._fitted, texts = object.__new__(pairs), part._fitted
        vars(part._fitted).update(texts, kernel=part)
        check_whole(part._fitted)
    if name == "ThresholdClassifier":
        part._source = None  # the training texts stayed behind
    if name == "KernelSVC" and part.cache is not None:
        folder = str(getattr(part.cache, "folder", part.cache))
        if not _can_be_a_path(folder):
            raise Refused(f"has a KernelSVC that keeps kernel values in {folder!r:.80}")
        warnings.warn(
            f"This KernelSVC keeps kernel values in {folder:.200}, as soon as it predicts; set cache=None "
            "if that is not yours.",
            TextmarginWarning,
            stacklevel=6,
        )


def _can_be_a_path(name: str) -> bool:
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def _check_classes(model: Any) -> None:
    """The names of classes must be those that the learner decides on, for a label is found by its place."""
    fitted = vars(model)
    missing = [name for name in _FITTED if name not in fitted]
    if missing:
        raise Refused(f"has a TextClassifier that is fitted but for {missing[0]!r}")
    labels, learner = model.labels_, model.model_
    if labels.kind not in ("binary", "multiclass", "multilabel") or labels.form not in (
        "names",
        "sets",
        "indicator",
    ):
        raise Refused(f"has labels of kind {labels.kind!r:.40}, given as {labels.form!r:.40}")
    names = labels.names
    two = names.size == 2 and labels.positive in (0, 1)
    right = names.ndim == 1 and names.dtype.kind in "Ubiuf" and (two or labels.kind != "binary")
    if not right or not isinstance(model.classes_, np.ndarray) or not np.array_equal(names, model.classes_):
        raise Refused("has labels that are not its classes")
    for one in (learner, getattr(learner, "estimator_", learner)):
        # scikit-learn's number the columns of an indicator matrix
        ours = type(one).__module__.startswith("textmargin.")
        own = getattr(one, "multilabel_", None) if ours else None
        if own is not None and (own != labels.multilabel or not np.array_equal(one.classes_, names)):
            raise Refused(f"has {names.size} names of classes, where its model decides on others")
        if own is None and not labels.multilabel and np.size(getattr(one, "classes_", ())) != names.size:
            raise Refused(
                f"has {names.size} names of classes, where its model decides on {np.size(one.classes_)}"
            )
    n_texts, counts = model.metadata_.get("n_texts"), model.metadata_.get("label_counts")
    counted = isinstance(counts, dict) and all(
        type(key) is str and type(n) is int and n >= 0 for key, n in counts.items()
    )
    if type(n_texts) is not int or n_texts < 0 or not counted:
        raise Refused("has a TextClassifier whose metadata does not say what it was trained on")
    if not _is_plain(model.metadata_):
        raise Refused("has a TextClassifier whose metadata holds more than words and finite numbers")
    for name in ("text_column", "label_column", "label_separator"):
        if not isinstance(model.metadata_.get(name), str | None):
            raise Refused(f"has a TextClassifier whose {name} is a {type(model.metadata_[name]).__name__}")
    _check_knowledge(model.knowledge_, _innermost(learner))
    n_columns, n_features = (
        _n_columns(model.representation_),
        getattr(_innermost(learner), "n_features_in_", None),
    )
    if n_columns is not None and n_features is not None and n_columns != n_features:
        raise Refused(
            f"has a {type(model.representation_).__name__} of {n_columns} columns, where its learner has "
            f"{n_features}"
        )
    digests = model.text_digests_
    if digests is not None and (digests.ndim != 1 or digests.dtype != np.uint64):
        raise Refused("has a TextClassifier whose digests of texts are not 64-bit numbers")


def _check_knowledge(titles: list[str], learner: Any) -> None:
    """Each prior of the learner has a title, if any has, and verdicts are about priors that have one."""
    n_priors = getattr(learner, "prior_", np.empty((0, 0, 0))).shape[1]
    numbers = [one.prior for one in getattr(learner, "verdict_", ()) if one.prior is not None]
    if titles and (len(titles) > n_priors or max(numbers, default=0) >= len(titles)):
        raise Refused("has a TextClassifier whose knowledge is not that of its learner")


def _is_plain(value: Any) -> bool:
    """Whether a value is what pages and JSON can show."""
    if isinstance(value, dict):
        return all(type(key) is str for key in value) and all(map(_is_plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return (
        value is None
        or isinstance(value, str | int)
        or (isinstance(value, Real) and bool(np.isfinite(float(value))))
    )


def _innermost(learner: Any) -> Any:
    return getattr(learner, "estimator_", learner)


def _n_columns(representation: Any) -> int | None:
    """Of what takes texts to rows, as far as that is known: compiled code looks weights up by them."""
    for name, count in _COLUMNS.items():
        if hasattr(representation, name):
            return int(count(getattr(representation, name)))
    return None


_COLUMNS: Mapping[str, Callable[[Any], int]] = {
    "map_": lambda array: array.shape[1],
    "substrings_": len,
    "texts_": len,
    "idf_": np.size,
    "_vocabulary": len,
}
