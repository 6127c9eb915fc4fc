"""What terms are, in plain values: all that compiled code must know to find them. Without scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..records import record
from ._characters import character_table

if TYPE_CHECKING:
    from .. import core

SKLEARN_WORDS = r"(?u)\b\w\w+\b"
# the papers' words: digits and punctuation separate them, single letters are dropped
LETTERS = r"[^\W\d_]{2,}"
LETTER_RUNS = r"[^\W\d_]+"
# Regular expressions that compiled code knows: the shortest word, and whether digits and underscores are part
# of words.
PATTERNS = {
    SKLEARN_WORDS: (2, True),
    r"(?u)\b\w+\b": (1, True),
    r"\b\w\w+\b": (2, True),
    r"\b\w+\b": (1, True),
    r"\w\w+": (2, True),
    r"\w+": (1, True),
    LETTERS: (2, False),
    LETTER_RUNS: (1, False),
}


@record()
@dataclass(frozen=True)
class Analysis:
    """How a text becomes terms.

    Parameters
    ----------
    kind : {"pattern", "word", "char", "char_wb"}
        Words by one of `PATTERNS`, or those of `WordTokenizer`; sequences of characters.
    lowercase : bool
    ngram_range : tuple (shortest, longest)
    pattern : str, default=""
        Which one.
    stop_words : tuple of str, default=()
    shapes : bool, default=False
        Whether a number is how many digits it has.
    exact_numbers : tuple of str, default=()
        Numbers that stay what they are all the same.
    """

    kind: str
    lowercase: bool
    ngram_range: tuple[int, int]
    pattern: str = ""
    stop_words: tuple[str, ...] = ()
    shapes: bool = False
    exact_numbers: tuple[str, ...] = ()

    def compile(self) -> core.Terms:
        """An empty vocabulary of such terms."""
        from .. import core

        shortest, digits = PATTERNS[self.pattern] if self.kind == "pattern" else (1, True)
        return core.Terms(
            self.kind,
            self.lowercase,
            digits,
            digits,
            shortest,
            *self.ngram_range,
            self.shapes,
            [number.encode() for number in self.exact_numbers],
            # No word is empty or has a NUL in it, so that these leave nothing out.
            [encode(word) for word in self.stop_words if word and "\0" not in word],
            partial(character_table, self.lowercase),
        )


def encode(term: str) -> bytes:
    """A term as bytes; lone surrogates are characters like all others."""
    return term.encode("utf-8", "surrogatepass")


def ordered(words: Iterable[Any] | None) -> tuple[str, ...]:
    """Words as an `Analysis` has them; what is no string is no word of a text."""
    return tuple(sorted(word for word in words or () if isinstance(word, str)))
