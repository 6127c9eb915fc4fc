"""Explicit maps: texts to columns whose inner products approximate a string kernel, for linear learners on
many texts.

`SubsequenceFeatures`. For a string u of n symbols, φ_u(x) = K_n(x, u)/λⁿ adds up λ^(stretch) over the places
where u occurs in x, gaps allowed. Over all u the inner product of φ is K_n exactly; here u runs over the most
frequent contiguous ones.

`KernelLandmarks` (Nyström). With L some of the texts, φ(x) = K(x, L)·U·D^(−½) where K(L, L) = U·D·U': exact
on L.

How well either stands for the exact kernel is told by their alignment, ⟨K, K̂⟩/(‖K‖‖K̂‖) with Frobenius
products, 1 at best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.preprocessing import normalize
from sklearn.utils import Tags, check_random_state
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from .._sklearn import Interval, StrOptions, fit_context
from .._system.progress import progress_of
from .._typing import Floats, Indices
from ..errors import EmptyVocabularyError, NotTextError
from ..records import record
from ._substrings import most_frequent, part_sizes, texts_at
from .encode import Tokens, encode
from .spectrum import count_ngrams
from .strings import LEAST_DECAY, SubsequenceKernel
from .text_parts import TextParts, as_parts
from .texts import as_items

_ROWS_AT_ONCE = 512
_ALIGNMENT_TEXTS = 100  # texts on which the alignment is taken
_MOST_SHUFFLED = 20_000_000  # texts; a permutation of them takes 160 MB


def kernel_alignment(K: ArrayLike, L: ArrayLike) -> float:
    """How alike two kernel matrices are: the cosine between them as vectors.

    Examples
    --------
    >>> from textmargin import kernel_alignment
    >>> round(kernel_alignment([[1, 0.5], [0.5, 1]], [[1, 0.4], [0.4, 1]]), 4)
    0.9965
    """
    K, L = np.asarray(K, dtype=np.float64), np.asarray(L, dtype=np.float64)
    size = np.linalg.norm(K) * np.linalg.norm(L)
    return float(np.sum(K * L) / size) if size > 0 else 0.0


def _alignment_rows(sizes: Sequence[int]) -> Indices:
    """The rows of the texts on which alignments are taken."""
    n_texts = sum(sizes)
    return np.linspace(0, n_texts - 1, min(_ALIGNMENT_TEXTS, n_texts)).astype(np.intp)


class _TextMap(TransformerMixin, BaseEstimator):
    """A transformer of texts."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _alignment(self, kernel: Callable[[list[Any]], Floats], texts: list[Any]) -> float:
        """With a kernel, on some texts."""
        mapped = self.transform(texts)
        product = mapped @ mapped.T
        return kernel_alignment(kernel(texts), product.toarray() if sp.issparse(product) else product)


@record("substrings_ counts_ alignment_ _strings")
class SubsequenceFeatures(_TextMap):
    """Columns for the most frequent substrings, filled by all their occurrences with gaps:
    `SubsequenceKernel` made explicit.

    Parameters
    ----------
    length : int, default=3
        Symbols of a substring (n).
    decay : float from 1e-6 to 1, default=0.5
        What each symbol that an occurrence spans counts (λ).
    n_features : int, default=200
        How many substrings, the most frequent ones.
    tokens : {"char", "word"} or callable, default="char"
        What the symbols are, as in `SubsequenceKernel`.
    norm : {"l2", None}, default="l2"
        Whether rows have unit length, as the normalised kernel wants.
    sparse_output : bool, default=False
        Give a sparse matrix; worth it for words, where most entries are 0.
    n_jobs : int, default=None
        Threads; None: all cores.
    progress : bool or callable, default=True
        Show a bar on standard error when it takes long; or a function that is told the share done.

    Attributes
    ----------
    substrings_ : list
        Strings, or tuples of tokens, most frequent first.
    counts_ : array (n_features,)
        How often each occurs, contiguous, in the texts fitted on.
    alignment_ : float
        With the exact kernel, on a sample of the texts fitted on.

    Examples
    --------
    >>> from textmargin import SubsequenceFeatures
    >>> features = SubsequenceFeatures(length=2, n_features=3, norm=None).fit(["banana", "bandana"])
    >>> features.get_feature_names_out()
    array(['an', 'na', 'ba'], dtype=object)
    >>> features.transform(["ban"])
    array([[0.25, 0.  , 0.25]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "length": [Interval(Integral, 1, 256, closed="both")],
        "decay": [Interval(Real, LEAST_DECAY, 1, closed="both")],
        "n_features": [Interval(Integral, 1, None, closed="left")],
        "tokens": [StrOptions({"char", "word"}), callable],
        "norm": [StrOptions({"l2"}), None],
        "sparse_output": ["boolean"],
        "n_jobs": [Integral, None],
        "progress": ["boolean", callable],
    }

    def __init__(
        self,
        length: int = 3,
        decay: float = 0.5,
        n_features: int = 200,
        tokens: Tokens = "char",
        *,
        norm: str | None = "l2",
        sparse_output: bool = False,
        n_jobs: int | None = None,
        progress: bool | Callable[[float], object] = True,
    ) -> None:
        self.length = length
        self.decay = decay
        self.n_features = n_features
        self.tokens = tokens
        self.norm = norm
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs
        self.progress = progress

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the substrings."""
        self.substrings_: list[Any]
        self.counts_: NDArray[np.int64]
        texts = as_parts(X)
        texts = texts if isinstance(texts, TextParts) else as_items(texts)
        found = (
            self._most_frequent_in_parts(texts)
            if isinstance(texts, TextParts)
            else self._most_frequent(texts)
        )
        self.substrings_, self.counts_, sizes = found
        if not self.substrings_:
            raise EmptyVocabularyError(
                f"No text has {self.length} symbols; use a smaller length than length={self.length}."
            )
        unit = self.norm == "l2"
        exact = SubsequenceKernel(
            self.length, self.decay, self.tokens, normalize=unit, n_jobs=self.n_jobs, progress=False
        )
        self.alignment_ = self._alignment(exact, texts_at(texts, sizes, _alignment_rows(sizes)))
        return self

    def _most_frequent(self, texts: list[Any]) -> tuple[list[Any], NDArray[np.int64], list[int]]:
        """The substrings, how often each occurs, and the number of texts."""
        (sequences,), symbols = encode(self.tokens, texts)
        counts, starts = count_ngrams(sequences, self.length)
        order = np.argsort(-counts, kind="stable")[: self.n_features]
        found: list[Any] = [
            tuple(symbols[code] for code in sequences.codes[at : at + self.length]) for at in starts[order]
        ]
        self._strings = self.tokens == "char" and bool(texts) and isinstance(texts[0], str)
        return ["".join(u) for u in found] if self._strings else found, counts[order], [len(texts)]

    def _most_frequent_in_parts(self, parts: TextParts) -> tuple[list[Any], NDArray[np.int64], list[int]]:
        self._strings = self.tokens == "char"
        return most_frequent(parts, self.tokens, self.length, self.n_features)

    def transform(self, X: Any) -> Any:
        """The columns (n_texts, n_features); of texts in parts a `BlockMatrix`."""
        check_is_fitted(self)
        X = as_parts(X)
        if isinstance(X, TextParts):
            return X.transform(partial(_map_part, _copy(self, progress=False)), len(self.substrings_))
        texts = as_items(X)
        kernel = SubsequenceKernel(
            self.length, self.decay, self.tokens, normalize=False, n_jobs=self.n_jobs, progress=False
        )
        # As lists of symbols, unless texts are strings of characters: a function of texts is not one of
        # substrings.
        substrings = self.substrings_ if self._strings else [list(u) for u in self.substrings_]
        parts = []
        with progress_of(f"Mapping {len(texts):,} texts", self.progress) as report:
            for start in range(0, max(len(texts), 1), _ROWS_AT_ONCE):
                block = kernel(texts[start : start + _ROWS_AT_ONCE], substrings) / self.decay**self.length
                block = normalize(block, copy=False) if self.norm else block
                parts.append(sp.csr_matrix(block) if self.sparse_output else block)
                if report:
                    report(min(1.0, (start + _ROWS_AT_ONCE) / len(texts)))
        return sp.csr_matrix(sp.vstack(parts, format="csr")) if self.sparse_output else np.vstack(parts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The substrings; tokens joined by spaces."""
        check_is_fitted(self)
        return np.array(
            [u if isinstance(u, str) else " ".join(map(str, u)) for u in self.substrings_], dtype=object
        )


@record("kernel_ landmarks_ map_ alignment_")
class KernelLandmarks(ClassNamePrefixFeaturesOutMixin, _TextMap):
    """Columns from a kernel's values at some texts, so that inner products stand for the kernel (Nyström's
    method).

    Parameters
    ----------
    kernel : kernel on texts, default=None
        `SubsequenceKernel()` by default; any function k(X, Y) of two lists of texts will do.
    n_landmarks : int, default=100
        Texts to take the kernel at: more are nearer to the exact kernel, and slower.
    random_state : int, RandomState or None, default=None
        Which texts.

    Attributes
    ----------
    kernel_ : kernel
        The kernel that is used.
    landmarks_ : list
        The texts.
    map_ : array (n_landmarks, n_columns)
        From the kernel's values at them to the columns.
    alignment_ : float
        With the exact kernel, on a sample of the texts fitted on.

    Examples
    --------
    >>> from textmargin import KernelLandmarks, SubsequenceKernel
    >>> texts = ["cheap pills", "cheep pils", "lunch at noon", "lunch at one"]
    >>> landmarks = KernelLandmarks(SubsequenceKernel(2), n_landmarks=3, random_state=0)
    >>> landmarks.fit_transform(texts).shape
    (4, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [callable, None],
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, kernel: Any = None, n_landmarks: int = 100, *, random_state: Any = None) -> None:
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks."""
        texts = as_parts(X)
        texts = texts if isinstance(texts, TextParts) else as_items(texts)
        sizes = part_sizes(texts)
        if not sum(sizes):
            raise NotTextError("There are no texts to choose landmarks from.")
        self.kernel_ = SubsequenceKernel() if self.kernel is None else clone(self.kernel, safe=False)
        self.landmarks_ = texts_at(texts, sizes, self._draw(sum(sizes)))
        values, vectors = np.linalg.eigh(self.kernel_(self.landmarks_))
        # equal texts, and texts that are like no other, add no column
        kept = values > 1e-10 * max(values[-1], 0.0)
        if not kept.any():
            raise EmptyVocabularyError(
                "The kernel of the landmarks is 0 throughout: are all texts shorter than the kernel?"
            )
        self.map_ = vectors[:, kept] / np.sqrt(values[kept])
        self.alignment_ = self._alignment(self.kernel_, texts_at(texts, sizes, _alignment_rows(sizes)))
        return self

    def _draw(self, n_texts: int) -> Indices:
        """The rows of the landmarks."""
        rng = check_random_state(self.random_state)
        if n_texts > _MOST_SHUFFLED:
            return np.sort(sample_without_replacement(n_texts, self.n_landmarks, random_state=rng))
        return np.sort(rng.permutation(n_texts)[: self.n_landmarks])

    def transform(self, X: Any) -> Any:
        """The columns (n_texts, n_columns); of texts in parts a `BlockMatrix`."""
        check_is_fitted(self)
        X = as_parts(X)
        if isinstance(X, TextParts):
            silent = "progress" in getattr(self.kernel_, "get_params", dict)()
            kernel = clone(self.kernel_).set_params(progress=False) if silent else self.kernel_
            return X.transform(partial(_map_part, _copy(self, kernel_=kernel)), self._n_features_out)
        return np.asarray(self.kernel_(as_items(X), self.landmarks_) @ self.map_)

    @property
    def _n_features_out(self) -> int:
        return int(self.map_.shape[1])


def _copy(model: _TextMap, **changes: Any) -> _TextMap:
    """The same model, with other attributes."""
    own = copy(model)
    for name, value in changes.items():
        setattr(own, name, value)
    return own


def _map_part(model: _TextMap, texts: list[str]) -> sp.csr_matrix:
    """The rows of a part."""
    rows = sp.csr_matrix(model.transform(texts))
    rows.eliminate_zeros()
    return rows
