"""The command that says why a text is decided on as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._console import OptionError, app, print_json, remark
from ._options import AsJson, ModelFile
from ._tables import print_table


@app.command()
def explain(
    model: ModelFile,
    text: Annotated[str, typer.Argument(help="The text.")],
    label: Annotated[str | None, typer.Option(help="Whose score; by default that of the decision.")] = None,
    n: Annotated[int, typer.Option("-n", help="How many words or subsequences to show.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Say what in a text moved its score, and how far."""
    from ..persistence import load_classifier

    if n < 1:
        raise OptionError(f"-n {n}: at least one.")
    if _is_file(text):
        remark(
            f"{text!r} is taken for the text itself, though there is a file of this name; explain takes "
            "one text, in quotes"
        )
    classifier = load_classifier(model)
    target = None if label is None else next(iter(classifier.labels_.respell({label: None})))
    found = classifier.explain(text, target)
    data = found.to_dict(n)
    if as_json:
        print_json(data)
        return
    how = "0 decides"
    if classifier.labels_.kind == "multiclass":
        how = "the highest decides" + (", from 0 on" if classifier.can_be_unsure else "")
    unsure = not data["labels"] and not classifier.labels_.multilabel
    decision = ", ".join(data["labels"]) or ("unsure" if unsure else "none")
    typer.echo(f"Decision: {decision}. Score of {data['label']}: {data['score']:+.3f} ({how})")
    shown = found.contributions(n)
    known = any(one.prior_note for one in shown)
    rows = [[one.feature, f"{one.contribution:+.3f}", *([one.prior_note] if known else [])] for one in shown]
    print_table(["feature", "contribution", *(["of that, from the prior"] if known else [])], rows)
    typer.echo(f"the rest, intercept and threshold: {data['rest']:+.3f}")


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a character that none has
        return False
