"""How should a threshold be set for a class with two or three positives? Asked of training topics that
pretend to be so rare.

    python -m benchmarks.bench_few_positives

From each Reuters-21578 training topic with fewer than 40 positives all but p are taken away, a linear SVM is
trained on them and half of the negatives, and thresholds are set (a) on its training scores, α of the way
from θ_max to θ_zero, (b) on its leave-one-out scores, middle of the best interval. T11SU is that of as many
other positives and the other half of the negatives. No test text is touched. The defaults of
`ThresholdClassifier` for few positives (fewer than four: α = 0.775) were read off here.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from textmargin import T11SU, BagOfWords, PriorSVC, load_dataset, utility_curve
from textmargin.datasets.reuters import modapte_topics

from .measure import describe

ALPHAS = (0.0, 0.5, 0.65, 0.7, 0.725, 0.75, 0.775, 0.8, 0.825, 0.85, 0.9)
DRAWS = 10


def values(X, Y, n_positive, rng):
    """T11SU per draw: one column per α, then leave-one-out, then the oracle."""
    first, second = np.array_split(rng.permutation(len(Y)), 2)
    found = []
    for y in Y.T[(Y.sum(axis=0) >= 2 * n_positive + 2) & (Y.sum(axis=0) < 40)]:
        for _ in range(DRAWS):
            positives = rng.permutation(np.flatnonzero(y))
            train = np.concatenate([positives[:n_positive], first[y[first] == 0]])
            test = np.concatenate([positives[n_positive : 2 * n_positive], second[y[second] == 0]])
            model = PriorSVC().fit(X[train], y[train])
            curve = utility_curve(y[train], model.decision_function(X[train]))
            held_out = utility_curve(y[train], model.loo_decision_function())
            gained = utility_curve(y[test], model.decision_function(X[test]), T11SU)
            thetas = [alpha * curve.theta_zero + (1 - alpha) * curve.theta_max for alpha in ALPHAS]
            found.append(
                [
                    *(gained.utility_at(theta) for theta in [*thetas, held_out.best_middle]),
                    gained.utility.max(),
                ]
            )
    return np.array(found)


def main() -> None:
    corpus = load_dataset("reuters21578")
    train = corpus.part("train")
    X, (Y, _) = (
        BagOfWords("log-tf-idf", analyzer="letters").fit_transform(train.texts),
        train.indicator(modapte_topics(corpus)),
    )
    print(describe("textmargin"))
    print(
        f"{'positives':>9}{'draws':>7}"
        + "".join(f"{f'α={alpha:g}':>8}" for alpha in ALPHAS)
        + f"{'loo':>8}{'oracle':>8}"
    )
    for n_positive in (1, 2, 3, 4, 5, 8):
        table = values(X, Y, n_positive, np.random.default_rng(n_positive))
        print(
            f"{n_positive:9}{len(table):7}" + "".join(f"{value:8.3f}" for value in table.mean(axis=0)),
            flush=True,
        )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
