"""Texts in parts that are counted, finished and stored by threads of this process."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._system.progress import Report, progress_of
from .._system.threads import n_threads
from ..representations.digests import Digests
from ..representations.drafts import Draft, StoredRows, TermColumns, TermCounts, finish, merge_all_terms
from ..representations.languages import TextSample
from ..representations.text_parts import Drafts, TextParts
from .blocks import Blocks
from .facts import TextFacts, pack_json, unpack_json
from .store import Store

if TYPE_CHECKING:
    from ..representations.bow import BagOfWords

T = TypeVar("T")
_TERMS = "terms"  # of all parts, with all facts


class LocalTexts(TextParts):
    """Texts whose matrix is put on this machine's disk.

    Parameters
    ----------
    name : str
        What to call them.
    folder : path, default=None
        For what is known of the parts, and for the matrix. One that is named outlives a process that is killed: the next one goes
        on from there. None: a temporary one.
    progress : bool or function of the share that is done, default=False
        Whether to show a bar.
    """

    def __init__(self, name: str, folder: str | os.PathLike[str] | None, progress: bool | Report) -> None:
        self.name, self.folder, self.progress = name, folder, progress
        self._facts: TextFacts | None = None

    @abstractmethod
    def read_part(self, number: int) -> tuple[list[str], TextFacts]:
        """The texts of one part, and what is known of them."""

    @abstractmethod
    def source(self) -> dict[str, Any]:
        """Where the texts come from, in plain values that change with them."""

    def read(self, number: int) -> list[str]:
        """The texts of one part."""
        return self.read_part(number)[0]

    @property
    def facts(self) -> TextFacts:
        """Of all texts; read where nobody did before."""
        if self._facts is None:
            parts = self._each(lambda number: self.read_part(number)[1], n_threads(None), "reading texts")
            self._facts = TextFacts.join(list(parts))
        return self._facts

    @property
    def n_texts(self) -> int:
        """Of all parts."""
        return self.facts.n_texts

    @property
    def labels(self) -> Sequence[Any] | None:
        """A label per text."""
        return self.facts.labels

    @property
    def digests(self) -> Digests:
        """Of each text."""
        return self.facts.digests

    def draft(self, words: BagOfWords) -> Drafts:
        """Count the terms of all parts, less those that an earlier run counted in the same folder."""
        settings = {name: plain(value) for name, value in words.get_params(deep=False).items() if name != "n_jobs"}
        store = Store(self.folder, {"source": plain(self.source()), **settings})
        own = copy(words)
        own.n_jobs = 1  # a thread per part
        own_arrays = store.load(_TERMS)
        if own_arrays is not None and unpack_json(own_arrays["language"]) == words.language_:
            self._facts = TextFacts.from_arrays(own_arrays)
            return LocalDrafts(self, store, words.n_jobs, _terms(own_arrays), _sample(own_arrays))
        facts: list[TextFacts] = []
        samples: list[TextSample] = []
        n_bytes = [0]

        def terms_of(numbers: Iterable[dict[str, NDArray[Any]]]) -> Iterator[TermCounts]:
            for arrays in numbers:
                facts.append(TextFacts.from_arrays(arrays))
                samples[:] = [TextSample.join([*samples, _sample(arrays)])]
                yield _terms(arrays)

        def draft_part(number: int) -> dict[str, NDArray[Any]]:
            name = f"draft-{number}"
            arrays = store.load(name, *_HEAD)
            if arrays is None or unpack_json(arrays["language"]) != words.language_:
                texts, own_facts = self.read_part(number)
                arrays = {**_draft_arrays(own.draft(texts)), **own_facts.to_arrays(), "language": pack_json(words.language_)}
                n_bytes[0] += sum(array.nbytes for array in arrays.values()) + 8 * arrays["numbers"].size  # and its rows later
                store.expected_bytes = max(store.expected_bytes, n_bytes[0] * len(self) // (number + 1))
                store.save(name, arrays)
            return {member: arrays[member] for member in _HEAD}

        terms = merge_all_terms(terms_of(self._each(draft_part, n_threads(words.n_jobs), f"words of {self.name}")))
        self._facts = TextFacts.join(facts)
        sample = samples[0] if samples else TextSample.draw([])
        head = {**_term_arrays(terms, sample), **self._facts.to_arrays(), "language": pack_json(words.language_)}
        store.save(_TERMS, head)
        return LocalDrafts(self, store, words.n_jobs, terms, sample)

    def transform(self, rows_of: Callable[[list[str]], Any], n_columns: int, n_jobs: int | None = None) -> Blocks:
        """The matrix of all texts, a thread per part."""
        store = Store(self.folder, {"source": plain(self.source()), "rows_of": joblib.hash(rows_of), "n_columns": n_columns})
        if store.matrix() is None or self._facts is None:

            def rows_of_part(number: int) -> tuple[StoredRows, TextFacts]:
                texts, facts = self.read_part(number)
                X = rows_of(texts) if texts else sp.csr_matrix((0, n_columns))
                return StoredRows.from_csr(X), facts

            facts: list[TextFacts] = []

            def rows() -> Iterator[StoredRows]:
                for own, own_facts in self._each(rows_of_part, n_threads(n_jobs), f"rows of {self.name}"):
                    facts.append(own_facts)
                    yield own

            store.write_rows(rows())
            self._facts = TextFacts.join(facts)
        return Blocks(store, n_columns, n_jobs)

    def _each(self, work: Callable[[int], T], threads: int, what: str) -> Iterator[T]:
        with progress_of(what, self.progress) as report:
            for done, result in enumerate(in_order(work, len(self), threads), start=1):
                yield result
                if report is not None:
                    report(done / len(self))


class LocalDrafts(Drafts):
    """The drafts of `LocalTexts`, in its folder."""

    def __init__(self, parts: LocalTexts, store: Store, n_jobs: int | None, terms: TermCounts, sample: TextSample) -> None:
        self._parts, self._store, self._n_jobs, self.terms, self.sample = parts, store, n_jobs, terms, sample

    def finish(self, columns: TermColumns) -> Blocks:
        """The matrix of all texts."""
        store, n_parts = self._store, len(self._parts)
        if store.matrix() is None:
            store.write_rows(self._parts._each(lambda number: self._finish(number, columns), n_threads(self._n_jobs), "columns"))
        for number in range(n_parts):
            store.discard(f"draft-{number}")
        return Blocks(store, columns.idf.size, self._n_jobs)

    def _finish(self, number: int, columns: TermColumns) -> StoredRows:
        arrays = self._store.load(f"draft-{number}")
        if arrays is None:
            raise FileNotFoundError(number)
        return finish(Draft(_terms(arrays), arrays["starts"], arrays["numbers"], arrays["counts"], self.sample), columns)

    def discard(self) -> None:
        """Let go of the folder."""
        self._store.close()


def in_order(work: Callable[[int], T], n: int, threads: int) -> Iterator[T]:
    """work(0), work(1), …: some at a time by threads, and never more results at once than these."""
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[T]] = deque()
        try:
            for number in range(n):
                waiting.append(pool.submit(work, number))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def plain(value: Any) -> Any:
    """A setting as JSON has it; of what is no plain value, a digest."""
    if isinstance(value, dict):
        return {str(name): plain(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [plain(own) for own in value]
    return value if value is None or isinstance(value, str | int | float | bool) else joblib.hash(value)


_HEAD = ("block", "ends", "df", "total", "n_texts", "sample", "keys", "digests", "codes", "facts", "language")


def _term_arrays(terms: TermCounts, sample: TextSample) -> dict[str, NDArray[Any]]:
    arrays = {"block": terms.block, "ends": terms.ends, "df": terms.df, "total": terms.total}
    return {**arrays, "n_texts": np.array(terms.n_texts), "keys": sample.keys, "sample": pack_json(sample.texts)}


def _draft_arrays(draft: Draft) -> dict[str, NDArray[Any]]:
    rows = {"starts": draft.starts, "numbers": draft.numbers, "counts": draft.counts}
    return {**_term_arrays(draft.terms, draft.sample), **rows}


def _terms(arrays: dict[str, NDArray[Any]]) -> TermCounts:
    return TermCounts(*(arrays[name] for name in ("block", "ends", "df", "total")), n_texts=int(arrays["n_texts"]))


def _sample(arrays: dict[str, NDArray[Any]]) -> TextSample:
    return TextSample(arrays["keys"], unpack_json(arrays["sample"]))
