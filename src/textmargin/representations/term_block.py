"""A vocabulary as two arrays: the terms one after the other in UTF-8, and where each ends.

A dictionary of tens of thousands of terms takes as long to write, read and check as all weights of a model; this takes none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TermBlock:
    """Terms in the order of their columns.

    Parameters
    ----------
    block : array of uint8
        In UTF-8; halves of characters that stand alone as Python's "surrogatepass" writes them.
    ends : array (n_terms,) of int64
        Where each term ends; the next begins there.

    Examples
    --------
    >>> from textmargin.representations.term_block import TermBlock
    >>> terms = TermBlock.of({"wheat": 1, "corn": 0})
    >>> terms.block.tobytes(), terms.ends.tolist(), terms.vocabulary()
    (b'cornwheat', [4, 9], {'corn': 0, 'wheat': 1})
    """

    block: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, vocabulary: Mapping[str, int]) -> Self:
        """The terms of a vocabulary, which numbers them 0, 1, 2 …"""
        terms = [term.encode("utf-8", "surrogatepass") for term in sorted(vocabulary, key=vocabulary.__getitem__)]
        ends = np.cumsum([len(term) for term in terms], dtype=np.int64)
        return cls(np.frombuffer(b"".join(terms), dtype=np.uint8), ends)

    def __len__(self) -> int:
        return self.ends.size

    def check(self) -> None:
        """Raise ValueError, with what is wrong, unless these are terms, each once: compiled code goes by them unchecked."""
        block, ends = self.block, self.ends
        for array, dtype in ((block, np.uint8), (ends, np.int64)):
            if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != dtype:
                raise ValueError(f"that is no vector of {np.dtype(dtype)}")
        if (np.diff(ends, prepend=0) < 0).any() or (ends[-1] if ends.size else 0) != block.size:
            raise ValueError("whose terms do not end one after the other")
        starts = ends[ends < block.size]
        try:
            block.tobytes().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise ValueError("that is not UTF-8") from error
        if ((block[starts] & 0xC0) == 0x80).any():
            raise ValueError("whose terms end within a character")
        if self._has_repetition():
            raise ValueError("with a term that stands twice")

    def _has_repetition(self) -> bool:
        """Without an object a term, which would be a hundred times what is written in a file of one letter a million times."""
        lengths = np.diff(self.ends, prepend=0)
        for length in np.unique(lengths).tolist():
            starts = (self.ends - lengths)[lengths == length]
            if length == 0:
                terms = starts
            else:
                letters = np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(self.block, length)[starts])
                terms = letters.view(f"S{length}")
            if np.unique(terms).size < starts.size:
                return True
        return False

    def vocabulary(self) -> dict[str, int]:
        """Term → column."""
        return {term.decode("utf-8", "surrogatepass"): column for column, term in enumerate(self._pieces())}

    def _pieces(self) -> Iterator[bytes]:
        whole = self.block.tobytes()
        return (whole[start:end] for start, end in pairwise([0, *self.ends.tolist()]))
