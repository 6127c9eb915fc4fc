"""What does the lazy kernel machine save, and what do prior scores add? On the task of Lodhi et al. (2002),
ten random splits. How fast are all topics of Reuters-21578 (ModApte) learnt over a Gram matrix at hand, and a
grid of costs over it?

    python -m benchmarks.bench_kernel_svm              # all of it, about 10 minutes on two cores
    python -m benchmarks.bench_kernel_svm task gram    # or some of its parts: task, prior, gram, grid

*gram* takes CPU seconds of one thread for 90 topics over words (log-tf-idf) and over 4-grams, beside
`SVC(kernel="precomputed")`, one topic after another, at its own tol of 1e-3; decisions are those on the test
texts. *grid* takes eight values of C.

*task*, *prior*: 470 Reuters documents of four topics, 380 to train on and 90 to test, subsequences of 5
characters, λ = 0.5, C = 1. Kernel values are counted as pairs: for `KernelSVC` those compared in training and
in prediction, for `SVC(kernel=callable)` those it asks its callable for, n² in training and n·n_test in
prediction, for each topic.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
from sklearn.metrics import average_precision_score, f1_score
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from textmargin import BagOfWords, KernelSVC, SpectrumKernel, SubsequenceKernel, load_dataset
from textmargin.datasets.reuters import modapte_topics
from textmargin.experiments.table import published

from .bench_ssk import N_DRAWN, papers_documents
from .measure import describe, ratio, seconds

N_TEST = {topic: row["test"] for topic, row in published("strings", "documents").items()}
PUBLISHED_F1 = {topic: published("strings", "2")[f"{topic}, 5 S-K"]["F1"] for topic in N_TEST}
KEYWORDS = {
    "earn": ["profit", "dividend", "net", "loss", "shr"],
    "acq": ["acquire", "acquisition", "merger", "stake", "takeover"],
    "crude": ["oil", "crude", "barrel", "opec", "petroleum"],
    "corn": ["corn", "maize", "grain", "crop", "feed"],
}
N_SPLITS = 10
GRID = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


def splits(n_test: dict[str, int], n: int = N_SPLITS):
    """Indices of training and test documents, so many of each topic to test."""
    topics = np.repeat(list(N_DRAWN), list(N_DRAWN.values()))
    for seed in range(n):
        rng = np.random.default_rng(seed)
        test = np.concatenate(
            [rng.choice(np.flatnonzero(topics == topic), k, replace=False) for topic, k in n_test.items()]
        )
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
    print(
        f"\n{'':6}{'pairs, four topics':>30}{'one topic':>20}{'seconds':>24}"
        f"{'largest difference':>24}{'decisions':>12}"
    )
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
            one = KernelSVC(lambda A, B: K[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))]).fit(
                train[:, None], y
            )
            alone.append((one.n_kernel_evaluations_ + test.size * one.support_.size) / asked)
        differ = int(((scores >= 0) != (expected >= 0)).sum())
        rows.append(
            (evaluated / (4 * asked), np.mean(alone), lazy, eager, np.abs(scores - expected).max(), differ)
        )
        f1.append([f1_score(Y[test, k], scores[:, k] >= 0) for k in range(4)])
        print(
            f"{number:>6}{evaluated:>12,}{4 * asked:>9,}{rows[-1][0]:>9.3f}{rows[-1][1]:>20.3f}"
            f"{lazy:>12.1f}{eager:>6.1f}{eager / lazy:>6.1f}{rows[-1][4]:>24.1e}{differ:>12}",
            flush=True,
        )
    share, alone_share, lazy, eager, difference, differ = (
        np.array(column) for column in zip(*rows, strict=True)
    )
    print(
        f"{'':6}{'':21}{share.mean():>9.3f}{alone_share.mean():>20.3f}{statistics.median(lazy):>12.1f}"
        f"{statistics.median(eager):>6.1f}{statistics.median(eager / lazy):>6.1f}"
        f"{difference.max():>24.1e}{differ.sum():>12.0f}"
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
            results[name].append(
                (f1_score(Y[test], scores >= 0, average="macro"), average_precision_score(Y[test], scores))
            )
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


def modapte() -> tuple[list[str], list[str], np.ndarray]:
    """Training texts, test texts, and which training text has which of 90 topics."""
    corpus = load_dataset("reuters21578")
    train = corpus.part("train")
    return train.texts, corpus.part("test").texts, train.indicator(modapte_topics(corpus))[0]


def word_grams(train: list[str], test: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Training texts with themselves, test texts with these."""
    words = BagOfWords("log-tf-idf", analyzer="letters")
    X = words.fit_transform(train)
    return (X @ X.T).toarray(), (words.transform(test) @ X.T).toarray()


def gram() -> None:
    """90 topics over a Gram matrix at hand."""
    train, test, Y = modapte()
    print(describe("textmargin", "scikit-learn", "numpy"))
    kernel = SpectrumKernel(4, progress=False)
    for title, (K, new) in {
        "words": word_grams(train, test),
        "4-grams": (kernel(train), kernel(test, train)),
    }.items():
        single, models = K.astype(np.float32), {}

        def learn(name, K=single, models=models, **options):
            models[name] = KernelSVC("precomputed", **options).fit(K, Y)

        def one_by_one(K=K, models=models):
            models["SVC"] = [SVC(kernel="precomputed").fit(K, y) for y in Y.T]

        with threadpool_limits(1):
            times = seconds(
                {
                    "KernelSVC, tol 1e-3": lambda learn=learn: learn("KernelSVC, tol 1e-3", tol=1e-3),
                    "KernelSVC": lambda learn=learn: learn("KernelSVC"),
                    "no intercept, tol 1e-3": lambda learn=learn: learn(
                        "no intercept, tol 1e-3", tol=1e-3, fit_intercept=False
                    ),
                    "no intercept": lambda learn=learn: learn("no intercept", fit_intercept=False),
                    "SVC": one_by_one,
                },
                rounds=3,
                clock=time.process_time,
            )
        exact = {
            intercept: KernelSVC("precomputed", tol=1e-6, fit_intercept=intercept)
            .fit(K, Y)
            .decision_function(new)
            >= 0
            for intercept in (True, False)
        }
        print(f"\n{title}, {len(K)} texts, {Y.shape[1]} topics")
        print(
            f"{'':26}{'CPU seconds':>12}{'SVC takes':>12}"
            f"{'decisions that differ from tol 1e-6':>38}{'of':>10}"
        )
        for name, values in times.items():
            scores = (
                np.column_stack([model.decision_function(new) for model in models[name]])
                if name == "SVC"
                else models[name].decision_function(new)
            )
            differ = int(((scores >= 0) != exact[not name.startswith("no")]).sum())
            print(
                f"{name:26}{statistics.median(values):>12.2f}{ratio(times, 'SVC', name):>11.1f}x"
                f"{differ:>38}{scores.size:>10,}"
            )


def grid() -> None:
    """Eight values of C, each started from the machines of the last, beside eight fits from nothing."""
    train, _, Y = modapte()
    K = word_grams(train, train[:1])[0].astype(np.float32)

    def warm(**options):
        model = KernelSVC("precomputed", warm_start=True, **options)
        return [model.set_params(C=C).fit(K, Y).n_support_.sum() for C in GRID]

    def cold(**options):
        return [KernelSVC("precomputed", C, **options).fit(K, Y).n_support_.sum() for C in GRID]

    print(f"\nC from {GRID[0]} to {GRID[-1]}, {len(GRID)} values, 90 topics over words; CPU seconds")
    for options in ({"tol": 1e-3}, {"tol": 1e-3, "fit_intercept": False}):
        with threadpool_limits(1):
            times = seconds(
                {
                    "warm": lambda options=options: warm(**options),
                    "cold": lambda options=options: cold(**options),
                },
                rounds=1,
                clock=time.process_time,
            )
        print(
            f"{'no intercept' if 'fit_intercept' in options else 'intercept':14}warm "
            f"{times['warm'][0]:6.1f}   "
            f"eight separate fits {times['cold'][0]:6.1f}   {ratio(times, 'cold', 'warm'):.2f}x"
        )


def main() -> None:
    """The parts that were asked for."""
    for part in sys.argv[1:] or ["task", "prior", "gram", "grid"]:
        {"task": task, "prior": prior, "gram": gram, "grid": grid}[part]()


if __name__ == "__main__":
    main()
