"""Decisions as columns of a table: label, guess, score and confidence, beside the columns that are there."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import Bools
from ..labels import Decisions

__all__ = ["decision_columns"]

LABEL, GUESS, SCORE, CONFIDENCE = "label", "guess", "score", "confidence"
PREFIX = "predicted_"


def decision_columns(
    decisions: Decisions, *, multilabel: bool = False, scores: bool = False, decimals: int | None = None
) -> dict[str, list[Any]]:
    """The columns of decisions.

    Parameters
    ----------
    decisions : Decisions
    multilabel : bool, default=False
        Whether texts may have several labels: `label` and `guess` are then lists, else a name or None.
    scores : bool, default=False
        Whether to give the score of every class too, in columns `score of NAME`.
    decimals : int, default=None
        What scores and confidence are rounded to.

    Returns
    -------
    dict of lists
        `label`; `guess`, what the text is best taken for where the model is unsure (the labels that are
        open); `score` and, where there are probabilities, `confidence`, as `Decisions` has them.

    Examples
    --------
    >>> import numpy as np
    >>> from textmargin.labels import Decisions
    >>> from textmargin.tables.decision_columns import decision_columns
    >>> scores = np.array([[0.75, -0.5], [-0.25, -0.125]])
    >>> decision_columns(Decisions(["ham", "spam"], scores, scores > 0, scores == -0.125))
    {'label': ['ham', None], 'guess': [None, 'spam'], 'score': [0.75, -0.125]}
    """
    numbers = {SCORE: decisions.score}
    if decisions.probabilities is not None:
        numbers[CONFIDENCE] = decisions.confidence
    if scores:
        numbers |= {
            f"score of {name}": column
            for name, column in zip(decisions.names, decisions.scores.T, strict=True)
        }
    if decimals is not None:
        # of -0.0 it makes 0.0
        numbers = {name: np.round(column, decimals) + 0.0 for name, column in numbers.items()}
    given = {LABEL: decisions.accepted, GUESS: decisions.unsure}
    columns = {name: _names(which, decisions.names, multilabel) for name, which in given.items()}
    return columns | {name: column.tolist() for name, column in numbers.items()}


def free_names(names: Iterable[str], taken: Collection[str]) -> dict[str, str]:
    """Names that a table does not have yet: `predicted_label` where it has a `label`.

    Examples
    --------
    >>> from textmargin.tables.decision_columns import free_names
    >>> free_names(["label", "guess"], ["id", "label"])
    {'label': 'predicted_label', 'guess': 'guess'}
    """
    free: dict[str, str] = {}
    for name in names:
        free[name] = name
        while free[name] in taken:
            free[name] = PREFIX + free[name]
    return free


def _names(which: Bools, names: list[str], multilabel: bool) -> list[Any]:
    """The names of each text: of one label without a loop."""
    if multilabel:
        rows, columns = np.nonzero(which)
        ends = np.searchsorted(rows, np.arange(len(which) + 1)).tolist()
        given = np.array(names, dtype=object)[columns].tolist()
        return [given[start:end] for start, end in pairwise(ends)]
    one = np.array([*names, None], dtype=object)
    return one[np.where(which.any(axis=1), which.argmax(axis=1), len(names))].tolist()
