"""How knowledge meets a vocabulary: which of its words are there, which are not, and what they might have
meant.
"""

from __future__ import annotations

import difflib
import warnings
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from .._typing import Bools, Floats
from ..errors import PriorError, TextmarginWarning, UnknownTermWarning, nearest

Analyze: TypeAlias = Callable[[str], list[str]]


@dataclass(frozen=True)
class VocabularyMatch:
    """How much of the knowledge about one class landed on the terms of a representation.

    Attributes
    ----------
    target : the class.
    terms : dict, the terms it landed on, with their weights.
    unknown : tuple of str, what was not found.
    nearest : dict, for some of them the known term that is spelled most alike.
    share : float, how much of the total (absolute) weight was found, 0 to 1.
    n_entries : int, how many entries there were.
    """

    target: Any
    terms: dict[str, float]
    unknown: tuple[str, ...]
    nearest: dict[str, str]
    share: float
    n_entries: int


class KnowledgeBase(BaseEstimator):
    """Knowledge about classes in terms: `coef` gives weights for a vocabulary, `match_vocabulary` says what
    was found in it.
    """

    def coef(
        self,
        terms: Iterable[str],
        classes: Iterable[Any],
        analyze: Analyze = str.split,
        unseen: Collection[str] = (),
    ) -> dict[Any, Floats]:
        """Per class about which something is known, a weight for each term, in their order.

        Parameters
        ----------
        terms : the terms of a representation, `get_feature_names_out()`
        classes : the classes to learn
        analyze : callable, default=str.split
            From a keyword or phrase to its words, as the representation has them.
        unseen : collection of str, default=()
            The terms that no training text has.
        """
        terms = list(terms)
        place = {term: j for j, term in enumerate(terms)}
        found = self.match_vocabulary(terms, classes, analyze)
        self._warn(found, [term for term in terms if term not in unseen], unseen)
        weights = {}
        for landing in found:
            weights[landing.target] = row = np.zeros(len(terms))
            for term, weight in landing.terms.items():
                row[place[term]] = weight
        return weights

    def match_vocabulary(
        self, terms: Iterable[str], classes: Iterable[Any], analyze: Analyze = str.split
    ) -> list[VocabularyMatch]:
        """How much is known of each class, and how much of that landed on the terms."""
        known = self._of_classes([_plain(name) for name in classes])
        finder = TermFinder(list(terms), patterns=self._patterns, analyze=analyze)
        # Words that a person wrote may be misspelt, those that were learnt are not: looking for the nearest
        # takes seconds.
        return [_land(name, entries, finder, suggest=self._patterns) for name, entries in known.items()]

    def classes(self) -> list[Any]:
        """The classes that somebody named, which may be learnt though no text has their label; none where
        they were learnt.
        """
        return []

    def words(self, analyze: Analyze = str.split) -> list[str]:
        """The words that somebody named, which belong into a vocabulary whatever texts have; none where they
        were learnt.
        """
        return []

    @property
    def title(self) -> str:
        """What messages and verdicts call this."""
        return type(self).__name__

    _patterns = False  # whether entries may be patterns and phrases, or are terms as they stand

    def _of_classes(self, classes: list[Any]) -> dict[Any, dict[str, float]]:
        """What is known of the classes there are."""
        entries = self._entries()
        return {name: entries[own] for own, name in self._matched_classes(entries, classes).items()}

    def _matched_classes(self, names: Iterable[Any], classes: list[Any]) -> dict[Any, Any]:
        """The class that each name stands for. Others are dropped with a warning, unless they look like a
        slip of the pen.
        """
        spelled = {str(name): name for name in classes}  # files know names only
        known = {name: name if name in classes else spelled.get(str(name), name) for name in names}
        strangers = [name for name, found in known.items() if found not in classes]
        near = {name: nearest(name, spelled) for name in strangers}
        shown = f"{', '.join(map(repr, classes[:8]))}{' …' if len(classes) > 8 else ''}"
        for name in strangers:
            if near[name] is not None or len(strangers) == len(known):
                raise PriorError(
                    f"{self.title}: {name!r} is not among the classes: {shown}."
                    + (f" Did you mean {near[name]!r}?" if near[name] is not None else "")
                )
        if strangers:
            warnings.warn(
                f"{self.title}: {_listed(strangers)} {'is' if len(strangers) == 1 else 'are'} not among "
                "the classes here: "
                f"{shown}. What is known of {'it' if len(strangers) == 1 else 'them'} is left out.",
                TextmarginWarning,
                stacklevel=4,
            )
        return {name: found for name, found in known.items() if found in classes}

    def sources(self) -> set[str]:
        """The labelled texts that this was learnt from; none if it comes from elsewhere."""
        return set()

    def learnt_from(self, texts: Sequence[str]) -> Bools:
        """Which of the texts (n_texts,) had a part in this: on these it looks better than it is."""
        sources = self.sources()
        return np.fromiter((text in sources for text in texts), dtype=bool, count=len(texts))

    def without(self, texts: Collection[str]) -> Self:
        """The same learnt without these texts; itself where it was not learnt from texts, or cannot be learnt
        again.
        """
        return self

    @abstractmethod
    def _entries(self) -> dict[Any, dict[str, float]]:
        """Per class what is known: entries, as `TermFinder` reads them, with their weights."""

    def _warn(self, found: list[VocabularyMatch], seen: list[str], unseen: Collection[str]) -> None:
        """One warning for all that was not found, and one for what training texts do not have."""
        n_entries, name = sum(landing.n_entries for landing in found), self.title
        lost = [word for landing in found for word in landing.unknown]
        if lost:
            nearest = [term for landing in found for term in landing.nearest.values()]
            warnings.warn(
                f"{name}: {len(lost)} of {n_entries} terms are not in the vocabulary: "
                f"{_listed(lost)}.{_hint(nearest)}",
                UnknownTermWarning,
                stacklevel=3,
            )
        new = sorted({term for landing in found for term in landing.terms if term in unseen})
        if new:
            finder = TermFinder(seen, patterns=False)
            nearest = [near for word in new[:5] if (near := finder.nearest(word)) is not None]
            warnings.warn(
                f"{name}: no training text has {len(new)} of the {n_entries} words named "
                f"({_listed(new)}); they count in new "
                f"texts.{_hint(nearest)}",
                UnknownTermWarning,
                stacklevel=3,
            )


class TermFinder:
    """Which terms an entry means: a word, a phrase, a `prefix*`, or a /regular expression/."""

    def __init__(self, terms: list[str], *, patterns: bool, analyze: Analyze = str.split) -> None:
        self.terms = terms
        self.patterns = patterns
        self.analyze = analyze
        self.known = set(terms)

    def find(self, entry: str) -> dict[str, float]:
        """The terms, with the share of the entry's weight that each gets; empty if there is none."""
        if not self.patterns:
            return {entry: 1.0} if entry in self.known else {}
        if is_pattern(entry) and entry.startswith("/"):
            pattern = compiled(entry)
            return {term: 1.0 for term in self.terms if pattern.fullmatch(term)}
        if is_pattern(entry):
            return {term: 1.0 for term in self.terms if term.startswith(entry[:-1])}
        if entry in self.known:
            return {entry: 1.0}
        words = self.analyze(entry)
        phrase = " ".join(words)
        if phrase in self.known:
            return {phrase: 1.0}
        # A phrase that is no term of its own speaks through its words.
        return {word: 1.0 / len(words) for word in words if word in self.known}

    def nearest(self, entry: str) -> str | None:
        """The term that is spelled most alike."""
        near = difflib.get_close_matches(entry.strip("/*"), self.terms, n=1)
        return near[0] if near else None


def is_pattern(entry: str) -> bool:
    """Whether an entry stands for all terms that look alike: a `prefix*`, or a /regular expression/."""
    return (len(entry) > 2 and entry.startswith("/") and entry.endswith("/")) or (
        len(entry) > 1 and entry.endswith("*")
    )


def compiled(entry: str) -> Any:
    """The regular expression between slashes."""
    import re

    try:
        return re.compile(entry[1:-1])
    except re.error as error:
        raise PriorError(f"{entry!r} is not a regular expression: {error}.") from error


def _land(target: Any, entries: Mapping[str, float], finder: TermFinder, *, suggest: bool) -> VocabularyMatch:
    terms: dict[str, float] = {}
    said: dict[str, str] = {}
    unknown, landed = [], 0.0
    # What names a term outright comes last and wins over patterns and phrases that merely cover it.
    for entry, weight in sorted(entries.items(), key=lambda item: item[0] in finder.known):
        found = finder.find(entry)
        if not found:
            unknown.append(entry)
            continue
        landed += abs(weight) * (1.0 if is_pattern(entry) else min(1.0, sum(found.values())))
        for term, share in found.items():
            if term in terms and terms[term] * weight < 0 and entry not in finder.known:
                raise PriorError(
                    f"Of class {target!r} both {said[term]!r} ({terms[term]:+g}) and {entry!r} "
                    f"({weight:+g}) speak of {term!r}, "
                    f"one for and one against it; give {term!r} a weight of its own."
                )
            larger = term not in terms or entry in finder.known or abs(weight * share) > abs(terms[term])
            if larger:
                terms[term], said[term] = weight * share, entry
    total = sum(abs(weight) for weight in entries.values())
    nearest = (
        {word: near for word in unknown[:20] if (near := finder.nearest(word)) is not None} if suggest else {}
    )
    return VocabularyMatch(
        target, terms, tuple(unknown), nearest, landed / total if total else 0.0, len(entries)
    )


def _listed(words: list[Any]) -> str:
    return ", ".join(map(repr, words[:5])) + (f" and {len(words) - 5} more" if len(words) > 5 else "")


def _hint(nearest: list[str]) -> str:
    return f" Nearest: {', '.join(map(repr, nearest[:5]))}." if nearest else ""


def _plain(name: Any) -> Any:
    return name.item() if isinstance(name, np.generic) else name
