"""Explicit maps of string kernels over partitioned texts, so that these kernels reach millions of documents.

Fitting looks for few things in many texts: the most frequent substrings, counted part by part and added up, or the texts that
serve as landmarks. Both are those of the in-memory classes, whatever the partitioning. Mapping is each part's own work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed, delayed
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from .._sklearn import fit_context
from .._typing import Indices
from ..errors import EmptyVocabularyError, NotTextError
from ..representations import features
from ..representations.features import alignment_rows
from ..representations.strings import SubsequenceKernel
from ._blocks import Blocks
from ._client import broadcast_pickled, client
from ._parts import is_partitioned, text_parts
from ._substrings import most_frequent

_MOST_SHUFFLED = 20_000_000  # texts; a permutation of them takes 160 MB


class SubsequenceFeatures(features.SubsequenceFeatures):
    """Columns for the most frequent substrings, as in memory, of texts in a Dask bag or a text column of a Dask dataframe.

    Substrings, counts and their order are those that `textmargin.SubsequenceFeatures` finds in the same texts: substrings are
    dealt out by hash, so that no worker has to hold all that occur. Parameters and attributes are those of that class; given
    lists of texts, it is that class.

    Examples
    --------
    >>> import dask.bag as db
    >>> from distributed import Client
    >>> from textmargin import scale
    >>> with Client(n_workers=1, processes=False, dashboard_address=None):
    ...     texts = db.from_sequence(["banana", "bandana"], npartitions=2)
    ...     features = scale.SubsequenceFeatures(length=2, n_features=3, norm=None).fit(texts)
    ...     print(features.transform(texts).compute().shape)
    (2, 3)
    >>> features.get_feature_names_out()
    array(['an', 'na', 'ba'], dtype=object)
    """

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the substrings."""
        if not is_partitioned(X):
            return super().fit(X, y)
        parts = text_parts(X)
        substrings, counts, sizes = most_frequent(parts, self.tokens, self.length, self.n_features)
        if not substrings:
            raise EmptyVocabularyError(f"No text has {self.length} symbols; use a smaller length than length={self.length}.")
        self._strings = self.tokens == "char"
        self.substrings_, self.counts_ = substrings, counts
        unit = self.norm == "l2"
        exact = SubsequenceKernel(self.length, self.decay, self.tokens, normalize=unit, n_jobs=self.n_jobs, progress=False)
        self.alignment_ = self._alignment(exact, texts_at(parts, sizes, alignment_rows(sum(sizes))))
        return self

    def transform(self, X: Any) -> Any:
        """The columns (n_texts, n_features): `Blocks`, a part for each part of the texts; of a list of texts a matrix."""
        if not is_partitioned(X):
            return super().transform(X)
        check_is_fitted(self)
        return _map_parts(self.in_memory().set_params(progress=False), X, len(self.substrings_))

    def in_memory(self) -> features.SubsequenceFeatures:
        """The same, as the class of `textmargin`: what is saved."""
        return _plain(features.SubsequenceFeatures, self)


class KernelLandmarks(features.KernelLandmarks):
    """Columns from a kernel's values at some texts (Nyström), of texts in a Dask bag or a text column of a Dask dataframe.

    The landmarks are the texts that `textmargin.KernelLandmarks` draws with the same `random_state`, whatever the partitioning
    (of more than 20 million texts, which do not fit into memory, others). Parameters and attributes are those of that class;
    given lists of texts, it is that class.

    Examples
    --------
    >>> import dask.bag as db
    >>> from distributed import Client
    >>> from textmargin import SubsequenceKernel, scale
    >>> texts = ["cheap pills", "cheep pils", "lunch at noon", "lunch at one"]
    >>> with Client(n_workers=1, processes=False, dashboard_address=None):
    ...     landmarks = scale.KernelLandmarks(SubsequenceKernel(2), n_landmarks=3, random_state=0)
    ...     print(landmarks.fit_transform(db.from_sequence(texts, npartitions=2)).compute().shape)
    (4, 3)
    """

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks."""
        if not is_partitioned(X):
            return super().fit(X, y)
        parts = text_parts(X)
        sizes = client().gather(client().compute([delayed(len)(part) for part in parts]))
        if sum(sizes) == 0:
            raise NotTextError("There are no texts to choose landmarks from: all parts are empty.")
        chosen, sample = self._draw(sum(sizes)), alignment_rows(sum(sizes))
        texts = texts_at(parts, sizes, np.concatenate([chosen, sample]))
        super().fit(texts[: chosen.size])  # all of them: as many as there are landmarks
        self.alignment_ = self._alignment(self.kernel_, texts[chosen.size :])
        return self

    def transform(self, X: Any) -> Any:
        """The columns (n_texts, n_columns): `Blocks`, a part for each part of the texts; of a list of texts a matrix."""
        if not is_partitioned(X):
            return super().transform(X)
        check_is_fitted(self)
        plain = self.in_memory()
        if "progress" in getattr(plain.kernel_, "get_params", dict)():
            plain.kernel_ = clone(plain.kernel_).set_params(progress=False)
        return _map_parts(plain, X, self._n_features_out)

    def in_memory(self) -> features.KernelLandmarks:
        """The same, as the class of `textmargin`: what is saved."""
        return _plain(features.KernelLandmarks, self)

    def _draw(self, n_texts: int) -> Indices:
        """The rows of the landmarks."""
        rng = check_random_state(self.random_state)
        if n_texts > _MOST_SHUFFLED:
            return np.sort(sample_without_replacement(n_texts, self.n_landmarks, random_state=rng))
        return np.sort(rng.permutation(n_texts)[: self.n_landmarks])


def texts_at(parts: Sequence[Delayed], sizes: Sequence[int], rows: Indices) -> list[str]:
    """The texts of some rows, of all parts together; parts without any are not read."""
    ends = np.cumsum(sizes)
    part = np.searchsorted(ends, rows, side="right")
    wanted = np.unique(part).tolist()
    take = delayed(_take, pure=False)
    tasks = [take(parts[i], (rows[part == i] - (ends[i] - sizes[i])).tolist()) for i in wanted]
    texts = np.empty(rows.size, dtype=object)
    for i, some in zip(wanted, client().gather(client().compute(tasks)), strict=True):
        texts[part == i] = some
    return list(texts)


def _map_parts(model: Any, X: Any, n_columns: int) -> Blocks:
    """Each part of the texts mapped; the model is one task, which each worker gets once."""
    shared, task = broadcast_pickled(model), delayed(_map_part, pure=False)
    return Blocks([task(shared, part, n_columns) for part in text_parts(X)], n_columns)


def _map_part(model: Any, texts: list[str], n_columns: int) -> Any:
    if not texts:
        return sp.csr_matrix((0, n_columns)) if getattr(model, "sparse_output", False) else np.empty((0, n_columns))
    return model.transform(texts)


def _take(texts: list[str], rows: list[int]) -> list[str]:
    return [texts[row] for row in rows]


def _plain(cls: Any, fitted: Any) -> Any:
    plain = cls(**fitted.get_params(deep=False))
    vars(plain).update(vars(fitted))
    return plain
