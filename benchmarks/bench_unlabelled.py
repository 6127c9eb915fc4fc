"""Keywords and unlabelled texts: how good without labels, and what harm they do where they are wrong.

    python -m benchmarks.bench_unlabelled           # both tasks, all methods, ten draws
    python -m benchmarks.bench_unlabelled --dataset wikipedia25 --draws 3 --sizes 0 4 --only plain "default"
    python -m benchmarks.bench_unlabelled --harm    # the default beside plain, with something wrong
    python -m benchmarks.bench_unlabelled --shares  # given shares beside guessed ones, on pools of any mix
    python -m benchmarks.bench_unlabelled --time    # 11,000 long and 100,000 short texts, no label
    python -m benchmarks.bench_unlabelled --quick   # 480 texts of the package, two draws

So many labels a class are drawn from the training texts; all other texts of the pool are unlabelled
(`unlabelled/tasks.py`). Mean average precision over classes and accuracy (Reuters: macro F1) on the test
texts, ± the standard error over draws, and seconds a draw. Words and tf-idf of the baselines are those of the
whole pool, made before the time is taken.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterable, Sequence

import numpy as np

from textmargin._typing import Floats

from .measure import describe
from .unlabelled.given_shares import show_given
from .unlabelled.harm import Condition, conditions
from .unlabelled.methods import FITS, NEEDS_LABELS, NOTES, answer, fit_plain
from .unlabelled.speed import show_seconds
from .unlabelled.tasks import Answers, Task

DATASETS = ("wikipedia25", "reuters21578", "desk")
SIZES = (0, 1, 2, 4, 8, 20)
N_DRAWS = 10
BOUND = -0.01  # what knowledge may cost beside plain, on average
WIDTH = 17


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", nargs="+", choices=DATASETS, default=DATASETS[:2])
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="labels a class")
    parser.add_argument("--draws", type=int, default=N_DRAWS)
    parser.add_argument(
        "--only", nargs="+", choices=NOTES, metavar="NAME", help=f"methods: {', '.join(NOTES)}"
    )
    parser.add_argument(
        "--skip", nargs="+", choices=NOTES, metavar="NAME", default=(), help="methods to leave out"
    )
    parser.add_argument(
        "--harm", action="store_true", help="the methods (the default alone unless named) less plain"
    )
    parser.add_argument("--conditions", nargs="+", metavar="NAME", help="of the harm: some of the rows")
    parser.add_argument("--shares", action="store_true", help="what it is worth to give shares")
    parser.add_argument("--time", action="store_true", help="seconds of the default on many texts")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    if options.quick:
        options.dataset, options.sizes, options.draws = ["desk"], [0, 2], 2
    warnings.simplefilter("ignore")
    print(describe("textmargin", "scikit-learn", "numpy"))
    if options.time:
        show_seconds()
    if options.shares:
        for name in options.dataset:
            show_given(name, options.draws)
    for name in [] if options.time or options.shares else options.dataset:
        task = Task.load(name)
        print(
            f"\n{name}: {len(task.classes)} classes, {len(task.texts):,} texts in the pool, "
            f"{len(task.test_texts):,} to test"
        )
        if options.harm:
            methods, rows = options.only or ["default"], conditions(task)
            if unknown := {*methods} - {*FITS} | {*(options.conditions or ())} - {*rows}:
                parser.error(
                    f"--harm has methods {', '.join(FITS)} and conditions {', '.join(rows)}; got "
                    f"{', '.join(unknown)}."
                )
            rows = {row: rows[row] for row in options.conditions or rows}
            sizes = [size for size in options.sizes if size]  # without labels there is no plain
            for method in methods:
                show_harm(task, method, rows, sizes, options.draws)
        else:
            methods = [method for method in options.only or NOTES if method not in options.skip]
            show_methods(task, methods, options.sizes, options.draws)


def show_methods(task: Task, methods: list[str], sizes: Sequence[int], n_draws: int) -> None:
    """Tables of average precision, accuracy or F1, and seconds: a line for each method, a column for each
    number of labels.
    """
    _ = task.features.neighbours  # of all draws: nobody's seconds
    figures: dict[str, dict[int, Floats]] = {}
    for method in methods:
        figures[method] = {}
        for size in sizes:
            if method == "all labels":
                figures[method][size] = (
                    figures[method][sizes[0]] if figures[method] else measure(task, method, size, 1)
                )
            elif size or method not in NEEDS_LABELS:
                figures[method][size] = measure(task, method, size, n_draws)
    for column, title in enumerate(titles(task)):
        print(f"\n{title}, by labels a class")
        print(f"{'':>{WIDTH}}" + "".join(f"{size:>{WIDTH}}" for size in sizes))
        for method in methods:
            cells = (figures[method].get(size) for size in sizes)
            print(
                f"{method:>{WIDTH}}" + "".join(f"{_cell(cell, column):>{WIDTH}}" for cell in cells),
                flush=True,
            )
    print("\n" + "\n".join(f"{method:>{WIDTH}}  {NOTES[method]}" for method in methods))
    print(
        "* has no use for keywords; without labels it starts from those that counting them gives to texts "
        "with a clear winner"
    )


def measure(task: Task, method: str, size: int, n_draws: int) -> Floats:
    """Per draw average precision, accuracy or F1, and seconds; methods that do not hang on the draw have
    one.
    """
    rows = []
    for seed in range(1 if size == 0 or method == "counts" else n_draws):
        labelled = task.draw(size, seed)
        start = time.perf_counter()
        answers = answer(method, task, labelled)
        seconds = time.perf_counter() - start
        rows.append([*_figures(task, answers), seconds])
        found = " ".join(f"{value:.3f}" for value in rows[-1])
        print(f"{task.name} {method}, {size} labels, draw {seed}: {found} s", file=sys.stderr)
    return np.array(rows)


def show_harm(
    task: Task, method: str, rows: dict[str, Condition], sizes: Sequence[int], n_draws: int
) -> None:
    """Tables of differences to plain on the same draws; ! where the mean is below the bound."""
    lead: dict[str, list[Floats]] = {name: [] for name in rows}
    plain = []
    for size in sizes:
        draws = [task.draw(size, seed) for seed in range(n_draws)]
        plain.append(
            np.array([_figures(task, task.answers_of(fit_plain(task.given(draw)))) for draw in draws])
        )
        for name, harm in rows.items():
            given = (harm(task.given(draw), task, draw, seed) for seed, draw in enumerate(draws))
            found = np.array([_figures(task, task.answers_of(FITS[method](one))) for one in given])
            lead[name].append(found - plain[-1])
            print(
                f"{task.name} {method}, {name}, {size} labels: {lead[name][-1].mean(axis=0).round(3)}",
                file=sys.stderr,
            )
    for column, title in enumerate(titles(task)[:2]):
        print(f"\n{title}, {method} less plain, by labels a class; ! below {BOUND}")
        print(f"{'':>{WIDTH + 5}}" + "".join(f"{size:>{WIDTH}}" for size in sizes))
        print(
            f"{'plain itself':>{WIDTH + 5}}"
            + "".join(f"{_cell(values, column):>{WIDTH}}" for values in plain)
        )
        for name, values in lead.items():
            print(
                f"{name:>{WIDTH + 5}}" + "".join(f"{_difference(own, column):>{WIDTH}}" for own in values),
                flush=True,
            )


def titles(task: Task) -> list[str]:
    return ["mean average precision", "macro F1" if task.multilabel else "accuracy", "seconds a draw"]


def _figures(task: Task, answers: Answers) -> list[float]:
    return [task.average_precision(answers), task.rightness(answers)]


def _cell(values: Floats | None, column: int) -> str:
    """Mean and standard error over draws; of seconds the mean."""
    if values is None:
        return "–"
    mean, error = _mean_and_error(values[:, column])
    return f"{mean:.1f}" if column == 2 else f"{mean:.3f}" if error is None else f"{mean:.3f} ± {error:.3f}"


def _difference(values: Floats, column: int) -> str:
    mean, error = _mean_and_error(values[:, column])
    return f"{mean:+.3f}" + ("" if error is None else f" ± {error:.3f}") + ("!" if mean < BOUND else " ")


def _mean_and_error(values: Iterable[float]) -> tuple[float, float | None]:
    own = np.asarray(list(values))
    return float(own.mean()), float(own.std(ddof=1) / np.sqrt(own.size)) if own.size > 1 else None


if __name__ == "__main__":
    main()
