"""What the text and the label of a row are: `RowReader` alone says so.

A row without these columns is an `InvalidLine`, like a line that cannot be read at all. One whose text is
empty, blank or null can be read, and there is nothing in it to learn from or to decide on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, cast

from ..datasets.corpus import Corpus
from ..errors import TableError
from .chunks import Chunk, ColumnChunk, RecordChunk
from .columns import ColumnNames
from .label_values import MISSING_LABELS, NO, YES, label_name
from .rows import Blank, EmptyText, Header, InvalidLine, Read, Row, SheetRow

Label: TypeAlias = str | tuple[str, ...]


class TextBatch(NamedTuple):
    """Rows that arrived together and their texts, one for each `Row` in `rows`; the others there have no
    text, or are no rows.
    """

    texts: list[str]
    rows: list[Read]

    @property
    def table_rows(self) -> list[Row | EmptyText]:
        """What is a row of the table, with a text or without."""
        return [row for row in self.rows if isinstance(row, Row | EmptyText)]

    @property
    def last_number(self) -> int:
        """Of the last line."""
        return self.rows[-1].number

    @property
    def n_empty(self) -> int:
        """Rows without a text."""
        return self._count(EmptyText)

    @property
    def n_blank(self) -> int:
        """Lines with nothing on them."""
        return self._count(Blank)

    @property
    def invalid(self) -> list[InvalidLine]:
        """Lines that cannot be read."""
        return (
            [row for row in self.rows if isinstance(row, InvalidLine)]
            if len(self.texts) < len(self.rows)
            else []
        )

    @property
    def header(self) -> list[str]:
        """The names of the columns, where no row has them."""
        return next((row.names for row in self.rows if isinstance(row, Header)), []) if not self.texts else []

    def until_invalid(self) -> TextBatch:
        """Rows up to the first line that is invalid, with it, and their texts."""
        end = next(
            (place for place, row in enumerate(self.rows, start=1) if isinstance(row, InvalidLine)),
            len(self.rows),
        )
        return TextBatch(self.texts[: sum(isinstance(row, Row) for row in self.rows[:end])], self.rows[:end])

    def _count(self, kind: type) -> int:
        return sum(isinstance(row, kind) for row in self.rows) if len(self.texts) < len(self.rows) else 0


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
    unlabelled_rows : list of Row
        All that stands in their rows.
    missing : Counter of str
        What stands in place of their labels, where there is a column for these.
    empty : Corpus
        The rows whose text is empty, and which are in neither, with their labels.
    """

    corpus: Corpus
    notes: list[str] = field(default_factory=list)
    invalid: list[InvalidLine] = field(default_factory=list)
    text_column: str | None = None
    label_column: str | None = None
    unlabelled: Corpus = field(default_factory=lambda: Corpus("unlabelled", [], []))
    unlabelled_rows: list[Row] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)
    empty: Corpus = field(default_factory=lambda: Corpus("empty", [], []))


class _Examples:
    """Texts of one kind with what belongs to them, column by column."""

    def __init__(self, fields: Sequence[str]) -> None:
        self.texts: list[str] = []
        self.labels: list[Label] = []
        self.ids: list[str] = []
        self.fields: dict[str, list[Any]] = {name: [] for name in fields}

    def add(self, chunk: Chunk, texts: list[str], labels: list[Label | None], which: list[int]) -> None:
        """Those at these places of a chunk."""

        def take(column: list[Any]) -> list[Any]:
            return column if len(which) == len(chunk) else [column[k] for k in which]

        if which:
            self.texts += take(texts)
            self.labels += ["" if label is None else label for label in take(labels)]
            self.ids += map(str, take(chunk.numbers()))
            for name, values in self.fields.items():
                values += take(chunk.values(name))

    def corpus(self, name: str) -> Corpus:
        """They all; where one has several labels, or none of several, all have tuples."""
        labels: list[Any] = self.labels
        if tuple in map(type, labels):
            labels = [label if isinstance(label, tuple) else (label,) if label else () for label in labels]
        return Corpus(name, self.texts, labels, ids=self.ids, fields=self.fields)


@dataclass(frozen=True)
class RowReader:
    """Texts and labels of rows.

    Parameters
    ----------
    columns : ColumnNames
    label_separator : str, default=None
        What stands between several labels of one text; with it, with lists of labels in JSON, or with several
        columns, labels are tuples.
    missing_labels : values that mean that a text has no label, beside none at all
    flags : mapping, default={}
        Columns that say of each text whether it has the label they are called by, as `find_flags` finds them.
    """

    columns: ColumnNames
    label_separator: str | None = None
    missing_labels: Collection[str] = MISSING_LABELS
    flags: Mapping[str, bool] = field(default_factory=dict)

    def read(self, row: Row) -> tuple[str, Label | None]:
        """The text of a row, and its label, or labels, None where there is none; ValueError where these are
        something else.
        """
        return _text(row, self.columns.text), self._label(
            [row.values.get(name) for name in self.columns.labels]
        )

    def read_all(
        self,
        chunks: Iterable[Chunk],
        name: str,
        source: Any,
        *,
        strict: bool = True,
        fields: Sequence[str] = (),
    ) -> LabelledTable:
        """The corpus that rows make.

        Parameters
        ----------
        chunks : rows and invalid lines, by their numbers
        name : str
            Of the corpus.
        source : what to call the file in errors
        strict : bool, default=True
            Whether the first invalid line is an error; else all are left out, and in `invalid`.
        fields : names of further columns
        """
        invalid: list[InvalidLine] = []
        unlabelled_rows: list[Row] = []
        complete, unlabelled, empty = (_Examples(fields) for _ in range(3))
        for chunk in chunks:
            texts, labels, reasons = self._read_chunk(chunk)
            if chunk.invalid or reasons:
                numbers = chunk.numbers()
                invalid += sorted(
                    [*chunk.invalid, *(InvalidLine(numbers[k], reason) for k, reason in reasons.items())]
                )
            if strict and invalid:
                raise TableError(refusal(invalid[:1], source))
            places: tuple[list[int], ...] = [], [], []
            for k, (text, label) in enumerate(zip(texts, labels, strict=True)):
                if k not in reasons:
                    places[2 if not text.strip() else 1 if label is None else 0].append(k)
            for kind, which in zip((complete, unlabelled, empty), places, strict=True):
                kind.add(chunk, texts, labels, which)
            unlabelled_rows += chunk.rows(places[1], {self.columns.text: texts})
        text_column, label_column = self.columns.text, self.columns.label
        values = [] if label_column is None else [row.values.get(label_column) for row in unlabelled_rows]
        return LabelledTable(
            complete.corpus(name),
            invalid=invalid,
            text_column=text_column,
            label_column=label_column,
            unlabelled=unlabelled.corpus(name),
            unlabelled_rows=unlabelled_rows,
            missing=Counter(label_name(value) or "" for value in values),
            empty=empty.corpus(name),
        )

    def texts(self, batch: list[Read]) -> TextBatch:
        """The texts of rows as they arrive; a row without one becomes an `EmptyText` or an `InvalidLine` in
        its place.
        """
        column = self.columns.text
        if {*map(type, batch)} == {Row}:  # nearly always, and then all texts are had at once
            values: list[Any] = [row.values.get(column) for row in cast("list[Row]", batch)]
            if {*map(type, values)} == {str} and all(map(str.strip, values)):
                return TextBatch(values, batch)
        texts = []
        rows: list[Read] = []
        for row in batch:
            if isinstance(row, Row):
                try:
                    text = _text(row, column)
                except ValueError as error:
                    row = InvalidLine(row.number, str(error))
                else:
                    if text.strip():
                        texts.append(text)
                    else:
                        row = EmptyText(*row)
            rows.append(row)
        return TextBatch(texts, rows)

    def _read_chunk(self, chunk: Chunk) -> tuple[list[str], list[Label | None], dict[int, str]]:
        """Texts and labels of rows, and by their places why rows cannot be read."""
        texts: list[Any] = chunk.values(self.columns.text)
        columns: list[list[Any]] = [chunk.values(name) for name in self.columns.labels]
        # Of rows that are there a column may hold anything: 1 and True are equal, and not the same label.
        typed = isinstance(chunk, RecordChunk | ColumnChunk) or all(
            {*map(type, own)} <= {str, type(None)} for own in columns
        )
        if typed and {*map(type, texts)} <= {str}:
            # of a label that cannot be one, or is a list: it will be read row by row
            with suppress(ValueError, TypeError):
                values = list(zip(*columns, strict=True)) or [()] * len(chunk)
                labels = {own: self._label(own) for own in {*values}}  # the same few again and again
                return texts, [labels[own] for own in values], {}
        read: list[tuple[str, Label | None]] = []
        reasons: dict[int, str] = {}
        for k, row in enumerate(chunk.rows(range(len(chunk)))):
            try:
                read.append(self.read(row))
            except ValueError as error:
                read.append(("", None))
                reasons[k] = str(error)
        return [text for text, _ in read], [label for _, label in read], reasons

    def _label(self, values: Sequence[Any]) -> Label | None:
        if len(values) != 1:
            return self._labels(values) if values else None
        (value,) = values
        if isinstance(value, list):
            return tuple(name for name in map(label_name, value) if name)
        name = label_name(value)
        if name is None or name in self.missing_labels:
            return None
        if self.label_separator is not None:
            return self._parts(name)
        return name or None

    def _labels(self, values: Sequence[Any]) -> tuple[str, ...] | None:
        """Of several columns: 0 and 1, or names; None where one that should be 0 or 1 is missing, or all
        are.
        """
        names: list[str] = []
        n_missing = 0
        for column, value in zip(self.columns.labels, values, strict=True):
            name = label_name(value)
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


_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
    bytes: "bytes",
}


def _text(row: Row, column: str) -> str:
    if column not in row.values:
        raise ValueError(f"no column {column!r}")
    value = row.values[column]
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(row, SheetRow) and not isinstance(value, str):
        return str(label_name(value))
    if not isinstance(value, str):
        raise ValueError(
            f"{column!r} is {_KINDS.get(type(value), type(value).__name__)}, not a text: {value!r:.60}"
        )
    return value


def refusal(invalid: Sequence[InvalidLine], source: Any, *, is_all: bool = True) -> str:
    """What to say where lines cannot be read and none may be left out; whether they are all, or the file was
    not read further.
    """
    more = (
        f" ({len(invalid):,} lines{' in all' if is_all else ', and perhaps more,'} cannot be read.)"
        if len(invalid) > 1
        else ""
    )
    first = invalid[0]
    return (
        f"Line {first.number:,} of {source}: {first.reason}.{more} Mend it, or leave such lines out "
        "with skip_invalid=True."
    )
