"""Does training on texts in parts give the same model, at what cost, and what if a worker dies?

    python -m benchmarks.bench_scale equality                       # Reuters' 90 topics: 1, 2, 7 and 50 parts, one worker and two
    python -m benchmarks.bench_scale size --documents 500000        # a planted corpus from Parquet: seconds, memory, F1
    python -m benchmarks.bench_scale speedup --documents 3000000 --steps 2   # one worker against two, training passes
    python -m benchmarks.bench_scale killed                         # a worker killed in the middle: the same coefficients

Workers are processes of one thread with a limit of 2 GB each, numeric libraries on one thread.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from dask import delayed
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import f1_score

import textmargin
from textmargin import TextClassifier, load_dataset
from textmargin.datasets.reuters import modapte_topics
from textmargin.labels import ClassLabels
from textmargin.scale import BagOfWords, Blocks, PriorSVC, ThresholdClassifier, connect, predict_parquet
from textmargin.scale._driver import Passes

from .measure import describe
from .planted import N_TERMS, PART, TOPICS, make_block, make_part, make_topics, write

LIMIT = "2GB"
HELD_OUT = 20_000
KINDS = ("GradientRequest", "ProductRequest", "DirectionRequest", "PlaneRequest")


def peak_gigabytes(client) -> list[float]:
    """The highest resident memory of each worker so far."""
    return [kilobytes / 1e6 for kilobytes in client.run(_high_water).values()]


def _high_water() -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


@dataclass(frozen=True)
class Pass:
    """What one pass over all parts was for, and how long it took."""

    kinds: Counter
    seconds: float


@contextmanager
def record_passes():
    """The passes made inside the block."""
    passes: list[Pass] = []
    run = Passes.run

    def timed(self, requests):
        began = time.perf_counter()
        answers = run(self, requests)
        passes.append(Pass(Counter(type(request).__name__ for request in requests), time.perf_counter() - began))
        return answers

    Passes.run = timed
    try:
        yield passes
    finally:
        Passes.run = run


def distance(model, other) -> float:
    """The largest difference of two models' weights and intercepts."""
    return max(np.abs(model.coef_ - other.coef_).max(), np.abs(model.intercept_ - other.intercept_).max())


def reuters():
    corpus = load_dataset("reuters21578")
    train = corpus.part("train")
    return textmargin.BagOfWords("log-tf-idf", analyzer="letters").fit_transform(train.texts), train.indicator(
        modapte_topics(corpus)
    )[0]


def equality(_arguments) -> None:
    X, Y = reuters()
    began = time.perf_counter()
    memory = textmargin.PriorSVC().fit(X, Y)
    print(f"{X.shape[0]} texts × {X.shape[1]} terms, {Y.shape[1]} topics; in memory {time.perf_counter() - began:.1f} s")
    print(f"{'workers':>8}{'parts':>7}{'seconds':>9}{'passes':>8}{'off by':>10}{'topics with other steps':>25}")
    for n_workers in (1, 2):
        with connect(workers=n_workers, memory_limit=LIMIT):
            for n_parts in (1, 2, 7, 50):
                began = time.perf_counter()
                with record_passes() as passes:
                    model = PriorSVC().fit(Blocks.split(X, n_parts), Y)
                took, differ = time.perf_counter() - began, int((model.n_iter_ != memory.n_iter_).sum())
                print(f"{n_workers:8}{n_parts:7}{took:9.1f}{len(passes):8}{distance(model, memory):10.1e}{differ:25}", flush=True)


def blocks_of(folder: Path):
    """Terms and blocks of a folder of Parquet files, the labels, and the seconds that each took."""
    import dask.dataframe as dd

    table = dd.read_parquet(folder)
    began = time.perf_counter()
    words = BagOfWords().fit(table["text"])
    counted = time.perf_counter()
    X = words.transform(table["text"]).persist()
    return words, X, table[TOPICS], counted - began, time.perf_counter() - counted


def size(arguments) -> None:
    folder = write(arguments.folder, arguments.documents)
    with connect(workers=arguments.workers, memory_limit=LIMIT) as client:
        words, X, y, vocabulary, blocks = blocks_of(folder)
        peak_before = peak_gigabytes(client)
        began = time.perf_counter()
        with record_passes() as passes:
            model = PriorSVC(verbose=arguments.verbose).fit(X, y)
        training = time.perf_counter() - began
        peak_training = peak_gigabytes(client)
        began = time.perf_counter()
        decision = ThresholdClassifier(FrozenEstimator(model), scores="train").fit(X, y)
        thresholds = time.perf_counter() - began
        labels, counts = ClassLabels.of(TOPICS, multilabel=True), y.sum().compute().to_numpy()
        classifier = TextClassifier().set_fitted(words.in_memory(), decision.in_memory(), labels, arguments.documents, counts)
        began = time.perf_counter()
        with tempfile.TemporaryDirectory(dir=arguments.folder) as decisions:
            summary = predict_parquet(classifier, folder, decisions, keep=[])
        prediction = time.perf_counter() - began
        peak = peak_gigabytes(client)
    held_out = make_part(10**6, HELD_OUT).to_pandas()
    scores = classifier.model_.estimator_.decision_function(classifier.representation_.transform(held_out["text"]))
    truth = held_out[TOPICS].to_numpy()
    f1, f1_thresholds = (f1_score(truth, scores >= cut, average=None) for cut in (0, classifier.model_.thresholds_))
    products = [p.seconds for p in passes if p.kinds["ProductRequest"]]
    steps = int(model.n_iter_.max())
    total = vocabulary + blocks + training
    rows = {
        "documents, parts, terms": f"{arguments.documents:,}, {len(X)}, {X.n_columns:,}",
        "vocabulary": f"{vocabulary:.1f} s",
        "blocks": f"{blocks:.1f} s",
        "training": f"{training:.1f} s in {len(passes)} passes",
        "Newton steps, time of each": f"{steps}, {training / steps:.2f} s",
        "pass with a Hessian product, median": f"{statistics.median(products):.3f} s",
        "any pass, median": f"{statistics.median(p.seconds for p in passes):.3f} s",
        "thresholds": f"{thresholds:.1f} s",
        "decisions, Parquet to Parquet": f"{prediction:.1f} s, {summary.n_texts:,} texts in {summary.n_parts} parts",
        "vocabulary to training, per document": f"{1e6 * total / arguments.documents:.1f} µs",
        "training per document, step and topic": f"{1e9 * training / arguments.documents / model.n_iter_.sum():.0f} ns",
        "peak memory of a worker": f"{max(peak_before):.2f} GB, after training {max(peak_training):.2f}, then {max(peak):.2f}",
        "F1 on held-out texts, per topic": " ".join(f"{value:.3f}" for value in f1),
        "mean F1, and with thresholds for T10U": f"{f1.mean():.3f}, {f1_thresholds.mean():.3f}",
    }
    for name, value in rows.items():
        print(f"{name:40}{value}")


def speedup(arguments) -> None:
    sizes = [min(PART, arguments.documents - start) for start in range(0, arguments.documents, PART)]
    seconds: dict[int, list] = {}
    models = {}
    for n_workers in (1, 2):
        with connect(workers=n_workers, memory_limit=LIMIT):
            began = time.perf_counter()
            X = Blocks.of([delayed(make_block)(*part) for part in enumerate(sizes)], n_columns=N_TERMS).persist()
            y = [delayed(make_topics)(*part) for part in enumerate(sizes)]
            made = time.perf_counter() - began
            with record_passes() as passes:
                models[n_workers] = PriorSVC(max_iter=arguments.steps).fit(X, y)
            seconds[n_workers] = [made, sum(p.seconds for p in passes)]
            seconds[n_workers] += [sum(p.seconds for p in passes if p.kinds[kind]) for kind in KINDS]
    print(f"{arguments.documents:,} documents, {len(passes)} passes; models differ by {distance(models[1], models[2]):.1e}")
    print(f"{'':34}{'one worker':>12}{'two':>9}{'speed-up':>10}")
    names = ["blocks made", "all training passes", *(f"passes with a {kind}" for kind in KINDS)]
    for name, one, two in zip(names, seconds[1], seconds[2], strict=True):
        print(f"{name:34}{one:12.1f}{two:9.1f}{one / two:10.2f}")


def killed(_arguments) -> None:
    X, Y = reuters()
    with connect(workers=2, memory_limit=LIMIT) as client:
        whole = PriorSVC().fit(Blocks.split(X, 7), Y)
        victim = next(iter(client.run(os.getpid).values()))
        with record_passes() as passes:
            began = time.perf_counter()
            timer = threading.Thread(target=_kill_after, args=(passes, 30, victim))
            timer.start()
            model = PriorSVC().fit(Blocks.split(X, 7), Y)
            took = time.perf_counter() - began
        timer.join()
        left = set(client.run(os.getpid).values())
    print(f"worker {victim} killed after 30 of {len(passes)} passes; still there: {victim in left}; {took:.1f} s")
    print(f"models differ by {distance(model, whole):.1e}")


def _kill_after(passes: list, n: int, pid: int) -> None:
    while len(passes) < n:
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("section", choices=["equality", "size", "speedup", "killed"])
    parser.add_argument("--documents", type=int, default=500_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=50, help="of Newton's method, in speedup")
    parser.add_argument("--verbose", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "textmargin-bench", help="of the corpora")
    arguments = parser.parse_args()
    print(describe("textmargin", "dask", "scikit-learn", "scipy", "numpy"))
    print(f"workers of one thread, {LIMIT} each")
    {"equality": equality, "size": size, "speedup": speedup, "killed": killed}[arguments.section](arguments)


if __name__ == "__main__":
    main()
