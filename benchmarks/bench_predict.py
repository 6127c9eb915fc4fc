"""How many short rows does `textmargin predict` decide on in a second, and does its memory stay flat?

    python -m benchmarks.bench_predict               # a million rows, about three minutes
    python -m benchmarks.bench_predict --lines 100000

Messages of `desk` with two words changed each, as a CSV file of five columns, through the command line:
decisions alone, and all columns given back, as CSV with one thread and two, as JSON lines, and as Parquet,
which goes by rows. Beside it a script that predicts in chunks of 2,000 rows by `TfidfVectorizer` and
`LinearSVC` of scikit-learn, and writes a label per row. Each in a process of its own, from start to end,
reading the same file; memory is the highest resident size, after a tenth of the rows and after all of them.
CPU seconds are those of the process alone: where others use the machine too, the ratio of these is the one to
trust, but for two threads. Ten rows come first: what a start takes.

`textmargin predict` lets Python look for cycles of objects less often than by default, which any script may
do. So both are measured under either setting of the garbage collector.
"""

from __future__ import annotations

import csv
import gc
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from textmargin import load_dataset

from .measure import describe

# the first is that of `textmargin predict`
COLLECTORS = {"seldom": (200_000, 20, 20), "default": gc.get_threshold()}
PEER = "scikit-learn in chunks"
OURS = {
    "decisions alone": ["--only-decisions", "--jobs", "1"],
    "CSV": ["-o", "out.csv", "--jobs", "1"],
    "CSV, two threads": ["-o", "out.csv", "--jobs", "2"],
    "JSON lines": ["-o", "out.jsonl", "--jobs", "1"],
    "Parquet": ["-o", "out.parquet", "--jobs", "1"],
}
N_START = 10

# A process is told the size of the one that starts it as its own, so that a small one does.
LAUNCH = """
import os, sys, time
start = time.perf_counter()
away = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[away])
_, status, usage = os.wait4(process, 0)
print(status, time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)
"""
SETTING = """
import gc, sys
gc.set_threshold(*map(int, sys.argv.pop(1).split(",")))
gc.set_threshold = lambda *_: None  # who sets it again, is not heard
"""
COMMAND = """
import runpy
runpy.run_module("textmargin", run_name="__main__")
"""
SCRIPTS = {
    **dict.fromkeys(OURS, COMMAND),
    PEER: """
import csv
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
""",
}


def main() -> None:
    """A row per candidate and setting, then the ratio of each setting."""
    n_lines = int(sys.argv[sys.argv.index("--lines") + 1]) if "--lines" in sys.argv else 1_000_000
    desk = load_dataset("desk")
    print(describe("textmargin", "scikit-learn", "numpy"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, model = folder / "train.csv", folder / "model.tmm"
        with train.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["text", "label"])
            rows.writerows(zip(desk.part("train").texts, desk.part("train").labels, strict=True))
        columns = ["--text", "text", "--label", "label"]
        command = [sys.executable, "-m", "textmargin", "train", str(train), *columns, "-o", str(model)]
        subprocess.run(command, check=True, capture_output=True)
        print(f"\n{'':24}{'collector':>10}{'rows':>11}{'seconds':>9}{'CPU s':>9}{'rows/s':>10}{'peak MB':>9}")
        times = {}
        for n in (N_START, n_lines // 10, n_lines):
            source = folder / f"{n}.csv"
            write_lines(desk.texts, source, n)
            arguments = {
                **{
                    name: ["predict", str(model), str(source), "--text", "text", *options]
                    for name, options in OURS.items()
                },
                PEER: [str(train), str(source), "labels.csv"],
            }
            for collector, threshold in COLLECTORS.items():
                for candidate, script in SCRIPTS.items():
                    setting = ",".join(map(str, threshold))
                    command = [sys.executable, "-c", SETTING + script, setting, *arguments[candidate]]
                    seconds, cpu, megabytes = timed(command, folder)
                    times[candidate, collector] = seconds, cpu
                    row = f"{n:>11,}{seconds:>9.2f}{cpu:>9.2f}{n / seconds:>10,.0f}{megabytes:>9.0f}"
                    print(f"{candidate:24}{collector:>10}{row}", flush=True)
        for collector in COLLECTORS:
            for candidate in OURS:
                wall, cpu = (
                    peer / ours
                    for peer, ours in zip(times[PEER, collector], times[candidate, collector], strict=True)
                )
                print(
                    f"rows a second, {candidate} over the peer's, collector {collector}: {wall:.1f}, a "
                    f"CPU second {cpu:.1f}"
                )


def write_lines(texts: list[str], path: Path, n: int) -> None:
    """So many messages, each with two words of another one, in a table as ticket systems export it."""
    rng = np.random.default_rng(0)
    words = [text.split() for text in texts]
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "received", "sender", "text", "phone"])
        for number, (a, b) in enumerate(rng.integers(len(words), size=(n, 2)).tolist()):
            text = " ".join([*words[a][:-2], *words[b][:2]])
            day = f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}"
            rows.writerow([f"T-{number}", day, f"user{a}@example.org", text, f"+49 170 {number}"])


def timed(command: list[str], folder: Path) -> tuple[float, float, float]:
    """Seconds of a process in a folder by the clock and on CPUs, and its highest resident size in
    megabytes.
    """
    done = subprocess.run(
        [sys.executable, "-c", LAUNCH, *command], cwd=folder, stdout=subprocess.PIPE, text=True, check=True
    )
    status, seconds, cpu, megabytes = map(float, done.stdout.split())
    if status:
        raise SystemExit(f"{command[4:]} failed")
    return seconds, cpu, megabytes


if __name__ == "__main__":
    main()
