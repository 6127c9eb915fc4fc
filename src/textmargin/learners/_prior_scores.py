"""Prior scores: what is known of a text beforehand, one number per text and class, in the shapes that callers write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._pairs import Floats
from ..errors import PriorError


def evaluate(source: Any, X: Any) -> Any:
    """The scores of texts by a function, a fitted classifier, or a mapping class → one of these."""
    if isinstance(source, Mapping):
        return {name: evaluate(part, X) for name, part in source.items()}
    if hasattr(source, "decision_function"):
        return source.decision_function(X)
    return source(X)


def align_scores(scores: Any, classes: NDArray[Any], n_problems: int, n_texts: int) -> Floats:
    """Scores as (n_texts, n_problems), zero where nothing is known.

    With two classes a score speaks for the second, and one that is given for the first speaks against it.
    """
    if not isinstance(scores, Mapping):
        found = np.asarray(scores, dtype=np.float64)
        found = found[:, None] if found.ndim == 1 and n_problems == 1 else found
        if found.shape != (n_texts, n_problems):
            expected = f"({n_texts},)" if n_problems == 1 else f"({n_texts}, {n_problems}), a column per class,"
            raise PriorError(
                f"prior_scores have shape {np.shape(scores)}; expected {expected} a score per text, or a mapping class → scores."
            )
        return _finite(found)
    aligned = np.zeros((n_texts, n_problems))
    for name, given in scores.items():
        place = np.flatnonzero(classes == name)
        if place.size == 0:
            raise PriorError(f"prior_scores name {name!r}, which is not among the classes: {classes[:10].tolist()}.")
        column = np.asarray(given, dtype=np.float64)
        if column.shape != (n_texts,):
            raise PriorError(f"prior_scores[{name!r}] have shape {column.shape}; expected ({n_texts},), one score per text.")
        k = int(place[0])
        if n_problems == 1:
            aligned[:, 0] += column if k == 1 else -column
        else:
            aligned[:, k] = column
    return _finite(aligned)


def _finite(scores: Floats) -> Floats:
    if not np.isfinite(scores).all():
        i = int(np.argwhere(~np.isfinite(scores))[0, 0])
        raise PriorError(f"prior_scores of text number {i} are not finite; give 0 to a text about which nothing is known.")
    return scores
