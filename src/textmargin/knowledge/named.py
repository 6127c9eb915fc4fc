"""Knowledge about labels by name, for a learner that knows its classes by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from .._typing import Floats


class ByName(BaseEstimator):
    """What is known of labels, for classes that are numbers: of several labels a text the columns, of two labels 0 and 1.

    Parameters
    ----------
    knowledge : object with `coef(terms, classes)`, or mapping label → mapping term → weight
    names : list of str
        The labels, in the order of the numbers.

    Examples
    --------
    >>> from textmargin import KeywordPrior
    >>> from textmargin.knowledge.named import ByName
    >>> ByName(KeywordPrior({"grain": ["corn"]}), ["money", "grain"]).coef(["bank", "corn"], [0, 1])
    {1: array([0., 1.])}
    """

    def __init__(self, knowledge: Any, names: Sequence[str]) -> None:
        self.knowledge = knowledge
        self.names = names

    def coef(self, terms: Any, classes: Any) -> dict[int, Floats]:
        """Weights of the terms by the numbers of the classes."""
        names = list(self.names)
        if isinstance(self.knowledge, Mapping):
            found = {name: np.array([words.get(term, 0.0) for term in terms]) for name, words in self.knowledge.items()}
        else:
            found = clone(self.knowledge).coef(terms, names)
        return {names.index(name): weights for name, weights in found.items() if name in names}

    def sources(self) -> Any:
        """The labelled texts it was learnt from, if any."""
        return self.knowledge.sources() if hasattr(self.knowledge, "sources") else set()
