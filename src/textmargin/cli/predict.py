"""Commands that use a model: decide on texts as they arrive, and say why."""

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

from ._cluster import Cluster, Workers, at_work, require, wanted
from ._console import AsJson, Encoding, Kind, TextColumn, app, mistakes, print_json, remark
from .train import ModelFile

if TYPE_CHECKING:
    from ..trained import Decision, Trained


@app.command()
def predict(
    model: ModelFile,
    data: Annotated[str, typer.Argument(help="Texts to decide on; - for standard input.")] = "-",
    text: TextColumn = None,
    scores: Annotated[bool, typer.Option("--scores", help="The score of every class as well.")] = False,
    stop: Annotated[
        bool, typer.Option("--stop", help="Stop at the first line that cannot be read, instead of skipping it.")
    ] = False,
    kind: Kind = None,
    encoding: Encoding = "utf-8",
    as_json: AsJson = False,
    cluster: Cluster = None,
    workers: Workers = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="On a cluster: the folder of the decisions.")] = None,
    anew: Annotated[bool, typer.Option("--anew", help="On a cluster: remove what an earlier run left in --output.")] = False,
) -> None:
    """Decide on texts, each as soon as it is there: a line of CSV (or with --json of JSON) per text.

    With --cluster or --workers texts are Parquet files (one, a folder or a pattern), and so are the decisions, a file for each in
    --output; a run that stopped goes on where it was when the command is given again.

    Lines that cannot be read are named and skipped, blank lines counted. Where lines came and none could be decided on, the exit
    code is 2; where none came it is 0, with a remark. In CSV several labels of a text have ; between them; --json is exact where
    a label holds one itself.
    """
    from ..tables.formats import BadLine, read_rows
    from ..tables.lines import name_of
    from ..trained import Decision, Trained

    with mistakes():
        trained = Trained.load(model)
        if wanted(cluster, workers):
            unused = {"--stop": stop, "--format": kind, "--json": as_json, "--encoding": encoding != "utf-8"}
            refused = [name for name, value in unused.items() if value]
            _predict_parts(trained, data, text, scores, output, anew, refused, cluster, workers)
            return
        if output is not None or anew:
            raise ValueError("--output and --anew go with --cluster or --workers; without, decisions are printed.")
        decided = trained.decide(read_rows(data, kind, encoding), name_of(data), text, tell=remark)
        first = list(islice(decided, 1)) if data != "-" else []  # what is wrong with a file is said before anything is printed
        gc.set_threshold(
            200_000, 20, 20
        )  # lines come and go by the thousand; looking for cycles among them takes a quarter of the time
        write = _json_writer(trained, scores) if as_json else _csv_writer(trained, scores)
        n_decided = n_bad = n_blank = 0
        for batch in chain(first, decided):
            decisions = []
            for one in batch:
                if isinstance(one, Decision):
                    decisions.append(one)
                elif isinstance(one, BadLine):
                    n_bad += 1
                    if stop:
                        write(decisions)
                        raise ValueError(f"line {one.number:,}: {one.reason}")
                    remark(f"line {one.number:,} skipped: {one.reason}")
                else:
                    n_blank += 1
            write(decisions)
            n_decided += len(decisions)
        if n_blank:
            remark(f"{n_blank:,} blank {'line' if n_blank == 1 else 'lines'} skipped")
        if n_bad and not n_decided:
            raise ValueError(f"none of the {n_bad:,} lines of {name_of(data)} could be decided on.")
        if n_bad:
            remark(f"{n_bad:,} lines skipped")
        elif not n_decided:
            remark(f"{name_of(data)} has no rows; there was nothing to decide on")


@app.command()
def explain(
    model: ModelFile,
    text: Annotated[str, typer.Argument(help="The text.")],
    label: Annotated[str | None, typer.Option(help="Whose score; by default that of the decision.")] = None,
    n: Annotated[int, typer.Option("-n", help="How many words or subsequences to show.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Say what in a text moved its score, and how far."""
    with mistakes():
        from ..trained import Trained

        if n < 1:
            raise ValueError(f"-n {n}: at least one reason.")
        trained = Trained.load(model)
        reasons = trained.explain(text, label, n)
        if as_json:
            print_json(reasons.to_dict())
            return
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table

        console = Console(highlight=False)
        decision = ", ".join(reasons.labels) or "none"
        how = "the highest decides" if len(trained.classes) > 2 and not trained.multilabel else "0 decides"
        console.print(f"Decision: {decision}. Score of {reasons.label}: {reasons.score:+.3f} ({how})", markup=False)
        known = any(reason.known for reason in reasons.reasons)
        table = Table("what", "moves the score by", *(["of that, known beforehand"] if known else []), box=SIMPLE_HEAD)
        for reason in reasons.reasons:
            before = [f"{reason.known:+.3f}" if reason.known else ""] if known else []
            table.add_row(escape(reason.what), f"{reason.share:+.3f}", *before)
        console.print(table)
        console.print(f"the rest, intercept and threshold: {reasons.rest:+.3f}")


def _predict_parts(
    trained: Trained,
    data: str,
    text: str | None,
    scores: bool,
    output: Path | None,
    anew: bool,
    refused: list[str],
    cluster: str | None,
    workers: int | None,
) -> None:
    """From Parquet to Parquet on a cluster."""
    if refused:
        raise ValueError(f"{refused[0]} has no meaning with --cluster or --workers: Parquet is read and written.")
    if output is None or data == "-":
        raise ValueError("on a cluster decisions go from Parquet files to a folder: name the files, and it with --output.")
    require("predict_parquet")
    with at_work(cluster, workers):
        from ..scale import predict_parquet
        from ..scale.tables import first_columns
        from ..tables.columns import column_on_arrival
        from ..tables.formats import Row

        columns = column_on_arrival(Row(1, dict.fromkeys(first_columns(data))), data, text, trained.text_column)
        if columns.said:
            remark("; ".join(columns.said))
        found = predict_parquet(
            trained,
            data,
            output,
            text=columns.text,
            scores=scores,
            overwrite=anew,
            progress=lambda done, parts: remark(f"{done:,} of {parts:,} parts"),
        )
    if found.n_earlier:
        remark(f"{found.n_earlier:,} of {found.n_parts:,} parts were there from an earlier run")
    if found.n_null:
        remark(f"{found.n_null:,} texts are null, and so are their decisions")
    typer.echo(f"Decided on {found.n_texts:,} texts; written to {output}")


def _csv_writer(trained: Trained, scores: bool) -> Callable[[list[Decision]], None]:
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow(["line", "label", *([f"score of {name}" for name in trained.classes] if scores else [])])
    sys.stdout.flush()
    joint = ";" if trained.multilabel else ""

    def write(decisions: list[Decision]) -> None:
        lines.writerows(
            [one.number, joint.join(one.labels), *([f"{value:.6g}" for value in one.scores] if scores else [])]
            for one in decisions
        )
        sys.stdout.flush()

    return write


def _json_writer(trained: Trained, scores: bool) -> Callable[[list[Decision]], None]:
    def write(decisions: list[Decision]) -> None:
        for one in decisions:
            data: dict[str, Any] = {"line": one.number, "labels": list(one.labels)}
            if scores:
                data["scores"] = dict(zip(trained.classes, one.scores, strict=True))
            sys.stdout.write(json.dumps(data, ensure_ascii=False) + "\n")
        sys.stdout.flush()

    return write
