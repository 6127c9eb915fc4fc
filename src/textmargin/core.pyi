"""Compiled core: arrays in, arrays out, the GIL released. The sources, with their formulas, are in
src/core.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Singles = NDArray[np.float32]
_Index = NDArray[np.int32] | NDArray[np.int64]
_Rows = NDArray[np.int64]

_Codes = NDArray[np.int32]

COMPILER: str | None

class Recipe:
    def __init__(self, length: int, gap: _Floats, match: _Floats, weights: _Floats) -> None: ...

def levels() -> list[str]: ...
def scratch_bytes(recipe: Recipe, level: str, double_precision: bool, n_rows: int, /) -> int: ...
def share_of_common_cells(
    recipe: Recipe, x_codes: _Codes, x_starts: _Rows, y_codes: _Codes, y_starts: _Rows, /
) -> float: ...
def subsequence_diagonal(
    recipe: Recipe,
    codes: _Codes,
    starts: _Rows,
    level: str,
    double_precision: bool,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> tuple[_Floats, _Rows]: ...
def subsequence_gram(
    recipe: Recipe,
    x_codes: _Codes,
    x_starts: _Rows,
    y_codes: _Codes | None,
    y_starts: _Rows | None,
    x_fractions: _Floats,
    x_exponents: _Rows,
    y_fractions: _Floats,
    y_exponents: _Rows,
    factor: float,
    level: str,
    double_precision: bool,
    sparse: bool,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> _Floats: ...
def ssk(s: NDArray[np.int32], t: NDArray[np.int32], length: int, decay: float) -> float: ...

MOST_EXTRA_COLUMNS: int

class SparseTexts:
    n_rows: int
    n_columns: int
    n_entries: int
    def __init__(self, indptr: _Index, indices: _Index, data: _Floats, n_columns: int, /) -> None: ...
    @staticmethod
    def mapped(starts: str, entries: str, n_columns: int, /) -> SparseTexts: ...
    def times(self, W: _Floats, sizes: bool, n_threads: int, /) -> _Floats: ...
    def transposed_times(self, A: _Floats, /) -> _Floats: ...
    def squared_lengths(self, n_threads: int, /) -> _Floats: ...
    def row_counts(self) -> NDArray[np.int64]: ...
    def column_sizes(self) -> tuple[NDArray[np.int64], _Floats]: ...
    def take(self, rows: NDArray[np.int64], /) -> tuple[NDArray[np.int64], NDArray[np.int32], _Floats]: ...

def fit_classes(
    texts: SparseTexts,
    level: str,
    weight: _Singles,
    table: NDArray[np.int32],
    sign: NDArray[np.int8],
    goal: _Singles,
    costs: _Singles,
    fold: NDArray[np.int16],
    held_out: NDArray[np.int16],
    shared: _Singles,
    own: _Singles,
    pull: _Floats,
    target: _Floats,
    penalty: float,
    w: _Singles,
    q: _Floats,
    warm: bool,
    tol: float,
    max_iter: int,
    n_threads: int,
    most_copied: int,
    /,
) -> tuple[_Singles, _Floats, _Floats, NDArray[np.int32], NDArray[np.int8]]: ...
def cg_sparse(
    indptr: _Index,
    indices: _Index,
    data: _Floats,
    rows: _Rows,
    penalty: float,
    costs: _Floats,
    errors: _Floats,
    CZ: _Floats,
    M_inverse: _Floats,
    gradient_extra: _Floats,
    w: _Floats,
    precision: float,
    max_steps: int,
    /,
) -> tuple[_Floats, _Floats, float]: ...
def cg_dense(
    X: _Floats,
    rows: _Rows,
    penalty: float,
    costs: _Floats,
    errors: _Floats,
    CZ: _Floats,
    M_inverse: _Floats,
    gradient_extra: _Floats,
    w: _Floats,
    precision: float,
    max_steps: int,
    /,
) -> tuple[_Floats, _Floats, float]: ...
def search_plane(
    shortfall: _Floats, y: _Floats, costs: _Floats, direction: _Floats, Z: _Floats, g: _Floats, A: _Floats, /
) -> tuple[_Floats, _Floats, bool]: ...
def dual_steps(
    K: NDArray[np.float32] | _Floats,
    e: NDArray[np.float32] | _Floats,
    low: _Floats,
    high: _Floats,
    beta: _Floats,
    fit_intercept: bool,
    tol: float,
    max_steps: int,
    level: str,
    n_threads: int,
    /,
) -> None: ...
def sparse_times(indptr: _Index, indices: _Index, data: _Floats, v: _Floats, /) -> _Floats: ...
def sparse_gram(
    indptr: _Index, indices: _Index, data: _Floats, n_columns: int, rows: _Rows, /
) -> _Floats: ...

_Csr = tuple[_Rows, NDArray[np.int32], _Floats]

class Strings:
    """Texts that are bytes of a file; taken wherever a list of strings is."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...

class Terms:
    """Terms and their columns: learnt by `add`, `join` and `rows` in this order, or given to `load`. `block`
    has those learnt.
    """

    def __init__(
        self,
        kind: str,
        lowercase: bool,
        digits: bool,
        underscore: bool,
        shortest: int,
        min_n: int,
        max_n: int,
        shapes: bool,
        exact_numbers: list[bytes],
        stop_words: list[bytes],
        characters: Callable[[], NDArray[np.uint32]],
    ) -> None: ...
    def add(self, texts: list[str] | Strings, n_threads: int, /) -> None: ...
    def join(self, n_threads: int, /) -> tuple[_Rows, _Rows, int]: ...
    def order(self) -> _Rows: ...
    def set_columns(self, columns: NDArray[np.int32], n_columns: int, /) -> None: ...
    def rows(
        self,
        columns: NDArray[np.int32],
        idf: _Floats,
        tf: _Floats,
        unit: bool,
        as_met: bool,
        drop_zeros: bool,
        n_threads: int,
        /,
    ) -> _Csr: ...
    def load(self, block: NDArray[np.uint8], ends: _Rows, /) -> None: ...
    def block(self) -> tuple[NDArray[np.uint8], _Rows]: ...
    def transform(
        self,
        texts: list[str] | Strings,
        idf: _Floats,
        tf: _Floats,
        unit: bool,
        drop_zeros: bool,
        n_threads: int,
        /,
    ) -> tuple[_Csr, int]: ...
    def scores(
        self,
        texts: list[str] | Strings,
        idf: _Floats,
        tf: _Floats,
        unit: bool,
        coef: _Floats,
        intercept: _Floats,
        n_threads: int,
        /,
    ) -> tuple[_Floats, NDArray[np.int32], int]: ...

def decode_terms(block: NDArray[np.uint8], ends: _Rows, /) -> list[str]: ...
def count_ngrams(
    codes: _Codes, starts: _Rows, length: int, /
) -> tuple[_Rows, NDArray[np.int32], _Floats, _Rows]: ...
def text_digests(texts: list[str], /) -> NDArray[np.uint64]: ...
def merge_terms(
    block_a: NDArray[np.uint8], ends_a: _Rows, block_b: NDArray[np.uint8], ends_b: _Rows, /
) -> tuple[NDArray[np.uint8], _Rows, _Rows, _Rows]: ...

class RecordSplitter:
    """Finds records in bytes that arrive; a delimiter of -1 makes every line a record."""

    def __init__(self, delimiter: int, most_lines: int, most_bytes: int) -> None: ...
    def add(self, data: bytes, /) -> Records: ...
    def finish(self) -> Records: ...
    @property
    def line_size(self) -> int: ...
    @property
    def pending(self) -> bool: ...
    @property
    def number(self) -> int: ...

class Records:
    """Records that arrived together, by their places; what becomes of them is said once."""

    def __len__(self) -> int: ...
    def line(self, place: int, /) -> tuple[int, bytes]: ...
    def unread(self, most: int) -> list[int]: ...
    def leave_out(self, place: int, /) -> None: ...
    def leave_out_from(self, place: int, /) -> None: ...
    def put_row(self, place: int, text: bytes, /) -> None: ...
    def put_empty(self, place: int, /) -> None: ...
    def put_line(self, place: int, line: bytes, /) -> None: ...
    def read_lines(self, defuse: bool, n_threads: int) -> None: ...
    def read_delimited(
        self, delimiter: str, n_columns: int, text: int, defuse: bool, n_threads: int
    ) -> None: ...
    def read_objects(self, text: str, reserved: list[str], n_threads: int) -> None: ...
    @property
    def odd(self) -> list[int]: ...
    @property
    def rows(self) -> list[int]: ...
    def numbers(self, places: list[int] | None = None) -> list[int]: ...
    def values(self, delimiter: str, column: int, places: list[int] | None = None) -> list[str]: ...
    @property
    def counts(self) -> tuple[int, int, int]: ...
    def place(self, place: int, /) -> int: ...
    def texts(self) -> Strings: ...

class LineForm:
    """How records and decisions are written as lines."""

    def __init__(
        self,
        *,
        source: str,
        source_delimiter: str,
        narrow: bool,
        multilabel: bool,
        class_scores: bool,
        decimals: int,
        names: list[str],
        delimiter: str,
        defuse: bool,
        json: bool,
        own_keys: list[str],
        keys: list[str],
        class_keys: list[str],
    ) -> None: ...
    def write(
        self,
        records: Records,
        accepted: NDArray[np.bool_],
        unsure: NDArray[np.bool_],
        scores: _Floats,
        probabilities: _Floats | None,
        n_threads: int,
    ) -> tuple[bytes, int]: ...

def number_text(value: float, decimals: int = -1) -> str: ...
