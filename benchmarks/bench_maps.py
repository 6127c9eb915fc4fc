"""What do explicit maps of string kernels cost, and how good are they? Beside words, on all of Reuters-21578.

    python -m benchmarks.bench_maps                            # all of it, about 15 minutes on two cores
    python -m benchmarks.bench_maps alignment landmarks topics # or some parts of it
    python -m benchmarks.bench_maps landmarks --plot FILE      # with a picture

`topics`: the ModApte split (9,603 texts to train on, 3,299 to test), the ten largest topics, `PriorSVC` on
each map. Seconds are those of mapping all texts, memory is the largest while doing so, beyond what was there,
with the columns themselves.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.metrics import f1_score

from textmargin import (
    BagOfWords,
    KernelLandmarks,
    PriorSVC,
    SubsequenceFeatures,
    SubsequenceKernel,
    load_dataset,
)
from textmargin.experiments.table import published

from .bench_ssk import clean, papers_documents
from .measure import describe, with_memory

PUBLISHED = published("strings", "modapte")  # the journal version, F1 by topic
LARGEST = list(PUBLISHED)
N_LANDMARKS = [10, 25, 50, 100, 200, 400]


def alignment(_: str | None) -> None:
    """How well the most frequent substrings stand for all of them: 100 documents, length 3."""
    rng = np.random.default_rng(0)
    data = load_dataset("reuters21578").part("train")
    texts = [clean(data.texts[row]) for row in rng.choice(len(data.texts), 100, replace=False)]
    print(f"\n{'substrings':>11}{'alignment':>12}")
    for n in (50, 100, 200, 400, 1000, 100_000):
        features = SubsequenceFeatures(3, n_features=n).fit(texts)
        print(f"{len(features.substrings_):>11,}{features.alignment_:>12.6f}", flush=True)


def landmarks(plot: str | None) -> None:
    """How far K̂ is from K, ‖K − K̂‖/‖K‖, by the number of landmarks; the paper's 470 documents, five
    draws.
    """
    texts = papers_documents()
    kernel = SubsequenceKernel(5, progress=False)
    errors = np.empty((5, len(N_LANDMARKS)))
    K = kernel(texts)
    for seed in range(len(errors)):
        for k, n in enumerate(N_LANDMARKS):
            mapped = KernelLandmarks(kernel, n_landmarks=n, random_state=seed).fit_transform(texts)
            errors[seed, k] = np.linalg.norm(K - mapped @ mapped.T) / np.linalg.norm(K)
    print(f"\n{'landmarks':>10}{'error':>8}{'±':>7}")
    for n, error, spread in zip(N_LANDMARKS, errors.mean(axis=0), errors.std(axis=0), strict=True):
        print(f"{n:>10}{error:>8.3f}{spread:>7.3f}  {'█' * round(50 * error)}")
    if plot:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
        axes.errorbar(N_LANDMARKS, errors.mean(axis=0), errors.std(axis=0), marker="o", capsize=3)
        axes.set(
            xlabel="landmarks",
            ylabel="‖K − K̂‖ / ‖K‖",
            ylim=(0, None),
            title="470 Reuters documents, length 5, λ = 0.5",
        )
        figure.savefig(plot)


def topics(_: str | None) -> None:
    """F1 of the ten largest topics by a linear learner on each map."""
    corpus = load_dataset("reuters21578")
    train, test = corpus.part("train"), corpus.part("test")
    texts = [[clean(text) for text in part.texts] for part in (train, test)]
    Y, Y_test = train.indicator(LARGEST)[0], test.indicator(LARGEST)[0]
    maps = {
        "words": BagOfWords("log-tf-idf", analyzer="letters"),
        "200 substrings of 3": SubsequenceFeatures(3, n_features=200, progress=False),
        "3000 substrings of 5": SubsequenceFeatures(5, n_features=3000, progress=False),
        "300 landmarks": KernelLandmarks(
            SubsequenceKernel(5, progress=False), n_landmarks=300, random_state=0
        ),
    }
    print(describe("textmargin", "scikit-learn", "numpy"))
    print(
        f"\n{'F1':22}"
        + "".join(f"{topic:>9}" for topic in LARGEST)
        + f"{'mean':>7}{'align.':>8}{'map s':>8}{'learn s':>9}{'MB':>7}"
    )
    for name in PUBLISHED["earn"]:
        theirs = [row[name] for row in PUBLISHED.values()]
        print(f"{'paper, ' + name:22}" + "".join(f"{f1:>9.3f}" for f1 in theirs) + f"{np.mean(theirs):>7.3f}")
    for name, mapping in maps.items():
        start = time.perf_counter()
        (X, Z), memory = with_memory(
            lambda mapping=mapping: (mapping.fit_transform(texts[0]), mapping.transform(texts[1]))
        )
        mapped = time.perf_counter() - start
        start = time.perf_counter()
        predicted = PriorSVC(C=1.0, n_jobs=2).fit(X, Y).predict(Z)
        learnt = time.perf_counter() - start
        f1 = [f1_score(y, found) for y, found in zip(Y_test.T, predicted.T, strict=True)]
        aligned = f"{getattr(mapping, 'alignment_', np.nan):>8.3f}"
        print(f"{name:22}" + "".join(f"{value:>9.3f}" for value in f1), end="")
        print(f"{np.mean(f1):>7.3f}{aligned}{mapped:>8.1f}{learnt:>9.1f}{memory:>7.0f}", flush=True)


def main() -> None:
    """The parts that were asked for."""
    arguments = sys.argv[1:]
    plot = arguments.pop(arguments.index("--plot") + 1) if "--plot" in arguments else None
    parts = [part for part in arguments if part != "--plot"] or ["alignment", "landmarks", "topics"]
    for part in parts:
        {"alignment": alignment, "landmarks": landmarks, "topics": topics}[part](plot)


if __name__ == "__main__":
    main()
