"""Texts to sequences of codes: the only place where text becomes numbers for the string kernels.

Code points, words, or tokens of any hashable kind become codes 0, 1, 2 …, the same for all texts of a
comparison.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import NotTextError
from .texts import as_items, not_a_text

Tokens = str | Callable[[str], Iterable[Hashable]]

_WORD = re.compile(r"\w+")
_N_CODE_POINTS = 0x110000


@dataclass(frozen=True, eq=False)  # known by identity, so that what was made of them can be kept with them
class Sequences:
    """Texts as codes: text i is codes[starts[i]:starts[i + 1]]."""

    codes: NDArray[np.int32]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return self.starts.size - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Symbols of each text."""
        return np.diff(self.starts)

    def text(self, i: int) -> NDArray[np.int32]:
        """The codes of one text."""
        return self.codes[self.starts[i] : self.starts[i + 1]]

    def take(self, rows: Any) -> Sequences:
        """Some of the texts."""
        parts = [self.text(i) for i in rows]
        return _sequences(np.concatenate([*parts, np.empty(0, np.int32)]), [part.size for part in parts])


def encode(tokens: Tokens, *corpora: Any) -> tuple[list[Sequences], list[Any]]:
    """Sequences for each corpus, and the symbol behind each code.

    Parameters
    ----------
    tokens : "char", "word" or a function of a text
        What the symbols of a string are; texts that are already lists of tokens are taken as they are.
    *corpora : lists, arrays or columns of strings, or of lists of tokens
    """
    texts_of = [split(tokens, corpus) for corpus in corpora]
    strings = [[text for text in texts if isinstance(text, str)] for texts in texts_of]
    if list(map(len, strings)) == list(map(len, texts_of)):
        return _encode_characters(strings)
    code_of: dict[Hashable, int] = {}
    encoded = []
    for texts in texts_of:
        codes = np.fromiter(
            (code_of.setdefault(token, len(code_of)) for text in texts for token in text), dtype=np.int32
        )
        encoded.append(_sequences(codes, [len(text) for text in texts]))
    return encoded, list(code_of)


def encode_beside(tokens: Tokens, corpus: Any, symbols: list[Any]) -> tuple[Sequences, list[Any]]:
    """Sequences of more texts, with the codes of symbols known already; new symbols get the codes after
    them.
    """
    code_of: dict[Hashable, int] = {symbol: code for code, symbol in enumerate(symbols)}
    texts = split(tokens, corpus)
    if texts and all(isinstance(text, str) for text in texts):
        (found,), characters = _encode_characters([[text for text in texts if isinstance(text, str)]])
        renumbered = np.array(
            [code_of.setdefault(symbol, len(code_of)) for symbol in characters], dtype=np.int32
        )
        return Sequences(renumbered[found.codes] if characters else found.codes, found.starts), list(code_of)
    codes = np.fromiter(
        (code_of.setdefault(token, len(code_of)) for text in texts for token in text), dtype=np.int32
    )
    return _sequences(codes, [len(text) for text in texts]), list(code_of)


def digests(tokens: Tokens, corpus: Any) -> list[bytes]:
    """A name for each text that no other sequence of symbols has; of 16 bytes, the same everywhere and
    always.
    """
    return [hashlib.blake2b(_spell(text), digest_size=16).digest() for text in split(tokens, corpus)]


def _spell(text: str | Sequence[Hashable]) -> bytes:
    if isinstance(text, str):
        return b"characters" + text.encode("utf-8", "surrogatepass")
    text = [token.item() if isinstance(token, np.generic) else token for token in text]
    for token in text:
        if not isinstance(token, str | int | float | bytes | None):
            raise NotTextError(
                f"A token of type {type(token).__name__}, {token!r:.40}, has no name that lasts; kernels "
                "are kept for texts, and "
                f"tokens that are strings or numbers."
            )
    return b"tokens" + repr(tuple(text)).encode("utf-8", "surrogatepass")


def split(tokens: Tokens, corpus: Any) -> list[str] | list[Sequence[Hashable]]:
    """Each text as a sequence of symbols; a string is a sequence of its characters."""
    items = as_items(corpus)
    if not all(isinstance(item, str) for item in items):
        return _token_lists(items)
    if tokens == "char":
        return items
    function: Callable[[str], Any] = _WORD.findall if isinstance(tokens, str) else tokens
    found = [function(text) for text in items]
    found = [symbols if isinstance(symbols, str | list | tuple) else list(symbols) for symbols in found]
    _check_hashable(found, f"tokens={getattr(tokens, '__name__', tokens)!r} gave")
    return found


def _token_lists(items: list[Any]) -> list[Sequence[Hashable]]:
    for i, item in enumerate(items):
        if not isinstance(item, str | list | tuple | np.ndarray) or (
            isinstance(item, np.ndarray) and item.ndim != 1
        ):
            raise not_a_text(i, item)
    kinds = [isinstance(item, str) for item in items]
    if any(kinds):
        i, other = kinds.index(True), kinds.index(False)
        kind = type(items[other]).__name__
        raise NotTextError(
            f"Text number {i} is a string, but number {other} is a {kind}; give strings or lists of tokens."
        )
    found = [item.tolist() if isinstance(item, np.ndarray) else item for item in items]
    _check_hashable(found, "there is")
    return found


def _check_hashable(texts: list[Any], found: str) -> None:
    for i, text in enumerate(texts):
        if isinstance(text, str):
            continue
        for token in text:
            try:
                hash(token)
            except TypeError as error:
                kind = type(token).__name__
                raise NotTextError(
                    f"In text number {i} {found} a token that cannot be compared by hash: {kind} "
                    f"{token!r:.40}."
                ) from error


def _encode_characters(corpora: list[list[str]]) -> tuple[list[Sequences], list[str]]:
    """Code points, renumbered without gaps. A lone surrogate is a symbol like any other."""
    points = [
        np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        for texts in corpora
    ]
    occurs = np.zeros(_N_CODE_POINTS, dtype=bool)
    for found in points:
        occurs[found] = True
    symbols = np.flatnonzero(occurs)
    code_of = np.zeros(_N_CODE_POINTS, dtype=np.int32)
    code_of[symbols] = np.arange(symbols.size, dtype=np.int32)
    encoded = [
        _sequences(code_of[found], [len(text) for text in texts])
        for found, texts in zip(points, corpora, strict=True)
    ]
    return encoded, [chr(symbol) for symbol in symbols]


def join(corpora: Sequence[Sequences]) -> Sequences:
    """The texts of several corpora, one after the other, that were encoded together."""
    lengths = np.concatenate([texts.lengths for texts in corpora])
    return _sequences(np.concatenate([texts.codes for texts in corpora]), lengths.tolist())


def rows_as_texts(codes: NDArray[np.int32]) -> Sequences:
    """A matrix of codes, each row a text."""
    return _sequences(codes.ravel(), [codes.shape[1]] * codes.shape[0])


def _sequences(codes: NDArray[np.int32], lengths: list[int]) -> Sequences:
    return Sequences(
        np.ascontiguousarray(codes),
        np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
    )
