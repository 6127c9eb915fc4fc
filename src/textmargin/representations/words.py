"""From a text to its words, whatever it is written in.

A word is two or more letters and digits (`3d`, `x11`, `Straße`), vowel signs of Indic and Arabic scripts
included. A number is how many digits it has (`####` for 1987): most numbers are seen once, and then only
lengthen the text. Emoji and other symbols (`£`, `☎`) are words by themselves. Chinese and Japanese, which
have no blanks, are taken as single characters and pairs, Thai, Lao, Khmer and Burmese as triples.

Vectorisers find the same words in compiled code (`src/core/cleaning.hpp`); this is how they are defined.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache
from itertools import pairwise

from ._characters import BY_PAIRS, ONE_SCRIPT, REGIONAL, categories
from .languages import WITHOUT_BLANKS, script_ranges

_ASCII = re.compile(r"[a-zA-Z0-9]{2,}|[0-9$]")


class WordTokenizer:
    """Splits texts into words.

    Parameters
    ----------
    numbers : {"shape", "exact"}, default="shape"
        Whether numbers are the number of their digits, or what they are.
    exact_numbers : collection of str, default=()
        Numbers that stay what they are all the same.

    Examples
    --------
    >>> from textmargin.representations.words import WordTokenizer
    >>> WordTokenizer()("x11 crashed 25 times 😡 账单")
    ['x11', 'crashed', '##', 'times', '😡', '账', '单', '账单']
    """

    def __init__(self, numbers: str = "shape", exact_numbers: Collection[str] = ()) -> None:
        self.numbers = numbers
        self.exact_numbers = frozenset(exact_numbers)

    def __call__(self, text: str) -> list[str]:
        """The words of a text, in their order."""
        if text.isascii():
            words: list[str] = _ASCII.findall(text)
        else:
            pattern, without_blanks = _patterns()
            words = pattern.findall(text)
            if without_blanks.search(text):
                words = [
                    word for run in words for word in (_cut(run) if without_blanks.match(run) else (run,))
                ]
        if self.numbers == "exact":
            return words
        keep = self.exact_numbers
        return ["#" * len(word) if word.isdecimal() and word not in keep else word for word in words]


def _cut(run: str) -> Iterable[str]:
    """The words of characters without blanks between them."""
    if _pairs().match(run):
        return [*run, *map("".join, pairwise(run))]
    return [run] if len(run) < 3 else map("".join, zip(run, run[1:], run[2:], strict=False))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Words of any script; characters of scripts without blanks."""
    runs = script_ranges(WITHOUT_BLANKS)
    marks, symbols = categories("Mn", "Mc"), categories("So", "Sc")
    # Marks stand inside words only. Flags are two symbols each, which mean nothing alone.
    word = rf"[^\W_{runs}]+(?:[{marks}]+[^\W_{runs}]*)+|[^\W_{runs}]{{2,}}|\d+"
    one_script = "|".join(f"(?:(?!\\d)[{script_ranges(scripts)}])+" for scripts in ONE_SCRIPT)
    return re.compile(rf"{word}|{one_script}|[{REGIONAL}]{{2}}|[{symbols}]"), re.compile(rf"(?!\d)[{runs}]")


@cache
def _pairs() -> re.Pattern[str]:
    return re.compile(f"[{script_ranges(BY_PAIRS)}]")
