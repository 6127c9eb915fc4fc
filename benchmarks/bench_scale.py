"""What does it cost that texts lie in parts: on this machine's disk, or with workers? One good core is the
peer.

    python -m benchmarks.bench_scale cost --documents 1000000   # in memory, on disk, on Dask, by LIBLINEAR
    python -m benchmarks.bench_scale size --documents 10000000 --memory 8  # from files to decisions, on disk
    python -m benchmarks.bench_scale killed --documents 100000  # kill -9 at ten moments, and the same again
    python -m benchmarks.bench_scale killed --who driver        # on a cluster, its driver or a worker killed

Documents are planted (`planted.py`): 60 words of 500,000, ten topics. Each candidate of `cost` runs in a
process of its own, on a matrix that lies on disk; reading it into memory is not part of the seconds. A gap is
how far the worst topic's objective is above the best that anybody reached, as a share of it; LIBLINEAR
penalises the intercept and has an optimum of its own.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score

import textmargin
from textmargin import PriorSVC, TextClassifier, ThresholdClassifier
from textmargin._system.stages import log
from textmargin.scale.blocks import Blocks
from textmargin.scale.store import Store

from .measure import describe
from .planted import N_TERMS, PART, TOPICS, draw, make_block, make_part, make_topics, word_table, write

CANDIDATES = ("memory 1", "memory 2", "out of core 1", "out of core 2", "dask 1", "dask 2", "LIBLINEAR")
HELD_OUT = 20_000
N_KILLS = 10
EQUAL_GAP = 1e-4  # that LIBLINEAR is stopped at
TOLERANCES = (0.1, 0.03, 0.01, 1e-3)  # of LIBLINEAR; with 0.3 it misses that gap on a million of these texts


class Peak(threading.Thread):
    """The highest memory of this process from now on: all that is resident, and what is not a file that is
    mapped.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        Path("/proc/self/clear_refs").write_text("5")
        self.own = 0.0
        self.start()

    def run(self) -> None:
        while True:
            self.own = max(self.own, _own())
            time.sleep(0.02)

    @property
    def resident(self) -> float:
        return _gigabytes("VmHWM")


def _own() -> float:
    """What is not a mapped file: memory of this process, and what it shares with others."""
    return _gigabytes("RssAnon") + _gigabytes("RssShmem")


def _gigabytes(name: str, pid: int | str = "self") -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(name))) / 1e6


def matrix_folder(folder: Path, n_texts: int) -> Path:
    """The matrix and the topics of a planted corpus on disk, made once."""
    folder = folder / f"matrix-{n_texts}"
    if not (folder / "topics.npy").exists():
        sizes = [min(PART, n_texts - start) for start in range(0, n_texts, PART)]
        Blocks.from_matrices((make_block(*part) for part in enumerate(sizes)), folder=folder / "blocks")
        np.save(folder / "topics.npy", np.vstack([make_topics(*part) for part in enumerate(sizes)]))
    return folder


def open_blocks(folder: Path, n_jobs: int) -> Blocks:
    return Blocks(Store(folder / "blocks", {}), N_TERMS, n_jobs)


def run_candidate(arguments) -> None:
    """One candidate; prints what it took as JSON, and leaves its weights in a file."""
    folder, (kind, *number) = (
        matrix_folder(arguments.folder, arguments.documents),
        arguments.candidate.rsplit(" ", 1),
    )
    n_jobs = int(number[0]) if number and number[0].isdecimal() else 1
    Y = np.load(folder / "topics.npy")
    X = open_blocks(folder, n_jobs)
    solve = {"memory": in_memory, "out of core": out_of_core, "dask": on_dask, "LIBLINEAR": by_liblinear}[
        kind
    ]
    found = solve(X, Y, n_jobs)
    planes = found.pop("planes")
    np.savez(arguments.output, w=planes[0], b=planes[1])
    print(json.dumps(found))


def timed_fit(X, Y, n_jobs: int) -> dict:
    peak, began, used = Peak(), time.perf_counter(), time.process_time()
    model = PriorSVC(n_jobs=n_jobs).fit(X, Y)
    took, cpu = time.perf_counter() - began, time.process_time() - used
    return {
        "seconds": took,
        "cpu": cpu,
        "peak": peak.resident,
        "own": peak.own,
        "planes": (model.coef_, model.intercept_),
    }


def in_memory(X, Y, n_jobs: int) -> dict:
    return timed_fit(X[:], Y, n_jobs)


def out_of_core(X, Y, n_jobs: int) -> dict:
    return timed_fit(X, Y, n_jobs)


def on_dask(X, Y, n_jobs: int) -> dict:
    """Workers of one thread, each with its share of the rows in memory; theirs is part of the peak."""
    from dask.delayed import delayed

    from textmargin.scale import ClusterBlocks, connect

    cuts = [*range(0, X.shape[0], PART), X.shape[0]]
    paths = [str(path) for path in X.store.paths]
    with connect(workers=n_jobs, memory_limit=0) as client:
        pieces = [delayed(_read_rows, pure=False)(*paths, start, end) for start, end in pairwise(cuts)]
        blocks = ClusterBlocks(pieces, N_TERMS)
        found = timed_fit(blocks, Y, n_jobs)
        found["peak"] += sum(client.run(_gigabytes, "VmHWM").values())
        found["own"] += sum(client.run(_own).values())
    return found


def _read_rows(starts: str, entries: str, first: int, last: int):
    from textmargin.representations.drafts import ENTRY, StoredRows

    start = np.memmap(starts, np.int64, "r")[first : last + 1]
    return StoredRows(start - start[0], np.array(np.memmap(entries, ENTRY, "r")[start[0] : start[-1]]))


def by_liblinear(X, Y, n_jobs: int) -> dict:
    from .linear_peers import Optima, liblinear, solvers

    X = X[:]
    peers = {name: solve for name, solve in solvers(X).items() if "dual" in name and "False" not in name}
    solve = peers["LIBLINEAR 2.50 dual"] if liblinear is not None else peers["LinearSVC(dual=True)"]
    optima = Optima(X, Y, 1.0, True)
    for tol in TOLERANCES:
        peak, began, used = Peak(), time.perf_counter(), time.process_time()
        planes = solve(X, Y, 1.0, tol, True)
        took, cpu = time.perf_counter() - began, time.process_time() - used
        gap = optima.gap(planes, penalised=True)
        if gap <= EQUAL_GAP:
            break
    return {
        "seconds": took,
        "cpu": cpu,
        "peak": peak.resident,
        "own": peak.own,
        "gap": gap,
        "planes": (planes.w, planes.b),
    }


def cost(arguments) -> None:
    folder = matrix_folder(arguments.folder, arguments.documents)
    found = {}
    for candidate in arguments.candidates or CANDIDATES:
        with tempfile.TemporaryDirectory() as outputs:
            output = Path(outputs) / "planes.npz"
            command = [
                sys.executable,
                "-m",
                "benchmarks.bench_scale",
                "candidate",
                "--candidate",
                candidate,
                "--output",
                str(output),
            ]
            command += ["--documents", str(arguments.documents), "--folder", str(arguments.folder)]
            answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
            found[candidate] = json.loads(answer.splitlines()[-1])
            planes = np.load(output)
            found[candidate]["planes"] = planes["w"], planes["b"]
        print(f"{candidate}: {found[candidate]['seconds']:.1f} s", file=sys.stderr, flush=True)
    X, Y = open_blocks(folder, 2), np.load(folder / "topics.npy")
    ours = {name: objectives(X, Y, *one["planes"]) for name, one in found.items() if name != "LIBLINEAR"}
    best = np.min(list(ours.values()), axis=0) if ours else None
    print(f"{arguments.documents:,} documents, {X.row_counts().sum():,} entries, {Y.shape[1]} topics")
    print(f"{'':16}{'seconds':>9}{'CPU':>8}{'× memory':>10}{'gap':>10}{'peak GB':>9}{'own GB':>8}")
    for name, one in found.items():
        threads = name.rsplit(" ", 1)[-1] if name[-1].isdecimal() else "1"
        base = found.get(f"memory {threads}", one)["seconds"]
        gap = one.get("gap", float((ours[name] / best - 1).max()) if name in ours else np.nan)
        sizes = f"{one['peak']:9.2f}{one['own']:8.2f}"
        print(
            f"{name:16}{one['seconds']:9.1f}{one['cpu']:8.1f}{one['seconds'] / base:10.2f}{gap:10.1e}{sizes}"
        )


def objectives(X, Y, w, b) -> np.ndarray:
    """Of each topic, with a free intercept and C = 1."""
    missed = np.maximum(0, 1 - (2.0 * Y - 1) * (X.times(w) + b))
    return 0.5 * (w**2).sum(axis=1) + (missed**2).sum(axis=0)


class TimedSVC(PriorSVC):
    """A learner that says what its training took."""

    def fit(self, X, y, *others, **more):
        began = time.perf_counter()
        super().fit(X, y, *others, **more)
        self.seconds_ = time.perf_counter() - began
        return self


def limit_memory(n_bytes: float) -> str:
    """Have the system hold this process, and what it reads from disk, to so much memory; what came of it."""
    group = Path("/sys/fs/cgroup/memory/textmargin-bench")
    try:
        group.mkdir(exist_ok=True)
        (group / "memory.limit_in_bytes").write_text(str(int(n_bytes)))
        (group / "memory.max_usage_in_bytes").write_text("0")
        (group / "cgroup.procs").write_text(str(os.getpid()))
    except OSError as error:
        return f"not held to it by the system ({error.strerror})"
    return "held to it by the system, files that are mapped or written included"


def size(arguments) -> None:
    """All of it, in parts: from Parquet to a model with thresholds and decisions on the same texts."""
    from textmargin.scale.texts import TextFiles
    from textmargin.tables.parts import open_parts

    folder = write(arguments.folder, arguments.documents)
    memory = 1e9 * arguments.memory
    held = limit_memory(memory)
    peak, seconds = Peak(), {}
    clock = time.perf_counter
    with tempfile.TemporaryDirectory(dir=arguments.folder) as store:
        began = clock()
        parts = TextFiles(
            open_parts(folder, text="text", label=",".join(TOPICS)), folder=Path(store) / "parts"
        )
        parts.memory = int(memory)
        model = TextClassifier(learner=TimedSVC(), decision=ThresholdClassifier(utility=textmargin.T10U))
        with record_stages() as stages:
            model.fit(parts)
        took = clock() - began
        training = model.model_.estimator_.seconds_
        words = next(seconds for name, seconds in stages.items() if "columns" in name)
        seconds |= {"words": words, "training": training, "thresholds": took - words - training}
        disk = sum(path.stat().st_size for path in Path(store).rglob("*") if path.is_file()) / 1e9
        began = clock()
        for number in range(len(parts)):
            model.predict(parts.read(number))
        seconds["decisions"] = clock() - began
    held_out = make_part(10**6, HELD_OUT)
    truth = np.array([held_out[topic].to_numpy() for topic in TOPICS]).T
    decided = model.decide(held_out["text"].to_pylist()).accepted
    print(
        f"{arguments.documents:,} documents, {model.model_.estimator_.n_features_in_:,} terms; "
        f"{arguments.memory:g} GB: {held}"
    )
    for name, one in {**seconds, "all": sum(seconds.values())}.items():
        print(f"{name:12}{one:9.1f} s{1e6 * one / arguments.documents:9.1f} µs a document")
    print(
        f"memory at its peak {peak.own:.2f} GB of its own, {peak.resident:.2f} GB with mapped files; on "
        f"disk {disk:.2f} GB"
    )
    print(f"mean F1 on {HELD_OUT:,} others: {f1_score(truth, decided, average='macro'):.3f}")


@contextmanager
def record_stages() -> Iterator[dict[str, float]]:
    """The seconds of each stage that the package names."""
    seconds: dict[str, float] = {}

    class Record(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if getattr(record, "stage", None) == "end":
                name, took = record.getMessage().rsplit(": ", 1)
                seconds[name] = float(took.removesuffix(" s"))

    handler, level = Record(), log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield seconds
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def killed(arguments) -> None:
    """`textmargin train`, out of core or on a cluster: kill -9 ends it, or a worker, at ten random moments;
    the same model.
    """
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        source, words, table = write_csv(Path(place), arguments.documents)
        own = ["--memory", "300MB"]
        if arguments.who != "run":
            address, workers = stack.enter_context(running_cluster(2))
            own = ["--cluster", address]

        def command(output: str) -> list[str]:
            return [
                sys.executable,
                "-m",
                "textmargin",
                "train",
                str(source),
                *own,
                "--no-digests",
                "-o",
                str(Path(place, output)),
            ]

        began = time.perf_counter()
        subprocess.run(command("whole.tmm"), check=True, capture_output=True)
        whole = time.perf_counter() - began
        texts = [table[row].tobytes().decode() for row in words[:2000]]
        expected = textmargin.load(Path(place, "whole.tmm")).decision_function(texts)

        def is_same() -> bool:
            return np.array_equal(
                textmargin.load(Path(place, "killed.tmm")).decision_function(texts), expected
            )

        same, n_killed = [], 0
        while n_killed < N_KILLS:
            moment = rng.uniform(0, whole)
            began = time.perf_counter()
            process = subprocess.Popen(
                command("killed.tmm"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            try:
                process.wait(moment)
            except subprocess.TimeoutExpired:
                victim = rng.choice(workers()) if arguments.who == "worker" else process.pid
                os.kill(victim, signal.SIGKILL)
                ended = process.wait()
                n_killed += 1
                same.append(not ended and is_same())
                Path(place, "killed.tmm").unlink(missing_ok=True)
            else:  # it was done before that moment: begin again, with a moment inside what it takes now
                whole = min(whole, time.perf_counter() - began)
                Path(place, "killed.tmm").unlink()
                continue
            half = [
                path.name
                for path in Path(place).glob("*.tmm*")
                if path.name not in ("whole.tmm", "killed.tmm.parts")
            ]
            print(
                f"{arguments.who} killed after {moment:5.1f} of {whole:.1f} s; beside it: "
                f"{half or 'nothing'}",
                flush=True,
            )
        if arguments.who == "worker":
            print(f"the same scores to the last bit: {sum(same)} of {len(same)} runs that lost a worker")
            return
        subprocess.run(command("killed.tmm"), check=True, capture_output=True)
        print(f"the same scores to the last bit: {is_same()}")


def write_csv(folder: Path, n_texts: int) -> tuple[Path, np.ndarray, np.ndarray]:
    """A file of texts of one topic each; their words by number, and the table of all words."""
    source, table = folder / "texts.csv", word_table()
    words, has = draw(0, n_texts)
    with source.open("w") as file:
        file.write("text,topic\n")
        for row, own in zip(words, has, strict=True):
            file.write(
                f"{table[row].tobytes().decode()},{TOPICS[int(own.argmax())] if own.any() else 'none'}\n"
            )
    return source, words, table


@contextmanager
def running_cluster(n_workers: int) -> Iterator[tuple[str, Callable[[], list[int]]]]:
    """A scheduler with workers in processes of their own, which outlive whoever uses them; and what tells
    their numbers.
    """
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield cluster.scheduler_address, lambda: [*client.run(os.getpid).values()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("section", choices=["cost", "candidate", "size", "killed"])
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--candidates", nargs="*", help=f"of cost, some of {CANDIDATES}")
    parser.add_argument("--candidate", help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help=argparse.SUPPRESS)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "textmargin-bench", help="of the corpora"
    )
    parser.add_argument("--who", choices=["run", "driver", "worker"], default="run", help="of killed: whom")
    parser.add_argument("--memory", type=float, default=8, help="of size: gigabytes")
    arguments = parser.parse_args()
    if arguments.section == "candidate":
        run_candidate(arguments)
        return
    print(describe("textmargin", "dask", "scikit-learn", "scipy", "numpy"))
    {"cost": cost, "size": size, "killed": killed}[arguments.section](arguments)


if __name__ == "__main__":
    main()
