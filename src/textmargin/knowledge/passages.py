"""Marked passages: texts, and where annotators pointed when they chose a label.

For class c let m_t and M be how often term t, and any term, stands in passages marked for c, and u_t and U
elsewhere in all texts. Its weight is the difference of log-odds, where it is positive:

    v_t = log((m_t + ½)/(M − m_t + ½)) − log((u_t + ½)/(U − u_t + ½))
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any, Self

from .._system.json import read_json
from ..errors import PriorError
from ..records import record
from .vocabulary import KnowledgeBase

_WORD = re.compile(r"\b\w\w+\b")
_IN_WORD = re.compile(r"\w\w")  # no word begins between two such characters


@record()
@dataclass(frozen=True)
class Rationale:
    """A text, and the passages (start, end) that were marked for a class each."""

    text: str
    spans: tuple[tuple[int, int, Any], ...]


class MarkedPassages(KnowledgeBase):
    """What is learnt from passages: how these are read, and which texts they stand in."""

    rationales: Sequence[Any]

    @classmethod
    def from_prodigy(cls, path: str | Path, **kwargs: Any) -> Self:
        """From a JSONL file as Prodigy exports it: `text`, `spans` with `start`, `end`, `label`; only
        accepted answers count.
        """
        found = []
        for number, line in enumerate(_read(path).splitlines(), start=1):
            if not line.strip():
                continue
            with _in_shape(f"Line {number} of {path}"):
                answer = read_json(line)
                if answer.get("answer", "accept") == "accept":
                    spans = [
                        (span["start"], span["end"], span["label"]) for span in answer.get("spans") or []
                    ]
                    found.append((answer["text"], spans))
        return cls(found, **kwargs)

    @classmethod
    def from_label_studio(cls, path: str | Path, text: str = "text", **kwargs: Any) -> Self:
        """From a JSON export of Label Studio with labelled passages; `text` names the field of the data that
        holds the text.
        """
        found = []
        with _in_shape(str(path)):
            tasks = read_json(_read(path))
            fields = [task["data"] for task in tasks]
        for number, (task, data) in enumerate(zip(tasks, fields, strict=True)):
            if text not in data:
                raise PriorError(f"Task {number} of {path} has no field {text!r}; it has {sorted(data)}.")
            with _in_shape(f"Task {number} of {path}"):
                spans = [
                    (result["value"]["start"], result["value"]["end"], label)
                    for annotation in task.get("annotations", [])
                    if not annotation.get("was_cancelled")
                    for result in annotation.get("result", [])
                    for label in result.get("value", {}).get("labels", [])
                ]
            found.append((data[text], spans))
        return cls(found, **kwargs)

    def sources(self) -> set[str]:
        """The texts in which passages were marked."""
        return {rationale.text for rationale in self._read()}

    def without(self, texts: Collection[str]) -> Self:
        """The same learnt from the other texts."""
        left_out = frozenset(texts)
        rest = [rationale for rationale in self._read() if rationale.text not in left_out]
        return type(self)(**{**self.get_params(deep=False), "rationales": rest})

    def _read(self) -> Iterator[Rationale]:
        return map(self._checked, range(len(self.rationales)), self.rationales)

    def _checked(self, number: int, rationale: Any) -> Rationale:
        try:
            text, spans = (rationale.text, rationale.spans) if isinstance(rationale, Rationale) else rationale
            spans = [(_whole(start), _whole(end), name) for start, end, name in spans]
        except (TypeError, ValueError) as error:
            raise PriorError(
                f"Rationale number {number} is not (text, [(start, end, class), …]): {rationale!r:.80}."
            ) from error
        for start, end, name in spans:
            if not 0 <= start < end <= len(text):
                raise PriorError(
                    f"Text number {number} has {len(text)} characters, but a passage for {name!r} goes "
                    f"from {start} to {end}."
                )
        return Rationale(text, tuple(spans))


@record()
class RationalePrior(MarkedPassages):
    """Words that annotators marked, more than they occur elsewhere.

    Parameters
    ----------
    rationales : list of (text, spans)
        Spans are (start, end, class), in characters, the end not included.
    analyzer : BagOfWords or callable, default=None
        From a text to its terms, the same as the representation; by default words of two letters or more, in
        lower case.
    min_count : int, default=1
        How often a term must be marked for a class to count.

    Examples
    --------
    >>> from textmargin import RationalePrior
    >>> marked = [("corn prices rose", [(0, 4, "grain")]), ("the bank rose", [(4, 8, "money")])]
    >>> RationalePrior(marked).coef(["bank", "corn", "prices"], ["grain", "money"])["grain"].round(2)
    array([0. , 3.5, 0. ])
    """

    def __init__(self, rationales: Sequence[Any], *, analyzer: Any = None, min_count: int = 1) -> None:
        self.rationales = rationales
        self.analyzer = analyzer
        self.min_count = min_count

    @property
    def title(self) -> str:
        """In the annotators' word."""
        return "marked passages"

    def _entries(self) -> dict[Any, dict[str, float]]:
        analyzer: Callable[[str], Iterable[str]] = self.analyzer or _words
        if hasattr(self.analyzer, "build_analyzer"):
            analyzer = self.analyzer.build_analyzer()
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


def _whole(offset: Any) -> int:
    if isinstance(offset, bool):
        raise TypeError("an offset is a number")
    return operator.index(offset)


def merged(rationale: Rationale) -> list[tuple[Any, int, int]]:
    """Passages per class, widened to whole words; what several annotators marked counts once."""
    found = []
    for name in {span[2]: None for span in rationale.spans}:
        passages: list[tuple[int, int]] = []
        for start, end in sorted(
            _widened(rationale.text, *span[:2]) for span in rationale.spans if span[2] == name
        ):
            if passages and start <= passages[-1][1]:
                start, end = passages[-1][0], max(end, passages.pop()[1])
            passages.append((start, end))
        found += [(name, start, end) for start, end in passages]
    return found


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """With the whole of the words at both ends."""
    while start > 0 and _IN_WORD.match(text, start - 1):
        start -= 1
    while end < len(text) and _IN_WORD.match(text, end - 1):
        end += 1
    return start, end


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise PriorError(f"The file of rationales {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise PriorError(f"The file of rationales {path} is not UTF-8 text: {error}.") from error


@contextmanager
def _in_shape(where: str) -> Iterator[None]:
    """What is read is as the tool writes it."""
    try:
        yield
    except ValueError as error:
        raise PriorError(f"{where} is not JSON: {error}.") from error
    except (KeyError, AttributeError, TypeError) as error:
        raise PriorError(
            f"{where} is not as the annotation tool writes it: {type(error).__name__} {error}."
        ) from error
