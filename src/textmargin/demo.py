"""What knowledge, costs and string kernels change on the helpdesk messages inside the package."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from .datasets.loading import load_dataset
from .report.html import write_report
from .report.summary import summarise
from .training import Recipe, read_costs

RARE = "phishing"
NEXT_STEPS = """\
  textmargin train yours.csv           learn from your texts and labels
  textmargin evaluate model.tmm more.csv    what it is worth on others
  textmargin explain model.tmm "a text"     why
  textmargin predict model.tmm new.csv      decisions, a line each
  textmargin report model.tmm more.csv      all of it as a page"""


@dataclass(frozen=True)
class Row:
    """One way to train, and what its decisions are worth."""

    name: str
    accuracy: float
    macro_f1: float
    rare_found: int
    n_rare: int
    euros: float | None
    seconds: float


@dataclass(frozen=True)
class Example:
    """A message, where it goes, and what in it moved the score most."""

    text: str
    labels: tuple[str, ...]
    reasons: list[tuple[str, float]]


@dataclass(frozen=True)
class Demo:
    """What the demo found."""

    n_train: int
    n_test: int
    n_topics: int
    rows: list[Row]
    example: Example
    next_steps: str
    report: str | None  # where the page was written


def run(report: Path | None = None) -> Demo:
    """Train several ways on the same messages, and decide on the same new ones.

    Parameters
    ----------
    report : path, default=None
        Where a page goes that shows what the model with keywords and costs decides, and why.
    """
    desk = load_dataset("desk")
    train, test = desk.part("train"), desk.part("test")
    Y, topics = train.indicator()
    about = {"data": "desk", "n_texts": len(train), "labels": dict(zip(topics, Y.sum(axis=0).tolist(), strict=True))}
    with as_file(files("textmargin.datasets") / "desk_keywords.toml") as known:
        costs = read_costs(known)
        recipes = {
            "words (a plain SVM)": Recipe(),
            "words + keywords": Recipe(keywords=known),
            "words + costs": Recipe(utility=costs),
            "words + keywords + costs": Recipe(keywords=known, utility=costs),
            "string kernel": Recipe(kernel="subsequence", length=4),
            "string kernel + costs": Recipe(kernel="subsequence", length=4, utility=costs),
        }
        rows = []
        for name, recipe in recipes.items():
            start = time.perf_counter()
            trained = recipe.train(train, about)
            summary = summarise(trained, test, costs)
            rare = next(one for one in summary.classes if one.label == RARE)
            seconds = time.perf_counter() - start
            rows.append(Row(name, summary.accuracy, summary.macro_f1, rare.tp, rare.n_texts, summary.utility, seconds))
            if name == "words + keywords + costs":
                informed = trained
    of_rare = [text for text, topic in zip(test.texts, test.labels, strict=True) if topic == RARE]
    text = next((text for text in of_rare if informed.explain(text).labels == (RARE,)), of_rare[0])
    reasons = informed.explain(text, n=5)
    example = Example(text, reasons.labels, [(reason.what, reason.share) for reason in reasons.reasons])
    if report is not None:
        write_report(informed, test, report, costs)
    where = None if report is None else str(report)
    return Demo(len(train), len(test), len(desk.classes), rows, example, NEXT_STEPS, where)
