"""Commands about models: train one, see how good it is, move its thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._cluster import Cluster, Workers, at_work, require, wanted
from ._console import (
    AsJson,
    Costs,
    Encoding,
    FalseAlarm,
    Hit,
    Kind,
    LabelColumn,
    MinPrecision,
    MinRecall,
    Miss,
    Separator,
    SkipBad,
    TextColumn,
    UtilityName,
    app,
    check_writable,
    mistakes,
    print_json,
    remark,
    worth,
)

if TYPE_CHECKING:
    from ..feedback.retune import Moved
    from ..report.summary import Summary
    from ..tables.formats import BadLine
    from ..trained import Trained
    from ..training import Recipe

ModelFile = Annotated[Path, typer.Argument(help="A file that `textmargin train` wrote.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.")]


@app.command()
def train(
    data: Annotated[
        str,
        typer.Argument(
            help="CSV, TSV, JSON lines or Parquet file, or a folder of text files; - for stdin. On a cluster one of the first "
            "four, a folder of them, or a pattern."
        ),
    ],
    output: Output = Path("model.tmm"),
    text: TextColumn = None,
    label: LabelColumn = None,
    separator: Separator = None,
    keywords: Annotated[
        Path | None, typer.Option(help="File of keywords by label: TOML, CSV or lines `label: word, word`.")
    ] = None,
    marks: Annotated[str | None, typer.Option(help="Column of marked passages, [[start, end], …] in characters.")] = None,
    prior: Annotated[Path | None, typer.Option(help="An earlier model on words, as knowledge.")] = None,
    trust: Annotated[str, typer.Option(help="auto, free, nonneg, ridge or fixed: how far knowledge is believed.")] = "auto",
    hit: Hit = None,
    false_alarm: FalseAlarm = None,
    miss: Miss = None,
    utility: UtilityName = None,
    costs: Costs = None,
    min_recall: MinRecall = None,
    min_precision: MinPrecision = None,
    positive: Annotated[
        str | None,
        typer.Option(help="Of two labels the one that is looked for; costs and floors speak of it. Default: the rarer."),
    ] = None,
    scores: Annotated[
        str | None,
        typer.Option(help="What thresholds are set on: loo (leave-one-out), cv (folds) or train. Default: loo, with kernels cv."),
    ] = None,
    kernel: Annotated[str, typer.Option(help="words, subsequence or ngrams.")] = "words",
    length: Annotated[int, typer.Option(help="Characters of subsequences and n-grams.")] = 5,
    decay: Annotated[float, typer.Option(help="What a gap costs: small, much.")] = 0.5,
    C: Annotated[float, typer.Option("--C", help="Cost of missing the margin.")] = 1.0,
    kind: Kind = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    report: Annotated[Path | None, typer.Option(help="Write a page of what it decides on the texts of --test, and why.")] = None,
    test: Annotated[str | None, typer.Option(help="For --report: labelled texts to keep out of training.")] = None,
    cluster: Cluster = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Learn from labelled texts, and write the model to a file.

    With --cluster or --workers texts are read, and learnt from, in parts: Parquet, CSV, TSV or JSON lines, of any size.
    """
    with mistakes():
        from ..tables.columns import read_table
        from ..training import KERNELS, SCORES, Recipe

        if kernel not in KERNELS:
            raise ValueError(f"--kernel {kernel} is none of {', '.join(KERNELS)}.")
        if scores is not None and scores not in SCORES:
            raise ValueError(f"--scores {scores} is none of {', '.join(SCORES)}.")
        read = (data, test, keywords, prior, costs)
        check_writable(output, *read)
        if report is not None:
            check_writable(report, output, *read)
        if (report is None) != (test is None):
            raise ValueError(
                "--report and --test go together: a report is about labelled texts that the model was not trained on, and "
                "--test says where they are."
            )
        value = worth(hit, false_alarm, miss, utility, costs)
        reading: dict[str, Any] = {"text": text, "label": label, "separator": separator}
        reading |= {"kind": kind, "encoding": encoding, "skip_bad": skip_bad}
        recipe = Recipe(
            kernel=kernel,
            length=length,
            decay=decay,
            C=C,
            keywords=keywords,
            marks=marks,
            prior=prior,
            trust=trust,
            utility=value,
            min_precision=min_precision,
            min_recall=min_recall,
            positive=positive,
            scores=scores,
        )
        held_out = None
        if wanted(cluster, workers):
            if report is not None:
                raise ValueError("--report and --test need all texts in one memory; write a page afterwards: textmargin report.")
            trained = _train_parts(recipe, data, reading, cluster, workers)
        else:
            table = read_table(data, **reading, fields=[marks] if marks else [])
            tell(table)
            if test is not None:
                held_out = read_table(test, **reading)
                tell(held_out)
            about = {"data": table.corpus.name, "n_texts": len(table.corpus), "labels": _counts(table.corpus)}
            trained = replace(recipe.train(table.corpus, about), text_column=table.text_column)
        trained.save(output)
        if len(trained.classes) == 2 and not trained.multilabel and (value is not None or min_recall or min_precision):
            remark(
                f"costs and floors speak of {trained.classes[1]!r}"
                + ("" if positive else ", the rarer label; --positive chooses")
            )
        if len(trained.classes) > 2 and not trained.multilabel and (min_recall or min_precision):
            remark(
                "with three labels or more the highest score decides, so that floors hold for each label alone, not for decisions"
            )
        facts = {**trained.about, "output": str(output), "knowledge": _knowledge(trained), "thresholds": _thresholds(trained)}
        if report is not None and held_out is not None:
            from ..report.html import write_report

            write_report(trained, held_out.corpus, report, value)
            facts["report"] = str(report)
        if as_json:
            print_json(facts)
        else:
            _show_training(facts)


@app.command()
def evaluate(
    model: ModelFile,
    data: Annotated[str, typer.Argument(help="Labelled texts that the model was not trained on.")],
    text: TextColumn = None,
    label: LabelColumn = None,
    separator: Separator = None,
    hit: Hit = None,
    false_alarm: FalseAlarm = None,
    miss: Miss = None,
    utility: UtilityName = None,
    costs: Costs = None,
    kind: Kind = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    as_json: AsJson = False,
) -> None:
    """Decide on labelled texts, and say how good the decisions are and what they are worth."""
    with mistakes():
        from ..report.summary import summarise
        from ..tables.columns import read_table
        from ..trained import Trained

        trained = Trained.load(model)
        value = worth(hit, false_alarm, miss, utility, costs)
        table = read_table(data, text=text, label=label, separator=separator, kind=kind, encoding=encoding, skip_bad=skip_bad)
        tell(table)
        summary = summarise(trained, table.corpus, value)
        if as_json:
            print_json(summary.to_dict())
        else:
            _show_summary(summary)


@app.command()
def threshold(
    model: ModelFile,
    output: Output,
    hit: Hit = None,
    false_alarm: FalseAlarm = None,
    miss: Miss = None,
    utility: UtilityName = None,
    costs: Costs = None,
    min_recall: MinRecall = None,
    min_precision: MinPrecision = None,
    from_feedback: Annotated[
        str | None, typer.Option(help="Set them on judged texts: a file that `serve --feedback` wrote, or postgresql://….")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="With --from-feedback: a label to move; again for several.")] = None,
    as_json: AsJson = False,
) -> None:
    """Move the thresholds of a model to where other costs want them, without training and without texts.

    With --from-feedback they move on what people said of its decisions. Where only accepted texts were judged they can rise, not
    fall: nobody knows what was rejected.
    """
    with mistakes():
        from ..trained import Trained

        check_writable(output, from_feedback, costs)  # the model itself may be replaced by its moved self
        value = worth(hit, false_alarm, miss, utility, costs)
        if from_feedback is not None and min_recall is not None:
            raise ValueError("--min-recall cannot be kept on feedback: nobody knows how much was missed. Leave it out.")
        if only and from_feedback is None:
            raise ValueError("--only goes with --from-feedback.")
        if from_feedback is None and value is None and min_recall is None and min_precision is None:
            raise ValueError(
                "say what decisions are worth: --hit and --false-alarm, --costs, --utility, --min-recall or --min-precision."
            )
        before = Trained.load(model)
        facts: dict[str, Any] = {}
        if from_feedback is None:
            after = before.moved(value, min_recall=min_recall, min_precision=min_precision)
        else:
            moved = _judged(before, from_feedback, value, only or (), min_precision)
            after, facts = moved.trained, {"feedback": moved.to_dict()}
        after.save(output)
        if as_json:
            print_json({"output": str(output), "before": _thresholds(before), "after": _thresholds(after), **facts})
            return
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table

        table = Table("label", "threshold before", "now", box=SIMPLE_HEAD)
        now = _thresholds(after)
        for name, theta in _thresholds(before).items():
            table.add_row(escape(name), f"{theta:+.3f}", f"{now[name]:+.3f}")
        Console().print(table)
        typer.echo(f"Written to {output}")


def _train_parts(recipe: Recipe, data: str, reading: dict[str, Any], cluster: str | None, workers: int | None) -> Trained:
    """Learn on a cluster."""
    require("connect")
    from ..tables.parts import open_parts
    from ..training_parts import look_through, refuse_what_needs_memory, train_parts

    refuse_what_needs_memory(recipe)
    table = open_parts(data, **reading)
    with at_work(cluster, workers):
        seen = look_through(table)
        _tell(table.columns.said, seen.bad, seen.n_bad)
        about = {"data": table.name, "n_texts": seen.n_texts, "labels": dict(sorted(seen.counts.items()))}
        return train_parts(recipe, table, seen, about, verbose=1)


def _judged(trained: Trained, store: str, value: Any, only: Sequence[str], min_precision: float | None) -> Moved:
    """Thresholds set on feedback; says what they rest on, and what could not be known."""
    from ..feedback.retune import retune
    from ..feedback.store import FeedbackStore

    with FeedbackStore(store, create=False) as judgements:
        moved = retune(trained, judgements, value, only=only, min_precision=min_precision)
    if moved.n_other:
        remark(f"{moved.n_other} judgements left out: this model decides otherwise on their texts, so they are about another one")
    for label, one in moved.thresholds.items():
        remark(
            f"{label}: {one.n_accepted} accepted texts judged, {one.n_right} right; {one.n_rejected} rejected ones judged, "
            f"{one.n_missed} missed" + ("" if one.can_fall else "; it could rise, not fall")
        )
    return moved


def _show_training(facts: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True, markup=False)
    labels = ", ".join(f"{name} {n}" for name, n in facts["labels"].items())
    console.print(f"Trained on {facts['n_texts']:,} texts: {labels}")
    for line in facts["knowledge"]:
        console.print(line)
    if any(facts["thresholds"].values()):
        console.print("Thresholds: " + ", ".join(f"{name} {theta:+.2f}" for name, theta in facts["thresholds"].items()))
    console.print(f"Written to {facts['output']}")
    if "report" in facts:
        console.print(f"Report written to {facts['report']}")


def _show_summary(summary: Summary) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, head in enumerate(("label", "texts", "found", "wrong", "missed", "precision", "recall", "F1", "worth")):
        table.add_column(head, justify="right" if number else "left", no_wrap=not number)
    for one in summary.classes:
        shares = [f"{share:.2f}" if share is not None else "–" for share in (one.precision, one.recall, one.f1)]
        table.add_row(escape(one.label), *map(str, (one.n_texts, one.tp, one.fp, one.fn)), *shares, amount(one.utility))
    console.print(table)
    f1 = f"F1 {summary.macro_f1:.3f} macro, {summary.micro_f1:.3f} micro"
    console.print(
        f"{summary.n_texts:,} texts, {summary.accuracy:.1%} right; {f1}; worth {amount(summary.utility)}",
        soft_wrap=True,
    )
    if summary.confusions:
        common = ", ".join(f"{a or 'none'} as {b or 'none'} {n}" for a, b, n in summary.confusions[:5])
        console.print(f"Most frequent mistakes: {common}", soft_wrap=True, markup=False)


def amount(value: float | None) -> str:
    """In a user's currency: whole where it is whole."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"


def tell(table: Any) -> None:
    """What was guessed, and what could not be read."""
    _tell(table.said, table.bad[:5], len(table.bad))


def _tell(said: Sequence[str], bad: Sequence[BadLine], n_bad: int) -> None:
    if said:
        remark("; ".join(said))
    for one in bad:
        remark(f"line {one.number:,} left out: {one.reason}")
    if n_bad > len(bad):
        remark(f"and {n_bad - len(bad):,} more")


def _counts(corpus: Any) -> dict[str, int]:
    Y, classes = corpus.indicator()
    return dict(zip(classes, Y.sum(axis=0).tolist(), strict=True))


def _knowledge(trained: Trained) -> list[str]:
    """What was made of keywords, marks or an earlier model."""
    learner = getattr(trained.model.model_, "estimator_", trained.model.model_)
    names = trained.classes if trained.multilabel or len(trained.classes) == 2 else None
    return [
        f"what is known of {names[v.target] if names else v.target}: {v.status} ({-v.gain:+.0%} loss on held-out texts)"
        for v in getattr(learner, "verdict_", [])
    ]


def _thresholds(trained: Trained) -> dict[str, float]:
    return dict(zip(trained.classes, trained.thresholds(), strict=True))
