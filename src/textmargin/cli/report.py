"""The command that writes a page: what a model decides on labelled texts, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._console import app, print_json
from ._evaluation import remark_on_texts
from ._model_options import UtilityOptions, usual_costs
from ._options import AsJson, LabelledFile, ModelFile, ReadingOptions, check_writable, grouped


@app.command()
@grouped
def report(
    model: ModelFile,
    data: LabelledFile,
    reading: ReadingOptions,
    utility: UtilityOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Where the page goes; report.html by default, nowhere with --json."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write one page, to be opened in any browser, offline: decisions, what other thresholds would change,
    and reasons.
    """
    from .._system.stages import stage
    from ..persistence import load_classifier
    from ..report.content import report_content
    from ..report.html import write_page

    where = output or (None if as_json else Path("report.html"))
    if where is not None:
        check_writable(where, data, model, utility.costs)
    classifier = load_classifier(model)
    measure = utility.measure(usual_costs(classifier))
    with stage(f"reading {data}"):
        corpus = reading.read(data, origin=classifier.metadata_).corpus
    with stage(f"deciding on {len(corpus):,} texts, and why"):
        content = report_content(classifier, corpus, measure)
    remark_on_texts(classifier, content.summary)
    if where is not None:
        write_page(content, where)
    if as_json:
        print_json(content.to_dict())
    else:
        typer.echo(f"Written to {where}")
