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

    def sort(self) -> Terms:
        """In the order of the names."""
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        return Terms([self.names[i] for i in order], self.df[order], self.tf[order], self.n_texts)

    def limit(self, min_df: int | float, max_df: int | float, max_features: int | None) -> Terms:
        """Those that as many texts contain as scikit-learn's `CountVectorizer` would keep; of sorted terms, the same ones."""
        low, high = (bound if isinstance(bound, Integral) else bound * self.n_texts for bound in (min_df, max_df))
        if high < low:
            raise ValueError("max_df corresponds to < documents than min_df")
        columns = np.flatnonzero((self.df >= low) & (self.df <= high))
        if max_features is not None and columns.size > max_features:
            columns = np.sort(columns[np.argsort(-self.tf[columns], kind="stable")[:max_features]])
        return Terms([self.names[i] for i in columns], self.df[columns], self.tf[columns], self.n_texts)


def count_terms(words: bow.BagOfWords, texts: list[str]) -> Terms:
    """The terms of one part."""
    vocabulary, counts = words.count_new_terms(texts)
    if counts is None:
        return Terms([], np.zeros(0, np.int64), np.zeros(0, np.int64), len(texts))
    df = np.bincount(counts.indices, minlength=len(vocabulary))
    tf = np.bincount(counts.indices, counts.data, minlength=len(vocabulary)).astype(np.int64)
    return Terms(list(vocabulary), df, tf, len(texts))


def merge_terms(*parts: Terms) -> Terms:
    """All terms of some parts."""
    place: dict[Any, int] = {}
    numbers = [np.array([place.setdefault(name, len(place)) for name in part.names], dtype=np.intp) for part in parts]
    df, tf = np.zeros(len(place), np.int64), np.zeros(len(place), np.int64)
    for part, where in zip(parts, numbers, strict=True):  # each term once in a part
        df[where] += part.df
        tf[where] += part.tf
    return Terms(list(place), df, tf, sum(part.n_texts for part in parts))
