"""Several kinds of knowledge at once: does each do what it would alone? Mean average precision by the number
of examples.

    python -m benchmarks.bench_kinds              # about 2 minutes on two cores
    python -m benchmarks.bench_kinds --draws 3

The keywords of `wikipedia25` and of Reuters' ten largest topics (`bench_priors`): every other one (*half*);
both halves as two kinds; all beside the keywords of another class (*wrong*), or beside a list of which every
other word is another class's (*half wrong*). `trust="auto"`, C = 1, ± the standard error of the mean over
draws.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.metrics import average_precision_score

from textmargin import PriorSVC, load_dataset
from textmargin.experiments.keywords import Task, positives_of_each

from .bench_priors import KEYWORDS, drawn
from .measure import describe

SIZES = (1, 4, 20)


def kinds_of(V: np.ndarray) -> dict[str, np.ndarray | None]:
    """Priors (n_classes, n_kinds, n_terms) by what they are, from the weights of all keywords."""
    rank = np.cumsum(V != 0, axis=1) * (V != 0)  # which keyword of its class a term is, from 1
    half, other = np.where(rank % 2 == 1, V, 0.0), np.where(rank % 2 == 0, V, 0.0)
    wrong, half_wrong = np.roll(V, 1, axis=0), half + np.roll(half, 1, axis=0)
    lists = {
        "plain": [],
        "all": [V],
        "half": [half],
        "half + other half": [half, other],
        "half wrong": [half_wrong],
    }
    lists |= {"all + wrong": [V, wrong], "all + half wrong": [V, half_wrong]}
    return {name: np.stack(own, axis=1) if own else None for name, own in lists.items()}


def average_precision(task: Task, rows: np.ndarray, prior: np.ndarray | None) -> float:
    """Mean over classes on the test texts, after training on some rows."""
    scores = PriorSVC(prior=prior).fit(task.X[rows], task.Y[rows]).decision_function(task.X_test)
    return float(
        np.mean([average_precision_score(y, score) for y, score in zip(task.Y_test.T, scores.T, strict=True)])
    )


def main(arguments: list[str] | None = None) -> None:
    """A line for each corpus and number of examples."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10)
    n_draws = parser.parse_args(arguments).draws
    print(describe("textmargin", "scikit-learn", "numpy"))
    articles = load_dataset("wikipedia25")
    tasks = {
        "wikipedia25": (Task.of(articles, dict(sorted(articles.keywords.items()))), positives_of_each),
        "reuters21578": (Task.of(load_dataset("reuters21578"), KEYWORDS), drawn),
    }
    for corpus, (task, draw) in tasks.items():
        kinds = kinds_of(task.V)
        print(f"{corpus:<13}{'positives':>9}" + "".join(f"{name:>19}" for name in kinds))
        for size in SIZES:
            chosen = [draw(task.Y, size, np.random.default_rng(seed)) for seed in range(n_draws)]
            found = np.array(
                [[average_precision(task, rows, prior) for prior in kinds.values()] for rows in chosen]
            )
            mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(n_draws)
            print(
                f"{size:>22}"
                + "".join(f"{m:.3f} ± {e:.3f}".rjust(19) for m, e in zip(mean, error, strict=True)),
                flush=True,
            )


if __name__ == "__main__":
    main()
