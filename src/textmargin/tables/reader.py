"""Rows as texts and labels: of a whole file (`read_table`), or as they arrive (`stream_texts`).

`RowReader` alone says what the text and the label of a row are. A row without them is an `InvalidLine`, like a line that cannot
be read at all.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

from ..datasets.corpus import Corpus
from ..errors import TableError
from .columns import ColumnNames, check_labels, column_on_arrival, find_columns, no_column, spread
from .dialect import Dialect
from .formats import read_rows
from .label_values import MISSING_LABELS, NO, YES, check_separator, describe_missing, find_flags, label_name, obvious_separator
from .paths import name_of
from .rows import InvalidLine, Read, Row


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
    unlabelled : Corpus
        The texts that have no label, and are not in `corpus`; its fields are those of `corpus`.
    missing : Counter of str
        What stands in place of their labels.
    """

    corpus: Corpus
    notes: list[str] = field(default_factory=list)
    invalid: list[InvalidLine] = field(default_factory=list)
    text_column: str | None = None
    label_column: str | None = None
    unlabelled: Corpus = field(default_factory=lambda: Corpus("unlabelled", [], []))
    missing: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class RowReader:
    """Texts and labels of rows.

    Parameters
    ----------
    columns : ColumnNames
    label_separator : str, default=None
        What stands between several labels of one text; with it, with lists of labels in JSON, or with several columns, labels
        are tuples.
    missing_labels : values that mean that a text has no label, beside none at all
    flags : mapping, default={}
        Columns that say of each text whether it has the label they are called by, as `find_flags` finds them.
    labelled : bool, default=True
        Whether texts without a label are kept apart.
    """

    columns: ColumnNames
    label_separator: str | None = None
    missing_labels: Collection[str] = MISSING_LABELS
    flags: Mapping[str, bool] = field(default_factory=dict)
    labelled: bool = True

    def read(self, row: Row) -> tuple[str, str | tuple[str, ...] | None]:
        """The text of a row, and its label, or labels, None where there is none; ValueError where these are something else."""
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
        others: list[tuple[Row, str]] = []  # without a label
        for row in rows:
            if isinstance(row, Row):
                try:
                    text, label = self.read(row)
                except ValueError as error:
                    invalid.append(InvalidLine(row.number, str(error)))
                else:
                    if label is not None or not self.labelled:
                        texts.append(text)
                        labels.append("" if label is None else label)
                        valid.append(row)
                    else:
                        others.append((row, text))
            elif isinstance(row, InvalidLine):
                invalid.append(row)
            if strict and invalid:
                raise TableError(_refusal(invalid, source))
        if any(isinstance(label, tuple) for label in labels):
            labels = [label if isinstance(label, tuple) else (label,) if label else () for label in labels]
        corpus = _corpus(name, texts, labels, valid, fields)
        rest = _corpus(name, [text for _, text in others], [""] * len(others), [row for row, _ in others], fields)
        missing = Counter(label_name(row.values.get(str(self.columns.label))) or "" for row, _ in others)
        return LabelledTable(corpus, [], invalid, self.columns.text, self.columns.label, rest, missing)

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

    def _label(self, row: Row) -> str | tuple[str, ...] | None:
        if len(self.columns.labels) > 1:
            return self._labels(row)
        if self.columns.label is None:
            return ""
        value = row.values.get(self.columns.label)
        if isinstance(value, list):
            return tuple(name for name in map(label_name, value) if name)
        name = label_name(value)
        if name is None or name in self.missing_labels:
            return None
        if self.label_separator is not None:
            return self._parts(name)
        return name or None

    def _labels(self, row: Row) -> tuple[str, ...] | None:
        """Of several columns: 0 and 1, or names; None where one that should be 0 or 1 is missing, or all are."""
        names: list[str] = []
        n_missing = 0
        for column in self.columns.labels:
            name = label_name(row.values.get(column))
            says_no = self.flags.get(column)  # whether an empty cell does; None for a column of names
            if name is None or name in self.missing_labels or (name == "" and says_no is False):
                if says_no is not None:
                    return None
                n_missing += 1
            elif says_no is None:
                names += self._parts(name) if self.label_separator is not None else [name] * bool(name)
            elif name.casefold() in YES:
                names.append(column)
            elif name and name.casefold() not in NO:
                raise ValueError(f"{column!r} is {name!r}, neither 0 nor 1 as elsewhere")
        return None if n_missing == len(self.columns.labels) else tuple(dict.fromkeys(names))

    def _parts(self, name: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in name.split(self.label_separator) if part.strip())


def read_table(
    source: str | os.PathLike[str],
    *,
    text: str | None = None,
    label: str | None = None,
    label_separator: str | None = None,
    missing_labels: Collection[str] = MISSING_LABELS,
    dialect: Dialect | None = None,
    labelled: bool = True,
    fields: Sequence[str] = (),
    skip_invalid: bool = False,
    usual: Sequence[str | None] = (None, None),
) -> LabelledTable:
    """Read a file whole.

    Parameters
    ----------
    source : path of a CSV, TSV, JSON, text, Excel or Parquet file, or a folder of text files; "-" is standard input
    text, label : names of columns, default=None
        Guessed where it is obvious. Several columns of labels have commas between them, "billing,bug": where they hold 0 and 1
        (or yes and no, or an x) a text has the labels whose columns say so, else those that stand there.
    label_separator : str, default=None
        What stands between several labels of one text; with it, with lists of labels in JSON, or with several columns, labels
        are tuples.
    missing_labels : values that mean that a text has no label, beside none at all
        Such texts are in `unlabelled`. With a separator or lists an empty cell means none of the labels, which is something else.
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
    columns = find_columns(spread(good), called, text, label, labelled, usual)
    absent = [name for name in fields if name not in good[0].values]
    if absent:
        raise TableError(no_column(absent[0], good[0].values, called))
    name = "standard input" if source == "-" else Path(source).name
    flags = find_flags((row.values for row in good), columns.labels, missing_labels) if len(columns.labels) > 1 else {}
    reader = RowReader(columns, label_separator, missing_labels, flags, labelled)
    table = reader.read_all(rows, name, called, strict=not skip_invalid, fields=fields)
    if not table.corpus.texts and not table.missing:
        raise TableError(_nothing_left(called, table.invalid))
    if labelled and columns.label is not None:
        labels = table.corpus.labels
        counts = Counter(name for own in labels for name in (own if isinstance(own, tuple) else (own,)))
        check_labels(counts, len(labels), columns.label, called, is_guess=label is None and columns.label != usual[1])
        notes += columns.notes + label_notes(table, counts)
    else:
        notes += columns.notes
    return replace(table, notes=notes)


def label_notes(table: LabelledTable, counts: Mapping[str, int]) -> list[str]:
    """What there is to say of labels: that some are missing, that some look like several.

    Parameters
    ----------
    table : LabelledTable
    counts : how often each label occurs
    """
    notes = []
    if table.missing:
        notes.append(describe_missing(table.missing, len(table.corpus)))
    several = None if any(isinstance(own, tuple) for own in table.corpus.labels) else obvious_separator(counts)
    if several is not None:
        separator, label = several
        notes.append(
            f"labels such as {label!r} look like several with {separator} between them, and are taken as one each; "
            f"label_separator={separator!r} takes them as several"
        )
    return notes


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


def _text(row: Row, column: str) -> str:
    if column not in row.values:
        raise ValueError(f"no column {column!r}")
    value = row.values[column]
    if not isinstance(value, str):
        raise ValueError(f"{column!r} is {value!r}, not a text")
    return value


def _corpus(name: str, texts: list[str], labels: list[Any], rows: Sequence[Row], fields: Sequence[str]) -> Corpus:
    values = {column: [row.values.get(column) for row in rows] for column in fields}
    return Corpus(name, texts, labels, ids=[str(row.number) for row in rows], fields=values)


def _refusal(invalid: Sequence[InvalidLine], source: Any) -> str:
    more = f" ({len(invalid)} lines in all cannot be read.)" if len(invalid) > 1 else ""
    first = invalid[0]
    return f"Line {first.number:,} of {source}: {first.reason}.{more} Mend it, or leave such lines out with skip_invalid=True."


def _nothing_left(source: str, invalid: Sequence[InvalidLine]) -> str:
    return f"No line of {source} could be read; the first, line {invalid[0].number:,}: {invalid[0].reason}."
