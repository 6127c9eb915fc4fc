"""How long it takes until something happens: `python -m benchmarks.bench_start`.

Each start is a process of its own, in rounds that go through all of them, against what importing NumPy, SciPy
and scikit-learn takes in the same round. Seconds by the clock and of CPU, medians; ratios are medians over
rounds, of CPU, which other work on the machine disturbs least.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from textmargin import TextClassifier, load_dataset

from .measure import describe, ratio, seconds

PEERS = "import numpy, scipy, sklearn"


def cpu_seconds() -> float:
    """Of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def starts(model: Path) -> dict[str, list[str]]:
    """What is started, by its name."""
    command = [sys.executable, "-m", "textmargin"]
    return {
        PEERS: [sys.executable, "-c", PEERS],
        "import sklearn.svm": [sys.executable, "-c", "import sklearn.svm"],
        "nothing": [sys.executable, "-c", ""],
        "import textmargin": [sys.executable, "-c", "import textmargin"],
        "from textmargin import TextClassifier": [
            sys.executable,
            "-c",
            "from textmargin import TextClassifier",
        ],
        "textmargin --version": [*command, "--version"],
        "textmargin --help": [*command, "--help"],
        "textmargin predict, one line": [*command, "predict", str(model), "-"],
    }


def runner(words: Sequence[str]) -> Callable[[], None]:
    """A start that may be measured; one that fails ends all."""

    def run() -> None:
        subprocess.run(
            words,
            input=b"the printer is out of paper\n",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=True,
        )

    return run


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args(words).rounds
    desk = load_dataset("desk")
    print(describe("numpy", "scipy", "scikit-learn", "typer"))
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "desk.tmm"
        TextClassifier().fit(desk.texts, desk.labels).save(model)
        candidates = {name: runner(one) for name, one in starts(model).items()}
        seconds(candidates, 1)  # files are in memory afterwards
        clock: dict[str, list[float]] = {name: [] for name in candidates}

        def timed(name: str) -> Callable[[], None]:
            def run() -> None:
                start = time.perf_counter()
                candidates[name]()
                clock[name].append(time.perf_counter() - start)

            return run

        cpu = seconds({name: timed(name) for name in candidates}, rounds, cpu_seconds)
    print(f"{'':<40} {'clock':>7} {'CPU':>7}   of {PEERS!r}")
    for name in candidates:
        medians = statistics.median(clock[name]), statistics.median(cpu[name])
        print(f"{name:<40} {medians[0]:7.3f} {medians[1]:7.3f}   {ratio(cpu, name, PEERS):.2f}")


if __name__ == "__main__":
    main()
