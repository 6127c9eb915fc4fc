"""Where the terms of a text stand in it, and what each place contributes to a score.

A term's contribution is shared by the places where it stands. Chinese and Japanese terms are characters and
pairs of them: there every character has its own share and half of each pair that it is in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise

_CHUNK = re.compile(r"\S+")
_MOST_CHARACTERS = 50_000  # of a text that are tinted: nobody reads more on a page

Contribution = tuple[float, float]  # by the data, by knowledge


def term_places(
    text: str, tokenize: Callable[[str], list[str]], known: Mapping[str, object]
) -> list[tuple[int, int, str]]:
    """The places (start, end, term) of known terms, in order of their start.

    Parameters
    ----------
    text : str
    tokenize : function from a text to its words as they stand there
    known : the terms that are looked for, in lower case; numbers as `#` for each digit, or as they are
    """
    found: list[tuple[int, int, str]] = []
    for chunk in _CHUNK.finditer(text, 0, _MOST_CHARACTERS):
        position, own = chunk.start(), chunk[0]
        words = tokenize(own)
        overlap = sum(map(len, words)) > len(own)  # pairs of characters beside the characters themselves
        for word in dict.fromkeys(words) if overlap else words:
            term = word.lower()
            if term not in known and word.isdecimal():
                term = "#" * len(word)
            if overlap:
                starts = [match.start() for match in re.finditer(re.escape(word), own)]
                found += [
                    (chunk.start() + at, chunk.start() + at + len(word), term)
                    for at in starts
                    if term in known
                ]
                continue
            at = text.find(word, position, chunk.end())
            if at < 0:
                continue
            position = at + len(word)
            if term in known:
                found.append((at, position, term))
    return sorted(found)


def contributions_in(
    text: str, tokenize: Callable[[str], list[str]], contributions: Mapping[str, Contribution]
) -> list[tuple[int, int, float, float]]:
    """The places of a text that contribute: (start, end, by the data, by knowledge), in order, none within
    another.
    """
    places = term_places(text, tokenize, contributions)
    n_places: dict[str, int] = {}
    for _, _, term in places:
        n_places[term] = n_places.get(term, 0) + 1
    disjoint = all(left[1] <= right[0] for left, right in pairwise(places))
    if disjoint:
        shares = [(start, end, term, 1) for start, end, term in places]
    else:
        shares = [(at, at + 1, term, end - start) for start, end, term in places for at in range(start, end)]
    found: dict[tuple[int, int], list[float]] = {}
    for start, end, term, parts in shares:
        own = found.setdefault((start, end), [0.0, 0.0])
        for k in (0, 1):
            own[k] += contributions[term][k] / n_places[term] / parts
    return [(start, end, data, prior) for (start, end), (data, prior) in sorted(found.items())]
