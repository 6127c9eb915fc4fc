"""What a model file says of a bag of words: whether it can be, and the scores that it makes. Without
scikit-learn.

Terms are one array of bytes, one behind the other in the order of columns, and one of where each ends.
Compiled code takes them as they are, so that they are checked before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import NoneType
from typing import Any, TypeGuard

import numpy as np

from .._typing import is_floats
from ._analysis import PATTERNS, Analysis
from ._vocabulary import Vocabulary
from .linear_scores import TF, LinearScorer, TermWeights

_LONGEST = 1 << 16  # sequences of so many words or characters: beyond any text that they would be learnt from


def check_terms(block: Any, ends: Any) -> None:
    """Raise ValueError, with what is wrong, unless these are terms in UTF-8, each once.

    Parameters
    ----------
    block : array of uint8
        Lone surrogates as Python's "surrogatepass" writes them.
    ends : array (n_terms,) of int64
    """
    for array, dtype in ((block, np.uint8), (ends, np.int64)):
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != dtype:
            raise ValueError(f"that is no vector of {np.dtype(dtype)}")
    if (np.diff(ends, prepend=0) < 0).any() or (ends[-1] if ends.size else 0) != block.size:
        raise ValueError("whose terms do not end one after the other")
    try:
        block.tobytes().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ValueError("that is not UTF-8") from error
    if ((block[ends[ends < block.size]] & 0xC0) == 0x80).any():
        raise ValueError("whose terms end within a character")
    if ends.size and _has_repetition(block, ends):
        raise ValueError("with a term that stands twice")


def _has_repetition(block: Any, ends: Any) -> bool:
    """Without an object a term: a small file may unpack to one letter a million times."""
    lengths = np.diff(ends, prepend=0)
    # once: looked for length by length, terms of many would take minutes
    order = np.argsort(lengths, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        length, n_different = int(lengths[places[0]]), 1
        if length:
            letters = np.lib.stride_tricks.sliding_window_view(block, length)[ends[places] - length]
            n_different = np.unique(np.ascontiguousarray(letters).view(f"S{length}")).size
        if n_different < places.size:
            return True
    return False


def linear_scorer(
    words: Mapping[str, Any], coef: Any, intercept: Any, n_problems: int
) -> LinearScorer | None:
    """From texts to the scores of a linear learner; None where Python prepares texts or finds their terms, or
    something is wrong.

    Parameters
    ----------
    words : attributes of a saved BagOfWords, of which the terms are checked already
    coef, intercept : arrays (n_problems, n_terms) and (n_problems,)
    n_problems : int
    """
    block, ends, idf, values = (
        words.get(name) for name in ("_term_block", "_term_ends", "idf_", "_analysis_values")
    )
    if (
        block is None
        or ends is None
        or words["preprocessor"] is not None
        or words["strip_accents"] is not None
    ):
        return None
    if (
        not is_floats(idf, ends.size)
        or not is_floats(coef, n_problems, ends.size)
        or not is_floats(intercept, n_problems)
    ):
        return None
    weight, norm, n_jobs = words["weight"], words["norm"], words["n_jobs"]
    plain = type(weight) is str and type(norm) in (str, NoneType) and type(n_jobs) in (int, NoneType)
    if not plain or weight not in TF or norm not in ("l2", None) or n_jobs == 0 or not _is_analysis(values):
        return None
    weights = TermWeights(TF[weight], idf, unit=norm is not None)
    return LinearScorer(Analysis(**values), Vocabulary(block, ends), weights, coef, intercept, n_jobs)


def _is_analysis(values: Any) -> TypeGuard[dict[str, Any]]:
    """Whether an `Analysis` can be made of these."""
    if not isinstance(values, dict) or values.keys() != {field.name for field in fields(Analysis)}:
        return False
    kind, pattern, ngram_range = values["kind"], values["pattern"], values["ngram_range"]
    return (
        type(kind) is type(pattern) is str
        and (pattern in PATTERNS if kind == "pattern" else kind in ("word", "char", "char_wb"))
        and type(values["lowercase"]) is type(values["shapes"]) is bool
        and all(type(values[name]) is tuple for name in ("stop_words", "exact_numbers"))
        and all(type(word) is str for word in values["stop_words"])
        and all(type(number) is str and number.isdecimal() for number in values["exact_numbers"])
        and type(ngram_range) is tuple
        and [type(n) for n in ngram_range] == [int, int]
        and 1 <= ngram_range[0] <= ngram_range[1] <= _LONGEST
    )
