"""Options that several commands have, in groups that are written once.

A command takes a group as one parameter, and `grouped` spreads it into options:

    @app.command()
    @grouped
    def evaluate(model: ModelFile, data: str, reading: ReadingOptions, ...) -> None:
"""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from .. import desk as _desk  # noqa: F401  # which registers who reads its projects
from ._console import OptionError, remark, with_options

if TYPE_CHECKING:
    from ..tables.dialect import Dialect
    from ..tables.record_stream import RecordBatch, RecordUse
    from ..tables.row_reader import LabelledTable, TextBatch
    from ..tables.rows import InvalidLine

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
ModelFile = Annotated[
    Path, typer.Argument(help="A file that `textmargin train`, or a TextClassifier's `save`, wrote.")
]
LabelledFile = Annotated[str, typer.Argument(help="Labelled texts that the model was not trained on.")]


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose parameters that are groups are options each."""
    hints = get_type_hints(command, include_extras=True)
    parameters, groups = [], {}
    for name, parameter in inspect.signature(command).parameters.items():
        if not is_dataclass(hints[name]):
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        group: Any = hints[name]
        inside = get_type_hints(group, include_extras=True)
        for hint in inside.values():
            for option in getattr(hint, "__metadata__", ()):
                option.rich_help_panel = (group.__doc__ or "").rstrip(".")
        groups[name] = group
        parameters += [
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=inside[one.name]
            )
            for one in fields(group)
        ]

    @wraps(command)
    def spread(**given: Any) -> Any:
        made = {
            name: group(**{one.name: given.pop(one.name) for one in fields(group)})
            for name, group in groups.items()
        }
        return command(**given, **made)

    spread.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    spread.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return spread


@dataclass(frozen=True)
class FileOptions:
    """How texts are read from a file."""

    text: Annotated[
        str | None, typer.Option("--text", help="Column of the texts; guessed where it is obvious.")
    ] = None
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="csv, tsv, json, jsonl, txt, xlsx, parquet, folder or desk.",
            show_default="by its name",
        ),
    ] = None
    delimiter: Annotated[
        str | None, typer.Option(help="What stands between the values of a line.", show_default="found out")
    ] = None
    encoding: Annotated[str | None, typer.Option(help="Of the file.", show_default="found out")] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header", help="Whether the first line names the columns.", show_default="found out"
        ),
    ] = None
    sheet: Annotated[
        str | None, typer.Option(help="Of a spreadsheet.", show_default="the first that is a table")
    ] = None

    @property
    def dialect(self) -> Dialect:
        """How the file is written, as far as options say it."""
        from ..tables.dialect import Dialect

        delimiter = "\t" if self.delimiter in ("\\t", "tab") else self.delimiter  # a tab is hard to type
        return Dialect(self.file_format, self.encoding, delimiter, self.header, self.sheet)

    @property
    def options(self) -> list[str]:
        """Those that were given, less --text, as typed."""
        names = [
            one.name
            for one in fields(FileOptions)
            if one.name != "text" and getattr(self, one.name) not in (None, False)
        ]
        names += ["no_header"] if self.header is False else []
        return [f"--{name.removeprefix('file_').replace('_', '-')}" for name in names]

    def stream(self, data: str, usual: str | None = None) -> Iterator[TextBatch]:
        """The texts of a file or of standard input as they arrive; says what was found out and guessed.

        Parameters
        ----------
        data : path, or "-"
        usual : the column that a model's training texts stood in
        """
        from ..tables.formats import read_rows
        from ..tables.paths import name_of
        from ..tables.reader import stream_texts

        names = [name for name in (self.text, usual) if name is not None]
        rows = read_rows(data, self.dialect, _log, names)
        return stream_texts(rows, name_of(data), self.text, usual, log=_log)

    def stream_records(
        self, data: str, use: RecordUse, usual: str | None = None
    ) -> Iterator[TextBatch | RecordBatch]:
        """The same without an object per row, where the file is such."""
        from ..tables.record_stream import stream_records

        return stream_records(data, use, self.dialect, self.text, usual, log=_log)


@dataclass(frozen=True)
class ReadingOptions(FileOptions):
    """How texts are read from a file."""

    label: Annotated[
        str | None,
        typer.Option(
            "--label", help="Column of the labels; guessed where it is obvious. Several of 0 and 1: a,b,c."
        ),
    ] = None
    label_separator: Annotated[
        str | None, typer.Option(help="What stands between several labels of one text, as in 'grain;money'.")
    ] = None
    missing_labels: Annotated[
        str | None,
        typer.Option(
            help="Values that mean that a text has no label, with commas between; '' for empty cells only.",
            show_default="empty, NaN, n/a, NA, null, None, -",
        ),
    ] = None
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Leave out lines that cannot be read, and say which.")
    ] = False

    def command(self, name: str, data: str) -> str:
        """Another command on the same file, with the options that were given, to copy into a shell."""
        words = ["textmargin", name, data]
        for one in fields(self):
            value, option = getattr(self, one.name), f"--{one.name.removeprefix('file_').replace('_', '-')}"
            if isinstance(value, bool):
                words += [option] if value else ["--no-header"] if one.name == "header" else []
            elif value is not None:
                words += [f"{option}={value}"] if value.startswith("-") else [option, value]
        return shlex.join(words)

    @property
    def table_options(self) -> dict[str, Any]:
        """As `read_table` and `open_parts` take them."""
        names = ("text", "label", "label_separator", "skip_invalid")
        options = {"dialect": self.dialect, **{name: getattr(self, name) for name in names}}
        return options if self.missing_values is None else {**options, "missing_labels": self.missing_values}

    @property
    def missing_values(self) -> list[str] | None:
        """Values that mean that a text has no label, where an option says it."""
        return (
            None
            if self.missing_labels is None
            else [value.strip() for value in self.missing_labels.split(",")]
        )

    def read(
        self,
        data: str,
        columns: list[str] | None = None,
        origin: Mapping[str, Any] | None = None,
        **labels: Any,
    ) -> LabelledTable:
        """The texts of a file, with further columns; says what was guessed, and what could not be read.

        Columns and separator that no option names are those of the origin, where the file has them: what a
        model's metadata say of its training texts. Of `labels` and `known_labels` see `read_table`.
        """
        from ..tables.reader import read_table

        origin = origin or {}
        options = self.table_options
        if self.label_separator is None:
            options["label_separator"] = origin.get("label_separator")
        if self.missing_labels is None and origin.get("missing_labels") is not None:
            options["missing_labels"] = origin["missing_labels"]
        usual = (origin.get("text_column"), origin.get("label_column"))
        table = read_table(data, **options, fields=columns or [], usual=usual, **labels)
        tell(table.notes, table.invalid[:5], len(table.invalid))
        return table

    def read_unlabelled(self, data: str, labelled: LabelledTable) -> LabelledTable:
        """The texts of a file without labels, from the column that a labelled table has them in, where it is
        there.
        """
        from .._system.stages import stage
        from ..tables.reader import read_table

        usual = (labelled.text_column, labelled.label_column)
        with stage(f"reading {data}"):
            table = read_table(
                data, dialect=self.dialect, labels="ignored", skip_invalid=self.skip_invalid, usual=usual
            )
        notes = [f"{data}: {'; '.join(table.notes)}"] if table.notes else []
        tell(notes, table.invalid[:5], len(table.invalid))
        return table


def tell(notes: list[str], invalid: list[InvalidLine], n_invalid: int) -> None:
    """What was guessed, and what could not be read."""
    if notes:
        _log("; ".join(notes))
    for one in invalid:
        _log(f"line {one.number:,} left out: {one.reason}")
    if n_invalid > len(invalid):
        remark(f"and {n_invalid - len(invalid):,} more")


def _log(line: str) -> None:
    """A note of the library."""
    remark(with_options(line))


def check_writable(path: Path, *others: object) -> None:
    """Before any work: whether a file can be written, and would replace none of the others, nor something
    that is no file.

    Parameters
    ----------
    path : Path
    *others : paths that are read, or written as well; None where there are none
    """
    whole = path.resolve()
    for other in others:
        if other is not None and whole == Path(str(other)).resolve():
            raise OptionError(f"{path} would replace {other}, which is needed; choose another name.")
    if path.is_dir():
        raise OptionError(f"{path} cannot be written: it is a folder.")
    if path.exists() and not path.is_file():
        raise OptionError(f"{path} cannot be written: it is not a regular file.")
    if (
        not whole.parent.is_dir()
        or not os.access(whole.parent, os.W_OK)
        or (path.exists() and not os.access(path, os.W_OK))
    ):
        raise OptionError(f"{path} cannot be written: its folder is not there, or one may not write there.")


def read_token(file: Path | None) -> str | None:
    """The token that clients must send, from a file; None if none is named."""
    if file is None:
        return None
    try:
        token = file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise OptionError(f"{file}: {error.strerror}") from error
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise OptionError(f"{file} holds no token: printable ASCII characters without spaces.")
    return token
