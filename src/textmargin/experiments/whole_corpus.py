"""Lodhi et al. (2002) on the whole ModApte split; the exact subsequence kernel, which the journal could not
afford, beside it.
"""

from __future__ import annotations

import os
import time

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import KFold
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from ..datasets.loading import load_dataset
from ..datasets.reuters import modapte_topics
from ..representations.bow import BagOfWords
from ..representations.features import SubsequenceFeatures
from ..representations.strings import SubsequenceKernel
from ._machine import f1, fit_predict
from ._news import as_in_the_paper
from .run import Run
from .table import Table, published

LARGEST = list(published("strings", "modapte"))
COSTS = (0.5, 1.0, 2.0, 5.0)
COLUMNS = ["words", "4-grams", "approximate SSK", "exact SSK"]


def table(run: Run) -> Table:
    """F1 of the ten largest topics and over all 90, by kernel."""
    news = load_dataset("reuters21578")
    train, test = news.part("train"), news.part("test")
    topics = modapte_topics(news)
    if run.quick:
        train, test, topics = train.take(range(150)), test.take(range(60)), ["earn", "acq"]
    texts, others = ([as_in_the_paper(text) for text in part.texts] for part in (train, test))
    Y, Y_test = (part.indicator(topics)[0] for part in (train, test))

    X, Z = _words(texts, others)
    largest = [topics.index(topic) for topic in LARGEST if topic in topics]
    C = _best_cost(run, X, Y[:, largest])
    run.log_parameters(C=C, length=5, decay=0.5, substrings=50 if run.quick else 3000)
    accepted = {"words": _linear(run, X, Y, Z, C, "words")}
    accepted["4-grams"] = _linear(run, *_ngrams(texts, Y, others), C, "4-grams")
    features = SubsequenceFeatures(5, n_features=run.parameters["substrings"], progress=run.progress)
    mapped = features.fit_transform(texts)
    accepted["approximate SSK"] = _linear(run, mapped, Y, features.transform(others), C, "substrings")
    start = time.perf_counter()
    gram = run.gram(SubsequenceKernel(5, 0.5, progress=False), [*texts, *others])
    seconds = time.perf_counter() - start
    K = gram[: len(texts), : len(texts)], gram[len(texts) :, : len(texts)]
    columns = [
        fit_predict(K, Y[:, [k]], C)[0]
        for k in run.track(range(len(topics)), "Learning from the exact kernel")
    ]
    accepted["exact SSK"] = np.hstack(columns)

    ours: dict[str, dict[str, float]] = {topic: {} for topic in [*LARGEST, "mean of these", *_over(topics)]}
    for name, decisions in accepted.items():
        by_topic = f1(Y_test, decisions)
        over = (
            np.mean(by_topic[largest]),
            by_topic.mean(),
            f1(Y_test.reshape(-1, 1), decisions.reshape(-1, 1))[0],
        )
        rows = [*(topics[k] for k in largest), "mean of these", *_over(topics)]
        for row, value in zip(rows, [*by_topic[largest], *over], strict=True):
            ours[row][name] = float(value)
    ours = {row: values for row, values in ours.items() if values}
    theirs = {topic: row for topic, row in published("strings", "modapte").items() if topic in ours}
    theirs["mean of these"] = {
        name: float(np.mean([row[name] for row in theirs.values()])) for name in COLUMNS[:3]
    }
    notes = [
        f"The exact kernel of all {len(gram):,} texts took {seconds / 3600:.2f} hours on {os.cpu_count()} "
        f"cores in this run, for {run.n_kernel_evaluations or 0:,} pairs; values are kept, so that the next "
        "run looks them up.",
        "The journal's approximate kernel has the most frequent substrings of 5 characters; how many is "
        "not known, "
        f"here {run.parameters['substrings']:,}. The same machine for all: hinge loss, no intercept, C "
        "chosen with words.",
    ]
    details = {"measured": ["kernel seconds"], "kernel seconds": round(seconds, 1)}
    return Table.beside(theirs, ours, COLUMNS, notes=notes, details=details)


def _over(topics: list[str]) -> tuple[str, str]:
    return f"macro, {len(topics)} topics", f"micro, {len(topics)} topics"


def _words(texts: list[str], others: list[str]) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    bag = BagOfWords("log-tf-idf", analyzer="letters")
    return bag.fit_transform(texts), bag.transform(others)


def _ngrams(
    texts: list[str], Y: NDArray[np.int_], others: list[str]
) -> tuple[sp.csr_matrix, NDArray[np.int_], sp.csr_matrix]:
    """Counts of four characters, unit length: the columns of the n-gram kernel."""
    counts = CountVectorizer(analyzer="char", ngram_range=(4, 4), lowercase=False, dtype=np.float64)
    return normalize(counts.fit_transform(texts)), Y, normalize(counts.transform(others))


def _linear(
    run: Run, X: sp.csr_matrix, Y: NDArray[np.int_], Z: sp.csr_matrix, C: float, what: str
) -> NDArray[np.bool_]:
    """The same machine on explicit columns, where LIBLINEAR is faster."""
    machine = LinearSVC(C=C, loss="hinge", fit_intercept=False, random_state=0, max_iter=20_000)
    scores = [machine.fit(X, y).decision_function(Z) for y in run.track(Y.T, f"Learning from {what}")]
    return np.column_stack(scores) >= 0


def _best_cost(run: Run, X: sp.csr_matrix, Y: NDArray[np.int_]) -> float:
    """The C with the best mean F1 of words over three folds of the training texts."""
    totals = dict.fromkeys(COSTS, 0.0)
    for C in COSTS:
        for rows, held_out in KFold(3, shuffle=True, random_state=0).split(Y):
            accepted = _linear(run, X[rows], Y[rows], X[held_out], C, f"words, C = {C:g}")
            totals[C] += float(f1(Y[held_out], accepted).mean())
    return max(COSTS, key=lambda C: totals[C])
