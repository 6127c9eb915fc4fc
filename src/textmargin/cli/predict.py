"""The command that decides on texts as they arrive."""

from __future__ import annotations

import gc
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._budget import BudgetOptions, Sink
from ._cluster import ClusterOptions, require
from ._console import OptionError, app, remark, resumable
from ._options import Encoding, FileFormat, ModelFile, TextColumn, grouped

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..decisions.drift import DriftMonitor
    from ..tables.formats import Read


@app.command()
@grouped
def predict(
    model: ModelFile,
    cluster: ClusterOptions,
    limits: BudgetOptions,
    data: Annotated[str, typer.Argument(help="Texts to decide on; - for standard input.")] = "-",
    text: TextColumn = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="The score of every class as well; in JSON its probability too.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Warn where texts are no longer like those that the model was trained on.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first line that cannot be read, instead of skipping it.")
    ] = False,
    file_format: FileFormat = None,
    encoding: Encoding = "utf-8",
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON per text.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="On a cluster: the folder of the decisions.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="On a cluster: remove what an earlier run left in --output.")
    ] = False,
) -> None:
    """Decide on texts, each as soon as it is there: a line of CSV (or with --json of JSON) per text.

    With --cluster or --workers texts are Parquet files (one, a folder or a pattern), and so are the decisions, a file for each in
    --output; a run that stopped goes on where it was when the command is given again.

    `line` is its number in the file, from 1; in CSV and TSV the names of the columns are line 1. Where the model is unsure
    `label` is empty and `guess` the best guess (of several labels a text, those that are open). `confidence` is the probability
    of the label, or of the guess where there is none; of several labels the lowest, and of none that the likeliest one is wrong.

    Lines that cannot be read are named and skipped, blank lines counted. Where lines came and none could be decided on, the exit
    code is 2; where none came it is 0, with a remark. In CSV several labels of a text have ; between them; --json is exact where
    a label holds one itself.
    """
    from ..persistence import load_classifier

    limits.check()
    classifier = load_classifier(model)
    if cluster.wanted:
        not_here = {"--strict": strict, "--format": file_format, "--json": as_json, "--encoding": encoding != "utf-8"}
        not_here |= {"--watch": watch, "--budget": limits.budget is not None}
        refused = [name for name, value in not_here.items() if value]
        if refused:
            raise OptionError(f"{refused[0]} has no meaning with --cluster or --workers: Parquet is read and written, in parts.")
        _predict_parts(classifier, data, text, scores, output, overwrite, cluster)
        return
    if output is not None or overwrite:
        raise OptionError("--output and --overwrite go with --cluster or --workers; without, decisions are printed.")
    from ..tables.lines import name_of
    from ._decision_lines import decision_writer

    sink = limits.limit(classifier, name_of(data), decision_writer(classifier, scores, as_json))
    monitor = _monitor(classifier) if watch else None
    _predict_rows(classifier, data, text, file_format, encoding, strict, sink, monitor)


def _monitor(model: TextClassifier) -> DriftMonitor:
    if not model.has_held_out:
        raise OptionError("--watch compares texts with held-out scores of training, and this model has none.")
    return model.drift_monitor()


def _predict_rows(
    model: TextClassifier,
    data: str,
    text: str | None,
    file_format: str | None,
    encoding: str,
    strict: bool,
    sink: Sink,
    monitor: DriftMonitor | None,
) -> None:
    """Rows as they arrive."""
    from ..tables.formats import InvalidLine, Row, read_rows
    from ..tables.lines import name_of
    from ..tables.reader import stream_texts

    source = name_of(data)
    usual = model.metadata_.get("text_column")
    batches = stream_texts(read_rows(data, file_format, encoding), source, text, usual, log=remark)
    first = list(islice(batches, 1)) if data != "-" else []  # what is wrong with a file is said before anything is printed
    # Lines come and go by the thousand; to look for cycles among them takes a quarter of the time.
    gc.set_threshold(200_000, 20, 20)
    known = model.has_held_out
    sink.add([], model.decide([], probabilities=known))
    n_decided = n_invalid = n_blank = 0
    for texts, rows in chain(first, batches):
        if strict and len(texts) < len(rows):
            texts, rows = _until_invalid(texts, rows)
        decisions = model.decide(texts, probabilities=known)
        sink.add([row for row in rows if isinstance(row, Row)], decisions)
        if monitor is not None and texts and (alarm := monitor.update(model.model_.comparable_scores(decisions))) is not None:
            remark(f"line {rows[-1].number:,}: {alarm.message}")
        n_decided += len(texts)
        if len(texts) == len(rows):
            continue
        for row in rows:
            if isinstance(row, InvalidLine):
                n_invalid += 1
                if strict:
                    raise OptionError(f"line {row.number:,}: {row.reason}")
                remark(f"line {row.number:,} skipped: {row.reason}")
            elif not isinstance(row, Row):
                n_blank += 1
    sink.close()
    if n_blank:
        remark(f"{n_blank:,} blank {'line' if n_blank == 1 else 'lines'} skipped")
    if n_invalid and not n_decided:
        raise OptionError(f"none of the {n_invalid:,} lines of {source} could be decided on.")
    if n_invalid:
        remark(f"{n_invalid:,} lines skipped")
    elif not n_decided:
        remark(f"{source} has no rows; there was nothing to decide on")


def _until_invalid(texts: list[str], rows: list[Read]) -> tuple[list[str], list[Read]]:
    """Rows up to the first that is invalid, with it, and their texts."""
    from ..tables.formats import InvalidLine, Row

    end = next((place for place, row in enumerate(rows, start=1) if isinstance(row, InvalidLine)), len(rows))
    return texts[: sum(isinstance(row, Row) for row in rows[:end])], rows[:end]


def _predict_parts(
    model: TextClassifier,
    data: str,
    text: str | None,
    scores: bool,
    output: Path | None,
    overwrite: bool,
    cluster: ClusterOptions,
) -> None:
    """From Parquet to Parquet on a cluster."""
    if output is None or data == "-":
        raise OptionError("on a cluster decisions go from Parquet files to a folder: name the files, and it with --output.")
    require("predict_parquet")
    with (
        cluster.connect(),
        resumable("parts that are finished stay, and given again the command goes on after them, unless with --overwrite."),
    ):
        from ..scale import predict_parquet
        from ..scale.tables import first_columns
        from ..tables.columns import column_on_arrival
        from ..tables.formats import Row

        row = Row(1, dict.fromkeys(first_columns(data)))
        columns = column_on_arrival(row, data, text, model.metadata_.get("text_column"))
        if columns.notes:
            remark("; ".join(columns.notes))
        found = predict_parquet(
            model,
            data,
            output,
            text=columns.text,
            scores=scores,
            overwrite=overwrite,
            progress=lambda done, parts: remark(f"{done:,} of {parts:,} parts"),
        )
    if found.n_earlier:
        remark(f"{found.n_earlier:,} of {found.n_parts:,} parts were there from an earlier run")
    if found.n_null:
        remark(f"{found.n_null:,} texts are null, and so are their decisions")
    typer.echo(f"Decided on {found.n_texts:,} texts; written to {output}")
