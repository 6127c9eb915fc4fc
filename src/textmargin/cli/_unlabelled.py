"""Texts without labels: the options about them, where they come from, and where what is decided on them
goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from .._system.wording import quantity
from ._console import OptionError, remark
from ._options import ReadingOptions

if TYPE_CHECKING:
    from ..config import ModelConfig
    from ..tables.row_reader import LabelledTable


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

    def check(self, data: str) -> None:
        """Before texts are read: that no file is named twice."""
        files = [data, *(self.unlabelled or [])]
        for number, one in enumerate(files):
            if one in files[:number]:
                raise OptionError(
                    f"--unlabelled {one} is read already; its rows without a label are taken."
                    if one == data and one != "-"
                    else f"--unlabelled {one} would be read twice; name it once."
                )

    def gather(self, table: LabelledTable, reading: ReadingOptions, config: ModelConfig) -> list[str]:
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
            return []
        texts = list(table.unlabelled.texts)
        for path in self.unlabelled or []:
            texts += reading.read_unlabelled(path, table).unlabelled.texts
        if not texts and self.options:
            raise OptionError(
                f"{self.options[0]} is about texts without a label, and all of {table.corpus.name} have one."
            )
        if self.multilabel and any(isinstance(own, str) for own in table.corpus.labels):
            raise OptionError(
                "--multilabel is for texts without any label; these have one each, or need --label-separator."
            )
        return texts
