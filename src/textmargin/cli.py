"""Command line: each command calls one library function and prints.

Results go to stdout, mistakes to stderr with exit code 2. Heavy imports wait inside the command, so that `--help` is instant.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from . import __version__

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
