"""Texts in parts beside texts without labels: those that fit into memory are learnt from there, as in memory.

What unlabelled texts say is weighed against labels by many small fits, which is work for memory. The labelled
texts are all taken, and of the others a random sample, the same for the same texts.
"""

from __future__ import annotations

import heapq
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ._system.memory import machine_memory
from ._typing import Bools
from .errors import TextmarginWarning
from .representations.text_parts import TextParts

# Bytes of memory that learning takes for each character of a text, and for each text beside it.
PER_CHARACTER, PER_TEXT = 12, 500


@dataclass(frozen=True)
class GatheredTexts:
    """The labelled texts, those without a label that fit beside them, and how many of these there are."""

    labelled: list[str]
    unlabelled: list[str]
    n_unlabelled: int


def available_memory(texts: object) -> int:
    """In bytes: as much as the texts in parts say, else half of the machine's."""
    own = getattr(texts, "memory", None)
    return machine_memory() // 2 if own is None else int(own)


def gather(
    texts: list[str] | TextParts, labelled: Bools, others: list[str] | TextParts, memory: int
) -> GatheredTexts | None:
    """What fits into so many bytes; None where not even the labelled texts do."""
    own: list[str] = []
    sample = _Sample(memory)
    for text, has_label in zip(_each(texts), labelled.tolist(), strict=True):
        if not has_label:
            sample.add(text)
            continue
        own.append(text)
        sample.shrink(sample.capacity - _size(text))
        if sample.capacity < 0:
            return None
    for text in _each(others):
        sample.add(text)
    return GatheredTexts(own, sample.texts, sample.n_texts)


def warn_of_sample(pool: GatheredTexts | None) -> None:
    """That not all texts without a label are learnt from."""
    if pool is None:
        message = "Texts without a label are left aside: the labelled ones alone do not fit into memory."
    else:
        which = f"{len(pool.unlabelled):,} of {pool.n_unlabelled:,} texts without a label are learnt from"
        message = f"{which}, drawn at random: more do not fit into memory."
    warnings.warn(message, TextmarginWarning, stacklevel=5)


@dataclass
class _Sample:
    """Texts of no more than so many bytes, every one as likely as another: those of the smallest random
    numbers.
    """

    capacity: int
    n_texts: int = 0
    _size: int = 0
    _heap: list[tuple[float, int, str]] = field(default_factory=list)  # the largest number first: negated
    _rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def add(self, text: str) -> None:
        heapq.heappush(self._heap, (-self._rng.random(), self.n_texts, text))
        self.n_texts += 1
        self._size += _size(text)
        self.shrink(self.capacity)

    def shrink(self, capacity: int) -> None:
        self.capacity = capacity
        while self._heap and self._size > capacity:
            self._size -= _size(heapq.heappop(self._heap)[2])

    @property
    def texts(self) -> list[str]:
        """In their order."""
        return [text for _, text in sorted((number, text) for _, number, text in self._heap)]


def _size(text: str) -> int:
    return PER_CHARACTER * len(text) + PER_TEXT


def _each(texts: list[str] | TextParts) -> Iterator[str]:
    parts: Iterable[list[str]] = (
        map(texts.read, range(len(texts))) if isinstance(texts, TextParts) else [texts]
    )
    for part in parts:
        yield from part
