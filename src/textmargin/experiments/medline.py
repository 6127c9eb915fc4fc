"""Lodhi et al. (2000), Table 3: abstracts of Medline, those relevant to a query against all others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..datasets.loading import load_dataset
from ._machine import Kernels, Matrices, evaluate, fit_predict
from ._news import as_in_the_paper
from .run import Run
from .table import Table, published

RELEVANT = {query: (row["train"], row["test"]) for query, row in published("strings", "queries").items()}
Rows = NDArray[np.intp]

C = 2.0  # as words prefer on the news

_NOTES = [
    "The paper's split is not known. Of the relevant abstracts as many train and test as it says (of "
    "query 23 two are left out), "
    "of the others the same share; ± is the standard deviation over draws, the paper has one split.",
    "No intercept, C = 2 as in the tables on news.",
]


def table_3(run: Run) -> Table:
    """F1 and support vectors of two queries, by kernel."""
    corpus = load_dataset("medline")
    texts = [as_in_the_paper(text) for text in corpus.texts]
    Y, queries = corpus.indicator(list(RELEVANT))
    if run.quick:
        some = np.flatnonzero(Y.any(axis=1) | (np.arange(len(texts)) % 12 == 0))
        texts, Y = [texts[row] for row in some], Y[some]
    seeds = run.draw_seeds(2 if run.quick else 10)
    run.log_parameters(C=C, decay=0.5)
    kernels = Kernels(run)
    lengths = (3,) if run.quick else (3, 5, 6)
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for length in run.track(lengths, "Comparing abstracts"):
        K = kernels.subsequences(length, 0.5)(texts, [])[0]
        _measure(values, f"{length} S-K", Y, queries, seeds, partial(_chosen, K))

    def words(train: Rows, test: Rows) -> Matrices:
        return kernels.words()([texts[row] for row in train], [texts[row] for row in test])

    _measure(values, "W-K", Y, queries, seeds, words)
    theirs = published("strings", "3")
    rows = {name: values[name] for name in theirs if name in values}
    return Table.beside(
        theirs, rows, ["F1", "support vectors"], decimals={"support vectors": 0}, notes=_NOTES
    )


def _measure(
    values: dict[str, dict[str, list[float]]],
    kernel: str,
    Y: NDArray[np.int_],
    queries: list[str],
    seeds: list[int],
    matrices: Callable[[Rows, Rows], Matrices],
) -> None:
    """Enter F1 and support vectors of one kernel, for every query and draw."""
    for column, query in enumerate(queries):
        y = Y[:, [column]]
        for seed in seeds:
            train, test = _split(y[:, 0], *RELEVANT[query], np.random.default_rng(seed))
            measures = evaluate(y[test], *fit_predict(matrices(train, test), y[train], C))
            for measure in ("F1", "support vectors"):
                values[f"query {query}, {kernel}"][measure].append(measures[measure][0])


def _chosen(K: NDArray[np.float64], train: Rows, test: Rows) -> Matrices:
    return K[np.ix_(train, train)], K[np.ix_(test, train)]


def _split(y: NDArray[np.int_], n_train: int, n_test: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """So many relevant ones on either side, and of the others the same share."""
    relevant, others = (rng.permutation(np.flatnonzero(y == label)) for label in (1, 0))
    n_others = round(len(others) * n_train / (n_train + n_test))
    return (
        np.sort(np.concatenate([relevant[:n_train], others[:n_others]])),
        np.sort(np.concatenate([relevant[n_train : n_train + n_test], others[n_others:]])),
    )
