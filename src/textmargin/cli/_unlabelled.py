"""Texts without labels: the options about them, where they come from, and where what is decided on them
goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._system.wording import quantity
from ._console import OptionError, remark
from ._options import ReadingOptions, check_writable

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..config import ModelConfig
    from ..tables.row_reader import LabelledTable
    from ..tables.rows import Row

_OPTION_OF_PREDICT = "; keep_formulas=True writes them as they are"


@dataclass(frozen=True)
class UnlabelledTexts:
    """Texts without a label, and the rows that they stand in."""

    texts: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class UnlabelledOptions:
    """Texts without labels, which are learnt from where they help."""

    unlabelled: Annotated[
        list[str] | None,
        typer.Option(
            help="File of texts without labels, beside such rows of DATA; read as that is. May be given "
            "several times."
        ),
    ] = None
    share: Annotated[
        list[str] | None,
        typer.Option(
            help="How frequent a label is among them, as in spam=0.13. May be given for several labels.",
            show_default="guessed",
        ),
    ] = None
    multilabel: Annotated[
        bool,
        typer.Option(
            "--multilabel",
            help="Where no text has a label: a text may have any number of them, as --label-separator.",
        ),
    ] = False
    guesses: Annotated[
        Path | None,
        typer.Option(
            help="Write what is decided on each of them, as predict does: .csv, .tsv, .jsonl, .parquet or "
            ".xlsx."
        ),
    ] = None

    @property
    def shares(self) -> dict[str, float] | None:
        """By label; None where none is given."""
        shares: dict[str, float] = {}
        for given in self.share or []:
            label, _, share = given.rpartition("=")
            try:
                number = float(share)
            except ValueError:
                number = None
            if number is None or not label.strip():
                raise OptionError(
                    f"--share {given}: give a label, = and its share, a number from 0 to 1, as in spam=0.13."
                )
            if label.strip() in shares:
                raise OptionError(f"--share says twice how frequent {label.strip()!r} is; choose one.")
            shares[label.strip()] = number
        return shares or None

    @property
    def options(self) -> list[str]:
        """Those that were given, as typed."""
        return [f"--{name}" for name, value in vars(self).items() if value]

    def check(self, data: str, *others: object) -> None:
        """Before texts are read: that files can be read, and written.

        Parameters
        ----------
        data : the labelled texts
        *others : paths that are read, or written as well, for what is written not to replace them
        """
        files = [data, *(self.unlabelled or [])]
        for number, one in enumerate(files):
            if one in files[:number]:
                raise OptionError(
                    f"--unlabelled {one} is read already; its rows without a label are taken."
                    if one == data and one != "-"
                    else f"--unlabelled {one} would be read twice; name it once."
                )
        if self.guesses is not None:
            from ..tables.writer import output_format

            output_format(self.guesses)
            check_writable(self.guesses, *others)

    def gather(self, table: LabelledTable, reading: ReadingOptions, config: ModelConfig) -> UnlabelledTexts:
        """The rows of a table that have no label, and the texts of further files."""
        if config.features != "words":
            if self.options:
                raise OptionError(
                    f"{self.options[0]} is for --features words; texts without labels are learnt from by "
                    "words."
                )
            if len(table.unlabelled):
                remark(
                    f"{quantity(len(table.unlabelled), 'text')} without a label left out: --features "
                    "words learns from such"
                )
            return UnlabelledTexts()
        texts, rows = list(table.unlabelled.texts), list(table.unlabelled_rows)
        files = [table.corpus.name] * len(rows)
        for path in self.unlabelled or []:
            other = reading.read_unlabelled(path, table)
            texts += other.unlabelled.texts
            rows += [_renamed(row, other.text_column, table.text_column) for row in other.unlabelled_rows]
            files += [other.corpus.name] * len(other.unlabelled_rows)
        if not texts and self.options:
            raise OptionError(
                f"{self.options[0]} is about texts without a label, and all of {table.corpus.name} have one."
            )
        if self.multilabel and any(isinstance(own, str) for own in table.corpus.labels):
            raise OptionError(
                "--multilabel is for texts without any label; these have one each, or need --label-separator."
            )
        if len({*files}) > 1:
            rows = [
                row._replace(values={"file": name, **row.values})
                for name, row in zip(files, rows, strict=True)
            ]
        return UnlabelledTexts(texts, rows)

    def write_guesses(
        self, model: TextClassifier, rows: Sequence[Row], data: str, reading: ReadingOptions
    ) -> None:
        """What the model decides on them, beside their rows."""
        from ..tables.formats import file_dialect
        from ..tables.writer import open_writer
        from ._decision_lines import DecisionWriter

        if self.guesses is None:
            return
        with open_writer(self.guesses, dialect=file_dialect(data, reading.dialect)) as table:
            DecisionWriter(model, table, scores=False, narrow=False).write(rows, model.unlabelled_)
        for note in table.notes:
            remark(f"{self.guesses}: {note.removesuffix(_OPTION_OF_PREDICT)}")


def _renamed(row: Row, text: str | None, wanted: str | None) -> Row:
    """A row whose text stands under another name, in place of what stood there."""
    if text == wanted:
        return row
    others = {name: value for name, value in row.values.items() if name not in (text, wanted)}
    return row._replace(values={str(wanted): row.values[str(text)], **others})
