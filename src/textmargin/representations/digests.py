"""Digests of texts: 8 bytes each, by which a model knows its training texts again without holding them.

The 64-bit BLAKE2b of a text without its white space: a file that was saved with other line ends or blanks has
the same texts. Of n texts and m others a pair agrees by chance with probability n·m/2⁶⁴, for a million of
each 5e-8.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import core

Digests: TypeAlias = NDArray[np.uint64]


def text_digests(texts: Iterable[str]) -> Digests:
    r"""The digest of each text (n_texts,).

    Examples
    --------
    >>> from textmargin.representations.digests import text_digests
    >>> first, second, third = text_digests(["corn prices", "corn\n  prices", "corn price"])
    >>> bool(first == second), bool(first == third)
    (True, False)
    """
    return core.text_digests(list(texts))
