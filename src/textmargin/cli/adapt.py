"""The command that fits a model to another mix of labels, by texts without any."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._console import OptionError, app, print_json, remark
from ._options import AsJson, FileOptions, ModelFile, check_writable, grouped, tell
from ._tables import print_table

if TYPE_CHECKING:
    from ..feedback.adapt import AdaptResult


@app.command()
@grouped
def adapt(
    model: ModelFile,
    file: FileOptions,
    data: Annotated[
        str,
        typer.Argument(help="New texts, of the kind that the model is to decide on; labels are not needed."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.")],
    as_json: AsJson = False,
) -> None:
    """Set the thresholds of a model for the mix of labels that new texts have, as their scores tell it;
    nobody labels them.

    Where no mix of the training texts has such scores nothing is written, and the exit code is 1: these are
    texts of another kind. Where a text may have several labels, those that are explained move and the others
    stay.
    """
    from .._system.stages import stage
    from ..feedback.adapt import adapt as adapt_model
    from ..persistence import load_classifier

    check_writable(output, data)
    before = load_classifier(model)
    with stage(f"reading {data}"):
        texts = _read(data, file, before.metadata_.get("text_column"))
    with stage(f"which mix of labels {len(texts):,} texts have"):
        result = adapt_model(before, texts)
    if result.model is not None:
        result.model.save(output)
    if as_json:
        print_json({**result.to_dict(), "output": str(output) if result.model is not None else None})
    else:
        _show(result)
    for label, reason in result.refused.items():
        remark(f"{label}: {reason}")
    if result.model is None:
        remark("nothing was written")
        raise typer.Exit(1)
    if not result.moves.any():
        remark("no share has changed by more than chance, so that nothing moves")
    elif before.decision is None:
        remark(
            "this model has no costs, so that its thresholds stay; its probabilities are those of the new mix"
        )
    if not as_json:
        typer.echo(f"Written to {output}")


def _read(data: str, file: FileOptions, usual: str | None) -> list[str]:
    """The texts of a file; says which lines could not be read."""
    from ..tables.paths import name_of
    from ..tables.rows import InvalidLine

    texts: list[str] = []
    invalid: list[InvalidLine] = []
    for batch in file.stream(data, usual):
        texts += batch.texts
        invalid += [row for row in batch.rows if isinstance(row, InvalidLine)]
    tell([], invalid[:5], len(invalid))
    if not texts:
        raise OptionError(f"{name_of(data)} has no texts to adapt to.")
    return texts


def _show(result: AdaptResult) -> None:
    mix, rows = result.mix, []
    for k, label in enumerate(result.labels):
        now = f"{mix.shares[k]:.1%} ({mix.low[k]:.1%} to {mix.high[k]:.1%})"
        rows.append(
            [label, f"{mix.old_shares[k]:.1%}", now, f"{result.before[k]:+.3f}", f"{result.after[k]:+.3f}"]
        )
    print_table(
        ["label", "share in training", f"now ({mix.level:.0%} interval)", "threshold before", "now"], rows
    )
