"""What does it cost that texts lie in parts: on this machine's disk, or with workers? One good core is the peer.

    python -m benchmarks.bench_scale cost --documents 1000000       # ten topics in memory, out of core, on Dask, by LIBLINEAR
    python -m benchmarks.bench_scale size --documents 10000000 --memory 8GB   # from files to a model and decisions, out of core
    python -m benchmarks.bench_scale killed --documents 100000      # kill -9 at ten random moments, then the same command again

Documents are planted (`planted.py`): 60 words of 500,000, ten topics. Each candidate of `cost` runs in a process of its own, on a
matrix that lies on disk; reading it into memory is not part of the seconds. A gap is how far the worst topic's objective is above
the best that anybody reached, as a share of it; LIBLINEAR penalises the intercept and has an optimum of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from textmargin import PriorSVC
from textmargin.scale.blocks import Blocks
from textmargin.scale.store import Store

from .measure import describe
from .planted import N_TERMS, PART, make_block, make_topics

CANDIDATES = ("memory 1", "memory 2", "out of core 1", "out of core 2", "dask 1", "dask 2", "LIBLINEAR")
EQUAL_GAP = 1e-4  # that LIBLINEAR is stopped at


class Peak(threading.Thread):
    """The highest memory of this process from now on: all that is resident, and what is not a file that is mapped."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        Path("/proc/self/clear_refs").write_text("5")
        self.own = 0.0
        self.start()

    def run(self) -> None:
        while True:
            self.own = max(self.own, _gigabytes("RssAnon"))
            time.sleep(0.02)

    @property
    def resident(self) -> float:
        return _gigabytes("VmHWM")


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
    folder, (kind, *number) = matrix_folder(arguments.folder, arguments.documents), arguments.candidate.rsplit(" ", 1)
    n_jobs = int(number[0]) if number and number[0].isdecimal() else 1
    Y = np.load(folder / "topics.npy")
    X = open_blocks(folder, n_jobs)
    found = {"memory": in_memory, "out of core": out_of_core, "dask": on_dask, "LIBLINEAR": by_liblinear}[kind](
        X, Y, n_jobs, folder
    )
    planes = found.pop("planes")
    np.savez(arguments.output, w=planes[0], b=planes[1])
    print(json.dumps(found))


def timed_fit(X, Y, n_jobs: int) -> dict:
    peak, began, used = Peak(), time.perf_counter(), time.process_time()
    model = PriorSVC(n_jobs=n_jobs).fit(X, Y)
    took, cpu = time.perf_counter() - began, time.process_time() - used
    return {"seconds": took, "cpu": cpu, "peak": peak.resident, "own": peak.own, "planes": (model.coef_, model.intercept_)}


def in_memory(X, Y, n_jobs: int, folder: Path) -> dict:
    return timed_fit(X[:], Y, n_jobs)


def out_of_core(X, Y, n_jobs: int, folder: Path) -> dict:
    return timed_fit(X, Y, n_jobs)


def on_dask(X, Y, n_jobs: int, folder: Path) -> dict:
    raise NotImplementedError


def by_liblinear(X, Y, n_jobs: int, folder: Path) -> dict:
    from .linear_peers import Optima, liblinear, solvers

    X = X[:]
    peers = {name: solve for name, solve in solvers(X).items() if "dual" in name and "False" not in name}
    solve = peers["LIBLINEAR 2.50 dual"] if liblinear is not None else peers["LinearSVC(dual=True)"]
    optima = Optima(X, Y, 1.0, True)
    for tol in (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3):
        peak, began = Peak(), time.perf_counter()
        planes = solve(X, Y, 1.0, tol, True)
        took = time.perf_counter() - began
        gap = optima.gap(planes, penalised=True)
        if gap <= EQUAL_GAP:
            break
    found = {"seconds": took, "cpu": took, "peak": peak.resident, "own": peak.own, "gap": gap, "planes": (planes.w, planes.b)}
    return found


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
    best = np.min(list(ours.values()), axis=0)
    print(f"{arguments.documents:,} documents, {X.row_counts().sum():,} entries, {Y.shape[1]} topics")
    print(f"{'':16}{'seconds':>9}{'CPU':>8}{'× memory':>10}{'gap':>10}{'peak GB':>9}{'own GB':>8}")
    for name, one in found.items():
        threads = name.rsplit(" ", 1)[-1] if name[-1].isdecimal() else "1"
        base = found.get(f"memory {threads}", one)["seconds"]
        gap = one.get("gap", float((ours[name] / best - 1).max()) if name in ours else np.nan)
        print(
            f"{name:16}{one['seconds']:9.1f}{one['cpu']:8.1f}{one['seconds'] / base:10.2f}{gap:10.1e}{one['peak']:9.2f}{one['own']:8.2f}"
        )


def objectives(X, Y, w, b) -> np.ndarray:
    """Of each topic, with a free intercept and C = 1."""
    missed = np.maximum(0, 1 - (2.0 * Y - 1) * (X.times(w) + b))
    return 0.5 * (w**2).sum(axis=1) + (missed**2).sum(axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("section", choices=["cost", "candidate", "size", "killed"])
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--candidates", nargs="*", help=f"of cost, some of {CANDIDATES}")
    parser.add_argument("--candidate", help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "textmargin-bench", help="of the corpora")
    arguments = parser.parse_args()
    if arguments.section == "candidate":
        run_candidate(arguments)
        return
    print(describe("textmargin", "dask", "scikit-learn", "scipy", "numpy"))
    {"cost": cost}[arguments.section](arguments)


if __name__ == "__main__":
    main()
