"""Tables on the terminal and in pipes: numbers are never cut off, and never broken.

In a pipe a table is as wide as it needs. On a terminal (or with COLUMNS set) columns of text are folded, and
heads of numbers stand on several lines; where numbers alone need more, the table is wider than the terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_UNLIMITED = 100_000  # characters of a line in a pipe
_LEAST_TEXT = 8  # characters that a column of text is folded to at most


def wide_console() -> Console:
    """Where results are printed: as wide as the terminal, and in a pipe as wide as they are."""
    from rich.console import Console

    narrow = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, markup=False, emoji=False, width=None if narrow else _UNLIMITED)


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], texts: Sequence[int] = (0,)) -> None:
    """A table on standard output.

    Parameters
    ----------
    heads : names of the columns
    rows : cells, as they are printed
    texts : the columns that hold text, which may be folded; the others are numbers
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    console = wide_console()
    columns = [[head, *cells] for head, *cells in zip(heads, *rows, strict=True)]
    frame = 2 * len(columns) + 1
    if sum(map(_width, columns)) + frame > console.width:
        for number, column in enumerate(columns):
            if number not in texts:
                column[0] = column[0].replace(" ", "\n")
    least = [_width(column) for column in columns]
    for number in texts:
        least[number] = min(least[number], _LEAST_TEXT)
    console.width = max(console.width, sum(least) + frame)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, column in enumerate(columns):
        is_text = number in texts
        table.add_column(
            Text(column[0]),
            justify="left" if is_text else "right",
            overflow="fold",
            no_wrap=not is_text,
            min_width=least[number],
        )
    for cells in zip(*(column[1:] for column in columns), strict=True):
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)


def _width(cells: Sequence[str]) -> int:
    """Of the longest line; Chinese characters are two columns wide."""
    from rich.cells import cell_len

    return max(cell_len(line) for cell in cells for line in cell.split("\n"))
