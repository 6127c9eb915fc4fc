"""The command that writes a page: what a model decides on labelled texts, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._console import (
    AsJson,
    Costs,
    Encoding,
    FalseAlarm,
    Hit,
    Kind,
    LabelColumn,
    Miss,
    Separator,
    SkipBad,
    TextColumn,
    UtilityName,
    app,
    check_writable,
    mistakes,
    print_json,
    worth,
)
from .train import ModelFile, tell


@app.command()
def report(
    model: ModelFile,
    data: Annotated[str, typer.Argument(help="Labelled texts that the model was not trained on.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the page goes; report.html by default, nowhere with --json.")
    ] = None,
    text: TextColumn = None,
    label: LabelColumn = None,
    separator: Separator = None,
    hit: Hit = None,
    false_alarm: FalseAlarm = None,
    miss: Miss = None,
    utility: UtilityName = None,
    costs: Costs = None,
    kind: Kind = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    as_json: AsJson = False,
) -> None:
    """Write one page, to be opened in any browser, offline: decisions, what other thresholds would change, and reasons."""
    with mistakes():
        from ..report.content import report_content
        from ..report.html import write_page
        from ..tables.reader import read_table
        from ..trained import Trained

        where = output or (None if as_json else Path("report.html"))
        if where is not None:
            check_writable(where, data, model, costs)
        trained = Trained.load(model)
        value = worth(hit, false_alarm, miss, utility, costs)
        table = read_table(
            data, text=text, label=label, label_separator=separator, file_format=kind, encoding=encoding, skip_invalid=skip_bad
        )
        tell(table)
        content = report_content(trained, table.corpus, value)
        if where is not None:
            write_page(content, where)
        if as_json:
            print_json(content.to_dict())
        else:
            typer.echo(f"Written to {where}")
