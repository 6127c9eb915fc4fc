"""The command that writes a file of settings."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from ._config_file import write_config
from ._console import OptionError, app
from ._options import ReadingOptions, check_writable, grouped


@app.command()
@grouped
def init(
    context: typer.Context,
    reading: ReadingOptions,
    data: Annotated[
        str | None, typer.Argument(help="Labelled texts, whose columns are to be found out.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the settings go.")] = Path(
        "model.toml"
    ),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file where there is one.")
    ] = False,
) -> None:
    """Write every setting of `textmargin train` to a file, each with its default and a line that explains it.

    With labelled texts, their file and columns are filled in.
    """
    from .._system.stages import stage
    from .._system.writing import write_whole

    check_writable(output, data)
    if output.exists() and not overwrite:
        raise OptionError(
            f"{output} is there already; choose another name with --output, or replace it with --overwrite."
        )
    values: dict[str, Any] = {
        one.name: own for one in fields(reading) if (own := getattr(reading, one.name)) != one.default
    }
    if data is not None:
        if data == "-":
            raise OptionError("settings name a file that can be read again; standard input is none.")
        with stage(f"reading {data}"):
            table = reading.read(data, labels="optional")
        values |= {"data": _seen_from(data, output), "text": table.text_column, "label": table.label_column}
    root = context.find_root()
    group: Any = root.command
    train = group.get_command(root, "train")  # which is imported when it is asked for
    write_whole({output: write_config(train.params, values, output.name).encode()})
    typer.echo(
        f"Written to {output}. Train with: textmargin train {'' if data else 'DATA '}--config {output}"
    )


def _seen_from(data: str, output: Path) -> str:
    """The path of the data from the folder of the settings, where it is relative."""
    return data if Path(data).is_absolute() else os.path.relpath(data, output.parent)
