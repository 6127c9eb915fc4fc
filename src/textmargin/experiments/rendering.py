"""A result as text: for the terminal, as Markdown, as HTML. Of every number a paper prints: paper | ours |
gap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from .result import Result
from .table import Table, Value

if TYPE_CHECKING:
    from rich.console import Console

NOTHING = "–"


def cells(
    table: Table, columns: Sequence[str] | None = None, joint: str = ": "
) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of strings, of all columns or some; `joint` stands between a column and the word
    paper.
    """
    columns, compared = list(columns or table.columns), set(table.published_columns)
    heads = [""]
    for column in columns:
        heads += (
            [f"{column}{joint}paper", f"{joint}ours".strip(": "), f"{joint}gap".strip(": ")]
            if column in compared
            else [column]
        )
    rows = []
    for name, values in table.rows.items():
        row = [name]
        for column in columns:
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


def to_terminal(result: Result, console: Console) -> None:
    """Print it, as many columns beside one another as there is room for."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    console.print(f"{result.name}: {result.title}", style="bold", highlight=False, markup=False)
    console.print(result.paper, highlight=False, markup=False)
    for columns in _that_fit(result.table, console.width):
        heads, rows = cells(result.table, columns, joint="\n")
        table = RichTable(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for number, head in enumerate(heads):
            table.add_column(head, justify="right" if number else "left", no_wrap=number > 0)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    for line in [*result.table.notes, *facts(result)]:
        console.print(line, style="dim", highlight=False, markup=False)


def _that_fit(table: Table, width: int) -> Iterator[list[str]]:
    """Groups of columns no wider than that, one at least."""
    group: list[str] = []
    for column in table.columns:
        heads, rows = cells(table, [*group, column], joint="\n")
        widths = (
            max(len(line) for cell in column_ for line in cell.split("\n"))
            for column_ in zip(heads, *rows, strict=True)
        )
        needed = sum(width + 2 for width in widths)
        if group and needed > width:
            yield group
            group = []
        group.append(column)
    if group:
        yield group


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


def to_html(results: Iterable[Result]) -> str:
    """All of them as one page that needs nothing else."""
    sections = []
    for result in results:
        heads, rows = cells(result.table)
        head = "".join(f"<th>{escape(text)}</th>" for text in heads)
        body = "\n".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in result.table.notes)
        known = "<br>".join(map(escape, facts(result)))
        name, title, paper = map(escape, (result.name, result.title, result.paper))
        sections.append(
            f'<section id="{name}"><h2>{name}: {title}</h2><p>{paper}</p>'
            f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table><ul>{notes}</ul><small>{known}</small></section>"
        )
    return _PAGE.replace("SECTIONS", "\n".join(sections))


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


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>textmargin: the papers' tables, next to ours</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; \
color: #222; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid #ddd; \
font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
small { color: #666; }
</style></head><body>
<h1>The papers' tables, next to ours</h1>
SECTIONS
</body></html>
"""
