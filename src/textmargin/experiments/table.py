"""A table of numbers, each beside what a paper prints for it.

What the papers print is in `published.toml`, by paper, table, row and column.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Self

import numpy as np


@dataclass(frozen=True)
class Value:
    """A number of ours, how it varies from draw to draw (standard deviation), and the paper's."""

    ours: float | None
    spread: float | None = None
    published: float | None = None

    @property
    def gap(self) -> float | None:
        """Ours less the paper's."""
        return None if self.ours is None or self.published is None else self.ours - self.published


@dataclass(frozen=True)
class Table:
    """Rows of values by column; what to know when reading them.

    Parameters
    ----------
    columns : names, in order
    rows : row → column → value; a row may lack columns
    decimals : column → how many to show, 3 by default
    notes : what differs from the paper, and why, as far as it is known
    details : further numbers of the run, for the stored result only
    """

    columns: list[str]
    rows: dict[str, dict[str, Value]]
    decimals: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def beside(
        cls,
        published: Mapping[str, Mapping[str, float]],
        numbers: Mapping[str, Mapping[str, Any]],
        columns: Sequence[str],
        **more: Any,
    ) -> Self:
        """Our numbers, or draws of a number, beside what is published; rows and columns only one side has
        stay.
        """
        rows = {}
        for row in [*numbers, *(name for name in published if name not in numbers)]:
            theirs, ours = published.get(row, {}), numbers.get(row, {})
            rows[row] = {
                column: _value(ours.get(column), theirs.get(column))
                for column in columns
                if column in {*theirs, *ours}
            }
        return cls(list(columns), rows, **more)

    @property
    def published_columns(self) -> list[str]:
        """Columns of which a paper prints something."""
        return [
            column
            for column in self.columns
            if any(_published(row, column) is not None for row in self.rows.values())
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The table that `to_dict` was made from."""
        rows = {
            name: {column: Value(**value) for column, value in row.items()}
            for name, row in data["rows"].items()
        }
        return cls(**{**data, "rows": rows})


@cache
def published(paper: str, table: str = "") -> dict[str, Any]:
    """What a paper prints: of one table row → column → number, or without a table all of it."""
    everything = tomllib.loads(files(__package__).joinpath("published.toml").read_text(encoding="utf-8"))
    return everything[paper][table] if table else everything[paper]


def _value(number: Any, theirs: float | None) -> Value:
    if number is None:
        return Value(None, None, theirs)
    draws = np.atleast_1d(np.asarray(number, dtype=float))
    spread = float(draws.std(ddof=1)) if draws.size > 1 else None
    return Value(float(draws.mean()), spread, theirs)


def _published(row: Mapping[str, Value], column: str) -> float | None:
    return row[column].published if column in row else None
