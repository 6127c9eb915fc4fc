"""How many short lines does `textmargin predict` decide on in a second, and does its memory stay flat?

    python -m benchmarks.bench_predict               # a million lines, about three minutes
    python -m benchmarks.bench_predict --lines 100000

Messages of `desk` with two words changed each, as CSV, through the command line, beside a script that predicts in chunks of 2,000
lines by scikit-learn's `TfidfVectorizer` and `LinearSVC`. Each in a process of its own, from start to end, reading the same file
and writing a label per line; memory is the highest resident size, after a tenth of the lines and after all of them.
"""

from __future__ import annotations

import csv
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from textmargin import load_dataset
from textmargin.config import ModelConfig

from .measure import describe

PEER = """
import csv, sys
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
train, source, target = sys.argv[1:]
with open(train, newline="") as file:
    texts, labels = zip(*((row["text"], row["label"]) for row in csv.DictReader(file)))
model = make_pipeline(TfidfVectorizer(stop_words="english"), LinearSVC()).fit(texts, labels)
with open(source, newline="") as file, open(target, "w") as out:
    write = csv.writer(out)
    lines, chunk = csv.DictReader(file), []
    def flush():
        write.writerows([number, label] for number, label in zip(range(len(chunk)), model.predict(chunk)))
        chunk.clear()
    for row in lines:
        chunk.append(row["text"])
        if len(chunk) == 2000:
            flush()
    if chunk:
        flush()
"""


def main() -> None:
    """A row per candidate."""
    n_lines = int(sys.argv[sys.argv.index("--lines") + 1]) if "--lines" in sys.argv else 1_000_000
    desk = load_dataset("desk")
    print(describe("textmargin", "scikit-learn", "numpy"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train = folder / "train.csv"
        with train.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["text", "label"])
            rows.writerows(zip(desk.part("train").texts, desk.part("train").labels, strict=True))
        ModelConfig().fit(desk.part("train")).save(folder / "model.tmm")
        sizes = {"a tenth": n_lines // 10, "all": n_lines}
        for what, n in sizes.items():
            write_lines(desk.texts, folder / f"{what}.csv", n)
        found = {}
        for candidate in ("textmargin predict", "scikit-learn in chunks"):
            for what, n in sizes.items():
                source = folder / f"{what}.csv"
                command = [
                    sys.executable,
                    "-m",
                    "textmargin",
                    "predict",
                    str(folder / "model.tmm"),
                    str(source),
                    "--text",
                    "text",
                ]
                if candidate != "textmargin predict":
                    command = [sys.executable, "-c", PEER, str(train), str(source), str(folder / "labels.csv")]
                found[candidate, what] = (*timed(command), n)
        print(f"\n{'':24}{'lines':>10}{'seconds':>10}{'lines/s':>10}{'peak MB':>10}")
        for (candidate, _), (seconds, megabytes, n) in found.items():
            print(f"{candidate:24}{n:>10,}{seconds:>10.1f}{n / seconds:>10,.0f}{megabytes:>10.0f}")
        ours, peer = (found[candidate, "all"] for candidate in ("textmargin predict", "scikit-learn in chunks"))
        print(f"\nlines a second, ours over the peer's: {peer[0] / ours[0]:.2f}")


def write_lines(texts: list[str], path: Path, n: int) -> None:
    """So many messages, each with two words of another one."""
    rng = np.random.default_rng(0)
    words = [text.split() for text in texts]
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text"])
        for a, b in rng.integers(len(words), size=(n, 2)):
            rows.writerow([" ".join([*words[a][:-2], *words[b][:2]])])


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds of a process, and its highest resident size in megabytes."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = _wait(process.pid)
    if status:
        raise SystemExit(f"{command[:4]} failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1000


def _wait(pid: int) -> tuple[int, int, resource.struct_rusage]:
    import os

    return os.wait4(pid, 0)


if __name__ == "__main__":
    main()
