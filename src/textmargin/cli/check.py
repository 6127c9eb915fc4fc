"""The command that says what is wrong with labelled texts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._system.wording import quantity
from ._console import app, print_json, remark
from ._options import AsJson, ReadingOptions, check_writable, grouped
from ._project import is_project

if TYPE_CHECKING:
    from ..check.findings import DataCheck, Finding
    from ..datasets.corpus import Corpus
    from ..tables.row_reader import LabelledTable

_EXAMPLES = 3  # of a kind on the terminal
_MOST_LINES = 5  # of one finding
_WIDTH = 60  # characters of a text


@app.command()
@grouped
def check(
    data: Annotated[str, typer.Argument(help="Labelled texts.")],
    reading: ReadingOptions,
    test: Annotated[
        str | None, typer.Option(help="Labelled texts to test on: which of them are in the data?")
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(help="Column that says who labelled a row: how far do they agree?")
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Column of ids, to show; with --annotator also what the rows of one text have in common.",
        ),
    ] = None,
    doubts: Annotated[
        bool,
        typer.Option("--doubts/--no-doubts", help="Whether to train a model to see which labels it doubts."),
    ] = True,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A list to sort (.csv) or all of it (.json).")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 where anything is found, for scripts.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what is wrong with labelled texts, before anything is trained on them; nothing is changed.

    Empty, repeated and nearly the same texts, contradicting and doubtful labels, leaks into a test file,
    labels that are spelt in two ways, columns and words that give the label away, broken characters, HTML.
    """
    from ..check.data_check import check_data
    from ..check.output import check_suffix, write_check

    if output is not None:
        check_suffix(output)
        check_writable(output, data, test)
    wanted = dict.fromkeys(
        [*_other_columns(data, reading), *[one for one in (annotator, id_column) if one is not None]]
    )
    table = reading.read(data, list(wanted))
    found = check_data(
        _whole(table),
        test=None if test is None else reading.read(test).corpus,
        annotators=annotator,
        items=id_column if annotator is not None else None,
        row_ids=id_column,
        doubts=doubts,
        n_jobs=-1,
    )
    if output is not None:
        write_check(found, output)
        remark(f"written to {output}")
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found, output)
    if strict and found.findings:
        raise typer.Exit(1)


def _other_columns(data: str, reading: ReadingOptions) -> list[str]:
    """The columns of a file beside text and label; none of a pipe, which can be read only once, nor of a
    project of the desk.
    """
    from ..tables.formats import read_rows
    from ..tables.rows import Row

    if data == "-" or is_project(data, reading.file_format):
        return []
    rows = (row for batch in read_rows(data, reading.dialect) for row in batch if isinstance(row, Row))
    first = next(rows, None)
    return (
        [] if first is None else [name for name in first.values if name not in (reading.text, reading.label)]
    )


def _whole(table: LabelledTable) -> Corpus:
    """All texts of a file in its order, those without a label and the empty ones as well, and the columns
    that are neither.
    """
    labelled, unlabelled, empty = table.corpus, table.unlabelled, table.empty
    # several columns of labels have commas between them
    own = (table.text_column, *(table.label_column or "").split(","))
    corpus = replace(
        labelled,
        texts=[*labelled.texts, *unlabelled.texts, *empty.texts],
        labels=[*labelled.labels, *[""] * len(unlabelled), *empty.labels],
        split=[*labelled.split, *unlabelled.split, *empty.split],
        ids=[*labelled.ids, *unlabelled.ids, *empty.ids],
        fields={
            name: [*values, *unlabelled.fields.get(name, []), *empty.fields.get(name, [])]
            for name, values in labelled.fields.items()
            if name not in own
        },
    )
    return corpus.take(sorted(range(len(corpus)), key=lambda row: int(corpus.ids[row])))


def _print(found: DataCheck, output: Path | None) -> None:
    """Counts and first examples of each kind, what to do about it, and where the others are."""
    from ..check.findings import KINDS

    typer.echo(
        f"{found.name}: {quantity(found.n_texts, 'text')}, {quantity(len(found.label_counts), 'label')}"
    )
    if found.noise is not None:
        typer.echo(f"labels that look wrong: about {found.noise:.1%}")
    if found.agreement is not None:
        _print_agreement(found)
    for kind in KINDS:
        findings = found.of_kind(kind.name)
        if not findings:
            continue
        typer.echo(f"\n{kind.title}: {len(findings):,}")
        for one in findings[:_EXAMPLES]:
            typer.echo(f"  {_example(found, one)}")
        if len(findings) > _EXAMPLES:
            typer.echo(f"  … and {len(findings) - _EXAMPLES:,} more")
        typer.echo(f"  → {kind.advice}")
    for note in found.notes:
        typer.echo(f"\n{note[:1].upper()}{note[1:]}.")
    if output is None and max(found.counts.values(), default=0) > _EXAMPLES:
        typer.echo("\nAll of it: -o check.csv writes a list to sort.")
    if not found.findings:
        typer.echo("Nothing was found.")


def _example(found: DataCheck, one: Finding) -> str:
    lines = [
        f"{found.ids[row]}" + (f" ({found.row_ids[row]})" if found.row_ids else "")
        for row in one.rows[:_MOST_LINES]
    ]
    lines += ["…"] * (len(one.rows) > _MOST_LINES)
    where = f"line {', '.join(lines)}" if lines else ""
    where += "".join(f", test line {found.test_ids[row]}" for row in one.test_rows)
    label = f"{one.label} → {one.suggestion}" if one.suggestion else one.label
    text = " ".join(found.texts[one.rows[0]].split()) if one.rows else ""
    shown = f"“{text[:_WIDTH]}{'…' * (len(text) > _WIDTH)}”" if text else ""
    return "; ".join(part for part in (where, label, " ".join(one.reason.split()), shown) if part)


def _print_agreement(found: DataCheck) -> None:
    agreement = found.agreement
    if agreement is None:
        return
    typer.echo(
        f"{quantity(agreement.n_items, 'text')} with several annotators; Krippendorff's α with its 90 % "
        "interval:"
    )
    rows = [("all labels", agreement.alpha, agreement.low, agreement.high)]
    rows += [(one.label, one.alpha, one.low, one.high) for one in agreement.labels]
    width = max(len(name) for name, *_ in rows)
    for name, alpha, low, high in rows:
        value = "–" if alpha is None else f"{alpha:5.2f} ({low:.2f} to {high:.2f})"
        typer.echo(f"  {name:<{width}}  {value}")
    for one in agreement.annotators[:_EXAMPLES]:
        typer.echo(
            f"  {one.annotator}: another label than others in {one.different:.0%} of "
            f"{quantity(one.n_compared, 'comparison')}"
        )
