"""Commands that put a model to work: serve it, and keep what people say of its decisions."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..errors import TextmarginWarning
from ._console import AsJson, app, mistakes, print_json, remark
from .train import ModelFile

feedback = typer.Typer(help="Keep what people say of decisions.", no_args_is_help=True)
app.add_typer(feedback, name="feedback")
Store = Annotated[str, typer.Argument(help="An SQLite file, or postgresql://user@host/database.")]


@app.command()
def serve(
    model: ModelFile,
    host: Annotated[str, typer.Option(help="Where to listen; anything but this machine alone needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 8000,
    token_file: Annotated[Path | None, typer.Option(help="File that holds the token clients must send.")] = None,
    token_env: Annotated[str | None, typer.Option(help="Name of the environment variable that holds it.")] = None,
    max_bytes: Annotated[int, typer.Option(min=1, help="Of a request's body.")] = 1_000_000,
    max_texts: Annotated[int, typer.Option(min=1, help="Of a request.")] = 1000,
    max_concurrent: Annotated[int, typer.Option(min=1, help="Requests in flight; more are told to come again.")] = 256,
    keep: Annotated[
        str | None, typer.Option("--feedback", help="Where judgements go: an SQLite file, or postgresql://…; else nowhere.")
    ] = None,
) -> None:
    """Answer /predict, /explain, /feedback, /health and /metrics over HTTP, until SIGTERM or Ctrl-C."""
    with mistakes():
        try:
            from ..serve import create_app
            from ..serve.running import listening, run
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("textmargin"):
                raise
            raise ValueError(f"serving needs {error.name}, which is not installed: pip install 'textmargin[serve]'") from error
        from ..feedback.store import FeedbackStore
        from ..trained import Trained

        token = _token(token_file, token_env)
        with listening(host, port, safe=token is not None) as (socket, url):
            trained = Trained.load(model)
            store = None if keep is None else FeedbackStore(keep)
            limits = {"max_bytes": max_bytes, "max_texts": max_texts, "max_concurrent": max_concurrent}
            application = create_app(trained, token=token, feedback=store, **limits)
            warnings.simplefilter("ignore", TextmarginWarning)  # of texts without a known word one hears at every turn
            remark(f"listening on {url}")
            run(application, socket)
            if store is not None:
                store.close()


@feedback.command("add")
def add_feedback(
    store: Store,
    text: Annotated[str, typer.Option(help="The text.")],
    decided: Annotated[list[str] | None, typer.Option(help="A label that the model gave it; again for several.")] = None,
    right: Annotated[list[str] | None, typer.Option(help="A right label; again for several.")] = None,
    was: Annotated[bool | None, typer.Option("--was-right/--was-wrong", help="In place of --right.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="The same id again is stored once.")] = None,
) -> None:
    """Store one judgement; it is on the disk when the command ends."""
    with mistakes():
        from ..feedback.store import FeedbackStore, Judgement

        if (was is None) == (not right):
            raise ValueError("say what was right: --right LABEL, or --was-right or --was-wrong.")
        one = Judgement(text, tuple(decided or ()), tuple(right or ()) if was is None else was)
        one = one if id_ is None else replace(one, id=id_)
        with FeedbackStore(store) as kept:
            new = kept.record(one)
        typer.echo(f"{'Stored' if new else 'Already there'}: {one.id}")


@feedback.command("list")
def list_feedback(store: Store, as_json: AsJson = False) -> None:
    """Print all judgements in the order in which they came."""
    with mistakes():
        from ..feedback.store import FeedbackStore

        with FeedbackStore(store, create=False) as kept:
            if as_json:
                print_json([one.to_dict() for one in kept])
                return
            for one in kept:
                right = ("right" if one.right else "wrong") if isinstance(one.right, bool) else ", ".join(one.right) or "none"
                typer.echo(f"{one.time}  {', '.join(one.decided) or 'none'} → {right}  {one.text!r:.80}  {one.id}")


def _token(file: Path | None, variable: str | None) -> str | None:
    if file is not None and variable is not None:
        raise ValueError("--token-file and --token-env both say where the token is; choose one.")
    if file is None and variable is None:
        return None
    found = file.read_text(encoding="utf-8").strip() if file is not None else os.environ.get(variable or "", "").strip()
    if not found or not found.isascii() or not found.isprintable() or " " in found:
        where = file if file is not None else f"the environment variable {variable}"
        raise ValueError(f"{where} holds no token: printable ASCII characters without spaces.")
    return found
