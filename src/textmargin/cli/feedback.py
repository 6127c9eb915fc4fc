"""Commands that keep what people say of decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from ._console import Application, OptionError, app, print_json
from ._options import AsJson

feedback = Application(help="Keep what people say of decisions.", no_args_is_help=True)
app.add_typer(feedback, name="feedback")
Store = Annotated[str, typer.Argument(help="An SQLite file, or postgresql://user@host/database.")]


@feedback.command("add")
def add_feedback(
    store: Store,
    text: Annotated[str, typer.Option(help="The text.")],
    predicted: Annotated[
        list[str] | None, typer.Option(help="A label that the model gave it; again for several.")
    ] = None,
    correct: Annotated[list[str] | None, typer.Option(help="A correct label; again for several.")] = None,
    was: Annotated[
        bool | None, typer.Option("--was-correct/--was-wrong", help="In place of --correct.")
    ] = None,
    id_: Annotated[str | None, typer.Option("--id", help="The same id again is stored once.")] = None,
) -> None:
    """Store feedback on one text; it is on the disk when the command ends."""
    from ..feedback.store import Feedback, FeedbackStore

    if (was is None) == (not correct):
        raise OptionError("say what was correct: --correct LABEL, or --was-correct or --was-wrong.")
    one = Feedback(text, tuple(predicted or ()), tuple(correct or ()) if was is None else was)
    one = one if id_ is None else replace(one, id=id_)
    with FeedbackStore(store) as opened:
        new = opened.record(one)
    typer.echo(f"{'Stored' if new else 'Already there'}: {one.id}")


@feedback.command("list")
def list_feedback(store: Store, as_json: AsJson = False) -> None:
    """Print all feedback in the order in which it came."""
    from ..feedback.store import FeedbackStore

    with FeedbackStore(store, create=False) as opened:
        if as_json:
            print_json([one.to_dict() for one in opened])
            return
        for one in opened:
            names = one.correct
            correct = (
                ("correct" if names else "wrong") if isinstance(names, bool) else ", ".join(names) or "none"
            )
            typer.echo(
                f"{one.time}  {', '.join(one.predicted) or 'none'} → {correct}  {one.text!r:.80}  {one.id}"
            )
