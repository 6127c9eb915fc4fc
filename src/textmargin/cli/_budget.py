"""So many and no more: the options of a budget, and decisions that keep it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import OptionError, remark

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..labels import Decisions
    from ..tables.rows import EmptyText, Row
    from ._decision_lines import Write

# held-out texts of a label, with fewer of which a budget's share of them is coarser than it looks
_FEWEST = 20
_MOST_LINES = 10  # about labels, before the rest is summed up


@dataclass(frozen=True)
class BudgetOptions:
    """How many texts may be accepted."""

    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="At most so many texts of the file for each label (of two: the positive), the highest "
            "first.",
        ),
    ] = None
    per: Annotated[
        str | None,
        typer.Option(
            help="With --budget: so many for each day of this column of dates, or for each of its values."
        ),
    ] = None

    def check(self) -> None:
        """That they go together."""
        if self.budget is None and self.per is not None:
            raise OptionError("--per says what a budget is for; say how many with --budget.")

    def limit(self, model: TextClassifier, source: str, write: Write) -> Sink:
        """Where decisions go, so that those are written that keep the budget."""
        if self.budget is None:
            return Sink(write)
        return FileSink(write, model, self.budget, self.per, source)


class Sink:
    """Decisions that are written as they come."""

    def __init__(self, write: Write) -> None:
        self.write = write

    def add(self, rows: Sequence[Row | EmptyText], decisions: Decisions) -> None:
        """The decisions on further rows."""
        self.write(rows, decisions)

    def close(self) -> None:
        """No more will come."""


class FileSink(Sink):
    """The highest of a file, or of each of its days: they wait in memory until all are there."""

    def __init__(self, write: Write, model: TextClassifier, n: int, by: str | None, source: str) -> None:
        from ..decisions.budget import Budget

        super().__init__(write)
        self.model, self.source = model, source
        self.budget = Budget(n, by)
        self.groups: list[Any] = []
        self.parts: list[Decisions] = []
        self.rows: list[Sequence[Row | EmptyText]] = []

    def add(self, rows: Sequence[Row | EmptyText], decisions: Decisions) -> None:
        """The decisions on further rows."""
        from ..errors import TableError
        from ..tables.columns import no_column
        from ..tables.dates import day_of
        from ..tables.rows import Row

        by = self.budget.by
        if by is not None:
            if rows and by not in rows[0].values and not self.groups:
                raise TableError(no_column(by, rows[0].values, self.source, "per"))
            self.groups += [day_of(row.values.get(by)) for row in rows if isinstance(row, Row)]
        self.parts.append(decisions)
        self.rows.append(rows)

    def close(self) -> None:
        """Write those that keep the budget."""
        import numpy as np

        from ..decisions.leads import class_leads, withhold
        from ..labels import Decisions

        model, decisions = self.model, Decisions.join(self.parts)
        ends = np.cumsum([len(part) for part in self.parts]).tolist()
        self.parts.clear()
        if len(decisions):
            leads = class_leads(decisions, model.labels_, always_answer=not model.can_be_unsure)
            groups = None if self.budget.by is None else self.groups
            within = np.column_stack([self.budget.select(column, groups) for column in leads.T])
            n_groups = len(set(self.groups)) if groups is not None else 1
            _expect(model, self.budget.n, len(decisions) / n_groups, ((leads >= 0) & ~within).sum(axis=0))
            decisions = withhold(decisions, model.labels_, within)
        for rows, (start, end) in zip(self.rows, pairwise([0, *ends]), strict=True):
            self.write(rows, decisions[start:end])


def _expect(model: TextClassifier, n: int, n_texts: float, n_over: Any) -> None:
    """Say what a budget is expected to deliver, and for how many texts it had no room."""
    if not model.has_held_out:
        return
    from ..decisions.budget import budget_outcome
    from ..decisions.leads import held_out_leads

    held_out, names = model.held_out_, [str(name) for name in model.labels_.threshold_names]
    leads = held_out_leads(model.model_, model.labels_)
    columns = [k for k in range(len(names)) if n_over[k] and held_out.positive[:, k].any()]
    for k in columns[:_MOST_LINES]:
        outcome = budget_outcome(
            held_out.positive[:, k],
            leads[:, k],
            min(n, n_texts),
            n_texts,
            threshold=0.0,
            weight=held_out.class_weight(k),
        )
        parts = [f"{names[k]}: {min(n, n_texts):,.0f} of {n_texts:,.0f} texts at most"]
        parts += [] if math.isnan(outcome.precision) else [f"expected precision {outcome.precision:.2f}"]
        parts += [f"{outcome.recall:.0%} of all hits"] if held_out.positive[:, k].sum() >= _FEWEST else []
        remark(", ".join(parts) + f"; {n_over[k]:,} had no room")
    if len(columns) > _MOST_LINES:
        remark(f"and {len(columns) - _MOST_LINES} more, whose budget is used up as well")
    if len(columns) < len(names):
        remark(f"within the budget: {len(names) - len(columns)} of {len(names)} labels")
