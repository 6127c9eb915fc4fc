"""The command that decides on texts as they arrive."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._system.wording import quantity
from ._cluster import ClusterOptions, require
from ._console import OptionError, app, remark, resumable, with_options
from ._options import FileOptions, ModelFile, check_writable, grouped

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..tables.record_stream import RecordBatch, RecordUse
    from ..tables.row_reader import TextBatch


@app.command()
@grouped
def predict(
    model: ModelFile,
    cluster: ClusterOptions,
    file: FileOptions,
    data: Annotated[str, typer.Argument(help="Texts to decide on; - for standard input.")] = "-",
    scores: Annotated[
        bool, typer.Option("--scores", help="The score of every class as well; in JSON its probability too.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Stop at the first line that cannot be read, instead of skipping it."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON per text.")] = False,
    only_decisions: Annotated[
        bool,
        typer.Option("--only-decisions", help="The number of the line in place of the columns of the table."),
    ] = False,
    keep_formulas: Annotated[
        bool,
        typer.Option(
            "--keep-formulas", help="In CSV and TSV, leave cells as they are that a spreadsheet would run."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write, by its name .csv, .tsv, .jsonl, .parquet or .xlsx; on a cluster, a folder.",
        ),
    ] = None,
) -> None:
    """Decide on texts, each as soon as it is there: its row with label, guess, score and confidence beside
    it.

    A line of CSV per text, or with --json of JSON, or what the name in --output says; that file is there when
    it is whole. Of plain lines, and with --only-decisions, `line` stands in place of the row: its number in
    the file, from 1; in CSV and TSV the names of the columns are line 1. Where the table has a column of that
    name already, `label` is `predicted_label`, and so on.

    Where the model is unsure `label` is empty and `guess` the best guess (of several labels a text, those
    that are open). `score` is how far the label, or the guess where there is none, is above its threshold;
    `confidence` is its probability. Of several labels both are the lowest; of none, the highest score, and
    the probability that the likeliest one is wrong.

    Lines that cannot be read are named and skipped, blank lines counted; a row whose text is empty stays,
    without a decision. Where lines came and none could be decided on, the exit code is 2; where none came it
    is 0, with a remark. In CSV several labels of a text have ; between them; JSON is exact where a label
    holds one itself. Cells of CSV and TSV that a spreadsheet would run get an apostrophe before them, unless
    --keep-formulas.

    With --cluster or --workers texts are Parquet files (one, a folder or a pattern), and so are the
    decisions, a file for each in --output; a run that stopped goes on where it was when the command is given
    again.
    """
    from ..decider import load_decider
    from ..persistence import load_classifier

    if cluster.wanted:
        not_here = {**dict.fromkeys(file.options, True), "--strict": strict, "--json": as_json}
        not_here |= {"--only-decisions": only_decisions, "--keep-formulas": keep_formulas}
        refused = [name for name, value in not_here.items() if value]
        if refused:
            raise OptionError(
                f"{refused[0]} has no meaning with --cluster or --workers: Parquet is read and written, "
                "in parts."
            )
        _predict_parts(load_classifier(model), data, file.text, scores, output, cluster)
        return
    from .._system.progress import RowCounter
    from .._system.threads import n_threads
    from ..tables.formats import file_dialect, format_of
    from ..tables.paths import name_of
    from ..tables.record_stream import RecordUse
    from ..tables.writer import open_writer
    from ._deciding import decide_batches
    from ._decision_lines import DecisionWriter

    to_format = _output_format(output, as_json, keep_formulas)
    if output is not None:
        check_writable(output, data, model)
    classifier: Any = load_decider(model)
    from_format = format_of(data, file.dialect.file_format)
    narrow = True if only_decisions or from_format == "txt" else None if from_format is None else False
    like = data if from_format == "parquet" and not narrow else None
    dialect = None if output is None else file_dialect(data, file.dialect)
    use = RecordUse(
        objects=to_format == "jsonl" or narrow is True,
        defuse=to_format != "jsonl" and not keep_formulas,
        n_threads=n_threads(None),
    )
    with (
        open_writer(
            output or sys.stdout, to_format, keep_formulas=keep_formulas, like=like, dialect=dialect
        ) as table,
        RowCounter(output is not None) as counter,
    ):
        write = DecisionWriter(classifier, table, scores, narrow, use).write
        batches = _batches(classifier, data, file, use, to_format)
        whole = data != "-" and Path(data).is_file()  # not a pipe, at whose end somebody may wait
        ahead = whole and use.n_threads > 1 and not strict
        decide_batches(classifier, batches, name_of(data), strict, write, counter, narrow, ahead)
    for note in table.notes:
        remark(with_options(note))
    if output is not None:
        typer.echo(f"Decided on {quantity(counter.n_rows, 'text')}; written to {output}")


def _output_format(output: Path | None, as_json: bool, keep_formulas: bool) -> str:
    """What is written, before any work."""
    from ..tables.writer import output_format

    file_format = "jsonl" if as_json else "csv"
    if output is not None:
        file_format = output_format(output)
        if as_json and file_format != "jsonl":
            raise OptionError(f"--json and -o {output} say two formats; the name of the file is enough.")
    if keep_formulas and file_format not in ("csv", "tsv"):
        raise OptionError(f"--keep-formulas is for CSV and TSV; in {file_format} cells stay as they are.")
    return file_format


def _batches(
    model: TextClassifier, data: str, file: FileOptions, use: RecordUse, to_format: str
) -> Iterator[TextBatch | RecordBatch]:
    """Texts as they arrive: as records, where what is written can take them."""
    from ..tables.record_writer import can_write

    usual = model.metadata_.get("text_column")
    as_lines = to_format in ("csv", "tsv", "jsonl") and can_write(model.labels_.text_names)
    use.rows = not as_lines
    batches = file.stream_records(data, use, usual)
    # What is wrong with a file is said before anything is printed.
    return chain(list(islice(batches, 1)), batches) if data != "-" else batches


def _predict_parts(
    model: TextClassifier,
    data: str,
    text: str | None,
    scores: bool,
    output: Path | None,
    cluster: ClusterOptions,
) -> None:
    """From Parquet to Parquet on a cluster."""
    if output is None or data == "-":
        raise OptionError(
            "on a cluster decisions go from Parquet files to a folder: name the files, and it with --output."
        )
    require("predict_parquet")
    with (
        cluster.connect(),
        resumable("parts that are finished stay, and given again the command goes on after them."),
    ):
        from ..scale import predict_parquet
        from ..scale.predict import read_schema
        from ..tables.columns import column_on_arrival
        from ..tables.decision_columns import PREFIX
        from ..tables.paths import files_of
        from ..tables.rows import Row

        row = Row(1, dict.fromkeys(read_schema(files_of(data, [".parquet"])[0]).names))
        columns = column_on_arrival(row, data, text, model.metadata_.get("text_column"))
        if columns.notes:
            remark("; ".join(columns.notes))
        found = predict_parquet(
            model,
            data,
            output,
            text=columns.text,
            scores=scores,
            progress=lambda done, parts: remark(f"{done:,} of {parts:,} parts"),
        )
    if found.n_earlier:
        remark(f"{found.n_earlier:,} of {found.n_parts:,} parts were there from an earlier run")
    if others := [name for name in found.columns if name.startswith(PREFIX)]:
        remark(f"the files have columns of such names of their own; the decisions are in {', '.join(others)}")
    typer.echo(f"Decided on {quantity(found.n_texts, 'text')}; written to {output}")
