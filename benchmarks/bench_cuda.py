"""How fast is the subsequence kernel on a GPU, and how exact? Beside the compiled core, on Reuters documents
of all lengths.

    python -m benchmarks.bench_cuda                  # all of it, about three minutes on an H200
    python -m benchmarks.bench_cuda corpus table     # or some parts: corpus, table, estimator

corpus and table compare with the compiled core; estimator is `KernelSVC` on all of ModApte, from texts to 90
models to decisions.

A cell is a pair of positions with all its levels; GCUPS are 10⁹ cells a second, and a kernel matrix of texts
with themselves has (Σ length)²/2 cells. Times are those a caller waits, from texts to the normalised matrix
in memory; "on the GPU" are those of the recurrence alone. Errors are the largest relative ones against the
compiled core in double precision.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from textmargin import SubsequenceKernel, load_dataset
from textmargin.datasets.reuters import modapte_topics
from textmargin.experiments._news import as_in_the_paper
from textmargin.experiments.table import published
from textmargin.representations import _device

LARGEST = list(published("strings", "modapte"))
TOL = 1e-3  # LIBSVM's
C = 2.0  # what words prefer on this task, see docs/reproductions.md
N_SAMPLE = 300
TABLE = [(length, decay) for length in (1, 3, 5, 8, 14) for decay in (0.01, 0.1, 0.5, 0.9, 1.0)]
TEXT_LENGTHS = (50, 500, 5000, 20000)


def modapte() -> tuple[list[str], list[str]]:
    """The training and test texts of the ModApte split, as the paper reads them."""
    news = load_dataset("reuters21578")
    train, test = ([as_in_the_paper(text) for text in news.part(split).texts] for split in ("train", "test"))
    return train, test


def kernel(length: int = 5, decay: float = 0.5, **options: Any) -> SubsequenceKernel:
    """What is measured."""
    return SubsequenceKernel(length, decay, backend=options.pop("backend", "cuda"), progress=False, **options)


def timed(job: Callable[..., Any], *arguments: Any) -> tuple[Any, float, float]:
    """What a job gives, the seconds it takes, and those of the recurrence on the GPU."""
    on_gpu: list[float] = []

    def compare(*details: Any) -> None:
        start = time.perf_counter()
        plain(*details)
        on_gpu.append(time.perf_counter() - start)

    plain, start = _device.Comparison.compare, time.perf_counter()
    _device.Comparison.compare = compare  # type: ignore[method-assign, assignment]
    try:
        return job(*arguments), time.perf_counter() - start, sum(on_gpu)
    finally:
        _device.Comparison.compare = plain  # type: ignore[method-assign]


def cells(X: list[str], Y: list[str] | None = None) -> float:
    """Pairs of positions."""
    if Y is not None:
        return float(sum(map(len, X))) * sum(map(len, Y))
    lengths = np.sort([float(len(text)) for text in X])
    return float(lengths @ np.cumsum(lengths))


def worst(K: np.ndarray, exact: np.ndarray, least: float = 0.0) -> float:
    """The largest relative error of values above the least."""
    return float(np.max(np.abs(K - exact)[exact > least] / exact[exact > least], initial=0.0))


def sample(texts: list[str], n: int) -> list[str]:
    """n texts at even ranks of length, the longest among them."""
    by_length = sorted(texts, key=len)
    return [by_length[round(k * (len(texts) - 1) / (n - 1))] for k in range(n)]


def corpus() -> None:
    """The whole corpus, train and test; and a sample of it against the compiled core."""
    train, test = modapte()
    lengths = [len(text) for text in train + test]
    print(
        f"{len(train):,} + {len(test):,} texts of {min(lengths)} to {max(lengths):,} characters, mean "
        f"{np.mean(lengths):.0f}"
    )
    few = sample(train, N_SAMPLE)
    kernel()(few)  # compiles, and takes what memory it needs
    total = 0.0
    for name, texts, others in (("train", train, None), ("test × train", test, train)):
        K, waited, on_gpu = timed(kernel(), texts, others)
        n = cells(texts, others)
        total += waited
        line = (
            f"{name:13} {K.shape[0]:>6,} × {K.shape[1]:,} {n:.2e} cells {waited:7.2f} s, "
            f"{n / waited / 1e9:5.0f} GCUPS; "
        )
        print(
            f"{line}on the GPU {on_gpu:6.2f} s, {n / on_gpu / 1e9:5.0f} GCUPS; NaN: {int(np.isnan(K).sum())}",
            flush=True,
        )
    print(f"whole corpus {total:.2f} s")
    exact, waited, _ = timed(kernel(precision="double", backend="cpu"), few)
    _, single, _ = timed(kernel(backend="cpu"), few)
    speed = cells(few) / single / 1e9
    print(
        f"{N_SAMPLE} texts on the processor: double {waited:.2f} s, single {single:.2f} s, {speed:.1f} GCUPS"
    )
    for precision in ("single", "double"):
        runs = [timed(kernel(precision=precision), few) for _ in range(3)]
        same = all(np.array_equal(runs[0][0], run[0]) for run in runs)
        speed = cells(few) / min(run[2] for run in runs) / 1e9
        error = worst(runs[0][0], exact)
        print(
            f"  {precision}: error {error:.1e}, {speed:.0f} GCUPS on the GPU; three runs agree to the "
            f"bit: {same}"
        )
    several, exactly = kernel(weights=[1.0] * 5), kernel(weights=[1.0] * 5, precision="double", backend="cpu")
    print(f"  sum of lengths 1 to 5: error {worst(several(few), exactly(few)):.1e}")
    fitted = kernel().fit(train[:3000])
    fitted.transform(test[:1])
    for n in (1, 50, 500):
        _, waited, _ = timed(fitted.transform, test[:n])
        print(f"{n} new texts against 3,000 that stay on the GPU: {1e3 * waited:.1f} ms")


def table() -> None:
    """Length of subsequences × decay × length of texts."""
    joined = " ".join(modapte()[0])
    print(f"{'':16}" + "".join(f"{f'texts of {n:,}':^35}" for n in TEXT_LENGTHS))
    print(f"{'length  decay':16}" + f"{'GCUPS':>9}{'single':>12}{'double':>12}  " * len(TEXT_LENGTHS))
    failures = 0
    for length, decay in TABLE:
        print(f"{length:>6}{decay:>7}   ", end="")
        for n in TEXT_LENGTHS:
            n_texts = max(50, min(9000, 900_000 // n))
            X = [joined[k * n : (k + 1) * n] for k in range(n_texts)]
            few = X[:: max(1, n_texts // (8 if n < 10_000 else 2))]
            kernel(length, decay)(few)  # compiles
            _, _, on_gpu = timed(kernel(length, decay), X)
            exact = kernel(length, decay, precision="double", backend="cpu")(few)
            single, double = (
                kernel(length, decay, precision=precision)(few) for precision in ("single", "double")
            )
            failures += int(not (np.isfinite(single).all() and np.isfinite(double).all()))
            errors = f"{worst(single, exact, 1e-20):>12.1e}{worst(double, exact, 1e-100):>12.1e}"
            print(f"{cells(X) / on_gpu / 1e9:>9.0f}{errors}  ", end="", flush=True)
        print()
    print(f"matrices with a value that is not finite: {failures}")


class Clock:
    """Prints what has been done and the seconds it took, up to the end of what the GPU was told to do."""

    def __init__(self) -> None:
        self.last = self.begin = time.perf_counter()

    def __call__(self, what: str) -> float:
        import cupy

        cupy.cuda.get_current_stream().synchronize()
        now = time.perf_counter()
        seconds, self.last = now - self.last, now
        print(f"{what:60} {seconds:8.3f} s", flush=True)
        return seconds


def show_f1(topics: list[str], Y: Any, accepted: Any) -> None:
    """Of the ten largest topics, and of all."""
    by_topic = dict(zip(topics, f1_score(Y, accepted, average=None, zero_division=0), strict=True))
    largest = {topic: by_topic[topic] for topic in LARGEST if topic in by_topic}
    micro = f1_score(Y, accepted, average="micro", zero_division=0)
    print("  F1 " + ", ".join(f"{topic} {value:.3f}" for topic, value in largest.items()))
    print(
        f"  mean of these {np.mean(list(largest.values())):.4f}, macro over all "
        f"{np.mean(list(by_topic.values())):.4f}, "
        f"micro {micro:.4f}",
        flush=True,
    )


def labelled(
    n_texts: int | None = None, n_characters: int | None = None
) -> tuple[list[str], Any, list[str], Any, list[str]]:
    """Training texts and topics, test texts and topics, and the names of those topics that both have."""
    news = load_dataset("reuters21578")
    topics = modapte_topics(news)
    parts = [news.part(split) for split in ("train", "test")]
    texts = [[as_in_the_paper(text)[:n_characters] for text in part.texts[:n_texts]] for part in parts]
    Y, Y_test = (np.asarray(part.indicator(topics)[0])[:n_texts] for part in parts)
    there = np.flatnonzero(Y.any(axis=0) & Y_test.any(axis=0))
    return texts[0], Y[:, there], texts[1], Y_test[:, there], [topics[k] for k in there]


def estimator(n_texts: int | None = None, n_characters: int | None = None) -> None:
    """All of ModApte through `KernelSVC`."""
    from textmargin import KernelSVC

    train, Y, test, Y_test, topics = labelled(n_texts, n_characters)
    for fit_intercept in (False, True):
        clock = Clock()
        model = KernelSVC(kernel(), C=C, fit_intercept=fit_intercept, tol=TOL).fit(train, Y)
        clock(f"KernelSVC, intercept {fit_intercept}: fit, {model.support_.size:,} support vectors")
        accepted = model.decision_function(test) >= 0
        clock("  decision_function")
        show_f1(topics, Y_test, accepted)


PARTS = {"corpus": corpus, "table": table, "estimator": estimator}

if __name__ == "__main__":
    import cupy

    print(f"{cupy.cuda.runtime.getDeviceProperties(0)['name'].decode()}, CuPy {cupy.__version__}", flush=True)
    failures = []
    for part in sys.argv[1:] or PARTS:
        start = time.perf_counter()
        try:
            PARTS[part]()
        except Exception:  # the figures of the other parts are wanted all the same
            traceback.print_exc()
            failures.append(part)
        print(f"[{part}: {time.perf_counter() - start:.0f} s]\n", flush=True)
    sys.exit(f"failed: {', '.join(failures)}" if failures else 0)
