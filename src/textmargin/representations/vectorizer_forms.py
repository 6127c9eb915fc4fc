"""What the parameters of a vectoriser must be beyond their types, so that it cannot raise when it meets a
text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from types import FunctionType, MethodDescriptorType
from typing import Any

import numpy as np

from .._system.forms import AnyOf, Each, Form, FormError, Instance, Number, String, Such
from ._backtracking import TooComplexError, is_exponential

_TEXT = "Crème brûlée 12"
_LONGEST = 1 << 16  # sequences of so many words or characters: beyond any text that they would be learnt from


def check_numbering(vocabulary: Any) -> None:
    """Raise FormError unless terms are numbered 0, 1, 2 …"""
    if not isinstance(vocabulary, dict):
        raise FormError(f"is a {type(vocabulary).__name__}")
    numbers = list(vocabulary.values())
    if not all(isinstance(n, int | np.integer) for n in numbers) or sorted(numbers) != list(
        range(len(numbers))
    ):
        raise FormError("does not number its terms 0, 1, 2 …")


def _check_pattern(pattern: Any) -> None:
    if not isinstance(pattern, str):
        raise FormError(f"is a {type(pattern).__name__}")
    try:
        n_groups = re.compile(pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise FormError(f"is {pattern!r:.40}, no regular expression ({error})") from None
    if n_groups > 1:
        raise FormError(f"is {pattern!r:.40}, with {n_groups} groups")
    try:
        hangs = is_exponential(pattern)
    except TooComplexError as error:
        raise FormError(f"is {pattern!r:.40}, which {error}") from None
    if hangs:
        raise FormError(
            f"is {pattern!r:.40}, whose time doubles with each character of some texts: its loops go "
            "around the same characters "
            f"in two ways"
        )


def _check_lengths(lengths: Any) -> None:
    numbers = (
        isinstance(lengths, tuple | list)
        and len(lengths) == 2
        and all(isinstance(n, int | np.integer) for n in lengths)
    )
    if not numbers or not 0 <= lengths[0] <= lengths[1] <= _LONGEST:
        raise FormError(f"is {lengths!r:.40}, not a shortest and a longest")


def _check_terms(terms: Any) -> None:
    if not isinstance(terms, Mapping | list | tuple | set | frozenset | np.ndarray):
        raise FormError(f"is a {type(terms).__name__}")
    if not all(isinstance(term, str) for term in terms):
        raise FormError("holds what is no string")


def _gives(*kinds: type) -> Such:
    """A function from a text to one of these, for one function of the list could stand in the place of
    another.

    Functions of the list alone are called: a method is one of a part of the file, and a function of
    `build_analyzer()` has nothing of its own that was not checked with its vectoriser.
    """

    def check(function: Any) -> None:
        if isinstance(function, partial) and list in kinds:
            return
        if not isinstance(function, FunctionType | MethodDescriptorType):
            raise FormError(f"is a {type(function).__name__}")
        try:
            found = function(_TEXT)
        except Exception as error:
            raise FormError(
                f"is {function.__name__}, which fails on a text ({type(error).__name__}: {error!s:.80})"
            ) from None
        if not isinstance(found, kinds):
            raise FormError(f"is {function.__name__}, which makes a {type(found).__name__} of a text")

    return Such(check, none=True, optional=True)


VECTORIZER_FORMS: dict[str, Form] = {
    "ngram_range": Such(_check_lengths, optional=True),
    "token_pattern": Such(_check_pattern, none=True, optional=True),
    "strip_accents": AnyOf((_gives(str), String()), none=True, optional=True),
    "preprocessor": _gives(str),
    "tokenizer": _gives(list, tuple, str),
    "analyzer": AnyOf((_gives(list, tuple, str), String()), optional=True),
    "stop_words": AnyOf((String(), Such(_check_terms)), none=True, optional=True),
    "extra_terms": Each(String(), optional=True),
    "vocabulary": Such(_check_terms, none=True, optional=True),
    "n_jobs": Number(whole=True, none=True, optional=True),
    "_analysis_values": Instance(("dict",), none=True, optional=True),
}
