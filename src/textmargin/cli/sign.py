"""The command that signs a model that is there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._console import OptionError, app
from ._options import ModelFile


@app.command()
def sign(
    model: ModelFile,
    key: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="File of 32 bytes or more that only you can read.")
    ],
) -> None:
    """Sign a model with a key of yours, in its place, so that commands with --key take it and no other.

    The signature says that who has the key wrote the file; it does not say that the model is good.
    """
    from ..persistence import read_key
    from ..persistence import sign as sign_file

    if key.exists() and model.exists() and key.samefile(model):
        raise OptionError(f"--key {key} is the model itself; name the file of the key.")
    sign_file(model, read_key(key))
    typer.echo(f"Signed {model}")
