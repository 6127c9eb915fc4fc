"""The spectrum kernel: texts compared by their contiguous n-grams.

K_n(s, t) = Σ_u count_u(s) · count_u(t),  u over all strings of n symbols; normalised
K(s, t)/√(K(s, s)K(t, t))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from .._sklearn import Interval, StrOptions
from .._system.progress import progress_of
from .._typing import Floats, Indices
from ..records import record
from ._backends import check_result_size
from ._kernel import StringKernel, TextPairs, length_weights
from ._matches import Term
from .encode import Sequences, Tokens, join

_CELLS_AT_ONCE = 2_000_000  # of the matrix product, whose sparse form takes more memory than the result


@record("texts_")
class SpectrumKernel(StringKernel):
    """Similarity of texts by shared n-grams: `SubsequenceKernel` without gaps.

    Parameters
    ----------
    length : int, default=5
        Symbols of an n-gram (n).
    tokens : {"char", "word"} or callable, default="char"
        What the symbols are, as in `SubsequenceKernel`.
    weights : sequence of `length` numbers, default=None
        Compare by Σ weights[i − 1]·K_i; by default by K_length alone.
    normalize : bool, default=True
        Divide by √(K(s, s)K(t, t)), so that a text and itself have similarity 1.
    progress : bool or callable, default=True
        Show a bar on standard error when it takes long; or a function that is told the share done.

    Attributes
    ----------
    texts_ : list
        The texts that `transform` compares with.

    Examples
    --------
    >>> from textmargin import SpectrumKernel
    >>> SpectrumKernel(length=2)(["banana"], ["bandana", "cabana", "dog"]).round(3)
    array([[0.825, 0.745, 0.   ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "length": [Interval(Integral, 1, 256, closed="both")],
        "tokens": [StrOptions({"char", "word"}), callable],
        "weights": ["array-like", None],
        "normalize": ["boolean"],
        "progress": ["boolean", callable],
    }

    def __init__(
        self,
        length: int = 5,
        tokens: Tokens = "char",
        *,
        weights: Sequence[float] | None = None,
        normalize: bool = True,
        progress: bool | Callable[[float], object] = True,
    ) -> None:
        self.length = length
        self.tokens = tokens
        self.weights = weights
        self.normalize = normalize
        self.progress = progress

    def _gram(self, X: Sequences, Y: Sequences | None, symbols: list[Any]) -> Floats:
        counts = self._counts([X] if Y is None else [X, Y])
        return self._product(counts[0], counts[-1])

    def _product(self, rows: sp.csr_matrix, columns: sp.csr_matrix) -> Floats:
        """K of texts whose counts are given."""
        check_result_size(rows.shape[0], columns.shape[0])
        K, columns = np.empty((rows.shape[0], columns.shape[0])), columns.T.tocsc()
        with progress_of(f"Comparing {K.shape[0]:,} × {K.shape[1]:,} texts", self.progress) as report:
            step = max(1, _CELLS_AT_ONCE // max(1, K.shape[1]))
            for start in range(0, K.shape[0], step):
                K[start : start + step] = (rows[start : start + step] @ columns).toarray()
                if report:
                    report(min(1.0, (start + step) / K.shape[0]))
        return np.minimum(K, 1.0, out=K) if self.normalize else K  # above 1 by rounding only

    def _pairs(self, texts: list[Any], encoded: Sequences, symbols: list[Any]) -> TextPairs:
        return _SpectrumPairs(self, texts, encoded, symbols)

    def _settings(self) -> dict[str, Any]:
        weights = length_weights(self.weights, self.length)
        return {
            "weights": (weights / weights[-1] if self.normalize else weights).tolist(),
            "normalize": bool(self.normalize),
        }

    def _diagonal(self, X: Sequences, symbols: list[Any]) -> Floats:
        (counts,) = self._counts([X])
        return np.asarray(counts.multiply(counts).sum(axis=1)).ravel()

    def _counts(self, corpora: list[Sequences]) -> list[sp.csr_matrix]:
        """Per corpus the counts of n-grams times the root of their length's weight, in rows of unit length if
        asked.
        """
        weights = length_weights(self.weights, self.length)
        ends = np.cumsum([len(texts) for texts in corpora])[:-1]
        texts = corpora[0] if len(corpora) == 1 else join(corpora)
        lengths = (1 + np.flatnonzero(weights > 0)).tolist()
        blocks = [np.sqrt(weights[length - 1]) * ngram_counts(texts, length)[0] for length in lengths]
        counts = sp.csr_matrix(sp.hstack(blocks, format="csr"))
        counts = _unit_rows(counts) if self.normalize else counts
        return (
            [counts[rows] for rows in np.split(np.arange(counts.shape[0]), ends)] if ends.size else [counts]
        )


class _SpectrumPairs(TextPairs):
    """Texts are counted once."""

    kernel: SpectrumKernel

    def __init__(
        self, kernel: StringKernel, texts: list[Any], encoded: Sequences, symbols: list[Any]
    ) -> None:
        super().__init__(kernel, texts, encoded, symbols)
        (self.counts,) = self.kernel._counts([encoded])

    def block(self, rows: Indices, columns: Indices | None = None) -> Floats:
        return self.kernel._product(self.counts[rows], self.counts[rows if columns is None else columns])

    def _terms(self, x: Sequences, symbols: list[Any]) -> Iterator[Term]:
        weights = length_weights(self.kernel.weights, self.kernel.length)
        scale = np.ones(len(self))
        if self.kernel.normalize:
            raw = clone(self.kernel).set_params(normalize=False)
            squares = raw._diagonal(x, symbols) * raw.diag(self.texts)
            scale = np.divide(1.0, np.sqrt(squares), out=np.zeros(len(self)), where=squares > 0)
        for length in (1 + np.flatnonzero(weights)).tolist():
            yield Term(length, 0.0, weights[length - 1] * scale, _amounts)

    def _gap_costs(self, symbols: list[Any]) -> Floats:
        return np.ones(len(symbols))


def _amounts(texts: Sequences, ngrams: NDArray[np.int32]) -> Floats:
    """How often each text has each n-gram."""
    column = {tuple(ngram): k for k, ngram in enumerate(ngrams.tolist())}
    counts = np.zeros((len(texts), len(ngrams)))
    for i in range(len(texts)):
        codes = texts.text(i).tolist()
        for found in zip(*(codes[k:] for k in range(ngrams.shape[1])), strict=False):
            if found in column:
                counts[i, column[found]] += 1
    return counts


def count_ngrams(texts: Sequences, length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each n-gram occurs in all texts together, and a place where it starts, in the order of first
    places.
    """
    counts, places = ngram_counts(texts, length)
    return np.bincount(counts.indices, counts.data, minlength=places.size).astype(np.int64), places


def ngram_counts(texts: Sequences, length: int) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
    """How often each text has each n-gram, in columns in the order of first places; and these places."""
    from .. import core

    indptr, indices, data, places = core.count_ngrams(texts.codes, texts.starts, length)
    return sp.csr_matrix((data, indices, indptr), shape=(len(texts), places.size)), places


def _unit_rows(X: sp.csr_matrix) -> sp.csr_matrix:
    """Rows of length 1; empty ones stay empty."""
    sizes = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags(np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)) @ X)
