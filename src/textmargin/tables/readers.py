"""Formats that a package above this one reads: it registers who gives their rows, and every command reads
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from .rows import Read

RowSource: TypeAlias = "Callable[[Path], Iterator[list[Read]]]"
READERS: dict[str, RowSource] = {}


def register_reader(file_format: str, read: RowSource) -> None:
    """Say who reads the rows of a format, as `read_rows` gives them: with columns `text` and `label`."""
    READERS[file_format] = read
