"""Rows as texts and labels: of a whole file (`read_table`), or as they arrive (`stream_texts`).

`RowReader` alone says what the text and the label of a row are. A row without them is an `InvalidLine`, like a line that cannot
be read at all.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

from ..datasets.corpus import Corpus
from ..errors import TableError
from .columns import N_SAMPLE, ColumnNames, check_labels, column_on_arrival, find_columns, no_column
from .dialect import Dialect
from .formats import InvalidLine, Read, Row, read_rows
from .lines import name_of


class TextBatch(NamedTuple):
    """Rows that arrived together and their texts, one for each `Row` in `rows`; the others there are invalid or blank lines."""

    texts: list[str]
    rows: list[Read]


@dataclass(frozen=True)
class LabelledTable:
    """A corpus, and how it was read.

    Parameters
    ----------
    corpus : Corpus
        Its `ids` are numbers of lines.
    notes : list of str
        What was guessed, and what looks odd.
    invalid : list of InvalidLine
        Lines that were left out.
    text_column, label_column : str
        None where there is none.
    """

    corpus: Corpus
    notes: list[str] = field(default_factory=list)
    invalid: list[InvalidLine] = field(default_factory=list)
    text_column: str | None = None
    label_column: str | None = None


@dataclass(frozen=True)
class RowReader:
    """Texts and labels of rows.

    Parameters
    ----------
    columns : ColumnNames
    label_separator : str, default=None
        What stands between several labels of one text; with it, or with lists of labels in JSON, labels are tuples.
    """

    columns: ColumnNames
    label_separator: str | None = None

    def read(self, row: Row) -> tuple[str, str | tuple[str, ...]]:
        """The text and the label, or labels, of a row; ValueError where it has none."""
        return _text(row, self.columns.text), self._label(row)

    def read_all(
        self, rows: Iterable[Read], name: str, source: Any, *, strict: bool = True, fields: Sequence[str] = ()
    ) -> LabelledTable:
        """The corpus that rows make.

        Parameters
        ----------
        rows : rows, invalid and blank lines
        name : str
            Of the corpus.
        source : what to call the file in errors
        strict : bool, default=True
            Whether the first invalid line is an error; else all are left out, and in `invalid`.
        fields : names of further columns
        """
        texts: list[str] = []
        labels: list[Any] = []
        valid: list[Row] = []
        invalid: list[InvalidLine] = []
        for row in rows:
            if isinstance(row, Row):
                try:
                    text, label = self.read(row)
                except ValueError as error:
                    invalid.append(InvalidLine(row.number, str(error)))
                else:
                    texts.append(text)
                    labels.append(label)
                    valid.append(row)
            elif isinstance(row, InvalidLine):
                invalid.append(row)
            if strict and invalid:
                raise TableError(_refusal(invalid, source))
        if any(isinstance(label, tuple) for label in labels):
            labels = [label if isinstance(label, tuple) else (label,) for label in labels]
        corpus = Corpus(
            name,
            texts,
            labels,
            ids=[str(row.number) for row in valid],
            fields={column: [row.values.get(column) for row in valid] for column in fields},
        )
        return LabelledTable(corpus, [], invalid, self.columns.text, self.columns.label)

    def texts(self, batch: list[Read]) -> TextBatch:
        """The texts of rows as they arrive; a row without one becomes an `InvalidLine` in its place."""
        column = self.columns.text
        if {*map(type, batch)} == {Row}:  # nearly always, and then all texts are had at once
            values: list[Any] = [row.values.get(column) for row in cast("list[Row]", batch)]
            if {*map(type, values)} == {str}:
                return TextBatch(values, batch)
        texts = []
        rows: list[Read] = []
        for row in batch:
            if isinstance(row, Row):
                try:
                    texts.append(_text(row, column))
                except ValueError as error:
                    row = InvalidLine(row.number, str(error))
            rows.append(row)
        return TextBatch(texts, rows)

    def _label(self, row: Row) -> str | tuple[str, ...]:
        column = self.columns.label
        if column is None:
            return ""
        value = row.values.get(column)
        if isinstance(value, list):
            return tuple(name for name in map(_label_name, value) if name)
        name = _label_name(value)
        if self.label_separator is not None:
            return tuple(part.strip() for part in name.split(self.label_separator) if part.strip())
        if not name:
            raise ValueError(f"the label, column {column!r}, is empty")
        return name


def read_table(
    source: str | os.PathLike[str],
    *,
    text: str | None = None,
    label: str | None = None,
    label_separator: str | None = None,
    dialect: Dialect | None = None,
    labelled: bool = True,
    fields: Sequence[str] = (),
    skip_invalid: bool = False,
    usual: Sequence[str | None] = (None, None),
) -> LabelledTable:
    """Read a file whole.

    Parameters
    ----------
    source : path of a CSV, TSV, JSON lines, text or Parquet file, or a folder of text files; "-" is standard input
    text, label : names of columns, default=None
        Guessed where it is obvious.
    label_separator : str, default=None
        What stands between several labels of one text; with it, or with lists of labels in JSON, labels are tuples.
    dialect : Dialect, default=None
        How the file is written: format, encoding, delimiter, header; what it does not say is found out, and in `notes`.
    labelled : bool, default=True
        Whether a label is needed; else a column of labels is used where there is one.
    fields : names of further columns to keep
    skip_invalid : bool, default=False
        Whether lines that cannot be read are left out, and reported; else the first one is an error.
    usual : names of two columns, default=(None, None)
        Those of text and label in such files before: taken, where the file has them, before anything is guessed.

    Examples
    --------
    >>> from textmargin.tables.reader import read_table
    >>> table = read_table("desk.csv", label="topic", skip_invalid=True)  # doctest: +SKIP
    >>> table.corpus.texts, table.notes, table.invalid  # doctest: +SKIP
    """
    check_separator(label_separator)
    called = name_of(source)
    notes: list[str] = []
    names = [name for name in (text, label, *usual, *fields) if name is not None]
    rows = list(chain.from_iterable(read_rows(source, dialect, notes.append, names)))
    good = [row for row in rows if isinstance(row, Row)]
    invalid = [row for row in rows if isinstance(row, InvalidLine)]
    if invalid and not skip_invalid:  # before columns are guessed from what is left
        raise TableError(_refusal(invalid, called))
    if not good:
        raise TableError(_nothing_left(called, invalid) if invalid else f"{called} has no rows.")
    columns = find_columns(good[:N_SAMPLE], called, text, label, labelled, usual)
    missing = [name for name in fields if name not in good[0].values]
    if missing:
        raise TableError(no_column(missing[0], good[0].values, called))
    name = "standard input" if source == "-" else Path(source).name
    reader = RowReader(columns, label_separator)
    table = reader.read_all(rows, name, called, strict=not skip_invalid, fields=fields)
    if not table.corpus.texts:
        raise TableError(_nothing_left(called, table.invalid))
    if labelled and columns.label is not None:
        labels = table.corpus.labels
        counts = Counter(name for own in labels for name in (own if isinstance(own, tuple) else (own,)))
        check_labels(counts, len(labels), columns.label, called, is_guess=label is None and columns.label != usual[1])
    return replace(table, notes=[*notes, *columns.notes, *table.notes])


def stream_texts(
    batches: Iterable[list[Read]],
    source: Any,
    text: str | None = None,
    usual: str | None = None,
    log: Callable[[str], None] | None = None,
) -> Iterator[TextBatch]:
    """The texts of rows as they arrive, batch by batch; a row without one becomes an `InvalidLine` in its place.

    Parameters
    ----------
    batches : rows, as `read_rows` gives them
    source : what to call them in errors
    text : str, default=None
        The column of the texts, which the first row should have. By default the usual one where the first row has it, else one
        with a telling name, else the only one.
    usual : str, default=None
        The column that such texts stood in before.
    log : function of a line, default=None
        Gets to know which column was guessed.
    """
    reader = None
    for batch in batches:
        if reader is None:
            first = next((row for row in batch if isinstance(row, Row)), None)
            if first is None:
                yield TextBatch([], batch)
                continue
            columns = column_on_arrival(first, source, text, usual)
            reader = RowReader(columns)
            if log is not None and columns.notes:
                log("; ".join(columns.notes))
        yield reader.texts(batch)


def check_separator(label_separator: str | None) -> None:
    """That it is not empty."""
    if label_separator == "":
        raise TableError("label_separator= is empty; say what stands between several labels of one text, as a semicolon.")


def _text(row: Row, column: str) -> str:
    if column not in row.values:
        raise ValueError(f"no column {column!r}")
    value = row.values[column]
    if not isinstance(value, str):
        raise ValueError(f"{column!r} is {value!r}, not a text")
    return value


def _label_name(value: Any) -> str:
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


def _refusal(invalid: Sequence[InvalidLine], source: Any) -> str:
    more = f" ({len(invalid)} lines in all cannot be read.)" if len(invalid) > 1 else ""
    first = invalid[0]
    return f"Line {first.number:,} of {source}: {first.reason}.{more} Mend it, or leave such lines out with skip_invalid=True."


def _nothing_left(source: str, invalid: Sequence[InvalidLine]) -> str:
    return f"No line of {source} could be read; the first, line {invalid[0].number:,}: {invalid[0].reason}."
