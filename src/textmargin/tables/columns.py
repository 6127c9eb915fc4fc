"""Which columns of a table hold the texts and the labels: as given, or guessed from names and values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import TableError
from .formats import Row

TEXT_NAMES = (
    "text",
    "message",
    "body",
    "content",
    "document",
    "review",
    "comment",
    "sentence",
    "description",
    "abstract",
    "title",
)
LABEL_NAMES = ("label", "labels", "topic", "topics", "class", "category", "categories", "target", "tag", "tags", "sentiment", "y")

N_SAMPLE = 200  # rows that a guess is made from
_MAX_LABELS = 50
_MIN_TEXTS = 20  # rows from which labels that all differ are no labels


@dataclass(frozen=True)
class ColumnNames:
    """Names of columns, as given or guessed; `notes` say which were guessed."""

    text: str
    label: str | None
    notes: list[str]


def find_columns(
    rows: Sequence[Row],
    source: Any,
    text: str | None = None,
    label: str | None = None,
    labelled: bool = False,
    usual: Sequence[str | None] = (None, None),
) -> ColumnNames:
    """Names of the columns, those not given the usual ones, else guessed from their names, else from what is in them."""
    names = list(rows[0].values)
    for given in (text, label):
        if given is not None and given not in names:
            raise TableError(no_column(given, names, source, "text" if given == text else "label"))
    if text is not None and text == label:
        raise TableError(f"Column {text!r} of {source} cannot be both the text and the label; choose another with label=.")
    notes = []
    text, label = _with_usual(names, text, label, usual)
    if text is None:
        text = _text_column(rows, names, label)
        if text is None:
            raise TableError(f"{source} has the columns {_enumerate(names)}; which one holds the text? Choose it with text=.")
        notes.append(f"text: column {text!r}")
    if label is None:
        label = _label_column(rows, [name for name in names if name != text])
        if label is None and labelled:
            raise TableError(f"{source} has the columns {_enumerate(names)}; which one holds the label? Choose it with label=.")
        if label is not None:
            notes.append(f"label: column {label!r}")
    return ColumnNames(text, label, notes)


def column_on_arrival(row: Row, source: Any, text: str | None = None, usual: str | None = None) -> ColumnNames:
    """The column of the texts from the first row alone, for rows that are still to come.

    The one given, else the usual one, else one with a telling name, else the only one. What the values look like does not
    matter: that would change with the row that happens to come first.
    """
    names = list(row.values)
    if text is not None:
        if text not in names:
            raise TableError(no_column(text, names, source, "text"))
        return ColumnNames(text, None, [])
    if usual in row.values:
        return ColumnNames(usual, None, [])
    guess = next((name for telling in TEXT_NAMES for name in names if name.lower() == telling), None)
    if guess is None and len(names) == 1:
        guess = names[0]
    if guess is None:
        raise TableError(f"{source} has the columns {_enumerate(names)}; which one holds the text? Choose it with text=.")
    return ColumnNames(guess, None, [] if names == ["text"] else [f"text: column {guess!r}"])


def no_column(name: str, names: Collection[str], source: Any, parameter: str = "") -> str:
    """What to say of a column that is not there."""
    choose = f" Choose one with {parameter}=." if parameter else ""
    return f"{source} has no column {name!r}. It has {_enumerate(list(names))}.{choose}"


def check_labels(counts: Mapping[str, int], n_texts: int, column: str, source: str, *, is_guess: bool) -> None:
    """That there are some, and, where the column is a guess, that texts share them."""
    if not counts:
        raise TableError(f"No text of {source} has a label in column {column!r}. Choose another with label=.")
    once = sum(n == 1 for n in counts.values())
    if is_guess and n_texts >= _MIN_TEXTS and once > n_texts / 2:
        raise TableError(
            f"{source} has {len(counts):,} values in column {column!r} for {n_texts:,} texts, {once:,} of them once; are "
            f"they labels? Choose the column with label=."
        )


def _with_usual(
    names: list[str], text: str | None, label: str | None, usual: Sequence[str | None]
) -> tuple[str | None, str | None]:
    """The columns of text and label: as given, else the usual ones, where they are there and not taken."""
    if text is None and usual[0] in names and usual[0] != label:
        text = usual[0]
    if label is None and usual[1] in names and usual[1] != text:
        label = usual[1]
    return text, label


def _text_column(rows: Sequence[Row], names: list[str], label: str | None) -> str | None:
    """The one with a telling name, else the only one whose values are long."""
    matches = [name for telling in TEXT_NAMES for name in names if name.lower() == telling and name != label]
    if matches:
        return matches[0]
    strings = [name for name in names if name != label and all(isinstance(row.values.get(name), str) for row in rows)]
    words = {name: sum(len(row.values[name].split()) for row in rows) / len(rows) for name in strings}
    long = [name for name in strings if words[name] >= 3]
    return long[0] if len(long) == 1 else None


def _label_column(rows: Sequence[Row], names: list[str]) -> str | None:
    """The one with a telling name, else the only one with few values, each of them more than once."""
    matches = [name for telling in LABEL_NAMES for name in names if name.lower() == telling]
    if matches:
        return matches[0]
    few = []
    for name in names:
        values = {str(row.values.get(name)) for row in rows}
        if 1 < len(values) <= min(_MAX_LABELS, len(rows) / 2):
            few.append(name)
    return few[0] if len(few) == 1 else None


def _enumerate(names: list[str]) -> str:
    first = ", ".join(map(repr, names[:10]))
    return first + (f" and {len(names) - 10} more" if len(names) > 10 else "")
