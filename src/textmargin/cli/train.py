"""The command that learns from texts."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._system.wording import quantity
from ._cluster import ClusterOptions, require
from ._console import OptionError, app, print_json, remark
from ._estimate import estimate_facts, estimate_lines
from ._evaluation import print_summary, remark_on_texts
from ._memory import MemoryOptions
from ._model_options import FloorOptions, HoldoutOptions, ModelOptions, UtilityOptions
from ._options import AsJson, ReadingOptions, check_writable, grouped
from ._parts import check_parts, train_parts
from ._project import with_project
from ._talk import (
    next_step,
    remark_on_corpus,
    remark_on_decisions,
    remark_on_labels,
    trained_line,
    unlabelled_facts,
    unlabelled_lines,
    verdict_line,
    words_line,
)
from ._unlabelled import UnlabelledOptions

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..config import ModelConfig
    from ..datasets.corpus import Corpus
    from ..report.summary import Summary
    from ..tuning import Candidate, Tuning


@app.command()
@grouped
@with_project
def train(
    data: Annotated[
        str,
        typer.Argument(
            help="CSV, TSV, JSON, Excel or Parquet file, a folder of text files, or a project of the "
            "desk; - for stdin. In parts CSV, TSV, JSON lines or Parquet, a folder of such files, or a "
            "pattern."
        ),
    ],
    reading: ReadingOptions,
    unlabelled: UnlabelledOptions,
    making: ModelOptions,
    utility: UtilityOptions,
    floors: FloorOptions,
    holdout: HoldoutOptions,
    memory: MemoryOptions,
    cluster: ClusterOptions,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.")] = Path("model.tmm"),
    no_digests: Annotated[
        bool,
        typer.Option(
            "--no-digests", help="Leave out of the file what evaluate and report know the training texts by."
        ),
    ] = False,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune", help="Choose C, n-grams and features by held-out scores, and say what was chosen."
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also say sizes, steps and times.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Learn from texts, with labels or with keywords, and write the model to a file.

    Texts without a label, rows of DATA or those of --unlabelled, are learnt from where held-out texts speak
    for it. With --keywords no text needs a label.

    A project of the desk (.desk) also brings its keywords, marks and costs, where options do not say
    otherwise.

    With --memory, --cluster or --workers, and where a file would not fit into memory, texts are read and
    learnt from in parts: Parquet, CSV, TSV or JSON lines, of any size.
    """
    from .._system.stages import log, stage

    sources = (making.keywords, making.prior_model, utility.costs, *(unlabelled.unlabelled or []))
    check_writable(output, data, *sources)
    unlabelled.check(data)
    holdout.check()
    settings = making.config(utility, floors, unlabelled.shares)
    corpus, held_out, start, tuning = None, None, None, None
    if cluster.wanted:
        require("connect")
    work = memory.folder(data, output, cluster.wanted)
    fields = [name for name in (making.rationales, holdout.split_by) if name is not None]
    if work is not None:
        check_parts(settings)
    with ExitStack() as stack:
        if work is not None:
            with _labels_explained():
                texts = stack.enter_context(work.open(data, reading, settings.known_labels(), fields))
            texts.client = stack.enter_context(cluster.connect()) if cluster.wanted else None
            trained = train_parts(texts, settings, reading, unlabelled, holdout, _tune if tune else None)
            model, settings, held_out, start, tuning = (
                getattr(trained, one.name) for one in dataclass_fields(trained)
            )
            columns = texts.table.columns
            origin = _origin(texts.name, columns.text, columns.label, reading)
            model.metadata_ |= origin
        else:
            # Rows are held by the million, none of them in a cycle; to look for cycles among them takes a
            # third of the reading.
            gc.set_threshold(200_000, 20, 20)
            with stage(f"reading {data}"), _labels_explained():
                table = reading.read(data, fields, labels="optional", known_labels=settings.known_labels())
            pool = unlabelled.gather(table, reading, settings)
            if not table.corpus.texts:
                _check_unlabelled(holdout, tune)
                settings = replace(
                    settings, multilabel=unlabelled.multilabel or reading.label_separator is not None
                )
            origin = _origin(table.corpus.name, table.text_column, table.label_column, reading)
            corpus, held_out, start = holdout.split(table.corpus)
            remark_on_corpus(len(corpus), corpus.labels, len(pool), settings.known_labels())
            if tune:
                tuning = _tune(settings, corpus)
                settings = tuning.choice.config
            model = settings.fit(corpus, pool)
            model.metadata_ |= origin
        if no_digests:
            model.forget_texts()
        with stage(f"writing {output}"):
            model.save(output)
    log.debug(f"{output}: {output.stat().st_size:,} bytes")
    remark_on_decisions(model, settings)
    facts = _facts(model, output)
    if model.metadata_["n_texts"]:
        remark_on_labels(corpus, facts["labels"], reading.command("check", data))
    facts["words"] = words_line(model, settings)
    facts["unlabelled"] = unlabelled_facts(model, settings)
    facts["next"] = next_step(facts["unlabelled"], output, data) if making.keywords is not None else None
    facts["tuning"] = None if tuning is None else _tuning_facts(tuning)
    with stage("estimating how good it is on new texts"):
        facts["estimate"], facts["no_estimate"] = estimate_facts(model, settings, corpus)
    if not as_json:
        _show(facts)
    if held_out is not None:
        from ..report.summary import summarise

        with stage(f"deciding on {quantity(len(held_out), 'text')}"):
            summary = summarise(model, held_out, settings.utility)
        remark_on_texts(model, summary)
        facts["holdout"] = {"split_by": holdout.split_by, "from": start, "summary": summary.to_dict()}
        if not as_json:
            _show_holdout(summary, holdout.split_by, start)
    if as_json:
        print_json(facts)


@contextmanager
def _labels_explained() -> Iterator[None]:
    """Where labels are missing, the option that makes up for them is named."""
    from ..errors import LabelError

    try:
        yield
    except LabelError as error:
        raise OptionError(f"{error} Without labels, name words of each: --keywords FILE.") from error


def _check_unlabelled(holdout: HoldoutOptions, tune: bool) -> None:
    """Where no text has a label: what needs some."""
    if holdout.holdout is not None or tune:
        raise OptionError(
            f"{'--tune' if tune else '--holdout'} needs texts with labels, and none has one; leave it out."
        )


def _tune(config: ModelConfig, corpus: Corpus) -> Tuning:
    """The settings that held-out scores speak for; says which, and what they rest on."""
    from .._system.stages import stage
    from ..tuning import tune

    with stage("choosing settings"), warnings.catch_warnings():
        # of models that are tried; the one that is trained says what is to be said
        warnings.simplefilter("ignore")
        tuning = tune(config, corpus, progress=True)
    remark(str(tuning))
    return tuning


def _tuning_facts(tuning: Tuning) -> dict[str, Any]:
    def describe(one: Candidate) -> dict[str, Any]:
        names = ("features", "tokens", "ngrams", "stop_words", "C")
        settings = {name: getattr(one.config, name) for name in names}
        return {**settings, "score": one.score, "lead": one.lead, "error": one.error}

    return {
        "n_texts": tuning.n_texts,
        "chosen": describe(tuning.choice),
        "candidates": [describe(one) for one in tuning.candidates],
    }


def _origin(source: str, text: str | None, label: str | None, reading: ReadingOptions) -> dict[str, Any]:
    """What a model is to know of the file it was trained on."""
    columns = {"text_column": text, "label_column": label, "label_separator": reading.label_separator}
    return {"source": source, **columns, "missing_labels": reading.missing_values}


def _facts(model: TextClassifier, output: Path) -> dict[str, Any]:
    priors = [one for one in model.verdict_ if one.target is not None]
    several = len({one.knowledge for one in priors}) > 1
    return {
        "source": model.metadata_["source"],
        "n_texts": model.metadata_["n_texts"],
        "labels": model.metadata_["label_counts"],
        "output": str(output),
        "knowledge": [verdict_line(one, several) for one in priors],
        "thresholds": dict(zip(model.labels_.text_names, model.thresholds_.tolist(), strict=True)),
    }


def _show(facts: dict[str, Any]) -> None:
    others = facts["unlabelled"]
    typer.echo(trained_line(facts["n_texts"], facts["labels"], others["n_texts"] if others else 0))
    for line in [
        *([facts["words"]] if facts["words"] else []),
        *facts["knowledge"],
        *unlabelled_lines(others),
    ]:
        typer.echo(line)
    for line in estimate_lines(facts["estimate"], facts["no_estimate"], facts["labels"]):
        typer.echo(line)
    if any(facts["thresholds"].values()):
        typer.echo(
            "Thresholds: " + ", ".join(f"{name}: {theta:+.2f}" for name, theta in facts["thresholds"].items())
        )
    typer.echo(f"Written to {facts['output']}")
    if facts["next"]:
        typer.echo(f"Next: {facts['next']}")


def _show_holdout(summary: Summary, column: str | None, start: str | None) -> None:
    which = "at random" if column is None else f"the last by {column}, from {start} on"
    texts = quantity(summary.n_texts, "text")
    typer.echo(
        f"Held out: {texts}, {which}. On these the model, which was trained on the others alone, decides:"
    )
    print_summary(summary)
