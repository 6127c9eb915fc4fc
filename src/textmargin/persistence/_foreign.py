"""Parts of scikit-learn: what is known of their arrays, and, since the rest is theirs to know, a text that
they are tried on.

A model with such parts decides on one short text when it is loaded, and is refused where that fails. Ours say
what they must be beside their classes (`_system/forms.py`), and are tried as well: a text of a few letters
costs next to nothing.
"""

from __future__ import annotations

import codecs
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._system.forms import AnyOf, Array, Classes, Flag, Form, FormError, Number, Size, check_value
from .._typing import LARGEST
from ..representations.vectorizer_forms import VECTORIZER_FORMS
from ._seal import Refused

_NOT_USED = frozenset({"pvalues_", "scores_"})  # to decide; NaN where a column says nothing
_TEXT = "wheat 12"

_LINEAR: dict[str, Form] = {
    "classes_": Classes(optional=True),
    "n_features_in_": Size("n_features"),
    "coef_": Array("n_problems n_features"),
    "intercept_": AnyOf((Array("n_problems"), Number())),  # one for all where none was learnt
}
_BAYES: dict[str, Form] = {
    "classes_": Array("n_classes", "UbiufO"),
    "n_features_in_": Size("n_features"),
    "feature_log_prob_": Array("n_classes n_features"),
    "class_log_prior_": Array("n_classes"),
}


@dataclass(frozen=True)
class _Binarizer(Form):
    """What made a matrix of labels, and whether each of its columns is a problem, also of two."""

    def check(self, value: Any, sizes: dict[str, int]) -> None:
        sizes["multilabel"] = int(str(getattr(value, "y_type_", "")).startswith("multilabel"))


FOREIGN_FORMS: Mapping[str, Mapping[str, Form]] = {
    **dict.fromkeys(("CountVectorizer", "TfidfVectorizer", "HashingVectorizer"), VECTORIZER_FORMS),
    "TfidfTransformer": {"n_features_in_": Size("n_features"), "idf_": Array("n_features", optional=True)},
    **dict.fromkeys(("LinearSVC", "LogisticRegression", "SGDClassifier"), _LINEAR),
    "RidgeClassifier": {"_label_binarizer": _Binarizer()}
    | _LINEAR
    | {"coef_": AnyOf((_LINEAR["coef_"], Array("n_features")))},
    **dict.fromkeys(("ComplementNB", "MultinomialNB"), _BAYES),
    # Of a probability of 1, the logarithm of what is left is not finite.
    "BernoulliNB": _BAYES | {"feature_log_prob_": Array("n_classes n_features", most=-1e-16)},
    "StandardScaler": {"scale_": Array("n_features_in", least=1e-300, none=True, optional=True)},
    "FeatureUnion": {"verbose_feature_names_out": Flag(optional=True)},
    "MaxAbsScaler": {"scale_": Array("n_features_in", least=1e-300, optional=True)},
    "DummyClassifier": {"class_prior_": Array("n_classes", least=0, most=1, optional=True)},
}


def check_foreign(name: str, state: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    """Raise FormError unless what was learnt is finite."""
    if "classes_" in state:
        try:
            check_value(Classes(), state["classes_"], {"multilabel": 1})
        except FormError as error:
            raise FormError(f"classes_ {error}") from None
    for attribute, value in state.items():
        entries = value.data if hasattr(value, "indptr") else value
        if (
            attribute in parameters
            or attribute in _NOT_USED
            or not isinstance(entries, np.ndarray)
            or entries.dtype.kind != "f"
        ):
            continue
        try:
            check_value(Array(" ".join(f"side_{k}" for k in range(entries.ndim))), entries, {})
        except FormError as error:
            raise FormError(f"{attribute} {error}") from None
    if "encoding" in parameters:
        try:
            codecs.lookup(state["encoding"])
        except (LookupError, TypeError, ValueError):
            raise FormError(f"encoding is {state['encoding']!r:.40}") from None


def check_decides(model: Any, parts: Iterable[Any]) -> None:
    """Refuse a fitted model, of these parts, that cannot decide on a text, or on a row of zeros where it
    takes such.
    """
    if (
        not hasattr(type(model), "predict")
        or not _is_fitted(model)
        or getattr(model, "_was_given_scores", False)
    ):
        return
    with _caches_closed(parts):
        _decide(model)


def _decide(model: Any) -> None:
    width = getattr(model, "n_features_in_", None)
    X: Any = [_TEXT] if width is None or hasattr(model, "labels_") else np.zeros((1, width))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            decided = [np.asarray(getattr(model, name)(X)) for name in _METHODS if hasattr(model, name)]
            if hasattr(model, "decide") and hasattr(model, "labels_"):
                decided.append(model.decide(X).scores)
            _ask_names(getattr(model, "representation_", None))
        except (ImportError, MemoryError):
            raise
        except Exception as error:
            from ..errors import DeviceError

            if isinstance(error, DeviceError):  # what it decides with is not here
                return
            raise Refused(
                f"has a {type(model).__name__} that cannot decide on a text ({type(error).__name__}: "
                f"{error!s:.120})"
            ) from error
    for found in decided:
        if found.shape[:1] != (1,) or (found.dtype.kind == "f" and not (np.abs(found) <= LARGEST**2).all()):
            raise Refused(f"has a {type(model).__name__} that decides {found!r:.60} on a text")


_METHODS = ("predict", "decision_function", "predict_proba")


def _is_fitted(model: Any) -> bool:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _ask_names(representation: Any) -> None:
    """What explains a decision asks for the names of columns, and parts of scikit-learn look then whether
    they are fitted.
    """
    from .._sklearn import term_names

    if type(representation).__module__.startswith("sklearn."):
        term_names(representation)


@contextmanager
def _caches_closed(parts: Iterable[Any]) -> Iterator[None]:
    """None of the parts opens its folder of kernel values, wherever in the model it is."""
    folders = [(part, part.cache) for part in parts if type(part).__name__ == "KernelSVC"]
    for part, _ in folders:
        part.cache = None
    try:
        yield
    finally:
        for part, folder in folders:
            part.cache = folder
