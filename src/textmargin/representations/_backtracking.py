r"""Regular expressions whose time doubles with each character: found before a text is.

Python tries one way after the other to match. Where the same characters can go around a loop in two ways, as
in `(\w+)+` or `(a|ab|b)*`, n of them can in 2ⁿ, and a text that does not match in the end costs all of these.
An expression is turned into its position automaton (Glushkov 1961), edges counted as often as there are ways;
it is exponential where two runs over the same characters leave a position, part, and are both back there at
the same time (Weber & Seidl 1991, EDA).

More than is there is assumed, never less: anchors and what lies ahead match anything, a group that is
repeated from 1 to 50 times is repeated for ever. Times that grow with a power of the length, as of `\w*\w*!`,
are not looked for.
"""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from typing import Any, NamedTuple

_MOST_POSITIONS, _MOST_STEPS = 500, 200_000
_FEW = 3  # repetitions that are written out
_SAMPLES = "aZ0_ -'.,\n\t²é中\u0301\0"  # of every category of characters
_CATEGORIES = {"WORD": r"\w", "DIGIT": r"\d", "SPACE": r"\s"}


class TooComplexError(ValueError):
    """An expression that is too long to say."""


class _Part(NamedTuple):
    nullable: bool
    first: list[int]
    last: list[int]


_NOTHING = _Part(True, [], [])


def is_exponential(pattern: str) -> bool:
    r"""Whether there are texts on which the time of a regular expression doubles with each character.

    Raises
    ------
    TooComplexError
        Where it is too long to tell.

    Examples
    --------
    >>> from textmargin.representations._backtracking import is_exponential
    >>> is_exponential(r"(?:\w+)+"), is_exponential(r"\w+(?:[-']\w+)*")
    (True, False)
    """
    parsed = import_module("re._parser").parse(pattern)
    if not any(_name(op) in _LOOPS or _name(op) in _INSIDE for op, _ in parsed):
        return False
    return _Automaton(parsed, parsed.state.flags).is_ambiguous()


def _name(op: Any) -> str:
    return str(op)


_LOOPS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_INSIDE = ("SUBPATTERN", "BRANCH", "ASSERT", "ASSERT_NOT", "ATOMIC_GROUP", "GROUPREF_EXISTS")


class _Automaton:
    """One position for each place of a character, and how often one follows another."""

    def __init__(self, parsed: Any, flags: int) -> None:
        self.any_case, self.any_line = bool(flags & re.IGNORECASE), bool(flags & re.DOTALL)
        self.alphabet = _alphabet(parsed)
        self.characters: list[frozenset[str]] = []
        self.follow: list[Counter[int]] = []
        self._sequence(parsed)

    def _position(self, characters: frozenset[str]) -> _Part:
        if len(self.characters) >= _MOST_POSITIONS:
            raise TooComplexError(f"has more than {_MOST_POSITIONS} characters and classes when written out")
        self.characters.append(characters)
        self.follow.append(Counter())
        return _Part(False, [len(self.characters) - 1], [len(self.characters) - 1])

    def _link(self, last: list[int], first: list[int]) -> None:
        for position in last:
            self.follow[position].update(first)

    def _then(self, a: _Part, b: _Part) -> _Part:
        self._link(a.last, b.first)
        first = a.first + b.first if a.nullable else a.first
        return _Part(a.nullable and b.nullable, first, b.last + a.last if b.nullable else b.last)

    def _sequence(self, items: Any) -> _Part:
        whole = _NOTHING
        for op, content in items:
            whole = self._then(whole, self._item(_name(op), content))
        return whole

    def _item(self, op: str, content: Any) -> _Part:
        if op in _LOOPS:
            return self._repeat(*content)
        if op == "SUBPATTERN":
            return self._sequence(content[-1])
        if op == "ATOMIC_GROUP":
            return self._sequence(content)
        if op == "BRANCH":
            return _either([self._sequence(way) for way in content[1]])
        if op == "GROUPREF_EXISTS":
            return _either([self._sequence(way) if way is not None else _NOTHING for way in content[1:]])
        if op in ("ASSERT", "ASSERT_NOT"):
            self._sequence(content[1])  # on its own, beside the rest
            return _NOTHING
        if op == "GROUPREF":
            return self._loop(lambda: self._position(frozenset(self.alphabet)))
        if op in ("AT", "FAILURE"):
            return _NOTHING
        return self._position(frozenset(one for one in self.alphabet if self._matches(op, content, one)))

    def _repeat(self, least: int, most: int, body: Any) -> _Part:
        whole = _NOTHING
        for _ in range(min(least, _FEW)):
            whole = self._then(whole, self._sequence(body))
        if least == most <= _FEW:
            return whole
        if most - least > _FEW or least > _FEW:
            return self._then(whole, self._loop(lambda: self._sequence(body)))
        for _ in range(most - least):
            whole = self._then(whole, self._sequence(body)._replace(nullable=True))
        return whole

    def _loop(self, make: Any) -> _Part:
        body = make()
        self._link(body.last, body.first)
        return body._replace(nullable=True)

    def _matches(self, op: str, content: Any, one: str) -> bool:
        if op == "ANY":
            return one != "\n" or self.any_line
        cases = {one, one.lower(), one.upper()} if self.any_case else {one}
        return any(_is_in(op, content, case) for case in cases)

    def is_ambiguous(self) -> bool:
        """Whether two runs over the same characters part from a position and meet there again."""
        steps = 0
        for home in range(len(self.characters)):
            start = (home, home, False)
            reached, left = {start}, [start]
            while left:
                a, b, parted = left.pop()
                for after, ways in self.follow[a].items():
                    for other in self.follow[b]:
                        steps += 1
                        if steps > _MOST_STEPS:
                            raise TooComplexError("has more ways through its loops than can be tried")
                        if self.characters[after].isdisjoint(self.characters[other]):
                            continue
                        state = (after, other, parted or after != other or (a == b and ways > 1))
                        if state == (home, home, True):
                            return True
                        if state not in reached:
                            reached.add(state)
                            left.append(state)
        return False


def _either(parts: list[_Part]) -> _Part:
    first, last = ([place for part in parts for place in getattr(part, name)] for name in ("first", "last"))
    return _Part(any(part.nullable for part in parts), first, last)


def _is_in(op: str, content: Any, one: str) -> bool:
    """Whether a node for one character takes this one."""
    if op == "LITERAL":
        return ord(one) == content
    if op == "NOT_LITERAL":
        return ord(one) != content
    if op == "RANGE":
        return bool(content[0] <= ord(one) <= content[1])
    if op == "CATEGORY":
        kind = str(content).removeprefix("CATEGORY_")
        found = re.match(_CATEGORIES[kind.removeprefix("NOT_")], one) is not None
        return found != kind.startswith("NOT_")
    if op == "IN":
        negated = str(content[0][0]) == "NEGATE"
        return any(_is_in(_name(inner), value, one) for inner, value in content[negated:]) != negated
    raise TooComplexError(f"has a part {op}")


def _alphabet(parsed: Any) -> list[str]:
    """Characters such that, if two classes of an expression have one in common, one of these is."""
    codes = {ord(one) for one in _SAMPLES}
    left = [parsed]
    while left:
        node = left.pop()
        if isinstance(node, int):
            codes.update(code for code in (node - 1, node, node + 1) if 0 <= code < 0x110000)
        elif isinstance(node, tuple | list) or hasattr(node, "data"):
            left.extend(node)
    return [chr(code) for code in sorted(codes)]
