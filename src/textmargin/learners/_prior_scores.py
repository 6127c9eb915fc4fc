"""Prior scores: what is known of a text beforehand, one number per text and class, in the shapes that callers
write them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Bools, Floats
from ..errors import PriorError
from ..labels import listed


def evaluate(source: Any, X: Any) -> Any:
    """The scores of texts by a function, or a mapping class → function."""
    if isinstance(source, Mapping):
        return {name: evaluate(part, X) for name, part in source.items()}
    if not callable(source):
        raise PriorError(
            f"prior_scores must be functions of texts; got {type(source).__name__}. The scores of a model "
            "are its method: "
            f"model.decision_function."
        )
    return source(X)


def align_scores(
    scores: Any, classes: NDArray[Any], n_problems: int, n_texts: int
) -> tuple[Floats, list[bool]]:
    """Scores as (n_texts, n_problems), zero where nothing is known, and for which problems there are any.

    With two classes a score speaks for the second, and one that is given for the first speaks against it.
    """
    if scores is None:
        return np.zeros((n_texts, n_problems)), [False] * n_problems
    if not isinstance(scores, Mapping):
        found = np.asarray(scores, dtype=np.float64)
        found = found[:, None] if found.ndim == 1 and n_problems == 1 else found
        if found.shape != (n_texts, n_problems):
            expected = (
                f"({n_texts},)" if n_problems == 1 else f"({n_texts}, {n_problems}), a column per class,"
            )
            raise PriorError(
                f"prior_scores have shape {np.shape(scores)}; expected {expected} a score per text, or a "
                "mapping class → scores."
            )
        return _finite(found), [True] * n_problems
    aligned = np.zeros((n_texts, n_problems))
    known = [False] * n_problems
    for name, given in scores.items():
        place = np.flatnonzero(classes == name)
        if place.size == 0:
            raise PriorError(
                f"prior_scores name {name!r}, which is not among the classes: "
                f"{listed(name, classes.tolist())}"
            )
        column = np.asarray(given, dtype=np.float64)
        if column.shape != (n_texts,):
            raise PriorError(
                f"prior_scores[{name!r}] have shape {column.shape}; expected ({n_texts},), one score per "
                "text."
            )
        k = 0 if n_problems == 1 else int(place[0])
        aligned[:, k] += -column if n_problems == 1 and place[0] == 0 else column
        known[k] = True
    return _finite(aligned), known


def centred(scores: Floats, counted: Bools) -> tuple[Floats, Floats]:
    """Scores less their mean over the texts that count, which an intercept makes up for, and that mean;
    constant ones are exactly 0.
    """
    centre = scores[counted].mean(axis=0)
    apart = scores - centre
    sizes = [np.abs(values[counted]).max(axis=0, initial=0.0) for values in (apart, scores)]
    return np.where((sizes[0] <= 1e-12 * sizes[1]) & counted[:, None], 0.0, apart), centre


def _finite(scores: Floats) -> Floats:
    if not np.isfinite(scores).all():
        i = int(np.argwhere(~np.isfinite(scores))[0, 0])
        raise PriorError(
            f"prior_scores of text number {i} are not finite; give 0 to a text about which nothing is known."
        )
    return scores
