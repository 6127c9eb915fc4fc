"""What commands print of decisions on labelled texts, and what they remark on these texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from .._system.wording import quantity
from ._console import amount, remark, with_options
from ._tables import print_table

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..report.summary import Summary

_MOST_LABELS = 10  # shown of those that a model does not know


def remark_on_texts(model: TextClassifier, summary: Summary) -> None:
    """Why figures may be too good, or worse than they should be."""
    from ..report.summary import several_hint

    if summary.n_trained_on:
        how_many = "all" if summary.n_trained_on == summary.n_texts else f"{summary.n_trained_on:,} of the"
        remark(
            f"the model was trained on {how_many} {summary.n_texts:,} texts of {summary.corpus}, so it "
            "looks better than it is; "
            f"evaluate it on others, such as those that train --holdout 0.2 keeps out"
        )
    if summary.unknown_labels:
        labels = summary.unknown_labels
        shown = ", ".join(
            f"{name} ({quantity(n, 'text')})" for name, n in list(labels.items())[:_MOST_LABELS]
        )
        more = f" and {len(labels) - _MOST_LABELS:,} more" if len(labels) > _MOST_LABELS else ""
        hint = with_options(several_hint(model, next(iter(labels))))
        remark(f"not known to the model, and counted as missed: {shown}{more}.{' ' * bool(hint)}{hint}")


def print_summary(summary: Summary) -> None:
    """A table of the labels, and a line of figures with their intervals."""
    valued, unsure = summary.utility is not None, summary.n_unsure > 0
    heads = [
        "label",
        "texts",
        "hits",
        "false alarms",
        "misses",
        *["unsure"] * unsure,
        "precision",
        "recall",
        "F1",
    ]
    rows = []
    for one in summary.classes:
        shares = [
            f"{share:.2f}" if share is not None else "–" for share in (one.precision, one.recall, one.f1)
        ]
        counts = map(str, (one.n_texts, one.tp, one.fp, one.fn, *[one.unsure] * unsure))
        rows.append([one.label, *counts, *shares, *([amount(one.utility)] if valued else [])])
    for name, n in list(summary.unknown_labels.items())[:_MOST_LABELS]:
        rows.append(
            [
                f"{name} (not known)",
                str(n),
                "0",
                "0",
                str(n),
                *["–"] * unsure,
                "–",
                "0.00",
                "0.00",
                *["–"] * valued,
            ]
        )
    print_table([*heads, "utility"] if valued else heads, rows)
    typer.echo(_figures(summary))
    if summary.confusions:
        common = ", ".join(f"{a or 'none'} as {b or 'none'}: {n}" for a, b, n in summary.confusions[:5])
        typer.echo(f"Most frequent mistakes: {common}")


def _figures(summary: Summary) -> str:
    low, high = summary.accuracy_interval
    right = f"{quantity(summary.n_texts, 'text')}, {summary.accuracy:.1%} right ({low:.1%} to {high:.1%})"
    if summary.n_unsure and summary.accuracy_answered is not None:
        right += f", {summary.accuracy_answered:.1%} of the {summary.answered:.0%} that are answered"
    elif summary.n_unsure:
        right += ", none answered"
    (low, high), (lower, higher) = summary.macro_f1_interval, summary.micro_f1_interval
    f1 = (
        f"F1 {summary.macro_f1:.3f} macro ({low:.3f} to {high:.3f}), {summary.micro_f1:.3f} micro "
        f"({lower:.3f} to {higher:.3f})"
    )
    worth = ""
    if summary.utility_interval is not None:
        low, high = (round(end) if abs(end) >= 100 else end for end in summary.utility_interval)
        worth = f"; utility {amount(summary.utility)} ({amount(low)} to {amount(high)})"
    return f"{right}; {f1}{worth}. In brackets: 90% intervals."
