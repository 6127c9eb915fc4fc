"""Marked passages: what annotators pointed at when they chose a label.

For class c let m_t and M be how often term t, and any term, stands in passages marked for c, and u_t and U
elsewhere in all texts. Its weight is the difference of log-odds, where it is positive:

    v_t = log((m_t + ½)/(M − m_t + ½)) − log((u_t + ½)/(U − u_t + ½))
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log
from typing import Any

from ..errors import PriorError
from .passages import MarkedPassages, merged

_WORD = re.compile(r"\b\w\w+\b")


class RationalePrior(MarkedPassages):
    """Words that annotators marked, more than they occur elsewhere.

    Parameters
    ----------
    rationales : list of (text, spans)
        Spans are (start, end, class), in characters, the end not included.
    analyzer : callable, default=None
        From a text to its terms, the same as the representation's (`BagOfWords().build_analyzer()`); by
        default words of two letters or more, in lower case.
    min_count : int, default=1
        How often a term must be marked for a class to count.

    Examples
    --------
    >>> from textmargin import RationalePrior
    >>> marked = [("corn prices rose", [(0, 4, "grain")]), ("the bank rose", [(4, 8, "money")])]
    >>> RationalePrior(marked).coef(["bank", "corn", "prices"], ["grain", "money"])["grain"].round(2)
    array([0. , 3.5, 0. ])
    """

    def __init__(
        self,
        rationales: Sequence[Any],
        *,
        analyzer: Callable[[str], Iterable[str]] | None = None,
        min_count: int = 1,
    ) -> None:
        self.rationales = rationales
        self.analyzer = analyzer
        self.min_count = min_count

    @property
    def title(self) -> str:
        """In the annotators' word."""
        return "marked passages"

    def _entries(self) -> dict[Any, dict[str, float]]:
        analyzer = self.analyzer or _words
        marked: dict[Any, Counter[str]] = {}
        everywhere: Counter[str] = Counter()
        for rationale in self._read():
            everywhere.update(analyzer(rationale.text))
            for name, start, end in merged(rationale):
                marked.setdefault(name, Counter()).update(analyzer(rationale.text[start:end]))
        if not marked:
            raise PriorError("No passage is marked in any of the rationales.")
        return {name: _log_odds(counts, everywhere, self.min_count) for name, counts in marked.items()}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _log_odds(marked: Counter[str], everywhere: Counter[str], min_count: int) -> dict[str, float]:
    M = marked.total()
    U = max(everywhere.total() - M, 0)
    weights = {}
    for term, m in marked.items():
        u = max(everywhere[term] - m, 0)
        weight = log((m + 0.5) / (M - m + 0.5)) - log((u + 0.5) / (U - u + 0.5))
        if m >= min_count and weight > 0:
            weights[term] = weight
    return weights
