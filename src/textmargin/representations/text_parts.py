"""Texts in parts: more than fit into memory, each part read when it is asked for, perhaps elsewhere.

Whoever adds a kind of place for texts implements `TextParts` and `Drafts`: `BagOfWords` knows no other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import NotTextError
from .digests import Digests
from .drafts import TermColumns, TermCounts
from .languages import TextSample

if TYPE_CHECKING:
    from ..learners.matrix import BlockMatrix
    from .bow import BagOfWords


class Drafts(ABC):
    """All parts counted, wherever the counts are; `terms` are those of all parts, `sample` is one of all
    texts.
    """

    terms: TermCounts
    sample: TextSample

    @abstractmethod
    def finish(self, columns: TermColumns) -> BlockMatrix:
        """The matrix of all texts: `drafts.finish` of each part. Once; the drafts are gone afterwards."""

    @abstractmethod
    def discard(self) -> None:
        """Let go of the drafts: nobody wants their matrix."""


class TextParts(ABC):
    """Texts in parts, which can be read again and again, and are never all in memory.

    What there is per text (labels, digests) is in memory, once all parts were read: by
    `BagOfWords.fit_transform`, along with the words, or else when it is asked for.
    """

    name: str
    memory: int | None = None  # bytes that work on them should keep to; None: half of the machine's

    @abstractmethod
    def __len__(self) -> int:
        """The number of parts."""

    @abstractmethod
    def read(self, number: int) -> list[str]:
        """The texts of one part, perhaps none."""

    def map_parts(
        self, function: Callable[[list[str], int], Any], numbers: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """`function(texts, number)` of each part, or of some, in order: something small."""
        for number in range(len(self)) if numbers is None else numbers:
            yield function(self.read(number), number)

    @abstractmethod
    def draft(self, words: BagOfWords) -> Drafts:
        """Count the terms of all parts: `words.draft` of each one's texts."""

    @abstractmethod
    def transform(
        self, rows_of: Callable[[list[str]], Any], n_columns: int, n_jobs: int | None = None
    ) -> BlockMatrix:
        """A matrix of all texts, from a function that gives that of a list of texts, not an empty one: CSR in
        canonical form.
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
