"""Tables larger than memory: gone through once, and written as one Parquet file whose row groups are read one
by one, here or elsewhere. Texts that are in Parquet already stay where they are: the row groups of that file
are those of the sources, without texts.

    text      string, unless the texts are read from the sources
    label     int32, the number of the label, or of the set of labels, in the file's metadata; −1 for none
    digest    uint64, by which a text is known again
    line      string, its number in the user's file
    NAME      further columns, as JSON
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._system.writing import put_whole
from .._typing import Bools
from ..datasets.corpus import Corpus
from ..errors import TableError, install_hint
from ..representations.digests import Digests, text_digests
from .chunks import Chunk, ColumnChunk, read_chunks
from .columns import (
    N_SAMPLE,
    ColumnNames,
    columns_of,
    columns_with,
    find_columns,
    no_column,
    reading_notes,
    spread,
)
from .dialect import Dialect
from .formats import format_of
from .label_values import MISSING_LABELS, check_separator, find_flags
from .paths import SUFFIXES, files_of
from .row_reader import LabelledTable, RowReader
from .rows import InvalidLine, Row

PART_BYTES = 32_000_000  # of the texts of a row group, about
_FORMATS = ("csv", "tsv", "jsonl", "parquet")  # that a folder is searched for
_N_SHOWN = 5  # lines that could not be read, of how many there may be
_ABOUT = b"textmargin"


class LabelCodes(Sequence[Any]):
    """A label per text, a name or a tuple of names, as a number into the list of those that there are.

    Examples
    --------
    >>> from textmargin.tables.parts import LabelCodes
    >>> labels = LabelCodes.of(["corn", ("corn", "oil"), "corn"])
    >>> list(labels), labels.names, labels.codes.tolist()
    (['corn', ('corn', 'oil'), 'corn'], ['corn', ('corn', 'oil')], [0, 1, 0])
    """

    def __init__(self, codes: NDArray[np.int32], names: list[Any]) -> None:
        self.codes, self.names = codes, names

    @classmethod
    def of(cls, labels: Iterable[Any]) -> LabelCodes:
        """From labels one by one."""
        places: dict[Any, int] = {}
        codes = np.fromiter((places.setdefault(label, len(places)) for label in labels), dtype=np.int32)
        return cls(codes, list(places))

    def __len__(self) -> int:
        return self.codes.size

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, int | np.integer):
            return self.names[self.codes[place]]
        return LabelCodes(self.codes[place], self.names)

    def __iter__(self) -> Iterator[Any]:
        return map(self.names.__getitem__, self.codes)


class Place(NamedTuple):
    """A row group of a source, whose first row has the number `start` in its file."""

    path: str
    mtime_ns: int
    group: int
    start: int
    column: str


@dataclass(frozen=True)
class PartedTable:
    """A table as one Parquet file.

    Attributes
    ----------
    path, name : where it is, and what the user calls it
    columns : ColumnNames, those of the user's files
    sizes : list of int, rows of each part
    places : list of Place, where the texts of each part are; None: in the file
    labels : LabelCodes of all rows, −1 where there is none
    digests : array of all rows
    invalid : list of InvalidLine, the first of `n_invalid` that could not be read
    missing : Counter, what stands in place of labels that are not there
    """

    path: Path
    name: str
    columns: ColumnNames
    label_is_guess: bool
    sizes: list[int]
    places: list[Place | None]
    labels: LabelCodes
    digests: Digests
    invalid: list[InvalidLine] = field(default_factory=list)
    n_invalid: int = 0
    missing: Counter[str] = field(default_factory=Counter)

    @property
    def is_labelled(self) -> Bools:
        """Which rows have a label."""
        return np.asarray(self.labels.codes >= 0)

    def corpus(self, rows: Bools, fields: Sequence[str] = (), *, with_texts: bool = True) -> Corpus:
        """Some rows in memory, with further columns, perhaps with "" for texts; where one has several "
        "labels, all
        have tuples.
        """
        columns: dict[str, list[Any]] = {name: [] for name in ("text", "line", *fields)}
        wanted = [name for name in columns if name != "text"]
        for number, own in enumerate(self.split(rows)):
            if own.any():
                for name, values in zip(wanted, _take(self.path, number, own, wanted), strict=True):
                    columns[name] += values
                if with_texts:
                    columns["text"] += read_texts(self.path, number, own, self.places[number])
        labels: list[Any] = [self.labels.names[code] if code >= 0 else "" for code in self.labels.codes[rows]]
        if any(isinstance(label, tuple) for label in labels):
            labels = [label if isinstance(label, tuple) else (label,) for label in labels]
        texts = columns["text"] if with_texts else [""] * len(labels)
        further = {name: [json.loads(value) for value in columns[name]] for name in fields}
        return Corpus(self.name, texts, labels, ids=columns["line"], fields=further)

    def split(self, rows: Bools) -> list[Bools]:
        """Rows part by part."""
        return np.split(rows, np.cumsum(self.sizes)[:-1])


def read_texts(path: Path, number: int, rows: Bools, place: Place | None) -> list[str]:
    """The texts of some rows of one part."""
    if place is None:
        return _take(path, number, rows, ["text"])[0]
    (lines,) = _take(path, number, rows, ["line"])
    source = Path(place.path)
    if source.stat().st_mtime_ns != place.mtime_ns:
        raise TableError(f"{source} has changed since it was looked at; start again.")
    texts = _read_group(source, place.group, [place.column])
    which = np.fromiter(map(int, lines), np.int64, len(lines)) - (place.start + 1)
    whole = np.array_equal(which, np.arange(len(texts)))
    found: list[str] = (texts if whole else texts.take(which)).column(0).to_pylist()
    return found


def open_parts(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    text: str | None = None,
    label: str | None = None,
    label_separator: str | None = None,
    missing_labels: Collection[str] = MISSING_LABELS,
    dialect: Dialect | None = None,
    skip_invalid: bool = False,
    known_labels: Collection[Any] = (),
    fields: Sequence[str] = (),
    part_bytes: int = PART_BYTES,
    progress: Callable[[float], object] | None = None,
) -> PartedTable:
    """Write a table to a Parquet file in parts, unless it is there from the same files, read in the same way.

    Parameters
    ----------
    source : path of a file of any format, a folder of CSV, TSV, JSON lines and Parquet files, or a pattern
        such as `texts/*.parquet`
    target : path of the Parquet file
    text, label, label_separator, missing_labels, dialect, skip_invalid : as in `read_table`
    known_labels : names, default=()
        Labels that texts may have; with some, the files need no column of labels.
    fields : names of further columns, default=()
    part_bytes : int
        How large the texts of a part are, about.
    progress : function of the share of the files that is done, default=None
    """
    check_separator(label_separator)
    if source == "-":
        raise TableError("Standard input is not read in parts; name a file, a folder or a pattern.")
    dialect = dialect or Dialect()
    dialect.check()
    formats = (dialect.file_format,) if dialect.file_format in _FORMATS else _FORMATS
    files = files_of(source, [suffix for suffix, name in SUFFIXES.items() if name in formats])
    if projects := [path for path in files if path.suffix == ".desk"]:
        raise TableError(
            f"{projects[0]}: a project of the desk cannot be read in parts; export its texts as CSV first."
        )
    stats = [path.stat() for path in files]
    options = [text, label, label_separator, sorted(missing_labels), repr(dialect), skip_invalid, part_bytes]
    about: dict[str, Any] = {
        "files": [
            [str(path), stat.st_size, stat.st_mtime_ns] for path, stat in zip(files, stats, strict=True)
        ],
        "options": [*options, sorted(map(str, known_labels)), list(fields)],
    }
    target = Path(target)
    if target.exists() and (found := _open(target, about)) is not None:
        return found
    notes: dict[str, None] = {}  # each once, in order
    whole = text is None or label is None
    sample = [row for path in files for row in _sample(path, dialect, notes.setdefault, whole)]
    if not sample:
        raise TableError(f"{source} has no rows.")
    with reading_notes(list(notes)):
        likely = (
            columns_with(columns_of(sample, list(sample[0].values)), known_labels, label_separator)
            if known_labels
            else None
        )
        columns = find_columns(sample, source, text, label, likely=likely)
    flags = find_flags(columns_of(sample, columns.labels), missing_labels) if len(columns.labels) > 1 else {}
    reader = RowReader(columns, label_separator, missing_labels, flags)
    about |= {"name": Path(source).name, "columns": [columns.text, columns.label, [*notes, *columns.notes]]}
    about |= {"labels": columns.labels, "label_is_guess": label is None}
    for path in files:
        _require(path, dialect, reader.columns, fields)
    sizes = [stat.st_size for stat in stats]
    places = _places(files, dialect, columns.text, part_bytes)
    with _Writer(target, about, fields, part_bytes, places is None) as writer:
        for number, path in enumerate(files):
            n_rows = 0
            for chunk in _chunks(path, dialect, notes.setdefault, [columns.text, *columns.labels, *fields]):
                writer.add(reader.read_all([chunk], "", path, strict=not skip_invalid, fields=fields), path)
                n_rows += len(chunk)
                if places is not None and n_rows in places[number]:
                    writer.end_part(places[number][n_rows])
            if progress is not None:
                progress(sum(sizes[: number + 1]) / max(sum(sizes), 1))
    table = _open(target, about)
    assert table is not None
    return table


class _Writer:
    """The Parquet file, row group by row group; in place when it is whole."""

    def __init__(
        self, target: Path, about: dict[str, Any], fields: Sequence[str], part_bytes: int, with_texts: bool
    ) -> None:
        self._pa, self._pq = pyarrow()
        names = ["text", "line", *fields] if with_texts else ["line", *fields]
        strings = [(name, self._pa.large_string()) for name in names]
        self._schema = self._pa.schema([("label", self._pa.int32()), ("digest", self._pa.uint64()), *strings])
        self._with_texts = with_texts
        self._part_places: list[Place] = []
        self._target, self._about, self._fields, self._part_bytes = target, about, fields, part_bytes
        self._places: dict[Any, int] = {}
        self._invalid: list[InvalidLine] = []
        self._n_invalid, self._missing = 0, Counter[str]()
        self._rows: dict[str, list[Any]] = {name: [] for name in ("text", *self._schema.names)}
        self._n_bytes = 0

    def __enter__(self) -> _Writer:
        self._place = put_whole(self._target)
        self._file = self._pq.ParquetWriter(self._place.__enter__(), self._schema, compression="lz4")
        return self

    def __exit__(self, *error: Any) -> None:
        if error[0] is None:
            self._write()
            found = {"names": list(self._places), "invalid": self._invalid, "n_invalid": self._n_invalid}
            self._about |= {**found, "missing": self._missing, "places": self._part_places}
            self._file.add_key_value_metadata({_ABOUT: json.dumps(self._about)})
        self._file.close()
        self._place.__exit__(*error)

    def add(self, table: LabelledTable, path: Path) -> None:
        """The rows of a chunk: those with a label, then those without."""
        for corpus, labelled in ((table.corpus, True), (table.unlabelled, False)):
            labels = corpus.labels if labelled else []
            codes = [self._places.setdefault(label, len(self._places)) for label in labels]
            self._rows["text"] += corpus.texts
            self._rows["label"] += codes if labelled else [-1] * len(corpus.texts)
            self._rows["line"] += corpus.ids
            for name in self._fields:
                self._rows[name] += [json.dumps(value, default=str) for value in corpus.fields[name]]
            self._n_bytes += sum(map(len, corpus.texts))
        reason = f"the text, column {table.text_column!r}, is empty"
        lines = sorted([*table.invalid, *(InvalidLine(int(number), reason) for number in table.empty.ids)])
        self._n_invalid += len(lines)
        for line in lines[: _N_SHOWN - len(self._invalid)]:
            self._invalid.append(InvalidLine(line.number, f"{line.reason} ({path.name})"))
        self._missing.update(table.missing)
        if self._with_texts and self._n_bytes >= self._part_bytes:
            self._write()

    def end_part(self, place: Place) -> None:
        """Write the rows of a row group of a source."""
        if self._rows["text"]:
            self._write()
            self._part_places.append(place)

    def _write(self) -> None:
        if not self._rows["text"]:
            return
        texts = self._rows["text"]
        columns = {**self._rows, "digest": text_digests(texts)}
        if not self._with_texts:
            del columns["text"]
        try:
            table = self._pa.table(columns, self._schema)
        except UnicodeEncodeError:  # lone surrogates, which no encoding has
            columns["text"] = [one.encode(errors="replace").decode() for one in texts]
            table = self._pa.table(columns, self._schema)
        size = len(texts) * self._part_bytes // max(self._n_bytes, 1) if self._with_texts else len(texts)
        self._file.write_table(table, max(1, size))
        self._rows, self._n_bytes = {name: [] for name in self._rows}, 0


def _open(path: Path, about: Mapping[str, Any]) -> PartedTable | None:
    """A table that was written before; None where it is another one's."""
    pa, pq = pyarrow()
    try:
        with pq.ParquetFile(path) as file:
            known = json.loads(file.metadata.metadata.get(_ABOUT, b"{}"))
            if any(known.get(name) != about[name] for name in ("files", "options")):
                return None
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
            found = file.read(["label", "digest"])
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path} is damaged ({error}); delete it, and start again.") from error
    text, label, notes = known["columns"]
    names = [tuple(name) if isinstance(name, list) else name for name in known["names"]]
    return PartedTable(
        path,
        known["name"],
        ColumnNames(text, label, notes, tuple(known["labels"])),
        known["label_is_guess"],
        sizes,
        [Place(*place) for place in known["places"]] or [None] * len(sizes),
        LabelCodes(found["label"].to_numpy(), names),
        found["digest"].to_numpy(),
        [InvalidLine(*line) for line in known["invalid"]],
        known["n_invalid"],
        Counter(known["missing"]),
    )


def _take(path: Path, number: int, rows: Bools, columns: list[str]) -> list[list[Any]]:
    """Columns of one part, or of some of its rows."""
    table = _read_group(path, number, columns)
    if not rows.all():
        table = table.filter(pyarrow()[0].array(rows))
    return [table.column(name).to_pylist() for name in columns]


def _read_group(path: Path, number: int, columns: list[str]) -> Any:
    pa, pq = pyarrow()
    try:
        with pq.ParquetFile(path) as file:
            return file.read_row_group(number, columns=columns, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path} cannot be read as Parquet: {error}.") from error


def _places(
    files: Sequence[Path], dialect: Dialect, text: str, part_bytes: int
) -> list[dict[int, Place]] | None:
    """The row groups of each file by how many rows there are to their end, where texts can be read from
    there: they are all Parquet files, and the row groups about as large as parts.
    """
    if any(format_of(path, dialect.file_format) != "parquet" for path in files):
        return None
    _, pq = pyarrow()
    places: list[dict[int, Place]] = []
    sizes: list[int] = []
    for path in files:
        about, end = pq.read_metadata(path), 0
        names = [about.schema.column(k).path for k in range(about.num_columns)]
        if text not in names:  # a list or the like, whose rows are refused one by one
            return None
        own: dict[int, Place] = {}
        for number in range(about.num_row_groups):
            start, group = end, about.row_group(number)
            end += group.num_rows
            sizes.append(group.column(names.index(text)).total_uncompressed_size)
            if end > start:
                own[end] = Place(str(path.absolute()), path.stat().st_mtime_ns, number, start, text)
        places.append(own)
    alike = max(sizes, default=0) <= 2 * part_bytes and len(sizes) <= 16 * (1 + sum(sizes) // part_bytes)
    return places if alike else None


def _sample(path: Path, dialect: Dialect, log: Any, whole: bool) -> list[Row]:
    """Rows from all over a file, which may be sorted by its labels; or from its beginning."""
    rows: list[Row] = []
    for chunk in _chunks(path, dialect, log, None):
        rows += chunk.rows(spread(range(len(chunk)), N_SAMPLE if not rows else 3))
        if rows and not whole:
            break
    return rows if len(rows) <= N_SAMPLE else spread(rows, N_SAMPLE)


def _require(path: Path, dialect: Dialect, columns: ColumnNames, fields: Sequence[str]) -> None:
    """That a file has the columns, as far as all of its rows have the same."""
    if format_of(path, dialect.file_format) in ("json", "jsonl"):
        return
    first = _sample(path, dialect, _say_nothing, False)[:1]
    needed = {columns.text: "text", **dict.fromkeys(columns.labels, "label")}
    needed |= dict.fromkeys(fields, "fields")
    for row in first:
        for name, parameter in needed.items():
            if name not in row.values:
                raise TableError(no_column(name, row.values, path, parameter))


def _say_nothing(note: str) -> None:
    pass


def _chunks(path: Path, dialect: Dialect, log: Any, columns: Sequence[str] | None) -> Iterator[Chunk]:
    """The rows of a file; of Parquet with these columns, or where they are None some rows with all."""
    if format_of(path, dialect.file_format) != "parquet":
        yield from read_chunks(path, dialect, log)
        return
    pa, pq = pyarrow()
    try:
        with pq.ParquetFile(path) as file:
            n_groups, start = file.metadata.num_row_groups, 0
            names = file.schema_arrow.names if columns is None else list(dict.fromkeys(columns))
            for number in range(n_groups):
                if columns is not None or number in (0, n_groups // 2, n_groups - 1):
                    for batch in file.iter_batches(10_000, [number], names, use_threads=False):
                        yield ColumnChunk({name: batch.column(name).to_pylist() for name in names}, start)
                        start += len(batch)
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path} cannot be read as Parquet: {error}.") from error


def pyarrow() -> tuple[Any, Any]:
    """PyArrow and its reader of Parquet; without them an error that says what to install."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise TableError(
            f"Tables in parts need PyArrow, which is not installed: {install_hint('parquet')}."
        ) from error
    return pa, pq
