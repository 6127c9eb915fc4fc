"""Marked passages as contrasts: a text with the passage against the same text without it.

For a text x with a passage marked for class y, and x⁻ the text without it, (x − x⁻)/μ is an example of class
y that has no intercept (Zaidan, Eisner & Piatko 2007). Of the other classes it says nothing. x and x⁻ are
rows of the same representation, so that x⁻ has unit length where x has.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

from .._ties import ROUNDING
from .._typing import Floats, Indices
from ..errors import EmptyTextWarning, PriorError
from ..records import record
from .passages import MarkedPassages, merged

_LENGTH = 0.5  # of the median difference, beside the median text


@dataclass(frozen=True)
class Differences:
    """What texts lose with a passage, over μ; the class each passage was marked for, and the text's row, −1
    for none.
    """

    X: Any  # (n_passages, n_features)
    classes: list[Any]
    text: Indices


@record()
class RationaleContrasts(MarkedPassages):
    """Passages that annotators marked, each as an example of what makes its text a text of the class.

    Parameters
    ----------
    rationales : list of (text, spans)
        Spans are (start, end, class), in characters, the end not included.
    cost : float, default=0.3
        Of a passage beside a text.
    scale : float, default=None
        The μ by which the difference that a passage makes is divided: the larger, the more a passage has to
        say. By default such that half of the differences are at least half as long as a text's row is,
        whether passages are a few words of a long text or most of a short one.

    Notes
    -----
    The cost and the length were chosen on the training part of 1,800 film reviews
        (`benchmarks/bench_rationales.py`), by accuracy
    on 400 of them after training on 100, 400 and 1,400 others, among costs from .03 to 3 and lengths from .07
        to 2.5; the
    short messages of the training part of "desk" want the same length. A larger cost does better with few
        texts, a smaller one
    with many.

    Examples
    --------
    >>> from textmargin import BagOfWords, RationaleContrasts
    >>> texts = ["corn prices rose", "bank prices fell", "rates rose"]
    >>> words = BagOfWords("count", norm=None).fit(texts)
    >>> known = RationaleContrasts([(texts[0], [(0, 4, "grain")])], scale=1.0)
    >>> rows = known.differences(texts, ["grain", "money"], words.transform)
    >>> dict(zip(words.get_feature_names_out(), rows.X.toarray()[0].tolist()))
    {'bank': 0.0, 'corn': 1.0, 'fell': 0.0, 'prices': 0.0, 'rates': 0.0, 'rose': 0.0}
    >>> rows.classes, rows.text.tolist()
    (['grain'], [0])
    """

    def __init__(self, rationales: Sequence[Any], *, cost: float = 0.3, scale: float | None = None) -> None:
        self.rationales = rationales
        self.cost = cost
        self.scale = scale

    @property
    def title(self) -> str:
        """What they are made to."""
        return "contrasts of marked passages"

    def differences(
        self, texts: Sequence[str], classes: list[Any], transform: Callable[[list[str]], Any]
    ) -> Differences:
        """What the texts lose with each passage.

        Parameters
        ----------
        texts : the training texts, whose rows the passages' texts are looked up in
        classes : the classes to learn
        transform : from texts to rows, the fitted representation's
        """
        for name, value in (("cost", self.cost), ("scale", 1.0 if self.scale is None else self.scale)):
            if not 0 < value < np.inf:
                raise PriorError(f"{name} must be a positive number; got {value!r}.")
        marked = [(rationale.text, *passage) for rationale in self._read() for passage in merged(rationale)]
        if not marked:
            raise PriorError("No passage is marked in any of the rationales.")
        known = self._matched_classes({name: None for _, name, _, _ in marked}, classes)
        marked = [passage for passage in marked if passage[1] in known]
        number = {text: i for i, text in enumerate(dict.fromkeys(text for text, *_ in marked))}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyTextWarning)  # a text that is nothing but its passage
            whole = transform([*number])
            rest = transform([text[:start] + " " + text[end:] for text, _, start, end in marked])
        X = whole[[number[text] for text, *_ in marked]] - rest
        length = _lengths(X)
        of_terms = np.flatnonzero(length > ROUNDING)  # the other passages have no word that is a term
        scale = self.scale
        if scale is None:
            scale = (
                float(np.median(length[of_terms]) / (_LENGTH * np.median(_lengths(whole))))
                if of_terms.size
                else 1.0
            )
        row: dict[Any, int] = {}
        for i, text in enumerate(texts):
            if text in number:
                row.setdefault(text, i)
        return Differences(
            (sp.csr_matrix(X) if sp.issparse(X) else X)[of_terms] / scale,
            [known[marked[i][1]] for i in of_terms],
            np.array([row.get(marked[i][0], -1) for i in of_terms], dtype=np.intp),
        )

    def _entries(self) -> dict[Any, dict[str, float]]:
        """None: passages are examples, not weights."""
        return {}


def _lengths(X: Any) -> Floats:
    """Of the rows."""
    return np.asarray(scipy.sparse.linalg.norm(X, axis=1) if sp.issparse(X) else np.linalg.norm(X, axis=1))
