"""Commands about corpora."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import TextmarginError
from ._console import Application, app, mistakes
from ._tables import print_table

data = Application(
    help="List, explain and export corpora; without a command, list them.", invoke_without_command=True
)
app.add_typer(data, name="data")


@data.callback()
def list_data(context: typer.Context) -> None:
    """List the corpora that can be loaded by name, and which of them are here."""
    if context.invoked_subcommand is None:
        with mistakes():
            _show_data()


@data.command("show")
def show_data(name: Annotated[str, typer.Argument(help="A name that `textmargin data` lists.")]) -> None:
    """Explain one corpus: what it is, its licence, its source, its files."""
    _show_data(name)


@data.command("export")
def export_data(
    name: Annotated[str, typer.Argument(help="A name that `textmargin data` lists.")],
    to: Annotated[Path, typer.Option(help="The folder that the files go to.")] = Path(),
) -> None:
    """Write a corpus as CSV files, one per part, with its keywords and costs if it has any."""
    from ..datasets.loading import load_dataset
    from ..tables.export import export_csv

    for path in export_csv(load_dataset(name), to):
        typer.echo(path)


def _show_data(name: str | None = None) -> None:
    from ..datasets.files import catalogue, find, is_ready, state_of
    from ..labels import listed

    known = catalogue()
    if name is None:
        rows = [
            [dataset.name, "yes" if is_ready(dataset) else "no", dataset.about] for dataset in known.values()
        ]
        print_table(["name", "here", "what it is"], rows, texts=(0, 1, 2))
        typer.echo("textmargin data show NAME tells where a corpus comes from and which file is missing.")
        return
    if name not in known:
        raise TextmarginError(f"There is no dataset {name!r}; there are {listed(name, list(known))}")
    dataset = known[name]
    typer.echo(f"{dataset.name}: {dataset.about}\n")
    typer.echo(", ".join(f"{what} {n:,}" for what, n in dataset.counts.items()))
    typer.echo(f"licence: {dataset.licence}\nsource:  {dataset.source}")
    for file in dataset.files:
        path = find(file.name)
        typer.echo(f"{file.name}, {file.n_bytes:,} bytes: {state_of(file)}{f' ({path})' if path else ''}")
    if not is_ready(dataset):
        typer.echo(dataset.how_to_obtain)
