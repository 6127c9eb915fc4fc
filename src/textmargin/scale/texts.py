"""Texts in parts that threads of this process read, or the workers of a Dask cluster, and whose matrix is put
on this machine's disk.
"""

from __future__ import annotations

import os
import zlib
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any, Self, TypeAlias, cast

import numpy as np
import scipy.sparse as sp

from .._system.progress import Report, progress_of
from .._system.threads import n_threads
from .._typing import Bools
from ..learners.matrix import BlockMatrix
from ..representations.digests import Digests
from ..representations.term_counts import PartCounts, merge_counts
from ..representations.text_parts import TextParts
from ..tables.parts import LabelCodes, open_parts, read_texts
from .blocks import Blocks
from .store import Store, digest_of

Work: TypeAlias = Callable[[list[str], int], Any]
Submit: TypeAlias = Callable[[int], Any]  # from the number of a part to a future of what work gives for it


class StoredTexts(TextParts):
    """Texts whose matrix is put on this machine's disk."""

    store: Store
    client: Any = None  # of Dask
    stay: bool = False  # whether the matrix stays with its workers
    progress: bool | Report = False

    @abstractmethod
    def source(self) -> Any:
        """Plain values that change with the texts; None where nobody can tell."""

    @abstractmethod
    def reader(self, number: int) -> Any:
        """A function that gives the texts of a part, or their Dask delayed object."""

    def read(self, number: int) -> list[str]:
        """The texts of one part."""
        return next(self.each(lambda texts, _: texts, "", 1, [number]))

    @contextmanager
    def workers(self, work: Work, n_jobs: int | None) -> Iterator[tuple[Submit, int]]:
        """What gives a future of work(texts, number) of a part, and how many parts to have at a time."""
        if self.client is not None:
            from .dask import submitter

            yield submitter(self.client, work, self.reader)
            return
        threads = n_threads(n_jobs)
        with ThreadPoolExecutor(threads) as pool:
            yield lambda number: pool.submit(lambda: work(self.reader(number)(), number)), threads

    def each(
        self, work: Work, what: str, n_jobs: int | None = None, numbers: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """What work gives for each part, in order; never more results at once than are worked on."""
        parts = range(len(self)) if numbers is None else numbers
        waiting: deque[Any] = deque()
        with self.workers(work, n_jobs) as (submit, at_once), progress_of(what, self.progress) as report:
            for k in range(len(parts) + at_once):
                waiting.extend(map(submit, parts[k : k + 1]))
                if k >= at_once:
                    yield waiting.popleft().result()
                    if report is not None:
                        report((k - at_once + 1) / len(parts))

    def map_parts(self, function: Work, numbers: Sequence[int] | None = None) -> Iterator[Any]:
        """`function(texts, number)` of each part, or of some, in order."""
        yield from self.each(function, f"reading {self.name}", 1, numbers)

    def count(self, count: Callable[[list[str], int], PartCounts]) -> PartCounts:
        """The counts of all parts, merged a few neighbours at a time."""
        if self.client is None:
            return merge_counts(self.each(count, f"words of {self.name}"))
        from .dask import tree_reduce

        with self.workers(count, None) as (submit, _):
            return cast(PartCounts, tree_reduce(self.client, merge_counts, [*map(submit, range(len(self)))]))

    def transform(
        self,
        rows_of: Callable[[list[str]], Any],
        n_columns: int,
        n_jobs: int | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> BlockMatrix:
        """The matrix of all texts on this machine's disk, unless the folder has it; or with the workers."""
        work = partial(_rows, rows_of, n_columns)
        if self.stay:
            from .workers import WorkerBlocks

            with self.workers(work, None) as (submit, _):
                return WorkerBlocks(self.client, [*map(submit, range(len(self)))], n_columns)
        rows = self.each(work, f"matrix of {self.name}", n_jobs)
        digest = digest_of(None if settings is None else [self.source(), dict(settings)])
        return Blocks(rows, n_columns, self.store, digest, n_jobs, self.memory)


class TextFiles(StoredTexts):
    r"""The texts of files of any size; rows without a label are left out (`unlabelled` has them).

    Parquet files are read where they are, a row group at a time; others, or those whose row groups are far
    larger or smaller than parts, are written once to a Parquet file in the folder.

    Parameters
    ----------
    source : path of a file, a folder, or a pattern such as `texts/*.parquet`
    folder : path, default=None
        For the texts and the matrix. One that is named outlives a process that is killed: the next one goes
        on from there. None: a temporary one.
    memory : int, default=None
        Bytes that work on them should keep to; None: half of the machine's.
    client : Dask client, default=None
        Has workers read the parts, who must see the folder under the same name.
    progress : bool or function of the share that is done, default=False
        Whether to show a bar.
    **reading : as `tables.open_parts` takes them: `text`, `label`, `label_separator`, `skip_invalid`, …

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from textmargin import BagOfWords
    >>> from textmargin.scale import TextFiles
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "texts.csv")
    ...     _ = path.write_text("text,label\nWheat and corn!,grain\nCorn prices rose,money\n")
    ...     texts = TextFiles(path)
    ...     print(BagOfWords().fit_transform(texts).shape, list(texts.labels))
    (2, 4) ['grain', 'money']
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        *,
        folder: str | os.PathLike[str] | None = None,
        memory: int | None = None,
        client: Any = None,
        progress: bool | Report = False,
        **reading: Any,
    ) -> None:
        self.store, self.memory, self.client, self.progress = Store(folder), memory, client, progress
        try:
            with self.store.writing("texts"), progress_of(f"reading {source}", progress) as report:
                self.table = open_parts(source, self.store.texts, progress=report, **reading)
        except BaseException:
            self.store.close() if self.store.texts.exists() else self.store.delete()
            raise
        self.name = self.table.name
        self._choose(self.table.is_labelled)

    def _choose(self, rows: Bools) -> None:
        self._rows, self._by_part = rows, self.table.split(rows)
        self.n_rows = int(rows.sum())

    def select(self, rows: Bools) -> Self:
        """Those at some rows of the table."""
        other = copy(self)
        other._choose(rows)
        return other

    @property
    def unlabelled(self) -> Self:
        """The texts that have no label."""
        return self.select(~self.table.is_labelled)

    def __len__(self) -> int:
        return len(self.table.sizes)

    @property
    def n_texts(self) -> int:
        """Of all parts."""
        return self.n_rows

    @property
    def labels(self) -> LabelCodes | None:
        """A label per text; None where some have none."""
        labels = self.table.labels[self._rows]
        return None if self.table.columns.label is None or (labels.codes < 0).any() else labels

    @property
    def digests(self) -> Digests:
        """Of each text."""
        return self.table.digests[self._rows]

    def reader(self, number: int) -> Callable[[], list[str]]:
        """What reads one part."""
        table = self.table
        return partial(read_texts, table.path.absolute(), number, self._by_part[number], table.places[number])

    def source(self) -> Any:
        """When the file of the texts was written, and which rows they are."""
        written = self.table.path.stat()
        return [written.st_size, written.st_mtime_ns, zlib.crc32(np.packbits(self._rows).tobytes())]


def _rows(
    rows_of: Callable[[list[str]], Any], n_columns: int, texts: list[str], number: int
) -> sp.csr_matrix:
    return sp.csr_matrix(rows_of(texts) if texts else (0, n_columns))
