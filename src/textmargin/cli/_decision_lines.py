"""Decisions beside the rows that they are about, as columns of a table that is written batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._console import remark

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..labels import Decisions
    from ..tables.rows import EmptyText, Row
    from ..tables.writer import TableWriter

Write = Callable[[Sequence["Row | EmptyText"], "Decisions"], None]

_DECIMALS = 6  # of scores and confidence


class DecisionWriter:
    """Writes rows and what was decided on them.

    Parameters
    ----------
    model : TextClassifier
    table : TableWriter
    scores : bool
        Whether the score of every class is written too; in JSON its probability as well.
    narrow : bool, or None
        Whether the number of the line stands for the row, in place of all its columns; None: where the first line is a text and
        nothing else.
    """

    def __init__(self, model: TextClassifier, table: TableWriter, scores: bool, narrow: bool | None) -> None:
        self.multilabel = model.labels_.multilabel
        self.table, self.scores, self.narrow = table, scores, narrow
        self.names: dict[str, str] | None = None  # of our columns, by what they are called where nothing is in their way
        self.clashes: set[str] = set()  # columns that came later under one of these names

    def write(self, rows: Sequence[Row | EmptyText], decisions: Decisions) -> None:
        """Further rows, those with a text decided on; none, for the names of the columns alone."""
        from ..tables.decision_columns import free_names
        from ..tables.rows import Row
        from ..tables.writer import row_columns

        if self.narrow is None:
            self.narrow = bool(rows) and rows[0].number == 1 and [*rows[0].values] == ["text"]
        own = {"line": [row.number for row in rows]} if self.narrow else row_columns(rows)
        ours = self._decided(decisions)
        if len(decisions) < len(rows):  # a row without a text stays, and has no decision
            values = {name: iter(column) for name, column in ours.items()}
            ours = {name: [next(own) if isinstance(row, Row) else None for row in rows] for name, own in values.items()}
        if self.names is None:
            self.names = free_names(ours, own)
            others = {name: new for name, new in self.names.items() if name != new}
            if others:
                remark(f"the table has {', '.join(others)} of its own; the decisions are in {', '.join(others.values())}")
        ours = {self.names[name]: column for name, column in ours.items()}
        if clashes := (own.keys() & ours.keys()) - self.clashes:  # of JSON, where every line may have its own
            names = ", ".join(map(repr, sorted(clashes)))
            remark(f"from line {rows[0].number:,} on there are columns {names}; decisions replace them")
            self.clashes |= clashes
        self.table.write({**own, **ours}, trusted=ours.keys())

    def _decided(self, decisions: Decisions) -> dict[str, list[Any]]:
        from ..tables.decision_columns import decision_columns

        by_name = self.scores and self.table.ragged  # JSON has objects for it
        columns = decision_columns(decisions, multilabel=self.multilabel, scores=self.scores and not by_name, decimals=_DECIMALS)
        if by_name:
            parts = {"scores": decisions.scores, "probabilities": decisions.probabilities}
            columns |= {
                name: [dict(zip(decisions.names, row, strict=True)) for row in values.tolist()]
                for name, values in parts.items()
                if values is not None
            }
        return columns
