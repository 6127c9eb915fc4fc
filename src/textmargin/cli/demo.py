"""The command that shows what the project is for."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ._console import AsJson, app, check_writable, mistakes, print_json


@app.command()
def demo(
    report: Annotated[Path, typer.Option(help="Where the page goes that shows what was decided, and why.")] = Path("report.html"),
    as_json: AsJson = False,
) -> None:
    """Train on helpdesk messages inside the package: words alone, with keywords, with costs, with a string kernel."""
    from ..demo import run

    with mistakes():
        check_writable(report)
        result = run(report)
        if as_json:
            print_json(asdict(result))
            return
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table

        console = Console(highlight=False)
        console.print(
            f"{result.n_train} helpdesk messages to learn from, {result.n_test} new ones to route to {result.n_topics} desks. "
            f"A message on the right desk earns, a wrong or missed one costs, so many euros a topic.\n"
        )
        table = Table(box=SIMPLE_HEAD)
        for number, head in enumerate(("model", "right", "macro F1", "phishing found", "worth, euros", "seconds")):
            table.add_column(head, justify="right" if number else "left", no_wrap=not number)
        for row in result.rows:
            found = f"{row.rare_found} of {row.n_rare}"
            table.add_row(
                row.name, f"{row.accuracy:.0%}", f"{row.macro_f1:.2f}", found, f"{row.euros or 0:+,.0f}", f"{row.seconds:.1f}"
            )
        console.print(table)
        console.print("\nWhy one message went where it did, with keywords and costs:")
        console.print(f"  “{result.example.text}” → {', '.join(result.example.labels)}", markup=False)
        console.print("  " + ", ".join(f"{what} {share:+.2f}" for what, share in result.example.reasons), markup=False)
        console.print(f"\nTry next:\n{result.next_steps}", markup=False)
        console.print(f"\nWhat was decided, and why, is a page to look at: {result.report}", markup=False, soft_wrap=True)
