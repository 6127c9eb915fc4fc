"""Texts in parts: more than fit into memory, each part read when it is asked for, perhaps elsewhere.

Whoever adds a kind of place for texts implements `TextParts`: `BagOfWords` knows no other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import NotTextError
from .digests import Digests
from .term_counts import PartCounts

if TYPE_CHECKING:
    from ..learners.matrix import BlockMatrix


class TextParts(ABC):
    """Texts in parts, which can be read again and again, and are never all in memory.

    What there is per text (labels, digests) is in memory.
    """

    name: str
    memory: int | None = None  # bytes that work on them should keep to; None: half of the machine's

    @abstractmethod
    def __len__(self) -> int:
        """The number of parts."""

    @abstractmethod
    def read(self, number: int) -> list[str]:
        """The texts of one part, perhaps none."""

    @abstractmethod
    def map_parts(
        self, function: Callable[[list[str], int], Any], numbers: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """`function(texts, number)` of each part, or of some, in order."""

    @abstractmethod
    def count(self, count: Callable[[list[str], int], PartCounts]) -> PartCounts:
        """`count(texts, number)` of all parts, merged."""

    @abstractmethod
    def transform(
        self,
        rows_of: Callable[[list[str]], Any],
        n_columns: int,
        n_jobs: int | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> BlockMatrix:
        """A matrix of all texts, from a function that gives that of a list of texts, not an empty one: CSR in
        canonical form. A run that was interrupted with the same settings may have it already.
        """

    @property
    @abstractmethod
    def n_texts(self) -> int:
        """Of all parts."""

    @property
    @abstractmethod
    def labels(self) -> Sequence[Any] | None:
        """A name, or a tuple of names, per text; None where the texts have no labels."""

    @property
    @abstractmethod
    def digests(self) -> Digests:
        """Of each text, as `text_digests` gives them."""


_MAKERS: dict[str, Callable[[Any], TextParts]] = {}  # by an attribute that collections of a library have


def register_collections(attribute: str, maker: Callable[[Any], TextParts]) -> None:
    """Say how collections of another library, which have this attribute, are texts in parts."""
    _MAKERS[attribute] = maker


def as_parts(texts: Any) -> Any:
    """Collections of other libraries as `TextParts`; anything else as it is."""
    for attribute, maker in _MAKERS.items():
        if hasattr(texts, attribute):
            return maker(texts)
    if hasattr(texts, "__dask_graph__"):
        raise NotTextError(
            f"{type(texts).__name__} is a collection of Dask, which textmargin.scale reads: import it first."
        )
    return texts
