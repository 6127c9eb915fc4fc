"""Digests of texts: 8 bytes each, by which a model knows its training texts again without holding them.

The 64-bit BLAKE2b of a text without its white space: a file that was saved with other line ends or blanks has the same texts. Of
n texts and m others a pair agrees by chance with probability n·m/2⁶⁴, for a million of each 5e-8.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Digests: TypeAlias = NDArray[np.uint64]

_WHITE_SPACE = b" \t\n\r\v\f"


def text_digests(texts: Iterable[str]) -> Digests:
    r"""The digest of each text (n_texts,).

    Examples
    --------
    >>> from textmargin.representations.digests import text_digests
    >>> first, second, third = text_digests(["corn prices", "corn\n  prices", "corn price"])
    >>> bool(first == second), bool(first == third)
    (True, False)
    """
    bare = [text.encode("utf-8", "surrogatepass").translate(None, _WHITE_SPACE) for text in texts]
    return np.frombuffer(b"".join([blake2b(one, digest_size=8).digest() for one in bare]), dtype="<u8")
