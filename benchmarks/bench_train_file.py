"""Where does the time of `textmargin train FILE` go?

    python -m benchmarks.bench_train_file          # Reuters, and a million rows of two labels: about a minute
    python -m benchmarks.bench_train_file --quick  # a thousandth of the rows

The training texts of Reuters with all their topics, and messages of `desk` with words of others and one of
two labels, as CSV files through the command line. Each in a process of its own, from start to end, in which
the functions of `PARTS` are timed: seconds by the clock, and on CPUs, without those of other parts that they
call.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from textmargin import load_dataset

from .measure import describe

N_ROWS = 1_000_000
START, REST = "start: imports", "all else"
PARTS = {
    "reading the file": ["tables.reader:read_table"],
    "which language": ["representations.bow:main_language"],
    "words to columns": ["representations.bow:BagOfWords.fit_transform"],
    "labels": ["classifier:labelled_rows", "_fitting:describe", "_fitting:encode"],
    "copies of texts": ["_fitting:join_copies"],
    "learning": ["decisions.threshold:ThresholdClassifier.fit"],
    "held-out scores": ["decisions.threshold:ThresholdClassifier.compute_held_out"],
    "digests of texts": ["_fitting:text_digests", "representations.digests:text_digests"],
    "saving": ["classifier:TextClassifier.save"],
    "remarks on labels": ["cli.train:remark_on_labels"],
    "estimate": ["cli.train:estimate_facts"],
}


def main(arguments: Sequence[str]) -> None:
    """A table per file."""
    print(describe("textmargin", "scikit-learn", "numpy"))
    with tempfile.TemporaryDirectory() as name:
        for title, rows, options in (
            ("Reuters", reuters("--quick" in arguments), ["--label-separator", ";"]),
            ("rows of two labels", messages(N_ROWS // (1000 if "--quick" in arguments else 1)), []),
        ):
            path = Path(name) / "train.csv"
            with path.open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["text", "label"])
                writer.writerows(rows)
            command = [
                "train",
                str(path),
                "--text",
                "text",
                "--label",
                "label",
                "-o",
                str(path.with_suffix(".tmm")),
                *options,
            ]
            times = timed(command)
            whole = np.sum([*times.values()], axis=0)
            size = f"{title}, {path.stat().st_size / 1e6:.1f} MB"
            print(f"\n{size:32}{'seconds':>12}{'CPU s':>9}{'share':>8}")
            for part, (wall, cpu) in [*times.items(), ("whole", whole)]:
                print(f"{part:32}{wall:12.2f}{cpu:9.2f}{wall / whole[0]:8.0%}")


def reuters(short: bool) -> list[tuple[str, str]]:
    """Texts and topics."""
    train = load_dataset("reuters21578").part("train")
    return [(text, ";".join(own)) for text, own in zip(train.texts, train.labels, strict=True)][
        : 100 if short else None
    ]


def messages(n: int) -> Iterable[tuple[str, str]]:
    """So many messages, each with three words of others, of two labels."""
    desk = load_dataset("desk")
    words = [text.split() for text in desk.texts]
    for a, b, c in np.random.default_rng(0).integers(len(words), size=(n, 3)).tolist():
        yield (
            " ".join([*words[a][:-2], *words[b][:2], words[c][0]]),
            "hardware" if desk.labels[a] < "i" else "software",
        )


def timed(command: list[str]) -> dict[str, tuple[float, float]]:
    """Seconds by the clock and on CPUs of each part of a command, in a process of its own."""
    start = time.perf_counter()
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench_train_file", "--command", *command],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    wall = time.perf_counter() - start
    times: dict[str, tuple[float, float]] = json.loads(answer.stdout.splitlines()[-1])
    before, cpu = times[START]  # and what the interpreter took before it could look at a clock
    return times | {START: (before + wall - sum(own for own, _ in times.values()), cpu)}


class Clock:
    """The time since the last look belongs to the part that was at work."""

    def __init__(self) -> None:
        self.times = {part: [0.0, 0.0] for part in (START, *PARTS, REST)}
        self.at_work = [START]
        self.last = time.perf_counter(), 0.0

    def look(self) -> None:
        now = time.perf_counter(), time.process_time()
        own = self.times[self.at_work[-1]]
        for k in range(2):
            own[k] += now[k] - self.last[k]
        self.last = now

    def watch(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose time belongs to a part."""

        @wraps(function)
        def watched(*arguments: Any, **named: Any) -> Any:
            self.look()
            self.at_work.append(part)
            try:
                return function(*arguments, **named)
            finally:
                self.look()
                self.at_work.pop()

        return watched


def run(command: list[str]) -> None:
    """The command here, and as its last line the times of its parts as JSON."""
    clock = Clock()
    for part, places in PARTS.items():
        for place in places:
            module, _, name = place.partition(":")
            *owners, last = name.split(".")
            owner = import_module(f"textmargin.{module}")
            for one in owners:
                owner = getattr(owner, one)
            setattr(owner, last, clock.watch(part, getattr(owner, last)))
    clock.look()
    clock.at_work = [REST]
    from textmargin.cli import app

    app(command, standalone_mode=False)
    clock.look()
    print(json.dumps(clock.times))


if __name__ == "__main__":
    run(sys.argv[2:]) if "--command" in sys.argv[1:2] else main(sys.argv[1:])
