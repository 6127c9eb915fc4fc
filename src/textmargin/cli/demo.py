"""The command that shows what knowledge, costs and string kernels change, on the helpdesk messages inside the
package.
"""

from __future__ import annotations

import time
import warnings
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from ..errors import UnknownTermWarning
from ._console import app
from ._options import check_writable
from ._tables import print_table

RARE = "phishing"
_NEXT = """
Try next:
  textmargin train yours.csv               learn from your texts and labels
  textmargin evaluate model.tmm more.csv   what it is worth on others
  textmargin explain model.tmm "a text"    why
  textmargin predict model.tmm new.csv     your rows, and what was decided
  textmargin data export desk              these messages as files
  textmargin desk desk-unlabelled.csv --keywords desk-keywords.toml --costs desk-costs.toml
                                           read and label them on a page; needs textmargin[serve]"""


@app.command()
def demo(
    report: Annotated[
        Path, typer.Option(help="Where the page goes that shows what was decided, and why.")
    ] = Path("report.html"),
) -> None:
    """Train on helpdesk messages inside the package: words alone, with keywords, with costs, with a string
    kernel.
    """
    from ..config import ModelConfig, read_costs
    from ..datasets.loading import load_dataset
    from ..report.html import write_report
    from ..report.summary import summarise

    check_writable(report)
    desk = load_dataset("desk")
    train, test = desk.part("train"), desk.part("test")
    typer.echo(
        f"{len(train)} helpdesk messages to learn from, {len(test)} new ones to route to {len(desk.classes)} "
        "desks. A message on the right desk earns, a wrong or missed one costs, so many euros a topic.\n"
    )
    with as_file(files("textmargin.datasets") / "desk_keywords.toml") as known:
        costs = read_costs(known)
        configs = {
            "words (a plain SVM)": ModelConfig(),
            "words + keywords": ModelConfig(keywords=known),
            "words + costs": ModelConfig(utility=costs),
            "string kernel": ModelConfig(features="subsequence", length=4),
            "string kernel + costs": ModelConfig(features="subsequence", length=4, utility=costs),
            "words + keywords + costs": ModelConfig(keywords=known, utility=costs),
        }
        rows = []
        for name, config in configs.items():
            start = time.perf_counter()
            with warnings.catch_warnings():
                # keywords that no message has are part of the show
                warnings.simplefilter("ignore", UnknownTermWarning)
                model = config.fit(train)
            found = summarise(model, test, costs)
            rare = next(one for one in found.classes if one.label == RARE)
            numbers = [f"{found.accuracy:.0%}", f"{found.macro_f1:.2f}", f"{rare.tp} of {rare.n_texts}"]
            seconds = time.perf_counter() - start
            rows.append([name, *numbers, f"{found.utility or 0:+,.0f}", f"{seconds:.1f}"])
    print_table(["model", "right", "macro F1", f"{RARE} hits", "utility, euros", "seconds"], rows)
    text = next(text for text, topic in zip(test.texts, test.labels, strict=True) if topic == RARE)
    told = model.explain(text)
    words = ", ".join(f"{one.feature} {one.contribution:+.2f}" for one in told.contributions(5))
    typer.echo("Why one message went where it did, with keywords and costs:")
    typer.echo(f"  “{text}” → {', '.join(map(str, told.labels))}\n  {words}")
    model.metadata_["source"] = "desk"
    write_report(model, test, report, costs)
    typer.echo(f"\nWhat was decided, and why, is a page to look at: {report}\n{_NEXT}")
