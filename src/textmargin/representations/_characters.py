"""What characters are, as the Python that runs sees them: a table for compiled code, which so agrees on every
version of Unicode.

An entry is the lower case of a code point, and bits that say what kind of character that is;
`src/core/unicode.hpp` has the other half. Two are not lower-cased one by one: İ is an i and a dot above, and
Σ is ς at the end of a word, which depends on what is cased, and what is ignored, around it.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from .languages import WITHOUT_BLANKS, script_ranges

BY_PAIRS = ("han", "kana")  # scripts without blanks whose characters are taken in pairs, not triples
ONE_SCRIPT = (BY_PAIRS, *((script,) for script in WITHOUT_BLANKS[len(BY_PAIRS) :]))
REGIONAL = "\U0001f1e6-\U0001f1ff"
_LAST = 0x20000  # beyond are ideographs and selectors of their forms
_ALPHANUMERIC, _DECIMAL, _MARK, _SYMBOL, _REGIONAL, _SPACE, _RUN = (1 << bit for bit in range(21, 28))
_CASED, _IGNORABLE = 1 << 30, 1 << 31  # a script without blanks has three bits
_BY_CATEGORY = {"Mn": _MARK, "Mc": _MARK, "So": _SYMBOL, "Sc": _SYMBOL}
# Where Unicode has characters that are anything but themselves; the planes between and behind are empty or
# private.
_PLANES = ((0, 0x34000), (0xE0000, 0xE1000))
_SIGMA, _DOTTED_I = "\u03a3", "\u0130"


@cache
def character_table(lowercase: bool) -> NDArray[np.uint32]:
    """The entry of each code point; without lower case where texts are left as they are."""
    table = np.arange(sys.maxunicode + 1, dtype=np.uint32)
    for first, end in _PLANES:
        characters = _text(table[first:end])
        kinds = _kinds(characters)
        lower = _points(_without_two(characters).lower()) if lowercase else table[first:end].copy()
        if lowercase:
            cased = _is_final(" ", characters)
            kinds_of_case = np.where(cased, _CASED, np.where(_is_final("A", characters), _IGNORABLE, 0))
            table[first:end] = lower | kinds[lower - first] | kinds_of_case
        else:
            table[first:end] = lower | kinds
    table.flags.writeable = False
    return table


@cache
def categories(*names: str) -> str:
    """The characters of some categories of Unicode, as ranges between the brackets of a regular
    expression.
    """
    codes = [code for code in range(0x80, _LAST) if unicodedata.category(chr(code)) in names]
    codes += [ord("$")] if "Sc" in names else []
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\U{start:08x}-\\U{end:08x}" for start, end in ranges)


def _kinds(characters: str) -> NDArray[np.uint32]:
    kinds = np.zeros(len(characters), dtype=np.uint32)
    near = characters[: max(0, _LAST - ord(characters[0]))]
    # One by one: classes of so many ranges take a regular expression three times as long.
    kinds[: len(near)] = np.fromiter(
        map(_BY_CATEGORY.get, map(unicodedata.category, near), repeat(0)), np.uint32, len(near)
    )
    classes = {
        _ALPHANUMERIC: r"[^\W_]",
        _DECIMAL: r"\d",
        _REGIONAL: f"[{REGIONAL}]",
        _SPACE: r"\s",
        **{
            _RUN * number: f"[{script_ranges(scripts)}]" for number, scripts in enumerate(ONE_SCRIPT, start=1)
        },
    }
    for bit, pattern in classes.items():
        for match in re.finditer(f"{pattern}+", characters):
            kinds[match.start() : match.end()] |= bit
    return kinds


def _text(codes: NDArray[np.uint32]) -> str:
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


def _points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32)


def _without_two(text: str) -> str:
    return text.replace(_SIGMA, "\u03c3").replace(_DOTTED_I, "i")


def _is_final(before: str, characters: str) -> NDArray[np.bool_]:
    """Whether a capital sigma behind each character, and that behind another, becomes a final one."""
    question = np.empty((len(characters), 4), dtype=np.uint32)
    question[:] = ord(before), 0, ord(_SIGMA), ord(" ")
    question[:, 1] = _points(_without_two(characters))
    return np.asarray(_points(_text(question).lower()).reshape(-1, 4)[:, 2] == ord("\u03c2"))
