"""The command that serves a model over HTTP."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from ..errors import TextmarginWarning, install_hint
from ._console import OptionError, app, remark
from ._options import ModelFile, read_token


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
    feedback: Annotated[
        str | None, typer.Option(help="Where feedback goes: an SQLite file, or postgresql://…; else nowhere.")
    ] = None,
) -> None:
    """Answer /predict, /explain, /feedback, /health and /metrics over HTTP, until SIGTERM or Ctrl-C."""
    try:
        from ..serve import create_app
        from ..serve.running import listening, run
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("textmargin"):
            raise
        raise OptionError(f"serving needs {error.name}, which is not installed: {install_hint('serve')}") from error
    from ..feedback.store import FeedbackStore
    from ..persistence import load_classifier

    token = read_token(token_file, token_env)
    with listening(host, port, safe=token is not None) as (socket, url):
        classifier = load_classifier(model)
        store = None if feedback is None else FeedbackStore(feedback)
        limits = {"max_bytes": max_bytes, "max_texts": max_texts, "max_concurrent": max_concurrent}
        application = create_app(classifier, token=token, feedback=store, **limits)
        warnings.simplefilter("ignore", TextmarginWarning)  # of texts without a known word one hears at every turn
        remark(f"listening on {url}")
        run(application, socket)
        if store is not None:
            store.close()
