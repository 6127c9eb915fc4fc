"""Terms in the order of their columns, in four forms, each made when it is asked for: bytes, names, a
mapping, compiled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..records import record
from ._analysis import Analysis, encode

if TYPE_CHECKING:
    from .. import core


@record()
class Vocabulary:
    """The terms of a vectoriser.

    Parameters
    ----------
    block : array of bytes
        All terms in UTF-8, one behind the other, in the order of columns.
    ends : array (n_terms,)
        Where each ends.

    Examples
    --------
    >>> from textmargin.representations._vocabulary import Vocabulary
    >>> Vocabulary.of(["corn", "wheat"]).mapping
    {'corn': 0, 'wheat': 1}
    """

    def __init__(self, block: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self._block: tuple[NDArray[np.uint8], NDArray[np.int64]] | None = (block, ends)
        self._compiled: tuple[Analysis, core.Terms] | None = None
        self._size = ends.size

    def to_record(self) -> dict[str, Any]:
        """The bytes of all terms, and where each ends."""
        block, ends = self.block
        return {"block": block, "ends": ends}

    @classmethod
    def of(cls, terms: Sequence[str] | Mapping[str, int]) -> Vocabulary:
        """Terms in the order of columns, or with their columns, 0, 1, …"""
        names = sorted(terms, key=terms.__getitem__) if isinstance(terms, Mapping) else list(terms)
        encoded = [encode(name) for name in names]
        ends = np.cumsum([len(term) for term in encoded], dtype=np.int64)
        own = cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends)
        own.__dict__["names"] = names
        return own

    @classmethod
    def from_compiled(cls, analysis: Analysis, terms: core.Terms, n_terms: int) -> Vocabulary:
        """What compiled code learnt; of terms that were loaded into it, it has no names."""
        own = cls.__new__(cls)
        own._block, own._compiled, own._size = None, (analysis, terms), n_terms
        return own

    def __reduce__(self) -> Any:
        return type(self), self.block

    def __len__(self) -> int:
        return self._size

    @property
    def block(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The bytes of all terms, and where each ends."""
        if self._block is None:
            assert self._compiled is not None
            self._block = self._compiled[1].block()
        return self._block

    @cached_property
    def names(self) -> list[str]:
        """The terms."""
        from .. import core

        return core.decode_terms(*self.block)

    @cached_property
    def mapping(self) -> dict[str, int]:
        """The column of each term."""
        return dict(zip(self.names, range(self._size), strict=True))

    def compile(self, analysis: Analysis) -> core.Terms:
        """The terms to be looked up in texts."""
        if self._compiled is None or self._compiled[0] != analysis:
            terms = analysis.compile()
            terms.load(*self.block)
            self._compiled = (analysis, terms)
        return self._compiled[1]
