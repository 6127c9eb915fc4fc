"""What do held-out scores of the training texts cost beside the training, and what are thresholds set on them
worth?

    python -m benchmarks.bench_held_out              # four corpora, some minutes
    python -m benchmarks.bench_held_out --quick      # a fifth of Wikipedia and 2,000 short texts, seconds

Per corpus, in one run and on one thread: training; held-out scores as `held_out_method` chooses; exact
leave-one-out, where no class has more texts inside the margin than `--largest`; five folds refitted from
nothing. In seconds of processor time, so that others on the machine disturb little, and as a multiple of the
training. Then the utility on test texts, per 1,000 texts and summed over the classes, of a threshold per
class set on each of them (retrofitted β), and of threshold 0. Short texts are drawn word by word from the
frequencies in a Reuters topic and in all of Reuters, half and half; 15 % of the labels are drawn at random.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from textmargin import BagOfWords, PriorSVC, Utility, beta_gamma_threshold, load_dataset, retrofit_beta
from textmargin.datasets.reuters import modapte_topics

from .bench_primal import five_folds
from .measure import describe

UTILITIES = {"(2, −1)": Utility(2, -1), "(1, −5)": Utility(1, -5)}


@dataclass(frozen=True)
class Task:
    """Texts to train on and to test on, with a 0/1 matrix of their classes; multiclass where every text has
    one.
    """

    name: str
    texts: Any
    Y: np.ndarray
    test_texts: Any
    Y_test: np.ndarray

    @property
    def target(self) -> np.ndarray:
        """The labels as `fit` takes them."""
        return self.Y.argmax(axis=1) if (self.Y.sum(axis=1) == 1).all() else self.Y


def reuters() -> Task:
    corpus = load_dataset("reuters21578")
    topics, train, test = modapte_topics(corpus), corpus.part("train"), corpus.part("test")
    return Task(
        "Reuters, 90 topics", train.texts, train.indicator(topics)[0], test.texts, test.indicator(topics)[0]
    )


def wikipedia(share: float = 1.0, test_size: float = 0.2) -> Task:
    """Some of the texts, of which some are tested on; without these, the time is that of training on all
    2,282.
    """
    corpus = load_dataset("wikipedia25")
    codes = np.unique(np.asarray(corpus.labels, dtype=str), return_inverse=True)[1]
    train = np.flatnonzero(np.random.default_rng(0).random(codes.size) < share)
    test = train[:0]
    if test_size:
        train, test = train_test_split(train, test_size=test_size, stratify=codes[train], random_state=0)
    texts, Y = np.asarray(corpus.texts, dtype=object), np.eye(codes.max() + 1, dtype=int)[codes]
    return Task(f"wikipedia25, {train.size} texts", texts[train], Y[train], texts[test], Y[test])


def short_texts(n_texts: int, n_classes: int, n_words: int = 12, n_test: int = 20_000) -> Task:
    corpus = load_dataset("reuters21578")
    topics, train = modapte_topics(corpus), corpus.part("train")
    Y, words = train.indicator(topics)[0], CountVectorizer(min_df=3)
    X = words.fit_transform(train.texts)
    single = Y.sum(axis=1) == 1
    largest = np.argsort(-Y[single].sum(axis=0), kind="stable")[:n_classes]
    counts = np.array(
        [np.asarray(X[single & (Y[:, k] > 0)].sum(axis=0)).ravel() for k in largest], dtype=float
    )
    everywhere = np.asarray(X.sum(axis=0)).ravel() / X.sum()
    shares = 0.5 * counts / counts.sum(axis=1, keepdims=True) + 0.5 * everywhere

    rng, terms = np.random.default_rng(0), words.get_feature_names_out()
    y, lengths = (
        rng.integers(n_classes, size=n_texts + n_test),
        1 + rng.poisson(n_words - 1, n_texts + n_test),
    )
    texts = np.empty(y.size, dtype=object)
    for k in range(n_classes):
        rows = np.flatnonzero(y == k)
        ends = np.cumsum(lengths[rows])
        drawn = terms[rng.choice(terms.size, ends[-1], p=shares[k])]
        for row, end in zip(rows, ends, strict=True):
            texts[row] = " ".join(drawn[end - lengths[row] : end])
    wrong = rng.random(y.size) < 0.15
    y[wrong] = rng.integers(n_classes, size=wrong.sum())
    Y = np.eye(n_classes, dtype=int)[y]
    return Task(
        f"{n_texts:,} short texts, {n_classes} classes",
        texts[:n_texts],
        Y[:n_texts],
        texts[n_texts:],
        Y[n_texts:],
    )


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def per_class(scores: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Scores with a column per class, whatever their shape."""
    return scores if scores.ndim == 2 else np.column_stack([-scores, scores])[:, : Y.shape[1]]


def thresholds(Y: np.ndarray, scores: np.ndarray, utility: Utility) -> np.ndarray:
    """One per class; nothing is accepted for a class without a held-out positive."""
    found = np.full(Y.shape[1], np.inf)
    for k, (y, score) in enumerate(zip(Y.T, scores.T, strict=True)):
        known = ~np.isnan(score)
        if y[known].any():
            beta = retrofit_beta(y[known], score[known], utility=utility)
            found[k] = beta_gamma_threshold(y[known], score[known], beta, utility=utility)
    return found


def utility_of(Y: np.ndarray, accepted: np.ndarray, utility: Utility) -> float:
    """Per 1,000 texts, over all classes; NaN where there is no text to test on."""
    if not len(Y):
        return float("nan")
    truth = Y != 0
    counts = (
        (accepted & truth).sum(),
        (accepted & ~truth).sum(),
        (~accepted & truth).sum(),
        (~accepted & ~truth).sum(),
    )
    return 1000 * float(utility(*counts)) / len(Y)


def compare(task: Task, largest: int) -> None:
    words = BagOfWords("log-tf-idf", analyzer="letters")
    X = words.fit_transform(task.texts)
    model, training = timed(lambda: PriorSVC(C=1.0).fit(X, task.target))
    signs = np.where(task.Y != 0, 1, -1)
    inside = (signs * per_class(model.decision_function(X), task.Y) < 1).sum(axis=0)
    print(
        f"\n{task.name}: {X.shape[0]:,} texts × {X.shape[1]:,} terms, {X.nnz:,} non-zeros, up to "
        f"{inside.max():,} inside a margin"
    )

    found: dict[str, tuple[np.ndarray, float]] = {}
    method, choosing = timed(model.held_out_method)
    scores, seconds = timed(model.loo_decision_function if method == "loo" else model.fold_decision_function)
    found[f"as chosen: {method}"] = scores, seconds + choosing
    if method == "loo":
        found["warm folds"] = timed(model.fold_decision_function)
    elif inside.max() <= largest:
        found["exact leave-one-out"] = timed(model.loo_decision_function)
    found["five cold folds"] = timed(lambda: five_folds(X, task.Y, PriorSVC(C=1.0)))

    test_scores = np.zeros(task.Y_test.shape)
    if len(task.test_texts):
        test_scores = per_class(model.decision_function(words.transform(task.test_texts)), task.Y)
    print(
        f"{'':28}{'seconds':>9}{'× training':>12}" + "".join(f"{'utility ' + name:>18}" for name in UTILITIES)
    )

    def show(name: str, seconds: float, accepted: list[np.ndarray]) -> None:
        values = [utility_of(task.Y_test, a, u) for a, u in zip(accepted, UTILITIES.values(), strict=True)]
        print(
            f"{name:28}{seconds:9.2f}{seconds / training:12.2f}"
            + "".join(f"{value:18.1f}" for value in values),
            flush=True,
        )

    show("training, threshold 0", training, [test_scores >= 0] * len(UTILITIES))
    for name, (scores, seconds) in found.items():
        columns = per_class(scores, task.Y)
        show(
            name,
            seconds,
            [test_scores >= thresholds(task.Y, columns, utility) for utility in UTILITIES.values()],
        )


def tasks(quick: bool) -> Iterator[Task]:
    if quick:
        yield wikipedia(0.2)
        yield short_texts(2000, 5, n_test=1000)
        return
    yield reuters()
    yield wikipedia(test_size=0)
    yield wikipedia()
    yield short_texts(40_000, 10)
    yield short_texts(200_000, 20)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small corpora only")
    parser.add_argument(
        "--largest", type=int, default=6000, help="texts inside a margin up to which leave-one-out is timed"
    )
    options = parser.parse_args(arguments)
    print(describe("textmargin", "scikit-learn", "numpy"))
    with threadpool_limits(1):
        for task in tasks(options.quick):
            compare(task, options.largest)


if __name__ == "__main__":
    main()
