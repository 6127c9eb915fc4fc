"""The string subsequence kernel (Lodhi et al. 2002) as an object: `k(X)`, `k(X, Y)`, `k.diag(X)`.

It compares texts by the subsequences u of n symbols that they share, contiguous or not; one that spans l
symbols of a text counts λ^l there:

    K_n(s, t) = Σ_u Σ_{i: u = s[i]} Σ_{j: u = t[j]} λ^(l(i) + l(j)),   normalised K(s, t)/√(K(s, s)K(t, t))

The n matches and the gaps between them may also cost differently: λ^2n γ^gaps. The compiled core computes Σ
γ^gaps, because λ^2n cancels when the kernel is normalised: no λ and no n underflows. Normalised, λ → 0 gives
the cosine of n-gram counts (`SpectrumKernel`), and n = 1 a bag of symbols. A text shorter than n is like no
other: its row is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from .._sklearn import Interval, StrOptions
from .._system.progress import progress_of, stages
from .._typing import Floats, Indices
from ..errors import TooLargeError
from ..records import record
from ._backends import Backend, Diagonal, KernelSpec, choose
from ._kernel import StringKernel, TextPairs, length_weights, no_texts
from ._matches import Term
from .encode import Sequences, Tokens, encode_beside, rows_as_texts

if TYPE_CHECKING:
    pass

LEAST_DECAY = 1e-6  # with less, gaps count nothing: that is SpectrumKernel
# where the states of texts that are all alike need more, those of other texts would get too small for single
SINGLE_BITS = 100


@record("texts_")
class SubsequenceKernel(StringKernel):
    """Similarity of texts by shared subsequences, gaps allowed.

    Fits wherever scikit-learn takes a kernel function: `SVC(kernel=SubsequenceKernel())`, with
    `kernel__decay` in a grid search. As a transformer it gives the kernel matrix against the texts it was
    fitted on, for steps with `kernel="precomputed"`.

    Parameters
    ----------
    length : int, default=5
        Symbols of a subsequence (n).
    decay : float from 1e-6 to 1, default=0.5
        What each symbol that a subsequence spans counts (λ). Small: gaps count little; 1: they cost nothing.
    tokens : {"char", "word"} or callable, default="char"
        What the symbols are: code points, runs of letters and digits, or what a function makes of a text: a
        list of hashable tokens, or a string whose characters are meant. Texts that already are lists of
        tokens are compared as they are.
    gap_decay : float or mapping token → float, default=None
        What a skipped symbol counts (γ), if not the same as a matched one: one number, or numbers for some
        tokens, so that skipping a stop word costs little. Tokens not in the mapping have `decay`.
    weights : sequence of `length` numbers, default=None
        Compare by Σ weights[i − 1]·K_i, all lengths from one pass; by default by K_length alone.
    normalize : bool, default=True
        Divide by √(K(s, s)K(t, t)), so that a text and itself have similarity 1.
    precision : {"single", "double"}, default="single"
        Of the states inside; relative errors stay below 1e-5 and 1e-12. The result is always double. Where
        single has not the range, double precision is taken all the same: for pairs whose value is tiny (small
        decays, many gaps), on a GPU for all pairs where a gap or a match counts less than 0.001, and for long
        kernels on long texts whose gaps cost next to nothing. What is below 1e-290 may come out as 0. On one
        processor the value of two texts is the same to the bit in any order and company, unless gaps cost
        differently or texts over a large alphabet are shortened to what they have in common.
    backend : {"auto", "cpu", "cuda"}, default="auto"
        The compiled core; or a GPU, for which CuPy is needed (`pip install 'textmargin[cuda]'`). "auto" takes
        the GPU where there is one and the texts are many. Several GPUs share the work. But for rounding the
        values are the same.
    n_jobs : int, default=None
        Threads of the compiled core. None: all cores, within the limits that OpenMP and joblib have been
        given.
    progress : bool or callable, default=True
        Show a bar on standard error when it takes long; or a function that is told the share done.

    Attributes
    ----------
    texts_ : list
        The texts that `transform` compares with.

    Examples
    --------
    >>> from textmargin import SubsequenceKernel
    >>> kernel = SubsequenceKernel(length=2, decay=0.5)
    >>> kernel(["car"], ["cat", "cart", "dog"]).round(3)
    array([[0.444, 0.795, 0.   ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "length": [Interval(Integral, 1, 256, closed="both")],
        "decay": [Interval(Real, LEAST_DECAY, 1, closed="both")],
        "tokens": [StrOptions({"char", "word"}), callable],
        "gap_decay": [Interval(Real, LEAST_DECAY, 1, closed="both"), Mapping, None],
        "weights": ["array-like", None],
        "normalize": ["boolean"],
        "precision": [StrOptions({"single", "double"})],
        "backend": [StrOptions({"auto", "cpu", "cuda"})],
        "n_jobs": [Integral, None],
        "progress": ["boolean", callable],
    }

    def __init__(
        self,
        length: int = 5,
        decay: float = 0.5,
        tokens: Tokens = "char",
        *,
        gap_decay: float | Mapping[Any, float] | None = None,
        weights: Sequence[float] | None = None,
        normalize: bool = True,
        precision: str = "single",
        backend: str = "auto",
        n_jobs: int | None = None,
        progress: bool | Callable[[float], object] = True,
    ) -> None:
        self.length = length
        self.decay = decay
        self.tokens = tokens
        self.gap_decay = gap_decay
        self.weights = weights
        self.normalize = normalize
        self.precision = precision
        self.backend = backend
        self.n_jobs = n_jobs
        self.progress = progress

    def _gram(
        self,
        X: Sequences,
        Y: Sequences | None,
        symbols: list[Any],
        known: tuple[Diagonal | None, Diagonal | None] = (None, None),
    ) -> Floats:
        spec, factor = self._spec(symbols)
        corpora = [X] if Y is None else [X, Y]
        backend = self._backend(spec, *corpora)
        with progress_of(f"Comparing {len(X):,} × {len(corpora[-1]):,} texts", self.progress) as report:
            if not self.normalize:
                return self._finite(backend.gram(spec, X, Y, (Diagonal.none(),) * 2, factor, report))
            # The diagonals are work as well: of few long texts with many short ones, nearly all of it.
            work = [
                0.0 if diagonal else float(texts.lengths @ texts.lengths)
                for texts, diagonal in zip(corpora, known, strict=False)
            ]
            reports = stages(report, [*work, float(X.codes.size) * corpora[-1].codes.size])
            diagonals = [
                diagonal or backend.diagonal(spec, texts, part)
                for texts, diagonal, part in zip(corpora, known, reports, strict=False)
            ]
            return backend.gram(spec, X, Y, (diagonals[0], diagonals[-1]), 1.0, next(reports))

    def _diagonal(self, X: Sequences, symbols: list[Any]) -> Floats:
        _, factor = self._spec(symbols)
        if self.normalize:
            shortest = 1 + int(np.flatnonzero(length_weights(self.weights, self.length))[0])
            return (X.lengths >= shortest).astype(np.float64)
        return self._finite(factor * self._with_themselves(X, symbols).values())

    def _with_themselves(self, X: Sequences, symbols: list[Any]) -> Diagonal:
        """The core's value of each text with itself."""
        with progress_of(f"Comparing {len(X):,} texts with themselves", self.progress) as report:
            spec, _ = self._spec(symbols)
            return self._backend(spec, X).diagonal(spec, X, report)

    def _pairs(self, texts: list[Any], encoded: Sequences, symbols: list[Any]) -> TextPairs:
        return _SubsequencePairs(self, texts, encoded, symbols)

    def _settings(self) -> dict[str, Any]:
        weights = length_weights(self.weights, self.length)
        return {
            "decay": float(self.decay),
            "gap_decay": _spelled_gaps(self.gap_decay),
            "weights": (weights / weights[-1] if self.normalize else weights).tolist(),
            "normalize": bool(self.normalize),
            "precision": self.precision,
        }

    def _backend(self, spec: KernelSpec, *corpora: Sequences) -> Backend:
        double = self.precision == "double" or self._bits(spec.gap, *corpora) > SINGLE_BITS
        return choose(self.backend, double, self.n_jobs, spec, corpora[0], corpora[-1])

    def _bits(self, gaps: Floats, *corpora: Sequences) -> float:
        """log₂ of the largest state that two texts of these lengths could have, if they were of one
        symbol.
        """
        largest = gaps.max()
        reach = [
            min(texts.lengths.max(), 1 / (1 - largest) if largest < 1 else np.inf)
            for texts in (corpora[0], corpora[-1])
        ]
        levels = np.arange(1, self.length)
        paths = [
            levels * np.log2(max(r, 1)) - (gammaln(levels + 1) / np.log(2) if largest == 1 else 0)
            for r in reach
        ]
        return float(np.max(paths[0] + paths[1], initial=0.0))

    def _spec(self, symbols: list[Any]) -> tuple[KernelSpec, float]:
        """What a backend computes, and the factor from that to K."""
        match, relative, log_factor = self._in_core()
        n, factor = relative.size, float(np.exp(log_factor))
        if factor < np.finfo(np.float64).tiny and not self.normalize:
            raise TooLargeError(
                f"decay={self.decay} to the power of 2·{n} is too small for a float; use normalize=True, "
                "where it cancels."
            )
        several = relative if np.count_nonzero(relative) > 1 else np.empty(0)
        return KernelSpec(n, self._gaps(symbols), match, several), factor

    def _in_core(self) -> tuple[float, Floats, float]:
        """What a match is worth in the core, the weight of each length there, and the logarithm of the factor
        from that to K.

        The core's last weight is 1. For a single length its matches are worth m = 1. For several m is chosen
        so that the first and the last weight are the same there: Σ wᵢλ²ⁱKᵢ = Σ wᵢ(λ²/m)ⁱ·mⁱKᵢ.
        """
        weights = length_weights(self.weights, self.length)
        n, first = weights.size, int(np.flatnonzero(weights)[0]) + 1
        if first == n:
            return (
                1.0,
                np.append(np.zeros(n - 1), 1.0),
                float(np.log(weights[-1]) + 2 * n * np.log(self.decay)),
            )
        match = min(1.0, self.decay**2 * (weights[-1] / weights[first - 1]) ** (1 / (n - first)))
        with np.errstate(divide="ignore"):
            logs = np.log(weights) + np.arange(1, n + 1) * np.log(self.decay**2 / match)
        return match, np.exp(logs - logs[-1]), float(logs[-1])

    def _gaps(self, symbols: list[Any]) -> Floats:
        """What skipping each symbol costs."""
        if not isinstance(self.gap_decay, Mapping):
            return np.full(
                max(len(symbols), 1), float(self.decay if self.gap_decay is None else self.gap_decay)
            )
        for token, gap in self.gap_decay.items():
            if not (isinstance(gap, Real) and LEAST_DECAY <= gap <= 1):
                raise ValueError(
                    f"gap_decay[{token!r}] must be a number from {LEAST_DECAY} to 1; got {gap!r}."
                )
        return np.array(
            [self.gap_decay.get(symbol, self.decay) for symbol in symbols] or [self.decay], dtype=np.float64
        )

    def _finite(self, K: Floats) -> Floats:
        if not np.isfinite(K).all():
            raise TooLargeError(
                f"K of length={self.length} and decay={self.decay} is beyond the range of floats; use "
                "normalize=True."
            )
        return K


class _SubsequencePairs(TextPairs):
    """K of each text with itself, which normalising asks for again and again, is kept."""

    kernel: SubsequenceKernel

    def __init__(
        self, kernel: StringKernel, texts: list[Any], encoded: Sequences, symbols: list[Any]
    ) -> None:
        super().__init__(kernel, texts, encoded, symbols)
        self.diagonal = Diagonal(np.full(len(texts), np.nan), np.zeros(len(texts), dtype=np.int64))

    def block(self, rows: Indices, columns: Indices | None = None) -> Floats:
        X, Y = self.encoded.take(rows), None if columns is None else self.encoded.take(columns)
        if not self.kernel.normalize:
            return self.kernel._gram(X, Y, self.symbols)
        self._fill(rows if columns is None else np.union1d(rows, columns))
        diagonals = self.diagonal.take(rows), self.diagonal.take(rows if columns is None else columns)
        return self.kernel._gram(X, Y, self.symbols, diagonals)

    def take(self, rows: Indices) -> TextPairs:
        pairs = _SubsequencePairs(
            self.kernel, [self.texts[i] for i in rows], self.encoded.take(rows), self.symbols
        )
        pairs.diagonal = self.diagonal.take(rows)
        return pairs

    def versus(self, X: Any) -> Floats:
        if not self.kernel.normalize:
            return super().versus(X)
        self._fill(np.arange(len(self)))
        other, symbols = self._encode_beside(X)
        return self.kernel._gram(other, self.encoded, symbols, (None, self.diagonal))

    @property
    def on_device(self) -> bool:
        from ._cuda import Cuda

        spec, _ = self.kernel._spec(self.symbols)
        return isinstance(self.kernel._backend(spec, self.encoded, self.encoded), Cuda)

    def _encode_beside(self, X: Any) -> tuple[Sequences, list[Any]]:
        other, symbols = encode_beside(self.kernel.tokens, X, self.symbols)
        if len(other) == 0:
            raise no_texts()
        return other, symbols

    def _diagonal(self) -> Diagonal | None:
        """K of each text with itself, where it is needed."""
        if not self.kernel.normalize:
            return None
        self._fill(np.arange(len(self)))
        return self.diagonal

    def _fill(self, rows: Indices) -> None:
        unknown = rows[np.isnan(self.diagonal.fraction[rows])]
        if unknown.size:
            self.diagonal.put(unknown, self.kernel._with_themselves(self.encoded.take(unknown), self.symbols))

    def _terms(self, x: Sequences, symbols: list[Any]) -> Iterator[Term]:
        match, relative, log_factor = self.kernel._in_core()
        scale = np.full(len(self), np.exp(log_factor))
        if self.kernel.normalize:
            self._fill(np.arange(len(self)))
            scale = self.kernel._with_themselves(x, symbols).inverse_roots() * self.diagonal.inverse_roots()
        gap = float(self.kernel._gaps(symbols).mean())
        for length in (1 + np.flatnonzero(relative)).tolist():
            spec = KernelSpec(length, self.kernel._gaps(symbols), 1.0, np.empty(0))
            yield Term(
                length,
                gap,
                relative[length - 1] * match**length * scale,
                partial(_amounts, spec, self.kernel.n_jobs),
            )

    def _gap_costs(self, symbols: list[Any]) -> Floats:
        return 1e-9 - np.log(self.kernel._gaps(symbols))  # gaps that cost nothing are still to be few


def _amounts(
    spec: KernelSpec, n_jobs: int | None, texts: Sequences, subsequences: NDArray[np.int32]
) -> Floats:
    """Σ γ^gaps over the occurrences of each subsequence in each text."""
    patterns, unscaled = rows_as_texts(subsequences), (Diagonal.none(), Diagonal.none())
    return choose("cpu", True, n_jobs, spec, texts, patterns).gram(spec, texts, patterns, unscaled, 1.0)


def _spelled_gaps(gaps: float | Mapping[Any, float] | None) -> Any:
    """As JSON knows them."""
    if isinstance(gaps, Mapping):
        return sorted([repr(token), float(gap)] for token, gap in gaps.items())
    return None if gaps is None else float(gaps)
