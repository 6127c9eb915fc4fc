"""A user's own file as a corpus: which column is the text, which the label, and what to do with lines that cannot be read."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from ..datasets.corpus import Corpus
from ..errors import TableError
from .formats import BadLine, Row, read_rows
from .lines import name_of

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

LOOKED_AT = 200  # rows that a guess is made from
_MOST_LABELS = 50
_ENOUGH = 20  # rows from which labels that all differ are no labels


@dataclass(frozen=True)
class Table:
    """A corpus, and what should be said of how it was read."""

    corpus: Corpus
    said: list[str] = field(default_factory=list)
    bad: list[BadLine] = field(default_factory=list)
    text_column: str | None = None


@dataclass(frozen=True)
class Columns:
    """Names of columns, as given or guessed, and what was guessed."""

    text: str
    label: str | None
    said: list[str]


def read_table(
    source: str | os.PathLike[str],
    *,
    text: str | None = None,
    label: str | None = None,
    separator: str | None = None,
    kind: str | None = None,
    encoding: str = "utf-8",
    labelled: bool = True,
    fields: Sequence[str] = (),
    skip_bad: bool = False,
) -> Table:
    """Read a file whole.

    Parameters
    ----------
    source : path of a CSV, TSV, JSON lines, text or Parquet file, or a folder of text files; "-" is standard input
    text, label : names of columns, default=None
        Guessed where it is obvious.
    separator : str, default=None
        What stands between several labels of one text; with it, or with lists of labels in JSON, labels are tuples.
    kind : str, default=None
        "csv", "tsv", "jsonl", "txt", "parquet" or "folder"; by default what the name tells.
    encoding : str, default="utf-8"
    labelled : bool, default=True
        Whether a label is needed; else a column of labels is used where there is one.
    fields : names of further columns to keep
    skip_bad : bool, default=False
        Whether lines that cannot be read are left out, and reported; else the first one is an error.
    """
    if separator == "":
        raise TableError("--separator '' is empty; say what stands between several labels of one text, as in --separator ';'.")
    called = name_of(source)
    rows = list(chain.from_iterable(read_rows(source, kind, encoding)))
    good = [row for row in rows if isinstance(row, Row)]
    bad = [row for row in rows if isinstance(row, BadLine)]
    if bad and not skip_bad:
        more = f" ({len(bad)} lines in all cannot be read.)" if len(bad) > 1 else ""
        raise TableError(
            f"Line {bad[0].number:,} of {called}: {bad[0].reason}.{more} Mend it, or leave such lines out with --skip-bad."
        )
    if not good:
        raise TableError(_none_left(called, bad) if bad else f"{called} has no rows.")
    columns = find_columns(good[:LOOKED_AT], called, text, label, labelled)
    texts, labels, kept, left_out = [], [], [], []
    for row in good:
        try:
            texts.append(text_of(row, columns.text))
            labels.append(labels_of(row, columns.label, separator) if columns.label else "")
            kept.append(row)
        except ValueError as error:
            del texts[len(kept) :]
            left_out.append(BadLine(row.number, str(error)))
            if not skip_bad:
                raise TableError(
                    f"Line {row.number:,} of {called}: {error}. Mend it, or leave such lines out with --skip-bad."
                ) from error
    if not kept:
        raise TableError(_none_left(called, left_out))
    if any(isinstance(own, tuple) for own in labels):
        labels = [own if isinstance(own, tuple) else (own,) for own in labels]
    if labelled and columns.label is not None:
        counts = Counter(one for own in labels for one in (own if isinstance(own, tuple) else (own,)))
        check_labels(counts, len(labels), columns.label, called, guessed=label is None)
    missing = [name for name in fields if name not in kept[0].values]
    if missing:
        raise TableError(no_column(missing[0], kept[0].values, called))
    corpus = Corpus(
        Path(source).name if source != "-" else "standard input",
        texts,
        labels,
        ids=[str(row.number) for row in kept],
        fields={name: [row.values.get(name) for row in kept] for name in fields},
    )
    return Table(corpus, columns.said, [*bad, *left_out], columns.text)


def find_columns(
    rows: Sequence[Row], source: Any, text: str | None = None, label: str | None = None, labelled: bool = False
) -> Columns:
    """Names of the columns, those not given guessed from their names, else from what is in them."""
    names = list(rows[0].values)
    for given in (text, label):
        if given is not None and given not in names:
            raise TableError(no_column(given, names, source, "--text" if given == text else "--label"))
    said = []
    if text is None:
        text = _text_column(rows, names, label)
        if text is None:
            raise TableError(f"{source} has the columns {_listed(names)}; which one holds the text? Choose it with --text.")
        said.append(f"text: column {text!r}")
    if label is None:
        label = _label_column(rows, [name for name in names if name != text])
        if label is None and labelled:
            raise TableError(f"{source} has the columns {_listed(names)}; which one holds the label? Choose it with --label.")
        if label is not None:
            said.append(f"label: column {label!r}")
    return Columns(text, label, said)


def column_on_arrival(row: Row, source: Any, text: str | None = None, usual: str | None = None) -> Columns:
    """The column of the texts from the first row alone, for rows that are still to come.

    The one given, else the usual one, else one with a telling name, else the only one. What the values look like does not
    matter: that would change with the row that happens to come first.
    """
    names = list(row.values)
    if text is not None:
        if text not in names:
            raise TableError(no_column(text, names, source, "--text"))
        return Columns(text, None, [])
    if usual in row.values:
        return Columns(usual, None, [])
    found = next((name for wanted in TEXT_NAMES for name in names if name.lower() == wanted), None)
    if found is None and len(names) == 1:
        found = names[0]
    if found is None:
        raise TableError(f"{source} has the columns {_listed(names)}; which one holds the text? Choose it with --text.")
    return Columns(found, None, [] if names == ["text"] else [f"text: column {found!r}"])


def text_of(row: Row, column: str) -> str:
    """The text of a row."""
    if column not in row.values:
        raise ValueError(f"no column {column!r}")
    value = row.values[column]
    if not isinstance(value, str):
        raise ValueError(f"{column!r} is {value!r}, not a text")
    return value


def no_column(name: str, names: Any, source: Any, option: str = "") -> str:
    """What to say of a column that is not there."""
    choose = f" Choose one with {option}." if option else ""
    return f"{source} has no column {name!r}. It has {_listed(list(names))}.{choose}"


def labels_of(row: Row, column: str, separator: str | None) -> Any:
    """The label of a row, or a tuple of labels."""
    value = row.values.get(column)
    if isinstance(value, list):
        return tuple(one for one in map(_label, value) if one)
    own = _label(value)
    if separator is not None:
        return tuple(one.strip() for one in own.split(separator) if one.strip())
    if not own:
        raise ValueError(f"the label, column {column!r}, is empty")
    return own


def _label(value: Any) -> str:
    """A label as CSV would write it, so that every format has the same ones; "" where there is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dict | list | bytes):
        raise ValueError(f"{value!r:.60} is not a label")
    return str(value).strip()


def check_labels(counts: Mapping[str, int], n_texts: int, column: str, source: str, *, guessed: bool) -> None:
    """That there are some, and, in a column that was guessed, that texts share them."""
    if not counts:
        raise TableError(f"No text of {source} has a label in column {column!r}. Choose another with --label.")
    once = sum(n == 1 for n in counts.values())
    if guessed and n_texts >= _ENOUGH and once > n_texts / 2:
        raise TableError(
            f"{source} has {len(counts):,} values in column {column!r} for {n_texts:,} texts, {once:,} of them once; are "
            f"they labels? Choose the column with --label."
        )


def _none_left(source: str, bad: list[BadLine]) -> str:
    return f"No line of {source} could be read; the first, line {bad[0].number:,}: {bad[0].reason}."


def _text_column(rows: Sequence[Row], names: list[str], label: str | None) -> str | None:
    """The one with a telling name, else the only one whose values are long."""
    known = [name for wanted in TEXT_NAMES for name in names if name.lower() == wanted and name != label]
    if known:
        return known[0]
    strings = [name for name in names if name != label and all(isinstance(row.values.get(name), str) for row in rows)]
    words = {name: sum(len(row.values[name].split()) for row in rows) / len(rows) for name in strings}
    long = [name for name in strings if words[name] >= 3]
    return long[0] if len(long) == 1 else None


def _label_column(rows: Sequence[Row], names: list[str]) -> str | None:
    """The one with a telling name, else the only one with few values, each of them more than once."""
    known = [name for wanted in LABEL_NAMES for name in names if name.lower() == wanted]
    if known:
        return known[0]
    few = []
    for name in names:
        values = {str(row.values.get(name)) for row in rows}
        if 1 < len(values) <= min(_MOST_LABELS, len(rows) / 2):
            few.append(name)
    return few[0] if len(few) == 1 else None


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:10]))
    return shown + (f" and {len(names) - 10} more" if len(names) > 10 else "")
