"""Texts in parts that the workers of a Dask cluster read: Dask collections, or files.

Texts are read where they are counted, and again where a worker is lost. Only what is small comes here: the
terms of all parts, merged in a tree of tasks, and a few bytes per text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import dask.bag as db
import scipy.sparse as sp
from dask.delayed import Delayed, delayed
from distributed import as_completed

from .._system.progress import Report, progress_of
from .._typing import Bools
from ..errors import NotTextError
from ..representations.digests import Digests
from ..representations.drafts import Draft, StoredRows, TermColumns, TermCounts, finish, merge_terms
from ..representations.languages import TextSample
from ..representations.text_parts import Drafts, TextParts
from ..representations.texts import as_texts
from ..tables.parts import Part, PartedTable
from ._client import broadcast, broadcast_pickled, client
from ._tasks import compute_parts, delay_each, tree_reduce
from .cluster_blocks import ClusterBlocks
from .facts import LabelCodes, TextFacts
from .texts import TextFiles, TextRows

if TYPE_CHECKING:
    from ..representations.bow import BagOfWords

_bag: Any = db.Bag  # which carries no types


class ClusterTexts(TextParts):
    """Texts that are read by the workers of the cluster in use, and whose matrix stays with them.

    Parameters
    ----------
    parts : sequence of Dask delayed objects
        Each gives the texts of a part, perhaps none, and their `TextFacts`.
    name : str, default="texts"
        What to call them.
    progress : bool or function of the share that is done, default=False
        Whether to show a bar.

    Examples
    --------
    >>> import dask.bag as db
    >>> from distributed import Client
    >>> from textmargin import BagOfWords
    >>> from textmargin.scale import ClusterTexts
    >>> with Client(n_workers=1, processes=False, dashboard_address=None):
    ...     texts = ClusterTexts.of(db.from_sequence(["Wheat and corn!", "Corn prices rose"], npartitions=2))
    ...     print(BagOfWords().fit_transform(texts).shape)
    (2, 4)
    """

    def __init__(
        self, parts: Sequence[Delayed], name: str = "texts", *, progress: bool | Report = False
    ) -> None:
        self.parts, self.name, self.progress = tuple(parts), name, progress
        self._facts: TextFacts | None = None

    @classmethod
    def of(cls, collection: Any, *, progress: bool | Report = False) -> Self:
        """The texts of a Dask bag, of a Dask series, or of a Dask dataframe with one column."""
        read = delayed(_read_list, pure=False)
        return cls([read(part, i) for i, part in enumerate(_delay(collection))], progress=progress)

    @classmethod
    def of_files(
        cls,
        table: PartedTable,
        *,
        unlabelled: bool = False,
        rows: Sequence[Bools] | None = None,
        progress: bool | Report = False,
    ) -> Self:
        """The texts of files that workers see under the same names, as `TextFiles` has them; of each part
        all, or some rows.
        """
        # the list of all parts would go to each of them
        light, task = replace(table, parts=[]), delayed(_read_part, pure=False)
        own = [None] * len(table.parts) if rows is None else rows
        parts = [task(part, light, unlabelled, some) for part, some in zip(table.parts, own, strict=True)]
        return cls(parts, table.name, progress=progress)

    def __len__(self) -> int:
        return len(self.parts)

    def read(self, number: int) -> list[str]:
        """The texts of one part."""
        return next(self.map_parts(_texts, [number]))

    def map_parts(
        self, function: Callable[[list[str], int], Any], numbers: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """`function(texts, number)` of each part, or of some, in order."""
        shared, task = broadcast_pickled(function), delayed(_apply, pure=False)
        futures = client().compute(
            [task(shared, self.parts[i], i) for i in (range(len(self)) if numbers is None else numbers)]
        )
        for future in futures:
            yield future.result()

    @property
    def facts(self) -> TextFacts:
        """Of all texts; read where nobody did before."""
        if self._facts is None:
            self._gather_facts(self.parts)
        return self._known()

    @property
    def n_texts(self) -> int:
        """Of all parts."""
        return self.facts.n_texts

    @property
    def labels(self) -> LabelCodes | None:
        """A label per text, where they come from files."""
        return self.facts.labels

    @property
    def digests(self) -> Digests:
        """Of each text."""
        return self.facts.digests

    def draft(self, words: BagOfWords) -> Drafts:
        """Count the terms of all parts."""
        own = copy(words)
        own.n_jobs = 1  # a thread per part
        pieces = delay_each(_draft, self.parts, broadcast_pickled(own))
        computed = compute_parts(pieces)
        self._gather_facts(computed)
        merged = tree_reduce(_merge, delay_each(_head, computed))
        terms, sample = client().compute(merged).result()
        return ClusterDrafts(pieces, computed, terms, sample)

    def transform(
        self, rows_of: Callable[[list[str]], Any], n_columns: int, n_jobs: int | None = None
    ) -> ClusterBlocks:
        """The matrix of all texts, on the workers."""
        pieces = delay_each(_rows, self.parts, broadcast_pickled(rows_of), n_columns)
        computed = compute_parts(pieces)
        self._gather_facts(computed)
        return ClusterBlocks(pieces, n_columns, finish=_first, computed=computed)

    def _gather_facts(self, pairs: Sequence[Any]) -> None:
        """What is known of the texts, from what each part gives along with it."""
        futures = client().compute(delay_each(_second, pairs))
        with progress_of(f"reading {self.name}", self.progress) as report:
            completed: Any = as_completed  # which carries no types
            for n_done, future in enumerate(completed(futures), start=1):
                if future.status == "error":
                    break  # gathering raises it
                if report is not None:
                    report(n_done / len(futures))
        self._facts = TextFacts.join(client().gather(futures))

    def _known(self) -> TextFacts:
        assert self._facts is not None
        return self._facts


class ClusterDrafts(Drafts):
    """The drafts of `ClusterTexts`, with the workers that made them."""

    def __init__(
        self, pieces: Sequence[Delayed], computed: Sequence[Any], terms: TermCounts, sample: TextSample
    ) -> None:
        self._pieces, self._computed, self.terms, self.sample = pieces, computed, terms, sample

    def finish(self, columns: TermColumns) -> ClusterBlocks:
        """The matrix of all texts."""
        computed, self._computed = self._computed, ()
        return ClusterBlocks(
            self._pieces,
            columns.idf.size,
            finish=broadcast(partial(_finish, columns=columns)),
            computed=computed,
        )

    def discard(self) -> None:
        """Let workers forget them."""
        self._computed = ()


def _delay(texts: Any) -> list[Delayed]:
    """One task per part of a collection of texts."""
    if getattr(texts, "ndim", 1) == 2 and hasattr(texts, "columns"):
        if len(texts.columns) != 1:
            raise NotTextError(
                f"Expected one column of texts, got a table with {len(texts.columns)} columns: "
                f"{list(texts.columns)[:8]}; "
                f"choose one."
            )
        texts = texts[texts.columns[0]]
    if isinstance(texts, _bag):
        return list(texts.to_delayed())
    if (
        getattr(texts, "ndim", 0) != 1
        or not hasattr(texts, "map_partitions")
        or not hasattr(texts, "simplify")
    ):
        raise NotTextError(
            f"Expected a Dask bag or a text column of a Dask dataframe, got {type(texts).__name__}; "
            f"make one with dask.bag.from_sequence or dask.dataframe.read_parquet."
        )
    # The parts as they are: Dask's optimiser would join the small parts of narrow columns.
    return list(texts.simplify().to_delayed(optimize_graph=False))


# Tasks: what a worker does with a part, (texts, facts)


def _read_list(part: Any, number: int) -> tuple[list[str], TextFacts]:
    try:
        texts = as_texts(part)
    except NotTextError as error:
        raise NotTextError(f"Part {number}: {error}") from error
    return texts, TextFacts.of(texts)


def _read_part(
    part: Part, table: PartedTable, unlabelled: bool, rows: Bools | None
) -> tuple[list[str], TextFacts]:
    texts = TextFiles(replace(table, parts=[part]), unlabelled=unlabelled)
    return (texts if rows is None else TextRows(texts, [rows])).read_part(0)


def _texts(texts: list[str], number: int) -> list[str]:
    return texts


def _apply(function: Callable[[list[str], int], Any], part: tuple[list[str], TextFacts], number: int) -> Any:
    return function(part[0], number)


def _draft(part: tuple[list[str], TextFacts], words: BagOfWords) -> tuple[Draft, TextFacts]:
    return words.draft(part[0]), part[1]


def _rows(
    part: tuple[list[str], TextFacts], rows_of: Callable[[list[str]], Any], n_columns: int
) -> tuple[StoredRows, TextFacts]:
    return StoredRows.from_csr(rows_of(part[0]) if part[0] else sp.csr_matrix((0, n_columns))), part[1]


def _finish(piece: tuple[Draft, TextFacts], columns: TermColumns) -> StoredRows:
    return finish(piece[0], columns)


def _first(piece: tuple[Any, TextFacts]) -> Any:
    return piece[0]


def _second(piece: tuple[Any, TextFacts]) -> TextFacts:
    return piece[1]


def _head(piece: tuple[Draft, TextFacts]) -> tuple[TermCounts, TextSample]:
    return piece[0].terms, piece[0].sample


def _merge(*heads: tuple[TermCounts, TextSample]) -> tuple[TermCounts, TextSample]:
    """The terms of some neighbouring parts, and a sample of their texts."""
    terms = heads[0][0]
    for other, _ in heads[1:]:
        terms = merge_terms(terms, other)
    return terms, TextSample.join([sample for _, sample in heads])
