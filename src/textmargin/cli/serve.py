"""The command that serves a model over HTTP."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..errors import TextmarginWarning, install_hint
from ._console import OptionError, app, remark
from ._options import ModelFile, read_token


@app.command()
def serve(
    model: ModelFile,
    host: Annotated[
        str, typer.Option(help="Where to listen; anything but this machine alone needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 8000,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Another name that clients may call this service by; several times for several.",
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="File that holds the token clients must send.")
    ] = None,
    token_env: Annotated[
        str | None, typer.Option(help="Name of the environment variable that holds it.")
    ] = None,
    max_bytes: Annotated[int, typer.Option(min=1, help="Of a request's body.")] = 1_000_000,
    max_texts: Annotated[int, typer.Option(min=1, help="Of a request.")] = 1000,
    max_concurrent: Annotated[
        int, typer.Option(min=1, help="Requests in flight; more are told to come again.")
    ] = 256,
    max_wait: Annotated[
        float,
        typer.Option(
            min=0.01, help="Seconds to wait for a turn; who would wait longer is told to come again."
        ),
    ] = 1.0,
    header_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for the headers of a request to arrive.")
    ] = 10.0,
    body_timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for its body to arrive.")] = 30.0,
    idle_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that a connection may do nothing between requests.")
    ] = 5.0,
    shutdown_timeout: Annotated[
        float, typer.Option(min=0.0, help="Seconds to finish what is in flight after SIGTERM or Ctrl-C.")
    ] = 8.0,
    watch_model: Annotated[
        bool,
        typer.Option(
            "--watch-model", help="When MODEL is replaced by another, go on with that, without a pause."
        ),
    ] = False,
    log_requests: Annotated[
        bool, typer.Option("--log-requests", help="A line on stderr for each request, without its text.")
    ] = False,
    log_texts: Annotated[
        bool, typer.Option("--log-texts", help="The same with what was sent: texts of people in the log.")
    ] = False,
    feedback: Annotated[
        str | None, typer.Option(help="Where feedback goes: an SQLite file, or postgresql://…; else nowhere.")
    ] = None,
) -> None:
    """Answer /predict, /explain, /feedback, /health, /metrics and /docs over HTTP, until SIGTERM or
    Ctrl-C.
    """
    try:
        from ..serve import create_app
        from ..serve.hosts import AllowedHosts
        from ..serve.models import load_with_digest, warm_up
        from ..serve.running import end_process_if_busy, listening, run
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("textmargin"):
            raise
        raise OptionError(
            f"serving needs {error.name}, which is not installed: {install_hint('serve')}"
        ) from error
    from ..feedback.store import FeedbackStore

    token = read_token(token_file, token_env)
    hosts = AllowedHosts(host, allow_host or [])
    with listening(host, port, safe=token is not None) as (socket, url):
        classifier, digest = load_with_digest(model)
        store = None if feedback is None else FeedbackStore(feedback, timeout=max_wait)
        log: Literal["errors", "requests", "texts"] = (
            "texts" if log_texts else "requests" if log_requests else "errors"
        )
        application = create_app(
            classifier,
            token=token,
            max_bytes=max_bytes,
            max_texts=max_texts,
            max_concurrent=max_concurrent,
            max_seconds=body_timeout,
            max_wait=max_wait,
            feedback=store,
            hosts=hosts,
            log=log,
            digest=digest,
            model_file=model if watch_model else None,
        )
        # of texts without a known word one hears at every turn
        warnings.simplefilter("ignore", TextmarginWarning)
        warm_up(classifier)
        remark(f"listening on {url}")
        run(
            application,
            socket,
            shutdown_seconds=shutdown_timeout,
            head_seconds=header_timeout,
            idle_seconds=idle_timeout,
            log=log,
        )
        end_process_if_busy()
        if store is not None:
            store.close()
