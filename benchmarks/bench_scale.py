"""What does it cost that texts lie in parts: on this machine's disk, or with Dask's workers, beside memory?

    python -m benchmarks.bench_scale --documents 1000000

Documents are planted (`planted.py`): 60 words of 500,000, ten topics, in Parquet. Each candidate runs in a
process of its own, from Parquet to the weights of ten topics, with two threads or workers. CPU seconds are of
all processes. A gap is how far the worst topic's objective is above the best that anybody reached, as a share
of it. Memory is what is not a mapped file, at its peak; of workers, at the end.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from textmargin import BagOfWords, PriorSVC

from .measure import describe
from .planted import TOPICS, write

CANDIDATES = ("memory", "out of core", "Dask", "Dask, rows stay")


class Peak(threading.Thread):
    """The highest memory of this process from now on that is not a mapped file, in GB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.own = 0.0
        self.start()

    def run(self) -> None:
        while True:
            self.own = max(self.own, own_memory())
            time.sleep(0.02)


def own_memory() -> float:
    """Memory of this process that is not a mapped file, in GB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "RssShmem"))) / 1e6


@contextmanager
def open_texts(candidate: str, source: Path, folder: str) -> Iterator[tuple[Any, Any]]:
    """The texts as a candidate takes them, and a Dask client or None."""
    from textmargin.scale import DaskTexts, TextFiles, connect

    reading = {"text": "text", "label": ",".join(TOPICS), "folder": folder}
    if candidate == "memory":
        yield pq.read_table(source, columns=["text"])["text"].to_pylist, None
    elif candidate == "out of core":
        yield lambda: TextFiles(source, **reading), None
    else:
        with connect(workers=2, memory_limit=0) as client:
            if candidate == "Dask":
                yield lambda: TextFiles(source, client=client, **reading), client
            else:
                import dask.dataframe as dd

                column = dd.read_parquet(source, columns=["text"])["text"]
                yield lambda: DaskTexts(column, stay=True), client


def run(candidate: str, source: Path, output: Path) -> None:
    """One candidate: prints what it took as JSON, and leaves its weights in a file."""
    Y = np.stack([pq.read_table(source, columns=[name])[name].to_numpy() for name in TOPICS], axis=1)
    clock, cpu = time.perf_counter, time.process_time
    with tempfile.TemporaryDirectory() as folder, open_texts(candidate, source, folder) as (texts, client):
        before = [] if client is None else list(client.run(time.process_time).values())
        peak, began, used = Peak(), clock(), cpu()
        X = BagOfWords().fit_transform(texts())
        words = clock() - began
        model = PriorSVC().fit(X, Y.astype(int))
        found = {"words": words, "training": clock() - began - words, "cpu": cpu() - used, "own": peak.own}
        if client is not None:
            found["cpu"] += sum(client.run(time.process_time).values()) - sum(before)
            found["own"] += sum(client.run(own_memory).values())
        np.savez(output, w=model.coef_, b=model.intercept_)
    print(json.dumps(found))


def objectives(X: Any, Y: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of each topic, with a free intercept and C = 1."""
    missed = np.maximum(0, 1 - (2.0 * Y - 1) * (X.times(w) + b))
    return 0.5 * (w**2).sum(axis=1) + (missed**2).sum(axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--candidates", nargs="*", default=CANDIDATES)
    parser.add_argument("--candidate", help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help=argparse.SUPPRESS)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "textmargin-bench", help="of the corpora"
    )
    arguments = parser.parse_args()
    source = write(arguments.folder, arguments.documents)
    if arguments.candidate:
        run(arguments.candidate, source, arguments.output)
        return
    print(describe("textmargin", "dask", "scipy", "numpy"))
    found, planes = {}, {}
    for name in arguments.candidates:
        output = arguments.folder / "planes.npz"
        command = [
            sys.executable,
            "-m",
            "benchmarks.bench_scale",
            "--candidate",
            name,
            "--output",
            str(output),
        ]
        command += ["--documents", str(arguments.documents), "--folder", str(arguments.folder)]
        answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
        found[name] = json.loads(answer.splitlines()[-1])
        planes[name] = dict(np.load(output))
    from textmargin.scale import TextFiles

    Y = np.stack([pq.read_table(source, columns=[name])[name].to_numpy() for name in TOPICS], axis=1)
    X = BagOfWords().fit_transform(TextFiles(source, text="text", label=",".join(TOPICS)))
    values = {name: objectives(X, Y, **own) for name, own in planes.items()}
    best = np.min(list(values.values()), axis=0)
    print(f"{arguments.documents:,} documents, {X.shape[1]:,} terms, {len(TOPICS)} topics; seconds")
    print(f"{'':18}{'words':>9}{'training':>10}{'CPU':>9}{'gap':>10}{'own GB':>8}")
    for name, one in found.items():
        times = f"{one['words']:9.1f}{one['training']:10.1f}{one['cpu']:9.1f}"
        print(f"{name:18}{times}{(values[name] / best - 1).max():10.1e}{one['own']:8.2f}")


if __name__ == "__main__":
    main()
