"""Rows as texts and labels: of a whole file (`read_table`), or as they arrive (`stream_texts`)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import LabelError, TableError
from .chunks import FileRows, read_chunks
from .columns import (
    LabelUse,
    check_labels,
    column_on_arrival,
    columns_with,
    find_columns,
    no_column,
    reading_notes,
    spread,
)
from .dialect import Dialect
from .label_values import MISSING_LABELS, check_separator, describe_missing, find_flags, obvious_separator
from .paths import SUFFIXES, name_of
from .row_reader import LabelledTable, RowReader, TextBatch, refusal
from .rows import InvalidLine, Read, Row

# to say that a file is not read: of millions of such lines the others cost a minute and tell nothing
_ENOUGH_INVALID = 1000


def read_table(
    source: str | os.PathLike[str],
    *,
    text: str | None = None,
    label: str | None = None,
    label_separator: str | None = None,
    missing_labels: Collection[str] = MISSING_LABELS,
    dialect: Dialect | None = None,
    labels: LabelUse = "required",
    known_labels: Collection[Any] = (),
    fields: Sequence[str] = (),
    skip_invalid: bool = False,
    usual: Sequence[str | None] = (None, None),
) -> LabelledTable:
    """Read a file whole.

    Parameters
    ----------
    source : path of a CSV, TSV, JSON, text, Excel or Parquet file, or a folder of text files; "-" is standard
        input
    text, label : names of columns, default=None
        Guessed where it is obvious. Several columns of labels have commas between them, "billing,bug": where
        they hold 0 and 1 (or yes and no, or an x) a text has the labels whose columns say so, else those that
        stand there.
    label_separator : str, default=None
        What stands between several labels of one text; with it, with lists of labels in JSON, or with several
        columns, labels are tuples.
    missing_labels : values that mean that a text has no label, beside none at all
        Such texts are in `unlabelled`. With a separator or lists an empty cell means none of the labels,
        which is something else.
    dialect : Dialect, default=None
        How the file is written: format, encoding, delimiter, header; what it does not say is found out, and
        in `notes`.
    labels : {"required", "optional", "ignored"}, default="required"
        Whether texts without a label are left out ("required"), to be used as what they are ("optional"), or
        all there are, a column of labels not being looked at ("ignored"). They are in `unlabelled` every
        time, and `notes` tell the difference.
    known_labels : names, default=()
        With "optional", those there may be: a file without any label will then do, and a column that holds
        some of these is that of labels. A column is not taken for it because it has few values.
    fields : names of further columns to keep
    skip_invalid : bool, default=False
        Whether lines that cannot be read are left out, and reported; else the first one is an error.
    usual : names of two columns, default=(None, None)
        Those of text and label in such files before: taken, where the file has them, before anything is
        guessed.

    Examples
    --------
    >>> from textmargin.tables.reader import read_table
    >>> table = read_table("desk.csv", label="topic", skip_invalid=True)  # doctest: +SKIP
    >>> table.corpus.texts, table.notes, table.invalid  # doctest: +SKIP
    """
    check_separator(label_separator)
    called = name_of(source)
    notes: list[str] = []
    named = SUFFIXES.get(Path(source).suffix.lower())
    is_project = (named if dialect is None or dialect.file_format is None else dialect.file_format) == "desk"
    if is_project:  # where nothing is a guess
        text, label = text or "text", label or "label"
        missing_labels = () if missing_labels is MISSING_LABELS else missing_labels
    names = [name for name in (text, label, *usual, *fields) if name is not None]
    rows = FileRows(
        read_chunks(source, dialect, notes.append, names), None if skip_invalid else _ENOUGH_INVALID
    )
    invalid = rows.invalid
    with reading_notes(notes):
        if invalid and not skip_invalid:  # before columns are guessed from what is left
            raise TableError(refusal(invalid, called, is_all=rows.is_whole))
        if not rows:
            raise TableError(_nothing_left(called, invalid) if invalid else f"{called} has no rows.")
        lenient = labels == "optional" and len(known_labels) > 0
        there = list(rows[0].values)
        likely = columns_with(rows.columns(there), known_labels, label_separator) if lenient else None
        columns = find_columns(spread(rows), called, text, label, usual, labels, likely)
        absent = [name for name in fields if name not in there]
        if absent:
            raise TableError(no_column(absent[0], there, called))
        name = "standard input" if source == "-" else Path(source).name
        flags = find_flags(rows.columns(columns.labels), missing_labels) if len(columns.labels) > 1 else {}
        reader = RowReader(columns, label_separator, missing_labels, flags)
        table = reader.read_all(
            rows.chunks if lenient else rows.drain(), name, called, strict=not skip_invalid, fields=fields
        )
        # all empty: nobody said anything of any text
        if lenient and columns.label is not None and not any(table.corpus.labels):
            columns = replace(
                columns,
                label=None,
                labels=(),
                notes=[*columns.notes, f"no label in column {columns.label!r}"],
            )
            table = RowReader(columns).read_all(
                rows.drain(), name, called, strict=not skip_invalid, fields=fields
            )
        if not table.corpus.texts and not table.unlabelled.texts:
            raise TableError(
                _nothing_left(called, table.invalid)
                if not table.empty.texts
                else f"All rows of {called} are empty in column {columns.text!r}. Choose the column of "
                "the texts with text=."
            )
        own_notes = []
        if columns.label is not None:
            names_given = table.corpus.labels
            counts: Counter[str] = Counter()
            for own, n in Counter(names_given).items():
                for one in own if isinstance(own, tuple) else (own,):
                    counts[one] += n
            if is_project and not names_given:
                raise LabelError(
                    f"No text of {called} has a label that is in use; label some at the desk, or settle "
                    "conflicts."
                )
            check_labels(
                counts,
                len(names_given),
                columns.label,
                called,
                is_guess=label is None and columns.label != usual[1],
            )
            own_notes = label_notes(table, counts, labels)
        notes += columns.notes + own_notes
        if n := len(table.empty):
            notes.append(f"{n:,} {'row has' if n == 1 else 'rows have'} no text; left out")
        return replace(table, notes=notes)


def label_notes(table: LabelledTable, counts: Mapping[str, int], labels: LabelUse = "required") -> list[str]:
    """What there is to say of labels: that some are missing, that some look like several.

    Parameters
    ----------
    table : LabelledTable
    counts : how often each label occurs
    labels : as in `read_table`
    """
    notes = []
    if table.missing:
        notes.append(describe_missing(table.missing, len(table.corpus), left_out=labels == "required"))
    n_none = Counter(table.corpus.labels)[()]
    if labels == "optional" and n_none > len(table.corpus) / 2:
        notes.append(
            f"{n_none:,} texts with an empty label have none of the labels; missing_labels='' takes them "
            "as unlabelled"
        )
    several = None if tuple in map(type, table.corpus.labels) else obvious_separator(counts)
    if several is not None:
        separator, label = several
        notes.append(
            f"labels such as {label!r} look like several with {separator} between them, and are taken as "
            "one each; "
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
    """The texts of rows as they arrive, batch by batch; a row without one becomes an `EmptyText` in its
    place, or an `InvalidLine`.

    Parameters
    ----------
    batches : rows, as `read_rows` gives them
    source : what to call them in errors
    text : str, default=None
        The column of the texts, which the first row should have. By default the usual one where the first row
        has it, else one with a telling name, else the only one.
    usual : str, default=None
        The column that such texts stood in before.
    log : function of a line, default=None
        Gets to know which column was guessed.
    """
    reader = None
    for batch in batches:
        if reader is None:
            reader = reader_on_arrival(batch, source, text, usual, log)
        yield TextBatch([], batch) if reader is None else reader.texts(batch)


def reader_on_arrival(
    rows: Iterable[Read],
    source: Any,
    text: str | None = None,
    usual: str | None = None,
    log: Callable[[str], None] | None = None,
) -> RowReader | None:
    """Who reads texts from such rows, by the first of them; None where there are none, but lines that cannot
    be read.

    Parameters are those of `stream_texts`.
    """
    first = next((row for row in rows if isinstance(row, Row)), None)
    if first is None:
        return None
    columns = column_on_arrival(first, source, text, usual)
    if log is not None and columns.notes:
        log("; ".join(columns.notes))
    return RowReader(columns)


def _nothing_left(source: str, invalid: Sequence[InvalidLine]) -> str:
    return f"No line of {source} could be read; the first, line {invalid[0].number:,}: {invalid[0].reason}."
