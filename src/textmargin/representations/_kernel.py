"""What all string kernels have in common: texts in, a kernel matrix out."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._sklearn import fit_context, validate_params
from .._ties import descending_order
from .._typing import Floats, Indices
from ..errors import NotTextError
from ._matches import Match, Share, Term, largest, mark_gaps, tightest
from .encode import Sequences, Tokens, digests, encode, split
from .texts import as_items

# to be raised when the same settings give other values, so that kept ones are not mixed with them
_VALUES_VERSION = 1


def length_weights(weights: Sequence[float] | None, length: int) -> Floats:
    """The weight of each length from 1, checked, without zeros at the end; by default the last length alone
    counts.
    """
    if weights is None:
        return np.append(np.zeros(length - 1), 1.0)
    found = np.asarray(weights, dtype=np.float64)
    if found.shape != (length,):
        raise ValueError(
            f"weights must have one number for each length from 1 to length={length}; got "
            f"{np.size(found)} of them."
        )
    positive = found[found > 0]
    if (
        not np.isfinite(found).all()
        or (found < 0).any()
        or positive.size == 0
        or positive.max() > 1e6 * positive.min()
    ):
        raise ValueError(
            f"weights must be finite, not negative, not all 0, and within a factor of a million; got {found}."
        )
    return np.trim_zeros(found, "b")


def no_texts() -> NotTextError:
    """Where a list is empty."""
    return NotTextError("There are no texts to compare: the list is empty.")


class TextPairs:
    """A string kernel over a list of texts, which are encoded once; values are computed on demand."""

    def __init__(
        self, kernel: StringKernel, texts: list[Any], encoded: Sequences, symbols: list[Any]
    ) -> None:
        self.kernel = kernel
        self.texts = texts
        self.encoded = encoded
        self.symbols = symbols

    def __len__(self) -> int:
        return len(self.texts)

    @abstractmethod
    def block(self, rows: Indices, columns: Indices | None = None) -> Floats:
        """K between the texts of these numbers."""

    def take(self, rows: Indices) -> TextPairs:
        """Some of the texts."""
        return self.kernel.over([self.texts[i] for i in rows])

    def versus(self, X: Any) -> Floats:
        """K of other texts with these, (n_X, n_texts)."""
        return self.kernel(X, self.texts)

    @property
    def on_device(self) -> bool:
        """Whether a GPU compares these texts."""
        return False

    def matches(self, text: Any, coefficients: Floats, n: int) -> tuple[list[Match], float]:
        """The n subsequences that add most to Σ coefficients·K(text, these texts), and what all others
        add.
        """
        (x, others), symbols = self.kernel._encode([[text], self.texts])
        similarities = self.versus([text])[0]
        found = [
            share
            for term in self._terms(x, symbols)
            for share in largest(term, x, others, coefficients, similarities)
            if share.value != 0
        ]
        found = [found[i] for i in descending_order([abs(share.value) for share in found])[:n]]
        rest = float(coefficients @ similarities) - sum(share.value for share in found)
        costs = self._gap_costs(symbols)
        return [self._match(share, text, x, others, symbols, costs) for share in found], rest

    def _match(
        self, share: Share, text: Any, x: Sequences, others: Sequences, symbols: list[Any], costs: Floats
    ) -> Match:
        """A share, with where it stands."""
        spellings = [split(self.kernel.tokens, [item])[0] for item in (text, self.texts[share.other])]
        here, there = (tightest(codes, share.u, costs) for codes in (x.codes, others.text(share.other)))
        names = tuple(symbols[code] for code in share.u)
        return Match(
            symbols="".join(names) if isinstance(spellings[0], str) else names,
            value=share.value,
            places=here,
            other=share.other,
            other_places=there,
            shown=mark_gaps(spellings[0], here),
            other_shown=mark_gaps(spellings[1], there),
        )

    @abstractmethod
    def _terms(self, x: Sequences, symbols: list[Any]) -> Iterator[Term]:
        """The lengths of subsequences that make the kernel of x and these texts."""

    @abstractmethod
    def _gap_costs(self, symbols: list[Any]) -> Floats:
        """What skipping each symbol costs, to be added up."""

    def identity(self) -> str:
        """All of the kernel's settings that its values depend on. How texts are split is told by their
        digests.
        """
        return json.dumps(
            [type(self.kernel).__name__, _VALUES_VERSION, self.kernel._settings()], sort_keys=True
        )

    def digests(self) -> list[bytes]:
        """A name for the symbols of each text."""
        return digests(self.kernel.tokens, self.texts)


class StringKernel(TransformerMixin, BaseEstimator):
    """A kernel on texts: `k(X)`, `k(X, Y)`, `k.diag(X)`; also a transformer to the kernel matrix against the
    fitted texts.
    """

    tokens: Tokens

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """The kernel matrix (n_X, n_Y); of X with itself where Y is left out or is X.

        Parameters
        ----------
        X, Y : lists, arrays or columns of strings, or of lists of tokens
        """
        validate_params(self)
        corpora = [X] if Y is None or Y is X else [X, Y]
        encoded, symbols = self._encode(corpora)
        return self._gram(encoded[0], encoded[1] if len(encoded) > 1 else None, symbols)

    def diag(self, X: Any) -> Floats:
        """K(x, x) of each text, without the rest of the matrix."""
        validate_params(self)
        (encoded,), symbols = self._encode([X])
        return self._diagonal(encoded, symbols)

    items = staticmethod(as_items)

    def over(self, X: Any) -> TextPairs:
        """The kernel of these texts, computed a block at a time: `k.over(X).block(rows, columns)`."""
        validate_params(self)
        texts = as_items(X)
        (encoded,), symbols = self._encode([texts])
        return self._pairs(texts, encoded, symbols)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the texts that others are to be compared with."""
        self._fitted = self.over(X)
        self.texts_ = self._fitted.texts
        return self

    def transform(self, X: Any) -> Floats:
        """The kernel matrix (n_texts, n_fitted_texts), for learners with `kernel="precomputed"`."""
        check_is_fitted(self)
        return self._fitted.versus(X)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Floats:
        """The kernel matrix of the texts with themselves, which are kept."""
        self.fit(X)
        return self._fitted.block(np.arange(len(self.texts_)))

    def _encode(self, corpora: list[Any]) -> tuple[list[Sequences], list[Any]]:
        encoded, symbols = encode(self.tokens, *corpora)
        if any(len(texts) == 0 for texts in encoded):
            raise no_texts()
        return encoded, symbols

    @cached_property
    def _fitted(self) -> TextPairs:
        """The fitted texts, ready to be compared; a file has the texts alone."""
        return self.over(self.texts_)

    @abstractmethod
    def _gram(self, X: Sequences, Y: Sequences | None, symbols: list[Any]) -> Floats:
        """The kernel matrix of encoded texts."""

    @abstractmethod
    def _diagonal(self, X: Sequences, symbols: list[Any]) -> Floats:
        """Its diagonal."""

    @abstractmethod
    def _pairs(self, texts: list[Any], encoded: Sequences, symbols: list[Any]) -> TextPairs:
        """What is prepared once for all blocks."""

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """The settings that values depend on, but for `tokens`, as JSON knows them."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags
