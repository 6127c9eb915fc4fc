"""What can be said of a list of keywords: words to add, to strike and to split, each with its evidence."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class WordEvidence:
    """What the texts at hand say of a word and a class.

    Attributes
    ----------
    word : str
    n_texts : int, that have it
    n_class : int, those of them that the model gives the class; of a word that was named, that it would give
        it without the word
    ratio : float, how many times as often texts of the class have it as others
    weight : float, in the model, for the class
    lines : tuple of str, what stands around it in some of these texts
    other : str, of a word to add, the class that claims it even more, where texts have one label each; else
        empty
    """

    word: str
    n_texts: int
    n_class: int
    ratio: float
    weight: float
    lines: tuple[str, ...]
    other: str = ""


@dataclass(frozen=True)
class Strike:
    """A word that was named for a class, or that its keywords spread to, and is contradicted.

    Attributes
    ----------
    entry : str, as it was named; the word itself where a pattern or a phrase covers it
    evidence : WordEvidence
    reason : str
    """

    entry: str
    evidence: WordEvidence
    reason: str


@dataclass(frozen=True)
class Split:
    """A word that two classes claim.

    Attributes
    ----------
    word : str
    claims : dict, per class its evidence; the first is one that the word was named for
    beside : dict, per class the words that tell its texts with the word from the other's: together with one
        of these it may serve
    """

    word: str
    claims: dict[str, WordEvidence]
    beside: dict[str, list[str]]


@dataclass(frozen=True, repr=False)
class Suggestions:
    """How a list of keywords could be mended; prints as a list.

    Attributes
    ----------
    n_texts : int, that were looked at
    counts : dict, per class how many of them the model gives it
    keywords : dict, per class its entries with their weights, as they are
    add : dict, per class words that nobody named, the surest first
    strike : dict, per class words that were named for it, or that these spread to, and are contradicted
    split : list, words that two classes claim
    """

    n_texts: int
    counts: dict[str, int]
    keywords: dict[str, dict[str, float]]
    add: dict[str, list[WordEvidence]]
    strike: dict[str, list[Strike]]
    split: list[Split]

    def to_keywords(self) -> dict[str, dict[str, float]]:
        """The list with what is to be added, and weight 0 for what is to be struck; what is to be split stays
        as it is.

        What is added has the median weight of the class's words, and goes to the class that claims it most. A
        word of weight 0 says nothing, takes nothing from the words near it, and is not suggested again.
        """
        mended = {}
        for name, words in self.keywords.items():
            weight = median([one for one in words.values() if one > 0] or [1.0])
            new = {one.word: weight for one in self.add[name] if not one.other}
            mended[name] = {**words, **new, **{one.entry: 0.0 for one in self.strike[name]}}
        return {name: words for name, words in mended.items() if words}

    def to_toml(self) -> str:
        """`to_keywords` as a file that `KeywordPrior.from_file` reads."""
        lines = ["[keywords]"]
        for name, words in self.to_keywords().items():
            entries = ", ".join(f"{_quoted(word)} = {weight:g}" for word, weight in words.items())
            lines.append(f"{_quoted(name)} = {{ {entries} }}")
        return "\n".join([*lines, ""])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    def __repr__(self) -> str:
        lines = []
        for name, count in self.counts.items():
            lines.append(f"{name}: {count:,} of {self.n_texts:,} texts")
            lines += [f"  add {_shown(one)}" for one in self.add[name]]
            lines += [f"  strike {_shown(one.evidence)}: {one.reason}" for one in self.strike[name]]
        lines += [f"split {one.word} between {' and '.join(one.claims)}" for one in self.split]
        return "\n".join(lines)


def _shown(one: WordEvidence) -> str:
    other = f"; rather {one.other}" if one.other else ""
    return (
        f"{one.word} (in {one.n_texts:,} texts, {one.n_class:,} of the class, {one.ratio:.1f} times as "
        f"often{other})"
    )


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
