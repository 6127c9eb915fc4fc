"""Records and what was decided on them, written by the core as a `TextWriter` writes rows, byte for byte."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from .. import core
from ..labels import Decisions
from ._cells import encode_json
from .dialect import Dialect
from .record_stream import RecordBatch
from .writer import DelimitedWriter, TextWriter


def can_write(names: Sequence[str]) -> bool:
    """Whether the core writes such labels as a `TextWriter` does."""
    return len(set(names)) == len(names) and all(
        "\r" not in name and not _has_surrogates(name) for name in names
    )


class RecordWriter:
    """Writes records with columns of decisions after their own.

    Parameters
    ----------
    table : TextWriter
    source : Dialect
        Of the records.
    own : names of the columns of a record; none for objects of JSON lines
    names : names of the columns of decisions, in the order of `decision_columns`
    labels : names of the classes
    multilabel : bool
    scores : bool
        Whether the scores of every class are columns, or in JSON these and the probabilities objects.
    decimals : int
    narrow : bool
        Whether the number of the line stands for the record; `own` is then what it is called.
    n_threads : int
    """

    def __init__(
        self,
        table: TextWriter,
        source: Dialect,
        own: Collection[str],
        names: Sequence[str],
        labels: Sequence[str],
        *,
        multilabel: bool,
        scores: bool,
        decimals: int,
        narrow: bool,
        n_threads: int,
    ) -> None:
        self.table, self.n_threads = table, n_threads
        delimited = isinstance(table, DelimitedWriter)
        self.form = core.LineForm(
            source=str(source.file_format),
            source_delimiter=source.delimiter or ",",
            narrow=narrow,
            multilabel=multilabel,
            class_scores=scores,
            decimals=decimals,
            names=list(labels),
            delimiter=table.delimiter if isinstance(table, DelimitedWriter) else ",",
            defuse=isinstance(table, DelimitedWriter) and not table.keep_formulas,
            json=not delimited,
            own_keys=_keys(own),
            keys=[f", {encode_json(name)}: " for name in names],
            class_keys=_keys(labels),
        )

    def write(self, batch: RecordBatch, decisions: Decisions) -> None:
        """Further records, and the decisions on their texts."""
        probabilities = decisions.probabilities
        lines, n_formulas = self.form.write(
            batch.records,
            np.ascontiguousarray(decisions.accepted),
            np.ascontiguousarray(decisions.unsure),
            np.ascontiguousarray(decisions.scores),
            None if probabilities is None else np.ascontiguousarray(probabilities),
            self.n_threads,
        )
        if isinstance(self.table, DelimitedWriter):
            self.table.n_formulas += n_formulas
        self.table.write_lines(lines)


def _keys(names: Iterable[str]) -> list[str]:
    """As an object has them, with what stands before and after."""
    return [f"{', ' if place else '{'}{encode_json(name)}: " for place, name in enumerate(names)]


def _has_surrogates(name: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in name)
