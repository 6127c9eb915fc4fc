"""The terms of all texts and how many contain each, by merging what is found in each part."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..representations import bow


@dataclass(frozen=True)
class Terms:
    """Terms, in no order, with the number of texts that contain each (df) and of times that it occurs (tf)."""

    names: list[Any]
    df: NDArray[np.int64]
    tf: NDArray[np.int64]
    n_texts: int

    def sorted(self) -> Terms:
        """In the order of the names."""
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        return Terms([self.names[i] for i in order], self.df[order], self.tf[order], self.n_texts)

    def limited(self, min_df: int | float, max_df: int | float, max_features: int | None) -> Terms:
        """Those that as many texts contain as scikit-learn's `CountVectorizer` would keep; of sorted terms, the same ones."""
        low, high = (share if isinstance(share, Integral) else share * self.n_texts for share in (min_df, max_df))
        if high < low:
            raise ValueError("max_df corresponds to < documents than min_df")
        kept = np.flatnonzero((self.df >= low) & (self.df <= high))
        if max_features is not None and kept.size > max_features:
            kept = np.sort(kept[np.argsort(-self.tf[kept], kind="stable")[:max_features]])
        return Terms([self.names[i] for i in kept], self.df[kept], self.tf[kept], self.n_texts)


def terms_of(words: bow.BagOfWords, texts: list[str]) -> Terms:
    """The terms of one part."""
    try:
        vocabulary, counts = words._count_vocab(texts, False) if texts else ({}, None)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        vocabulary, counts = {}, None
    if counts is None:
        return Terms([], np.zeros(0, np.int64), np.zeros(0, np.int64), len(texts))
    df = np.bincount(counts.indices, minlength=len(vocabulary))
    tf = np.bincount(counts.indices, counts.data, minlength=len(vocabulary)).astype(np.int64)
    return Terms(list(vocabulary), df, tf, len(texts))


def merged(*parts: Terms) -> Terms:
    """All terms of some parts."""
    place: dict[Any, int] = {}
    numbers = [np.array([place.setdefault(name, len(place)) for name in part.names], dtype=np.intp) for part in parts]
    df, tf = np.zeros(len(place), np.int64), np.zeros(len(place), np.int64)
    for part, where in zip(parts, numbers, strict=True):  # each term once in a part
        df[where] += part.df
        tf[where] += part.tf
    return Terms(list(place), df, tf, sum(part.n_texts for part in parts))
