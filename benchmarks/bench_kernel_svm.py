"""What does the lazy kernel machine save, and what do prior scores add? On the task of Lodhi et al. (2002), ten random splits.

    python -m benchmarks.bench_kernel_svm              # all of it, about 6 minutes on two cores
    python -m benchmarks.bench_kernel_svm task prior   # or some parts of it

470 Reuters documents of four topics, 380 to train on and 90 to test, subsequences of 5 characters, λ = 0.5, C = 1. Kernel values
are counted as pairs: for `KernelSVC` those compared in training and in prediction, for `SVC(kernel=callable)` those it asks its
callable for, n² in training and n·n_test in prediction, for each topic.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
from sklearn.metrics import average_precision_score, f1_score
from sklearn.svm import SVC

from textmargin import KernelSVC, SubsequenceKernel
from textmargin.experiments.table import published

from .bench_ssk import N_DRAWN, papers_documents
from .measure import describe

N_TEST = {topic: row["test"] for topic, row in published("strings", "documents").items()}
PUBLISHED_F1 = {topic: published("strings", "2")[f"{topic}, 5 S-K"]["F1"] for topic in N_TEST}
KEYWORDS = {
    "earn": ["profit", "dividend", "net", "loss", "shr"],
    "acq": ["acquire", "acquisition", "merger", "stake", "takeover"],
    "crude": ["oil", "crude", "barrel", "opec", "petroleum"],
    "corn": ["corn", "maize", "grain", "crop", "feed"],
}
N_SPLITS = 10


def splits(n_test: dict[str, int], n: int = N_SPLITS):
    """Indices of training and test documents, so many of each topic to test."""
    topics = np.repeat(list(N_DRAWN), list(N_DRAWN.values()))
    for seed in range(n):
        rng = np.random.default_rng(seed)
        test = np.concatenate([rng.choice(np.flatnonzero(topics == topic), k, replace=False) for topic, k in n_test.items()])
        yield np.setdiff1d(np.arange(topics.size), test), np.sort(test)


def indicator() -> np.ndarray:
    """Which document has which topic."""
    return np.repeat(np.eye(len(N_DRAWN), dtype=int), list(N_DRAWN.values()), axis=0)


def task() -> None:
    """The same machine from fewer kernel values."""
    texts, Y = np.array(papers_documents(), dtype=object), indicator()
    kernel = SubsequenceKernel(5, 0.5, progress=False)
    K = kernel(list(texts))
    print(describe("textmargin", "scikit-learn", "numpy"))
    print(f"\n{'':6}{'pairs, four topics':>30}{'one topic':>20}{'seconds':>24}{'largest difference':>24}{'decisions':>12}")
    print(
        f"{'split':>6}{'KernelSVC':>12}{'SVC':>9}{'share':>9}{'share, mean':>20}"
        f"{'KernelSVC':>12}{'SVC':>6}{'ratio':>6}{'of scores':>24}{'that differ':>12}"
    )
    rows, f1 = [], []
    for number, (train, test) in enumerate(splits(N_TEST)):
        start = time.perf_counter()
        model = KernelSVC(kernel).fit(list(texts[train]), Y[train])
        scores = model.decision_function(list(texts[test]))
        lazy = time.perf_counter() - start
        start = time.perf_counter()
        for k in range(Y.shape[1]):
            SVC(kernel=kernel).fit(list(texts[train]), Y[train, k]).decision_function(list(texts[test]))
        eager = time.perf_counter() - start
        whole = [SVC(kernel="precomputed", tol=1e-6).fit(K[np.ix_(train, train)], y) for y in Y[train].T]
        expected = np.column_stack([machine.decision_function(K[np.ix_(test, train)]) for machine in whole])
        asked = train.size**2 + train.size * test.size
        evaluated = model.n_kernel_evaluations_ + test.size * model.support_.size
        alone = []
        for y in Y[train].T:  # the same texts by number, so that only the counting costs time
            one = KernelSVC(lambda A, B: K[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))]).fit(train[:, None], y)
            alone.append((one.n_kernel_evaluations_ + test.size * one.support_.size) / asked)
        differ = int(((scores >= 0) != (expected >= 0)).sum())
        rows.append((evaluated / (4 * asked), np.mean(alone), lazy, eager, np.abs(scores - expected).max(), differ))
        f1.append([f1_score(Y[test, k], scores[:, k] >= 0) for k in range(4)])
        print(
            f"{number:>6}{evaluated:>12,}{4 * asked:>9,}{rows[-1][0]:>9.3f}{rows[-1][1]:>20.3f}"
            f"{lazy:>12.1f}{eager:>6.1f}{eager / lazy:>6.1f}{rows[-1][4]:>24.1e}{differ:>12}",
            flush=True,
        )
    share, alone_share, lazy, eager, difference, differ = (np.array(column) for column in zip(*rows, strict=True))
    print(
        f"{'':6}{'':21}{share.mean():>9.3f}{alone_share.mean():>20.3f}{statistics.median(lazy):>12.1f}"
        f"{statistics.median(eager):>6.1f}{statistics.median(eager / lazy):>6.1f}{difference.max():>24.1e}{differ.sum():>12.0f}"
    )
    print("\nF1, mean ± standard deviation (published): ", end="")
    for k, topic in enumerate(N_DRAWN):
        found = np.array(f1)[:, k]
        print(f"{topic} {found.mean():.3f} ± {found.std():.3f} ({PUBLISHED_F1[topic]:.3f})", end="  ")
    print()


def keyword_scores(words: list[str]):
    """How often the words occur, on a logarithmic scale."""

    def scores(texts: list[str]) -> np.ndarray:
        return np.log1p([sum(text.split().count(word) for word in words) for text in texts])

    return scores


def prior() -> None:
    """Twenty training documents a category, with and without a score from five keywords each."""
    texts, Y = np.array(papers_documents(), dtype=object), indicator()
    kernel = SubsequenceKernel(5, 0.5, progress=False)
    known = {k: keyword_scores(words) for k, words in enumerate(KEYWORDS.values())}
    candidates = {"kernel alone": KernelSVC(kernel)}
    for trust in ("auto", "nonneg", "ridge", "free", "fixed"):
        candidates[f"keywords, {trust}"] = KernelSVC(kernel, prior_scores=known, trust=trust)
    n_test = {topic: n - 20 for topic, n in N_DRAWN.items()}
    results = {name: [] for name in candidates}
    keywords_alone = []
    for train, test in splits(n_test):
        for name, model in candidates.items():
            scores = model.fit(list(texts[train]), Y[train]).decision_function(list(texts[test]))
            results[name].append((f1_score(Y[test], scores >= 0, average="macro"), average_precision_score(Y[test], scores)))
        z = np.column_stack([score(texts[test]) for score in known.values()])
        keywords_alone.append(average_precision_score(Y[test], z))
    print(f"\n80 training documents, {test.size} to test, {N_SPLITS} splits; mean over four topics")
    print(f"{'':20}{'macro F1':>18}{'better in':>11}{'average precision':>20}{'better in':>11}")
    plain = np.array(results["kernel alone"])
    for name, found in results.items():
        found = np.array(found)
        wins = (found > plain).sum(axis=0)
        print(f"{name:20}", end="")
        for k, width in ((0, 10), (1, 12)):
            better = f"{wins[k]:>8}/{N_SPLITS}" if name != "kernel alone" else f"{'':11}"
            print(f"{found[:, k].mean():>{width}.3f} ± {found[:, k].std():.3f}{better}", end="")
        print()
    print(f"{'keywords alone':20}{'':29}{np.mean(keywords_alone):>12.3f} ± {np.std(keywords_alone):.3f}")


def main() -> None:
    """The parts that were asked for."""
    for part in sys.argv[1:] or ["task", "prior"]:
        {"task": task, "prior": prior}[part]()


if __name__ == "__main__":
    main()
