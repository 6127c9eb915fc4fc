"""The command that shows what knowledge, costs and string kernels change, on the helpdesk messages inside the
package.
"""

from __future__ import annotations

import shutil
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ..errors import UnknownTermWarning, install_hint
from ._console import app, print_json
from ._options import AsJson, check_writable
from ._tables import print_table, wide_console

RARE = "phishing"
NEXT_STEPS = {
    "train yours.csv": "learn from your texts and labels",
    "evaluate model.tmm more.csv": "what it is worth on others",
    'explain model.tmm "a text"': "why",
    "predict model.tmm new.csv": "your rows, and what was decided",
    "report model.tmm more.csv": "all of it as a page",
}


DESK_STEPS = {
    "data export desk": "these messages as files",
    "desk desk-unlabelled.csv --keywords desk-keywords.toml --costs desk-costs.toml": "opens a page in "
    "the browser",
}


@dataclass(frozen=True)
class DemoRow:
    """One way to train, and what its decisions are worth."""

    name: str
    accuracy: float
    macro_f1: float
    rare_hits: int
    n_rare: int
    euros: float | None
    seconds: float


@dataclass(frozen=True)
class Example:
    """A message, where it goes, and what in it moved the score most."""

    text: str
    labels: tuple[str, ...]
    contributions: list[tuple[str, float]]


@dataclass(frozen=True)
class Demo:
    """What the demo found."""

    n_train: int
    n_test: int
    n_topics: int
    rows: list[DemoRow]
    example: Example
    next_steps: str
    report: str | None  # where the page was written
    program: str  # what to type for this program
    desk_steps: str  # how the reading desk is opened on these messages


@app.command()
def demo(
    report: Annotated[
        Path, typer.Option(help="Where the page goes that shows what was decided, and why.")
    ] = Path("report.html"),
    as_json: AsJson = False,
) -> None:
    """Train on helpdesk messages inside the package: words alone, with keywords, with costs, with a string
    kernel.
    """
    check_writable(report)
    result = run(report)
    if as_json:
        print_json(asdict(result))
    else:
        _show(result)


def run(report: Path | None = None) -> Demo:
    """Train several ways on the same messages, and decide on the same new ones.

    Parameters
    ----------
    report : path, default=None
        Where a page goes that shows what the model with keywords and costs decides, and why.
    """
    from ..config import ModelConfig, read_costs
    from ..datasets.loading import load_dataset
    from ..report.html import write_report
    from ..report.summary import summarise

    desk = load_dataset("desk")
    train, test = desk.part("train"), desk.part("test")
    with as_file(files("textmargin.datasets") / "desk_keywords.toml") as known:
        costs = read_costs(known)
        configs = {
            "words (a plain SVM)": ModelConfig(),
            "words + keywords": ModelConfig(keywords=known),
            "words + costs": ModelConfig(utility=costs),
            "words + keywords + costs": ModelConfig(keywords=known, utility=costs),
            "string kernel": ModelConfig(features="subsequence", length=4),
            "string kernel + costs": ModelConfig(features="subsequence", length=4, utility=costs),
        }
        rows = []
        for name, config in configs.items():
            start = time.perf_counter()
            with warnings.catch_warnings():
                # keywords that no message has are part of the show
                warnings.simplefilter("ignore", UnknownTermWarning)
                model = config.fit(train)
            summary = summarise(model, test, costs)
            rare = next(one for one in summary.classes if one.label == RARE)
            seconds = time.perf_counter() - start
            rows.append(
                DemoRow(
                    name, summary.accuracy, summary.macro_f1, rare.tp, rare.n_texts, summary.utility, seconds
                )
            )
            if name == "words + keywords + costs":
                model.metadata_["source"] = "desk"
                informed = model
    of_rare = [text for text, topic in zip(test.texts, test.labels, strict=True) if topic == RARE]
    explanations = {text: informed.explain(text) for text in of_rare}
    text = next((text for text, one in explanations.items() if one.labels == (RARE,)), of_rare[0])
    contributions = [(one.feature, one.contribution) for one in explanations[text].contributions(5)]
    example = Example(text, tuple(map(str, explanations[text].labels)), contributions)
    if report is not None:
        write_report(informed, test, report, costs)
    where, program = None if report is None else str(report), _program()
    return Demo(
        len(train),
        len(test),
        len(desk.classes),
        rows,
        example,
        _steps(NEXT_STEPS, program),
        where,
        program,
        _steps(DESK_STEPS, program),
    )


def _program() -> str:
    """What to type for this program here: `textmargin` where a shell finds it, else the file that runs."""
    if shutil.which("textmargin") is not None:
        return "textmargin"
    own = Path(sys.argv[0])
    if own.name != "textmargin":
        return f"{sys.executable} -m textmargin"
    return _shown(own)


def _shown(path: Path) -> str:
    """From here, where it is below."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _steps(steps: dict[str, str], program: str) -> str:
    width = max(map(len, steps)) + len(program) + 4
    return "\n".join(f"  {f'{program} {step}':<{width}}{meaning}" for step, meaning in steps.items())


def _show(result: Demo) -> None:
    console = wide_console()
    console.print(
        f"{result.n_train} helpdesk messages to learn from, {result.n_test} new ones to route to "
        f"{result.n_topics} desks. "
        f"A message on the right desk earns, a wrong or missed one costs, so many euros a topic.\n"
    )
    cells = []
    for row in result.rows:
        hits, euros = f"{row.rare_hits} of {row.n_rare}", f"{row.euros or 0:+,.0f}"
        cells.append(
            [row.name, f"{row.accuracy:.0%}", f"{row.macro_f1:.2f}", hits, euros, f"{row.seconds:.1f}"]
        )
    print_table(["model", "right", "macro F1", f"{RARE} hits", "utility, euros", "seconds"], cells)
    console.print("Why one message went where it did, with keywords and costs:")
    console.print(f"  “{result.example.text}” → {', '.join(result.example.labels)}")
    console.print("  " + ", ".join(f"{what} {share:+.2f}" for what, share in result.example.contributions))
    console.print(f"\nWhat was decided, and why, is a page to look at: {result.report}", soft_wrap=True)
    console.print(f"\nTry next:\n{result.next_steps}", soft_wrap=True)
    console.print(
        f"\nRead and label such messages yourself, and see the decisions change:\n{result.desk_steps}",
        soft_wrap=True,
    )
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        python = "" if result.program == "textmargin" else f"{_shown(Path(sys.executable))} -m "
        console.print(
            f"  which needs one thing more: {python}{install_hint('serve')}", soft_wrap=True, markup=False
        )
    if result.program != "textmargin":
        console.print(
            "To type textmargin alone, install it where your shell finds it: pip install .", soft_wrap=True
        )
