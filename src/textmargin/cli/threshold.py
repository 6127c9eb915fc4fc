"""The command that sets a model's thresholds anew, without training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._system.wording import quantity
from ._console import OptionError, app, print_json, remark
from ._estimate import estimate_lines
from ._model_options import FloorOptions, UtilityOptions, usual_costs
from ._options import AsJson, ModelFile, check_writable, grouped
from ._tables import print_table

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..feedback.retune import RetuneResult

_MOST_REFUSED = 3  # labels without enough feedback that are named


@app.command()
@grouped
def threshold(
    model: ModelFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.")],
    utility: UtilityOptions,
    floors: FloorOptions,
    from_feedback: Annotated[
        str | None,
        typer.Option(help="Set them on feedback: a file that `serve --feedback` wrote, or postgresql://…."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Move the thresholds of a model to where other costs want them, without training and without texts.

    With --from-feedback they move on what people said of its decisions, for two labels or any number per
    text. Where only accepted texts were judged they can rise, not fall: nobody knows what was rejected.
    """
    from ..persistence import load_classifier

    # the model itself may be replaced by its moved self
    check_writable(output, from_feedback, utility.costs)
    floors.check()
    before = load_classifier(model)
    measure = utility.measure(usual_costs(before))
    if from_feedback is not None and floors.given:
        raise OptionError(
            "--min-precision, --min-recall, --always-answer and --may-be-unsure cannot be used with "
            "--from-feedback; set them in a separate run."
        )
    if from_feedback is None and measure is None and not floors.given:
        raise OptionError(
            "say what decisions are worth: --hit and --false-alarm, --costs, --utility, --min-recall or "
            "--min-precision."
        )
    facts: dict[str, Any] = {}
    if (
        before.decision is None
        and floors.always_answer is not None
        and measure is None
        and floors.min_recall is None
        and floors.min_precision is None
    ):
        raise OptionError(
            "this model has no costs and answers every text; say what decisions are worth as well."
        )
    if from_feedback is None:
        named = before.labels_.respell(measure) if isinstance(measure, Mapping) else measure
        after = before.with_utility(named, **vars(floors))
        if _thresholds(after) == _thresholds(before):
            remark(
                "no threshold moves; a floor of the model may hold them, which --min-recall 0 or "
                "--min-precision 0 lifts"
            )
    else:
        result = _retune(before, from_feedback, measure)
        after, facts = result.model, {"feedback": result.to_dict()}
    after.save(output)
    if from_feedback is None:
        facts = {"estimate": _estimate(after)}
    moved = {"output": str(output), "before": _thresholds(before), "after": _thresholds(after), **facts}
    if as_json:
        print_json(moved)
    else:
        _show(moved)


def _retune(model: TextClassifier, store: str, utility: Any) -> RetuneResult:
    """Thresholds set on feedback; says what they rest on, and what could not be known."""
    from ..feedback.retune import retune
    from ..feedback.store import FeedbackStore

    with FeedbackStore(store, create=False) as feedback:
        result = retune(model, feedback, utility)
    if result.n_other:
        texts = quantity(result.n_other, "text")
        remark(
            f"feedback on {texts} left out: this model decides otherwise on them, so it is about another one"
        )
    for label, one in result.thresholds.items():
        accepted, rejected = (
            quantity(one.n_accepted, "accepted text"),
            quantity(one.n_rejected, "rejected one"),
        )
        remark(
            f"{label}: {accepted} judged, {one.n_right} correct; {rejected} judged, {one.n_missed} missed"
            + ("; the threshold stays" if one.theta == one.before else "")
        )
    for label, why in list(result.refused.items())[:_MOST_REFUSED]:
        remark(f"{label}: the threshold stays, {why}")
    if len(result.refused) > _MOST_REFUSED:
        remark(f"and the thresholds of {len(result.refused) - _MOST_REFUSED} more labels stay")
    return result


def _estimate(model: TextClassifier) -> dict[str, Any] | None:
    """What the new thresholds come to on new texts, as far as held-out scores tell."""
    from ..errors import ScoreError

    try:
        return model.estimate().to_dict()
    except ScoreError:
        return None


def _thresholds(model: TextClassifier) -> dict[str, float]:
    return dict(zip(model.labels_.text_names, model.thresholds_.tolist(), strict=True))


def _show(moved: dict[str, Any]) -> None:
    rows = [
        [name, f"{theta:+.3f}", f"{moved['after'][name]:+.3f}"] for name, theta in moved["before"].items()
    ]
    print_table(["label", "threshold before", "now"], rows)
    if moved.get("estimate"):
        for line in estimate_lines(moved["estimate"], None):
            typer.echo(line)
    typer.echo(f"Written to {moved['output']}")
