"""The command that decides on texts as they arrive."""

from __future__ import annotations

import csv
import gc
import json
import sys
from collections.abc import Callable
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._cluster import ClusterOptions, require
from ._console import OptionError, app, remark
from ._options import Encoding, FileFormat, ModelFile, TextColumn, grouped

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..labels import Decisions
    from ..tables.formats import Read

Write = Callable[[list[int], "Decisions"], None]


@app.command()
@grouped
def predict(
    model: ModelFile,
    cluster: ClusterOptions,
    data: Annotated[str, typer.Argument(help="Texts to decide on; - for standard input.")] = "-",
    text: TextColumn = None,
    scores: Annotated[bool, typer.Option("--scores", help="The score of every class as well.")] = False,
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

    `line` is its number in the file, from 1; in CSV and TSV the names of the columns are line 1.

    Lines that cannot be read are named and skipped, blank lines counted. Where lines came and none could be decided on, the exit
    code is 2; where none came it is 0, with a remark. In CSV several labels of a text have ; between them; --json is exact where
    a label holds one itself.
    """
    from ..persistence import load_classifier

    classifier = load_classifier(model)
    if cluster.wanted:
        not_here = {"--strict": strict, "--format": file_format, "--json": as_json, "--encoding": encoding != "utf-8"}
        refused = [name for name, value in not_here.items() if value]
        if refused:
            raise OptionError(f"{refused[0]} has no meaning with --cluster or --workers: Parquet is read and written.")
        _predict_parts(classifier, data, text, scores, output, overwrite, cluster)
        return
    if output is not None or overwrite:
        raise OptionError("--output and --overwrite go with --cluster or --workers; without, decisions are printed.")
    _predict_rows(classifier, data, text, file_format, encoding, strict, _writer(classifier, scores, as_json))


def _predict_rows(
    model: TextClassifier, data: str, text: str | None, file_format: str | None, encoding: str, strict: bool, write: Write
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
    write([], model.decide([]))
    n_decided = n_invalid = n_blank = 0
    for texts, rows in chain(first, batches):
        if strict and len(texts) < len(rows):
            texts, rows = _until_invalid(texts, rows)
        write([row.number for row in rows if isinstance(row, Row)], model.decide(texts))
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
    with cluster.connect():
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


def _writer(model: TextClassifier, scores: bool, as_json: bool) -> Write:
    """Writes a line per text; the first call, of no texts, the names of the columns."""
    joint = ";" if model.labels_.multilabel else ""
    lines = csv.writer(sys.stdout, lineterminator="\n")
    started = False

    def write_csv(numbers: list[int], decisions: Decisions) -> None:
        nonlocal started
        if not started:
            lines.writerow(["line", "label", *([f"score of {name}" for name in decisions.names] if scores else [])])
            started = True
        labels = map(joint.join, decisions.labels)
        if scores:
            rows = zip(numbers, labels, decisions.scores.tolist(), strict=True)
            lines.writerows([number, label, *(f"{value:.6g}" for value in own)] for number, label, own in rows)
        else:
            lines.writerows(zip(numbers, labels, strict=True))
        sys.stdout.flush()

    def write_json(numbers: list[int], decisions: Decisions) -> None:
        for number, labels, own in zip(numbers, decisions.labels, decisions.scores.tolist(), strict=True):
            data: dict[str, Any] = {"line": number, "labels": list(labels)}
            if scores:
                data["scores"] = dict(zip(decisions.names, own, strict=True))
            sys.stdout.write(json.dumps(data, ensure_ascii=False) + "\n")
        sys.stdout.flush()

    return write_json if as_json else write_csv
