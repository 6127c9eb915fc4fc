"""The command that computes the papers' tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import OutputError
from ._console import app, resumable
from ._tables import print_table


@app.command()
def reproduce(
    tables: Annotated[
        list[str] | None, typer.Argument(help="Names of tables, or `all`; none lists them.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small part of the work, to see that it works.")
    ] = False,
    results: Annotated[Path, typer.Option(help="Folder where results are stored.")] = Path("results"),
    kernels: Annotated[
        Path | None, typer.Option(help="Folder where kernel values are kept; by default the user's cache.")
    ] = None,
    page: Annotated[Path | None, typer.Option(help="Write all stored results to this Markdown page.")] = None,
) -> None:
    """Compute the papers' tables, and print them as Markdown next to the papers' numbers."""
    if not tables and page is None:
        _list_tables(results)
        return
    from ..datasets.files import cache_folder
    from ..experiments.rendering import to_markdown, write_page
    from ..experiments.reproduce import reproduce
    from ..experiments.run import Run

    run = Run(quick=quick, kernels=kernels or cache_folder() / "kernels", results=results)
    with resumable(
        f"kernel values that were computed stay in {run.kernels}, and given again the command looks them up."
    ):
        for outcome in reproduce(tables or [], run):
            typer.echo(to_markdown(outcome.result))
            typer.echo(f"Stored in {outcome.path}", err=True)
            if outcome.differences is not None:
                told = ["Beside the run stored before:", *(outcome.differences or ["no number differs"])]
                typer.echo("\n  ".join(told), err=True)
    if page is not None:
        write_page(results, page)
        typer.echo(f"Written: {page}", err=True)


def _list_tables(results: Path) -> None:
    from ..experiments.catalogue import EXPERIMENTS
    from ..experiments.reproduce import load_result

    rows = []
    for one in EXPERIMENTS.values():
        try:
            earlier = load_result(one.name, results)
            when = earlier.when[:10] if earlier else ""
        except OutputError:
            when = "damaged"
        rows.append([one.name, one.title, f"{one.minutes:g}", when])
    print_table(["name", "what it is", "minutes", "stored"], rows, texts=(0, 1))
    typer.echo("textmargin reproduce NAME computes a table; --quick only tries it out.")
