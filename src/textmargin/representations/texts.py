"""Whatever holds texts, as a list of strings: the only place where texts enter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import NotTextError


def as_items(texts: Any) -> list[Any]:
    """What a list, a NumPy array, a pandas or polars column, a one-column table or any iterable holds."""
    if isinstance(texts, str | bytes):
        raise NotTextError("Expected several texts, got a single string; put it in a list: [text].")
    if getattr(texts, "ndim", 1) == 2 or hasattr(texts, "columns"):
        texts = _only_column(texts)
    if not isinstance(texts, Iterable):
        raise NotTextError(f"Expected a list or column of texts, got {type(texts).__name__}.")
    return list(texts)


def as_texts(texts: Any) -> list[str]:
    """The same, all of them strings."""
    items = as_items(texts)
    if {*map(type, items)} <= {str}:  # nearly always, and quicker than to ask each
        return items
    for i, text in enumerate(items):
        if not isinstance(text, str):
            raise not_a_text(i, text)
    return items


def join_copies(texts: Sequence[str], labels: Iterable[Any]) -> tuple[list[int], list[int]]:
    """The rows of the first of texts that occur again with the same label, in order; and for each row which
    of these it is.

    Examples
    --------
    >>> from textmargin.representations.texts import join_copies
    >>> join_copies(["corn", "oil", "corn", "corn"], ["a", "b", "a", "b"])
    ([0, 1, 3], [0, 1, 0, 2])
    """
    place: dict[Any, int] = {}
    first: list[int] = []
    group = []
    for row, key in enumerate(zip(texts, labels, strict=True)):
        own = place.setdefault(key, len(first))
        if own == len(first):
            first.append(row)
        group.append(own)
    return first, group


def not_a_text(i: int, text: Any) -> NotTextError:
    """The error for something else among the texts."""
    if text is None or (isinstance(text, float) and text != text) or type(text).__name__ == "NAType":
        return NotTextError(f"Text number {i} is missing ({text!r}); drop it or replace it by an empty text.")
    if isinstance(text, bytes):
        return NotTextError(
            f"Text number {i} is bytes: {text!r:.60}; decode it first, for instance with .decode('utf-8')."
        )
    return NotTextError(
        f"Text number {i} is not a string but {type(text).__name__}: {text!r:.60}; convert it with str() "
        "first."
    )


def _only_column(table: Any) -> Any:
    """The column of a table that has just one."""
    n_columns = table.shape[1]
    if n_columns != 1:
        named = f": {list(table.columns)[:8]}" if hasattr(table, "columns") else ""
        raise NotTextError(
            f"Expected one column of texts, got a table with {n_columns} columns{named}; choose one."
        )
    if hasattr(table, "columns"):
        return table[next(iter(table.columns))]
    return table[:, 0]
