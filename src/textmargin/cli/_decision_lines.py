"""Decisions beside the rows that they are about, as columns of a table that is written batch by batch."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ._console import remark

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..labels import Decisions
    from ..tables.record_stream import RecordBatch, RecordUse
    from ..tables.record_writer import RecordWriter
    from ..tables.rows import EmptyText, Row
    from ..tables.writer import TableWriter

TableRows: TypeAlias = "Sequence[Row | EmptyText] | RecordBatch"

_DECIMALS = 6  # of scores and confidence


class Write(Protocol):
    """Writes rows and the decisions on them; where there are none, under these names of columns."""

    def __call__(self, rows: TableRows, decisions: Decisions, names: Sequence[str] = ()) -> None: ...


class DecisionWriter:
    """Writes rows and what was decided on them.

    Parameters
    ----------
    model : TextClassifier
    table : TableWriter
    scores : bool
        Whether the score of every class is written too; in JSON its probability as well.
    narrow : bool, or None
        Whether the number of the line stands for the row, in place of all its columns; None: where lines are
        texts and nothing else, as `use` then says.
    use : RecordUse, default=None
        Of the records that come in place of rows, where some do; gets to know the names of the columns of
        decisions.
    """

    def __init__(
        self,
        model: TextClassifier,
        table: TableWriter,
        scores: bool,
        narrow: bool | None,
        use: RecordUse | None = None,
    ) -> None:
        self.multilabel = model.labels_.multilabel
        self.table, self.scores, self.narrow, self.use = table, scores, narrow, use
        self.by_label = scores and table.ragged  # JSON has objects for scores of every class
        # of our columns, by what they are called where nothing is in their way
        self.names: dict[str, str] | None = None
        self.clashes: set[str] = set()  # columns that came later under one of these names
        self.records: RecordWriter | None = None

    def write(self, rows: TableRows, decisions: Decisions, names: Sequence[str] = ()) -> None:
        """Further rows, those with a text decided on; none, for the names of the columns alone, after those
        of the table.
        """
        from ..tables.record_stream import RecordBatch

        if isinstance(rows, RecordBatch):
            self._write_records(rows, decisions)
        else:
            ours = self._columns(rows, decisions, names)
            if not rows:
                self.table.declare(dict(zip(ours, self._decided(_example(decisions)).values(), strict=True)))
            if self.narrow:
                self.table.write({"line": [row.number for row in rows], **ours}, trusted=ours.keys())
            elif names:
                self.table.write({name: [] for name in (*names, *ours)}, trusted=ours.keys())
            else:
                self.table.write_rows(rows, ours)

    def _write_records(self, batch: RecordBatch, decisions: Decisions) -> None:
        from ..tables.record_writer import RecordWriter
        from ..tables.rows import Row
        from ..tables.writer import TextWriter

        assert isinstance(self.table, TextWriter)  # others get rows
        assert self.use is not None
        if self.records is None:
            if self.narrow is None:
                self.narrow = self.use.plain
            own = ["line"] if self.narrow else batch.names
            ours = self._names(self._decided(decisions[:0]), own)
            if self.table.names is None:
                self.table.write({name: [] for name in (*own, *ours)}, trusted=ours)
            self.records = RecordWriter(
                self.table,
                batch.source,
                own,
                ours,
                decisions.names,
                multilabel=self.multilabel,
                scores=self.scores,
                decimals=_DECIMALS,
                narrow=self.narrow,
                n_threads=self.use.n_threads,
            )
        if batch.rows and not self.narrow:
            texts = [batch.records.place(place) for place, row in batch.rows.items() if isinstance(row, Row)]
            columns = self._columns([*batch.rows.values()], decisions[texts])
            for k, (place, row) in enumerate(batch.rows.items()):
                line = self.table.row_lines(
                    [row], {name: column[k : k + 1] for name, column in columns.items()}
                )
                batch.records.put_line(place, line.encode("utf-8", "backslashreplace"))
        self.records.write(batch, decisions)

    def _columns(
        self, rows: Sequence[Row | EmptyText], decisions: Decisions, names: Sequence[str] = ()
    ) -> dict[str, list[Any]]:
        """Our columns of rows, or beside columns of these names."""
        from ..tables.rows import Row

        if self.narrow is None:
            self.narrow = bool(rows) and self.use is not None and self.use.plain
        own = {"line"} if self.narrow else set(names).union(*(row.values for row in rows))
        ours = self._decided(decisions)
        if len(decisions) < len(rows):  # a row without a text stays, and has no decision
            values = {name: iter(column) for name, column in ours.items()}
            ours = {
                name: [next(column) if isinstance(row, Row) else None for row in rows]
                for name, column in values.items()
            }
        ours = dict(zip(self._names(ours, own), ours.values(), strict=True))
        if clashes := (own & ours.keys()) - self.clashes:  # of JSON, where every line may have its own
            self._tell_clashes(rows, clashes)
        return ours

    def _names(self, ours: Collection[str], own: Collection[str]) -> list[str]:
        """What our columns are called beside others, found when the first rows are there."""
        from ..tables.decision_columns import free_names

        if self.names is None:
            self.names = free_names(ours, own)
            others = {name: new for name, new in self.names.items() if name != new}
            if others:
                remark(
                    f"the table has {', '.join(others)} of its own; the decisions are in "
                    f"{', '.join(others.values())}"
                )
            if self.use is not None:
                self.use.reserved = set() if self.narrow else {*self.names.values()}
        return [self.names[name] for name in ours]

    def _tell_clashes(self, rows: Sequence[Row | EmptyText], clashes: set[str]) -> None:
        for row in rows:
            if names := (row.values.keys() & clashes) - self.clashes:
                remark(
                    f"from line {row.number:,} on there are columns "
                    f"{', '.join(map(repr, sorted(names)))}; decisions replace them"
                )
                self.clashes |= names

    def _decided(self, decisions: Decisions) -> dict[str, list[Any]]:
        from ..tables.decision_columns import decision_columns

        scores = self.scores and not self.by_label
        columns = decision_columns(decisions, multilabel=self.multilabel, scores=scores, decimals=_DECIMALS)
        if self.by_label:
            parts = {"scores": decisions.scores, "probabilities": decisions.probabilities}
            columns |= {
                name: [dict(zip(decisions.names, row, strict=True)) for row in values.tolist()]
                for name, values in parts.items()
                if values is not None
            }
        return columns


def _example(decisions: Decisions) -> Decisions:
    """A decision that has all that one can have."""
    import numpy as np

    from ..labels import Decisions

    shape = (1, len(decisions.names))
    numbers = np.zeros(shape)
    probabilities = None if decisions.probabilities is None else numbers
    return Decisions(
        decisions.names, numbers, np.ones(shape, dtype=bool), np.zeros(shape, dtype=bool), probabilities
    )
