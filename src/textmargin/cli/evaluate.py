"""The command that says how good a model is on labelled texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._console import amount, app, print_json
from ._options import AsJson, LabelledFile, ModelFile, ReadingOptions, UtilityOptions, grouped

if TYPE_CHECKING:
    from ..report.summary import Summary


@app.command()
@grouped
def evaluate(
    model: ModelFile, data: LabelledFile, reading: ReadingOptions, utility: UtilityOptions, as_json: AsJson = False
) -> None:
    """Decide on labelled texts, and say how good the decisions are and what they are worth."""
    from ..persistence import load_classifier
    from ..report.summary import summarise

    classifier = load_classifier(model)
    measure = utility.measure()
    summary = summarise(classifier, reading.read(data).corpus, measure)
    if as_json:
        print_json(summary.to_dict())
    else:
        _show(summary)


def _show(summary: Summary) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    heads = ["label", "texts", "hits", "false\nalarms", "misses", "precision", "recall", "F1"]
    valued = summary.utility is not None
    for number, head in enumerate([*heads, "utility"] if valued else heads):
        table.add_column(head, justify="right" if number else "left", no_wrap=not number)
    for one in summary.classes:
        shares = [f"{share:.2f}" if share is not None else "–" for share in (one.precision, one.recall, one.f1)]
        counts = map(str, (one.n_texts, one.tp, one.fp, one.fn))
        table.add_row(escape(one.label), *counts, *shares, *([amount(one.utility)] if valued else []))
    console.print(table)
    f1 = f"F1 {summary.macro_f1:.3f} macro, {summary.micro_f1:.3f} micro"
    worth = f"; utility {amount(summary.utility)}" if valued else ""
    console.print(f"{summary.n_texts:,} texts, {summary.accuracy:.1%} right; {f1}{worth}", soft_wrap=True)
    if summary.confusions:
        common = ", ".join(f"{a or 'none'} as {b or 'none'} {n}" for a, b, n in summary.confusions[:5])
        console.print(f"Most frequent mistakes: {common}", soft_wrap=True, markup=False)
