"""Texts in parts that are counted, finished and stored by threads of this process."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._system.progress import Report, progress_of
from .._system.threads import n_threads
from ..errors import StoreError
from ..representations.digests import Digests
from ..representations.drafts import (
    ENTRY,
    Draft,
    StoredRows,
    TermColumns,
    TermCounts,
    finish,
    merge_all_terms,
)
from ..representations.languages import TextSample
from ..representations.text_parts import Drafts, TextParts
from .blocks import Blocks
from .facts import TextFacts, pack_json, unpack_json
from .store import Store

if TYPE_CHECKING:
    from ..representations.bow import BagOfWords

T = TypeVar("T")
Arrays: TypeAlias = dict[str, NDArray[Any]]
_ALL = "all"  # the terms and facts of all parts
_HEAD = ("block", "ends", "df", "total", "n_texts", "sample", "keys", "digests", "codes", "facts", "language")
_LONG = 1000  # values of a setting


class DiskTexts(TextParts):
    """Texts whose matrix is put on this machine's disk.

    Parameters
    ----------
    name : str
        What to call them.
    folder : path, default=None
        For what is known of the parts, and for the matrix. One that is named outlives a process that is
        killed: the next one goes on from there. None: a temporary one.
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
            parts = self.each(lambda number: self.read_part(number)[1], n_threads(None), "reading texts")
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

    def draft(self, words: BagOfWords) -> DiskDrafts:
        """Count the terms of all parts, less those that an earlier run counted in the same folder."""
        return DiskDrafts(self, words)

    def transform(
        self, rows_of: Callable[[list[str]], Any], n_columns: int, n_jobs: int | None = None
    ) -> Blocks:
        """The matrix of all texts, a thread per part."""
        store = self.open_store({"rows_of": rows_of, "n_columns": n_columns})
        facts: list[TextFacts] = []

        def rows_of_part(number: int) -> tuple[StoredRows, TextFacts]:
            texts, own_facts = self.read_part(number)
            X = rows_of(texts) if texts else sp.csr_matrix((0, n_columns))
            return StoredRows.from_csr(X), own_facts

        def rows() -> Iterator[StoredRows]:
            for own, own_facts in self.each(rows_of_part, n_threads(n_jobs), f"matrix of {self.name}"):
                facts.append(own_facts)
                yield own

        with store.close_on_error():
            if store.matrix() is None:
                store.write_rows(rows())
                self._facts = TextFacts.join(facts)
            return Blocks(store, n_columns, n_jobs, self.memory)

    def open_store(self, settings: Mapping[str, Any]) -> Store:
        """The folder, for a run with these settings."""
        return Store(self.folder, {} if self.folder is None else plain({"source": self.source(), **settings}))

    def each(self, work: Callable[[int], T], threads: int, what: str) -> Iterator[T]:
        """What work gives for each part, in order."""
        with progress_of(what, self.progress) as report:
            for done, result in enumerate(in_order(work, len(self), threads), start=1):
                yield result
                if report is not None:
                    report(done / len(self))


class DiskDrafts(Drafts):
    """The drafts of `DiskTexts` in its folder: a file per part, and one with the terms and facts of all."""

    def __init__(self, parts: DiskTexts, words: BagOfWords) -> None:
        settings = {name: value for name, value in words.get_params(deep=False).items() if name != "n_jobs"}
        self._parts, self._store, self._n_jobs = parts, parts.open_store(settings), words.n_jobs
        self._words = copy(words)
        self._words.n_jobs = 1  # a thread per part
        self._language = pack_json(words.language_)  # by which stop words are left out
        with self._store.close_on_error():
            head = self._load(_ALL)
            if head is None:
                head = self._count()
                self._store.save(_ALL, head)
        self.terms, self.sample, parts._facts = _terms(head), _sample(head), TextFacts.from_arrays(head)

    def _count(self) -> Arrays:
        """The terms and facts of all parts."""
        facts: list[TextFacts] = []
        sample = TextSample.draw([])

        def terms() -> Iterator[TermCounts]:
            nonlocal sample
            for arrays in self._each(
                lambda number: self._part(number, _HEAD), f"words of {self._parts.name}"
            ):
                facts.append(TextFacts.from_arrays(arrays))
                sample = TextSample.join([sample, _sample(arrays)])
                yield _terms(arrays)

        all_terms = merge_all_terms(terms())
        return {**_head(all_terms, sample), **TextFacts.join(facts).to_arrays(), "language": self._language}

    def _part(self, number: int, members: Sequence[str] = ()) -> Arrays:
        """The draft of a part, made where it is not there."""
        arrays = self._load(name := f"draft-{number}", members)
        if arrays is not None:
            return arrays
        texts, facts = self._parts.read_part(number)
        draft = self._words.draft(texts)
        rows: Arrays = {"starts": draft.starts, "numbers": draft.numbers, "counts": draft.counts}
        arrays = {**_head(draft.terms, draft.sample), **facts.to_arrays(), **rows, "language": self._language}
        # of the matrix
        n_bytes = sum(array.nbytes for array in arrays.values()) + draft.numbers.size * ENTRY.itemsize
        self._store.expected_bytes = max(self._store.expected_bytes, n_bytes * len(self._parts))
        self._store.save(name, arrays)
        return {member: arrays[member] for member in members or arrays}

    def _load(self, name: str, members: Sequence[str] = ()) -> Arrays | None:
        arrays = self._store.load(name, *members)
        return arrays if arrays is not None and np.array_equal(arrays["language"], self._language) else None

    def finish(self, columns: TermColumns) -> Blocks:
        """The matrix of all texts."""

        def rows_of_part(number: int) -> StoredRows:
            arrays = self._part(number)
            return finish(
                Draft(_terms(arrays), arrays["starts"], arrays["numbers"], arrays["counts"], self.sample),
                columns,
            )

        with self._store.close_on_error():
            if self._store.matrix() is None:
                self._store.write_rows(self._each(rows_of_part, f"matrix of {self._parts.name}"))
            for number in range(len(self._parts)):
                self._store.discard(f"draft-{number}")
            return Blocks(self._store, columns.idf.size, self._n_jobs, self._parts.memory)

    def _each(self, work: Callable[[int], T], what: str) -> Iterator[T]:
        return self._parts.each(work, n_threads(self._n_jobs), what)

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
    """A setting as JSON has it; of what is no plain value, or a long list, a digest."""
    if isinstance(value, dict):
        return {str(name): plain(own) for name, own in value.items()}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple) and len(value) <= _LONG:
        return [plain(own) for own in value]
    try:
        return joblib.hash(value)
    except Exception as error:  # what there is in it is the user's, and so is what goes wrong
        raise StoreError(
            f"Another process cannot know {value!r:.60} again, so that nothing can be held for it in a "
            "folder; use a function "
            f"that has a name in a module, or no folder."
        ) from error


def _head(terms: TermCounts, sample: TextSample) -> Arrays:
    arrays: Arrays = {"block": terms.block, "ends": terms.ends, "df": terms.df, "total": terms.total}
    return {
        **arrays,
        "n_texts": np.array(terms.n_texts),
        "keys": sample.keys,
        "sample": pack_json(sample.texts),
    }


def _terms(arrays: Arrays) -> TermCounts:
    return TermCounts(arrays["block"], arrays["ends"], arrays["df"], arrays["total"], int(arrays["n_texts"]))


def _sample(arrays: Arrays) -> TextSample:
    return TextSample(arrays["keys"], unpack_json(arrays["sample"]))
