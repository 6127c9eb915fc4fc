"""Command line: each command calls one library function and prints.

Results go to stdout, mistakes to stderr with exit code 2. Heavy imports wait inside the command, so that `--help` is instant.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import __version__
from .errors import DatasetError, TextmarginError

if TYPE_CHECKING:
    from .experiments.result import Result

app = typer.Typer(
    help="Text classification with support vector machines that use what you know.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version)] = False,
) -> None:
    """Text classification with support vector machines that use what you know."""


data = typer.Typer(help="List, explain and import corpora.", invoke_without_command=True)
app.add_typer(data, name="data")


@data.callback()
def list_data(context: typer.Context) -> None:
    """List the corpora that can be loaded by name, and which of them are here."""
    if context.invoked_subcommand is None:
        _show_data()


@data.command("show")
def show_data(name: Annotated[str, typer.Argument(help="A name that `textmargin data` lists.")]) -> None:
    """Explain one corpus: what it is, its licence, its source, its files."""
    _show_data(name)


@data.command("import")
def import_data(
    folder: Annotated[Path, typer.Argument(help="Where the 22 files reut2-*.sgm of Reuters-21578 lie.")],
    to: Annotated[Path | None, typer.Option(help="Where the converted file goes; by default the user's cache.")] = None,
) -> None:
    """Convert an original Reuters-21578 distribution, so that it can be loaded."""
    from .datasets.sgml import import_reuters

    with _mistakes():
        typer.echo(f"Written to {import_reuters(folder, to)}")


def _show_data(name: str | None = None) -> None:
    from rich.console import Console
    from rich.table import Table

    from .datasets._overview import overview

    console, known = Console(), {dataset.name: dataset for dataset in overview()}
    if name is None:
        table = Table("name", "here", "what it is")
        for dataset in known.values():
            table.add_row(dataset.name, "yes" if dataset.ready else "no", dataset.about)
        console.print(table)
        console.print("textmargin data show NAME tells where a corpus comes from and which file is missing.")
        return
    with _mistakes():
        if name not in known:
            raise DatasetError(f"there is no dataset {name!r}. There are {', '.join(known)}.")
    dataset = known[name]
    console.print(f"[bold]{dataset.name}[/bold]: {dataset.about}\n")
    console.print(", ".join(f"{what} {n:,}" for what, n in dataset.counts.items()))
    console.print(f"licence: {dataset.licence}\nsource:  {dataset.source}")
    for file in dataset.files:
        console.print(
            f"{file.name}, {file.n_bytes:,} bytes: {file.state}{f' ({file.path})' if file.path else ''}", soft_wrap=True
        )
    if not dataset.ready:
        console.print(dataset.how_to_obtain)


class Format(StrEnum):
    """How tables are printed."""

    terminal = "terminal"
    markdown = "markdown"
    html = "html"
    json = "json"


@app.command()
def reproduce(
    tables: Annotated[list[str] | None, typer.Argument(help="Names of tables, or `all`; none lists them.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small part of the work, to see that it works.")] = False,
    results: Annotated[Path, typer.Option(help="Folder where results are stored.")] = Path("results"),
    kernels: Annotated[
        Path | None, typer.Option(help="Folder where kernel values are kept; by default the user's cache.")
    ] = None,
    as_: Annotated[Format, typer.Option("--format", help="How tables are printed.")] = Format.terminal,
    page: Annotated[Path | None, typer.Option(help="Write all stored results to this Markdown page, plots beside it.")] = None,
) -> None:
    """Compute the papers' tables, and print them next to the papers' numbers."""
    if not tables and page is None:
        _list_tables(results)
        return
    from .datasets._files import cache_folder
    from .experiments.pages import write_page
    from .experiments.reproduce import reproduce
    from .experiments.run import Run

    with _mistakes():
        run = Run(quick=quick, kernels=kernels or cache_folder() / "kernels", results=results)
        for outcome in reproduce(tables or [], run):
            _print_result(outcome.result, as_)
            typer.echo(f"Stored in {outcome.path}", err=True)
            if outcome.differences is not None:
                typer.echo(
                    "\n  ".join(["Beside the run stored before:", *(outcome.differences or ["no number differs"])]), err=True
                )
        if page is not None:
            typer.echo(f"Written: {', '.join(map(str, write_page(results, page)))}", err=True)


def _list_tables(results: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from .experiments.catalogue import EXPERIMENTS
    from .experiments.reproduce import stored

    table = Table("name", "what it is", "minutes", "stored")
    for one in EXPERIMENTS.values():
        with _mistakes():
            earlier = stored(one.name, results)
        table.add_row(one.name, one.title, f"{one.minutes:g}", earlier.when[:10] if earlier else "")
    console = Console()
    console.print(table)
    console.print("textmargin reproduce NAME computes a table; --quick only tries it out.")


def _print_result(result: Result, as_: Format) -> None:
    from rich.console import Console

    from .experiments.rendering import to_html, to_markdown, to_terminal

    if as_ is Format.terminal:
        to_terminal(result, Console())
    elif as_ is Format.markdown:
        typer.echo(to_markdown(result))
    elif as_ is Format.html:
        typer.echo(to_html([result]))
    else:
        typer.echo(json.dumps(result.to_dict(), indent=1, ensure_ascii=False))


@contextmanager
def _mistakes() -> Iterator[None]:
    """What a user can mend is one line on standard error, and exit code 2."""
    try:
        yield
    except (TextmarginError, ValueError) as error:
        typer.echo(f"textmargin: {error}", err=True)
        raise typer.Exit(2) from error


@app.command()
def demo(as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False) -> None:
    """Train on a handful of messages inside the package, with and without a few keywords."""
    from .demo import run

    result = run()
    if as_json:
        typer.echo(json.dumps(asdict(result), indent=2))
        return

    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(f"{result.n_train} training messages, {result.n_test} test messages, topics: {', '.join(result.topics)}\n")
    table = Table("test message", "truth", "words alone", "with keywords", "words that decided")
    for message in result.messages:
        mark = [f"{label} {'✓' if label == message.truth else '✗'}" for label in (message.plain, message.informed)]
        words = ", ".join(f"{term} {share:+.2f}" for term, share in message.decided_by)
        table.add_row(message.text, message.truth, *mark, words)
    console.print(table)
    console.print(f"\nright without keywords: {result.plain_right} of {result.n_test}")
    console.print(f"right with keywords:    {result.informed_right} of {result.n_test}")
    console.print(f"trust in the keywords:  {', '.join(f'{topic} {trust:.2f}' for topic, trust in result.trust.items())}")
