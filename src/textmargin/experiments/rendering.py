"""Results as Markdown: of every number a paper prints paper, ours and gap; and the page of all of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .._system.writing import write_whole
from ..errors import OutputError
from .reproduce import load_results
from .result import Result
from .table import Table, Value

NOTHING = "–"
_OPENING = """# The papers' tables, next to ours

Generated from stored results in `{results}` by `textmargin reproduce`; nothing here is typed by hand. \
A gap is
ours less the paper's. `textmargin reproduce` lists the tables, `textmargin reproduce NAME` computes one.
"""


def write_page(results: str | os.PathLike[str], page: str | os.PathLike[str]) -> None:
    """Write all stored results to a Markdown page."""
    found = load_results(results)
    if not found:
        raise OutputError(
            f"There are no stored results in {Path(results)}; compute some first: textmargin reproduce NAME."
        )
    sections = [_OPENING.format(results=Path(results)), *map(to_markdown, found)]
    write_whole({Path(page): "\n".join(sections).encode()})


def cells(table: Table) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of strings."""
    compared = set(table.published_columns)
    heads = [""]
    for column in table.columns:
        heads += [f"{column}: paper", "ours", "gap"] if column in compared else [column]
    rows = []
    for name, values in table.rows.items():
        row = [name]
        for column in table.columns:
            value, decimals = values.get(column, Value(None)), table.decimals.get(column, 3)
            row += _triple(value, decimals) if column in compared else [_ours(value, decimals)]
        rows.append(row)
    return heads, rows


def facts(result: Result) -> list[str]:
    """What a reader needs to know of a run, in a few lines."""
    settings = ", ".join(f"{name} = {value}" for name, value in result.parameters.items())
    seeds = f"seeds {result.seeds[0]} to {result.seeds[-1]}" if len(result.seeds) > 1 else ""
    versions = ", ".join(f"{name} {number}" for name, number in result.versions.items())
    quick = "QUICK RUN: a small part of the work, the numbers mean little" if result.quick else ""
    time = (
        f"{result.seconds:,.0f} s{_evaluations(result.n_kernel_evaluations)} on {result.machine}, "
        f"{result.when[:10]}"
    )
    return [line for line in (quick, settings, "; ".join(filter(None, [seeds, time])), versions) if line]


def to_markdown(result: Result) -> str:
    """As a section of a page."""
    heads, rows = cells(result.table)
    lines = [f"## {result.name}: {result.title}", "", f"*{result.paper}*", ""]
    lines += [
        _markdown_row(heads),
        _markdown_row(["---", *["---:"] * (len(heads) - 1)]),
        *map(_markdown_row, rows),
        "",
    ]
    lines += [f"- {note}" for note in result.table.notes]
    lines += ["", *(f"{line}  " for line in facts(result)), f"`textmargin reproduce {result.name}`"]
    return "\n".join(lines) + "\n"


def _evaluations(n: int | None) -> str:
    """Behind the seconds, which depend on what was in the store; nothing where no kernel was asked for, or
    nobody counted.
    """
    if n is None:
        return ""
    return (
        f" ({n:,} kernel evaluations, other values looked up)"
        if n
        else " (no kernel evaluation, all values looked up)"
    )


def _triple(value: Value, decimals: int) -> list[str]:
    gap = NOTHING if value.gap is None else _short(f"{value.gap:+.{decimals}f}")
    return [_number(value.published, decimals), _ours(value, decimals), gap]


def _ours(value: Value, decimals: int) -> str:
    spread = "" if value.spread is None else f" ± {_short(f'{value.spread:.{decimals}f}')}"
    return _number(value.ours, decimals) + spread


def _number(value: float | None, decimals: int) -> str:
    return NOTHING if value is None else _short(f"{value:.{decimals}f}")


def _short(number: str) -> str:
    """.925 for 0.925, as papers print shares."""
    return re.sub(r"^([+-]?)0\.(?=\d)", r"\1.", number)


def _markdown_row(row: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
