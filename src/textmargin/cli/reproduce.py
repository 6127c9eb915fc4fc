"""The command that computes the papers' tables."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ResultError
from ._console import app, print_json, resumable
from ._tables import print_table, wide_console

if TYPE_CHECKING:
    from ..experiments.result import Result


class Format(StrEnum):
    """How tables are printed."""

    terminal = "terminal"
    markdown = "markdown"
    html = "html"
    json = "json"


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
    as_: Annotated[Format, typer.Option("--format", help="How tables are printed.")] = Format.terminal,
    page: Annotated[
        Path | None, typer.Option(help="Write all stored results to this Markdown page, plots beside it.")
    ] = None,
) -> None:
    """Compute the papers' tables, and print them next to the papers' numbers."""
    if not tables and page is None:
        _list_tables(results)
        return
    from ..datasets.files import cache_folder
    from ..experiments.pages import write_page
    from ..experiments.reproduce import reproduce
    from ..experiments.run import Run

    run = Run(quick=quick, kernels=kernels or cache_folder() / "kernels", results=results)
    found = []
    with resumable(
        f"kernel values that were computed stay in {run.kernels}, and given again the command looks them up."
    ):
        for outcome in reproduce(tables or [], run):
            found.append(outcome.result)
            if as_ in (Format.terminal, Format.markdown):
                _print_result(outcome.result, as_)
            typer.echo(f"Stored in {outcome.path}", err=True)
            if outcome.differences is not None:
                told = ["Beside the run stored before:", *(outcome.differences or ["no number differs"])]
                typer.echo("\n  ".join(told), err=True)
    if as_ in (Format.html, Format.json) and found:
        _print_all(found, as_)
    if page is not None:
        typer.echo(f"Written: {', '.join(map(str, write_page(results, page)))}", err=True)


def _list_tables(results: Path) -> None:
    from ..experiments.catalogue import EXPERIMENTS
    from ..experiments.reproduce import load_result

    rows = []
    for one in EXPERIMENTS.values():
        try:
            earlier = load_result(one.name, results)
            when = earlier.when[:10] if earlier else ""
        except ResultError:
            when = "damaged"
        rows.append([one.name, one.title, f"{one.minutes:g}", when])
    print_table(["name", "what it is", "minutes", "stored"], rows, texts=(0, 1))
    typer.echo("textmargin reproduce NAME computes a table; --quick only tries it out.")


def _print_result(result: Result, as_: Format) -> None:
    from ..experiments.rendering import to_markdown, to_terminal

    if as_ is Format.terminal:
        to_terminal(result, wide_console())
    else:
        typer.echo(to_markdown(result))


def _print_all(results: list[Result], as_: Format) -> None:
    """As one document."""
    from ..experiments.rendering import to_html

    if as_ is Format.html:
        typer.echo(to_html(results))
    else:
        print_json([result.to_dict() for result in results])
