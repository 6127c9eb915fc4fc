"""Prior weights, however they are given, as one array (n_problems, n_priors, n_features) in the order of X's
columns.

| given                                    | meaning                                        |
|------------------------------------------|------------------------------------------------|
| vector (n_features,)                     | one prior, the same for every class            |
| array (n_problems, n_features)           | one prior per class, like `coef_`              |
| array (n_priors, n_features)             | several priors, the same for every class       |
| array (n_problems, n_priors, n_features) | several priors per class                       |
| mapping term → weight                    | one prior, aligned by the names of X's columns |
| mapping class → any of the above         | priors of some classes; the others have none   |

With two classes there is one problem, "the second class against the first", so that a two-dimensional array
holds several priors, and a prior given for the first class speaks against the second.
"""

from __future__ import annotations

import difflib
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Floats
from ..errors import PriorError, TextmarginWarning, UnknownTermWarning


def align_prior(
    prior: Any,
    classes: Iterable[Any],
    n_problems: int,
    n_features: int,
    terms: Iterable[str] | None = None,
    *,
    strict: bool = True,
) -> Floats:
    """The prior as an array (n_problems, n_priors, n_features).

    Terms that are not among the columns are warned about; with `strict`, a prior none of whose terms is there
    is an error.
    """
    if prior is None:
        return np.zeros((n_problems, 0, n_features))
    if _is_series_of_terms(prior):
        prior = prior.to_dict()
    known = None if terms is None else list(terms)
    if isinstance(prior, Mapping):
        if not prior:
            return np.zeros((n_problems, 0, n_features))
        prior = (
            _by_term(prior, known, strict)
            if _names_terms(prior)
            else _by_class(prior, np.asarray(classes).tolist(), n_problems, n_features, known, strict)
        )
    weights = _checked(prior, n_features)
    if weights.ndim == 3:
        if weights.shape[0] != n_problems:
            raise PriorError(
                f"prior has shape {weights.shape}, but its first axis must be the {n_problems} classes to "
                "learn."
            )
        return weights
    if weights.ndim == 2 and n_problems > 1 and weights.shape[0] == n_problems:
        return weights[:, None, :]
    return np.broadcast_to(np.atleast_2d(weights), (n_problems, *np.atleast_2d(weights).shape))


def _is_series_of_terms(prior: Any) -> bool:
    """A pandas Series whose index names terms, not positions."""
    return (
        hasattr(prior, "to_dict")
        and hasattr(prior, "index")
        and all(isinstance(term, str) for term in prior.index)
    )


def _names_terms(prior: Mapping[Any, Any]) -> bool:
    return all(isinstance(value, Real) for value in prior.values())


def _by_class(
    prior: Mapping[Any, Any],
    classes: list[Any],
    n_problems: int,
    n_features: int,
    terms: list[str] | None,
    strict: bool,
) -> Floats:
    unknown = [label for label in prior if label not in classes]
    if unknown and (strict or len(unknown) == len(prior)):
        raise PriorError(
            f"prior names {unknown[0]!r}, which is not among the classes: {_shortened(classes)}."
        )
    if unknown:
        message = (
            f"knowledge names {_shortened(unknown)}, not among the classes here: "
            f"{_shortened(classes)}. That is left out."
        )
        warnings.warn(message, TextmarginWarning, stacklevel=2)
    given = {}
    for label, weights in ((label, prior[label]) for label in prior if label not in unknown):
        if isinstance(weights, Mapping):
            weights = _by_term(weights, terms, strict)
        given[label] = np.atleast_2d(_checked(weights, n_features))
        if given[label].ndim != 2:
            raise PriorError(
                f"the prior of class {label!r} has {given[label].ndim} axes; it must be (n_features,) or "
                "(n_priors, n_features)."
            )
    if n_problems == 1 and len(classes) == 2:
        against, towards = classes
        rows = [*given.get(towards, []), *(-row for row in given.get(against, []))]
        return np.array(rows).reshape(1, -1, n_features)
    n_priors = max((len(weights) for weights in given.values()), default=0)
    aligned = np.zeros((n_problems, n_priors, n_features))
    for label, weights in given.items():
        aligned[classes.index(label), : len(weights)] = weights
    return aligned


def _checked(prior: Any, n_features: int) -> Floats:
    if sp.issparse(prior):
        prior = prior.toarray()
    try:
        weights = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PriorError(
            f"prior must be numbers, a mapping term → weight or a mapping class → prior; got {prior!r:.80}."
        ) from error
    if weights.ndim not in (1, 2, 3) or weights.shape[-1] != n_features:
        n_weights = weights.shape[-1] if weights.ndim else 0
        raise PriorError(
            f"prior has {n_weights} weights but X has {n_features} columns; give one weight per column, "
            "in the columns' order, "
            f"or a mapping term → weight."
        )
    if not np.isfinite(weights).all():
        raise PriorError(
            "prior contains NaN or infinity; give 0 to a term about which nothing is known, or leave it out."
        )
    return weights


def _by_term(prior: Mapping[str, Real], terms: list[str] | None, strict: bool) -> Floats:
    if terms is None:
        raise PriorError(
            "prior names terms, but the names of X's columns are not known; fit on a DataFrame, use "
            "TextClassifier, or give an "
            "array with one weight per column."
        )
    place = {term: j for j, term in enumerate(terms)}
    if len(place) < len(terms):
        twice = [term for term, count in Counter(terms).items() if count > 1 and term in prior]
        if twice:
            raise PriorError(
                f"prior names {twice[0]!r}, but X has several columns of that name; give an array instead."
            )
    unknown = [term for term in prior if term not in place]
    if unknown:
        _report_unknown(unknown, len(prior), terms, strict)
    weights = np.zeros(len(terms))
    for term, weight in prior.items():
        if term in place:
            weights[place[term]] = weight
    return weights


def _report_unknown(unknown: list[str], n_given: int, terms: list[str], strict: bool) -> None:
    nearest = [match for term in unknown[:5] for match in difflib.get_close_matches(str(term), terms, n=1)]
    message = (
        f"{len(unknown)} of {n_given} terms of the prior are not among the columns: {_shortened(unknown)}."
    )
    message += f" Nearest: {_shortened(nearest)}." if nearest else ""
    if strict and len(unknown) == n_given:
        raise PriorError(message)
    warnings.warn(message + " They are ignored.", UnknownTermWarning, stacklevel=2)


def _shortened(items: Sequence[Any], at_most: int = 5) -> str:
    shown = ", ".join(repr(item) for item in items[:at_most])
    return shown if len(items) <= at_most else f"{shown} and {len(items) - at_most} more"
