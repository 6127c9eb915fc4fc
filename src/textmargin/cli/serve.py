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
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but 127.0.0.1 needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any free port.")] = 8000,
    token_file: Annotated[
        Path | None, typer.Option(help="File with the token that clients must send.")
    ] = None,
    feedback: Annotated[
        str | None, typer.Option(help="Where to store feedback: an SQLite file, or postgresql://….")
    ] = None,
    max_bytes: Annotated[int, typer.Option(min=1, help="Limit for the body of a request.")] = 1_000_000,
    max_texts: Annotated[int, typer.Option(min=1, help="Limit for the texts of a request.")] = 1000,
    max_concurrent: Annotated[
        int, typer.Option(min=1, help="Limit for requests in flight; others get 503 and try again.")
    ] = 64,
    access_log: Annotated[
        bool, typer.Option(help="Write a line to stderr for each request, without its texts.")
    ] = True,
) -> None:
    """Answer /predict, /explain and /feedback over HTTP, until SIGTERM or Ctrl-C."""
    try:
        from ..serve import create_app
        from ..serve.run import listening, run
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("textmargin"):
            raise
        raise OptionError(
            f"serving needs {error.name}, which is not installed: {install_hint('serve')}"
        ) from error
    from ..feedback.store import FeedbackStore
    from ..persistence import load_classifier

    token = read_token(token_file)
    with listening(host, port, safe=token is not None) as (socket, url):
        classifier = load_classifier(model)
        store = None if feedback is None else FeedbackStore(feedback, timeout=5.0)
        application = create_app(
            classifier,
            name=Path(model).name,
            token=token,
            feedback=store,
            max_bytes=max_bytes,
            max_texts=max_texts,
            max_concurrent=max_concurrent,
        )
        warnings.simplefilter("ignore", TextmarginWarning)  # about texts without a known word
        remark(f"listening on {url}")
        run(application, socket, access_log=access_log)
        if store is not None:
            store.close()
