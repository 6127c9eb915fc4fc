"""The command that learns from labelled texts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._cluster import ClusterOptions, require
from ._console import OptionError, app, print_json, remark
from ._estimate import estimate_facts, estimate_lines
from ._evaluation import print_summary, remark_on_texts
from ._options import (
    AsJson,
    FloorOptions,
    HoldoutOptions,
    ModelOptions,
    ReadingOptions,
    UtilityOptions,
    check_writable,
    grouped,
    tell,
)

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..config import ModelConfig
    from ..report.summary import Summary


@app.command()
@grouped
def train(
    data: Annotated[
        str,
        typer.Argument(
            help="CSV, TSV, JSON lines or Parquet file, or a folder of text files; - for stdin. On a cluster one of the first "
            "four, a folder of them, or a pattern."
        ),
    ],
    reading: ReadingOptions,
    making: ModelOptions,
    utility: UtilityOptions,
    floors: FloorOptions,
    holdout: HoldoutOptions,
    cluster: ClusterOptions,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.")] = Path("model.tmm"),
    report: Annotated[
        Path | None, typer.Option(help="Write a page of what it decides on the texts of --test or --holdout, and why.")
    ] = None,
    test: Annotated[str | None, typer.Option(help="For --report: labelled texts that it is not trained on.")] = None,
    no_digests: Annotated[
        bool, typer.Option("--no-digests", help="Leave out of the file what evaluate and report know the training texts by.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Learn from labelled texts, and write the model to a file.

    With --cluster or --workers texts are read, and learnt from, in parts: Parquet, CSV, TSV or JSON lines, of any size.
    """
    sources = (data, test, making.keywords, making.prior_model, utility.costs)
    check_writable(output, *sources)
    if report is not None:
        check_writable(report, output, *sources)
    _check_together(holdout, cluster, report, test)
    config = making.config(utility, floors)
    corpus, held_out, report_corpus, start = None, None, None, None
    if cluster.wanted:
        model = _train_parts(config, data, reading, cluster)
    else:
        table = reading.read(data, [name for name in (making.rationales, holdout.split_by) if name])
        origin = _origin(table.corpus.name, table.text_column, table.label_column, reading)
        corpus, held_out, start = holdout.split(table.corpus)
        report_corpus = held_out if test is None else reading.read(test, origin=origin).corpus
        model = config.fit(corpus)
        model.metadata_ |= origin
    if no_digests:
        model.forget_texts()
    model.save(output)
    _remark_on_decisions(model, config)
    facts = _facts(model, output)
    facts["estimate"], facts["no_estimate"] = estimate_facts(model, config, corpus)
    if report is not None and report_corpus is not None:
        from ..report.html import write_report

        shown = write_report(model, report_corpus, report, config.utility).summary
        facts["report"] = str(report)
        if test is not None:
            remark_on_texts(model, shown)
    if not as_json:
        _show(facts)
    if held_out is not None:
        from ..report.summary import summarise

        summary = summarise(model, held_out, config.utility)
        remark_on_texts(model, summary)
        facts["holdout"] = {"split_by": holdout.split_by, "from": start, "summary": summary.to_dict()}
        if not as_json:
            _show_holdout(summary, holdout.split_by, start)
    if as_json:
        print_json(facts)


def _check_together(holdout: HoldoutOptions, cluster: ClusterOptions, report: Path | None, test: str | None) -> None:
    """Options that need others, or exclude them; before texts are read."""
    holdout.check()
    if (report is None and test is not None) or (report is not None and test is None and holdout.holdout is None):
        raise OptionError(
            "--report and --test go together: a report is about labelled texts that the model was not trained on, and --test "
            "says where they are, or --holdout how many of those in the file to keep out."
        )
    if cluster.wanted and (report is not None or holdout.holdout is not None):
        given = "--holdout needs" if holdout.holdout is not None else "--report and --test need"
        raise OptionError(
            f"{given} all texts in one memory; keep some texts in another file, and afterwards use textmargin evaluate or report."
        )


def _origin(source: str, text: str | None, label: str | None, reading: ReadingOptions) -> dict[str, Any]:
    """What a model is to know of the file it was trained on."""
    columns = {"text_column": text, "label_column": label, "label_separator": reading.label_separator}
    return {"source": source, **columns, "missing_labels": reading.missing_values}


def _train_parts(config: ModelConfig, data: str, reading: ReadingOptions, cluster: ClusterOptions) -> TextClassifier:
    """Learn on a cluster."""
    require("connect")
    from ..scale.training import check_parts, count_labels, fit_parts
    from ..tables.label_values import describe_missing
    from ..tables.parts import open_parts

    for name in ("keywords", "rationales", "prior_model"):
        if getattr(config, name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise OptionError(f"{option} needs all texts in one memory; leave it out, or train without --workers and --cluster.")
    if config.features != "words":
        raise OptionError(
            f"--features {config.features} needs all texts in one memory; on a cluster use --features words, or in Python "
            f"scale.SubsequenceFeatures and scale.KernelLandmarks."
        )
    model = config.build()
    check_parts(model)
    table = open_parts(data, **reading.table_options)
    with cluster.connect():
        counted = count_labels(table)
        missing = [describe_missing(counted.missing, counted.n_texts)] if counted.missing else []
        tell(table.columns.notes + missing, counted.invalid, counted.n_invalid)
        fit_parts(model, table, counted, verbose=1)
    model.metadata_ |= _origin(table.name, table.columns.text, table.columns.label, reading)
    return model


def _remark_on_decisions(model: TextClassifier, config: ModelConfig) -> None:
    """What a user might take for granted of costs and floors."""
    floors = config.min_recall is not None or config.min_precision is not None
    if not floors and config.utility is None:
        return
    if config.utility is None:
        remark("floors without costs: a hit counts 2 and a false alarm -1; --hit and --false-alarm say otherwise")
    if model.labels_.kind == "binary":
        positive = model.labels_.text_names[model.labels_.positive]
        remark(_whose_costs(model, config, positive))
    if model.can_be_unsure:
        remark("a text better left to a person gets no label but a best guess (unsure); --always-answer gives every text a label")


def _whose_costs(model: TextClassifier, config: ModelConfig, positive: str) -> str:
    """Which of two labels costs and floors are about, and why."""
    if isinstance(config.utility, Mapping):
        named = [name for name in model.labels_.text_names if name in config.utility]
        if len(named) == 1 and len(config.utility) == 1:
            return f"costs are those of {named[0]!r}, the only label that they name; floors speak of {positive!r}"
        return f"costs of both labels are added up; the threshold and floors are those of {positive!r}"
    if config.positive:
        return f"costs and floors speak of {positive!r}"
    return f"costs and floors speak of {positive!r}{', the rarer label' if _is_rarer(model) else ''}; --positive chooses"


def _is_rarer(model: TextClassifier) -> bool:
    counts = list(model.metadata_["label_counts"].values())
    return bool(counts[model.labels_.positive] <= counts[1 - model.labels_.positive])


def _facts(model: TextClassifier, output: Path) -> dict[str, Any]:
    verdicts = getattr(model.learner_, "verdict_", [])
    used = ("supported", "adopted")
    return {
        "source": model.metadata_["source"],
        "n_texts": model.metadata_["n_texts"],
        "labels": model.metadata_["label_counts"],
        "output": str(output),
        "knowledge": [
            *(
                f"prior for {one.target}: {'used' if one.status in used else 'not used'}, {one.status} "
                f"(held-out loss {-one.gain:+.0%})"
                for one in verdicts
            ),
            *_lost_keywords(model),
        ],
        "thresholds": dict(zip(model.labels_.text_names, model.thresholds_.tolist(), strict=True)),
    }


def _lost_keywords(model: TextClassifier) -> list[str]:
    """A line for each label none of whose keywords is a word of the training texts."""
    from ..knowledge.keywords import KeywordPrior

    if not isinstance(model.knowledge, KeywordPrior):
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when it was trained
        matches = model.knowledge.match_vocabulary(model.representation_.get_feature_names_out(), model.classes_)
    return [f"prior for {one.target}: not used, none of its words is in the training texts" for one in matches if not one.terms]


def _show(facts: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True, markup=False)
    labels = ", ".join(f"{name} {n}" for name, n in facts["labels"].items())
    console.print(f"Trained on {facts['n_texts']:,} texts: {labels}")
    for line in facts["knowledge"]:
        console.print(line)
    for line in estimate_lines(facts["estimate"], facts["no_estimate"]):
        console.print(line)
    if any(facts["thresholds"].values()):
        console.print("Thresholds: " + ", ".join(f"{name} {theta:+.2f}" for name, theta in facts["thresholds"].items()))
    console.print(f"Written to {facts['output']}")
    if "report" in facts:
        console.print(f"Report written to {facts['report']}")


def _show_holdout(summary: Summary, column: str | None, start: str | None) -> None:
    which = "at random" if column is None else f"the last by {column}, from {start} on"
    typer.echo(
        f"Held out: {summary.n_texts:,} texts, {which}. On these the model, which was trained on the others alone, decides:"
    )
    print_summary(summary)
