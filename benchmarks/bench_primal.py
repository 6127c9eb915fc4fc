"""How fast is the primal SVM? All 90 topics of Reuters-21578 (ModApte), one thread, beside LIBLINEAR through LinearSVC.

    python -m benchmarks.bench_primal

Every solver stops as early as keeps its objective within 1e-4 of its optimum on every topic (a column says how close it was).
"LinearSVC + prior" gets the prior as one more column, scaled so that its penalty hardly matters. Leave-one-out scores of all
topics stand beside the five refitted folds that they replace.
"""

from __future__ import annotations

import statistics

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from textmargin import BagOfWords, PriorSVC, load_dataset
from textmargin.datasets.reuters import modapte_topics

from .measure import ROUNDS, describe, peak_megabytes, ratio, seconds

EARLY, EARLY_PEER = 1e-3, 3e-4  # the loosest tol that keeps each learner within 1e-4; both defaults are tighter
PRIOR_SCALE = 100.0


class PerTopic:
    """LinearSVC for each topic, with the scores it ends at."""

    def __init__(self, X, Y, extra=None, **options):
        self.X, self.Y, self.extra, self.options = X, Y, extra, options

    def __call__(self):
        self.models = [LinearSVC(**self.options).fit(self.matrix(k), self.Y[:, k]) for k in range(self.Y.shape[1])]
        return self

    def matrix(self, k):
        return self.X if self.extra is None else sp.hstack([self.X, PRIOR_SCALE * self.extra[:, [k]]], format="csr")

    def objectives(self):
        """½‖w‖² + Σ max(0, 1 − yf)² per topic, with what LinearSVC itself penalises."""
        found = []
        for k, model in enumerate(self.models):
            penalised = np.append(model.coef_[0], model.intercept_ if model.fit_intercept else [])
            found.append(0.5 * penalised @ penalised + squared_loss(self.Y[:, k], model.decision_function(self.matrix(k))))
        return np.array(found)


class AllTopics:
    """PriorSVC for all topics."""

    def __init__(self, X, Y, **options):
        self.X, self.Y, self.options = X, Y, options

    def __call__(self):
        self.model = PriorSVC(**self.options).fit(self.X, self.Y)
        return self

    def objectives(self):
        model = self.model
        w = model.coef_ - np.einsum("kp,kpd->kd", model.trust_, model.prior_)
        losses = [squared_loss(self.Y[:, k], f) for k, f in enumerate(model.decision_function(self.X).T)]
        return 0.5 * (w * w).sum(axis=1) + losses


def squared_loss(y, scores):
    losses = np.maximum(0, 1 - (2 * y - 1) * scores)
    return losses @ losses


def name_prior(topics: list[str], terms) -> np.ndarray:
    """What anybody knows of a topic: the words of its name."""
    place = {term: j for j, term in enumerate(terms)}
    prior = np.zeros((len(topics), len(place)))
    for k, topic in enumerate(topics):
        for word in topic.split("-"):
            if word in place:
                prior[k, place[word]] = 1.0
    return prior


def five_folds(X, Y, learner):
    """Refitted scores; NaN for a topic without a positive in the other folds."""
    scores = np.full(Y.shape, np.nan)
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        kept = Y[train].any(axis=0)
        scores[np.ix_(test, kept)] = clone(learner).fit(X[train], Y[train][:, kept]).decision_function(X[test])
    return scores


def report(title, times, gaps, peaks, ours):
    print(f"\n{title}\n{'':34}{'seconds':>9}{'off optimum':>13}{'peak MB':>9}{'times ' + ours:>24}")
    for name, values in times.items():
        off, peak = (f"{gaps[name]:.0e}" if name in gaps else ""), (f"{peaks[name]:.0f}" if name in peaks else "")
        print(f"{name:34}{statistics.median(values):9.2f}{off:>13}{peak:>9}{ratio(times, name, ours):24.2f}")


def compare(title, solvers, optima, ours):
    """Time, distance from the optimum and memory of each solver."""
    times = seconds(solvers)
    gaps = {
        name: (solver.objectives() / optimum().objectives() - 1).max()
        for (name, solver), optimum in zip(solvers.items(), optima, strict=True)
    }
    peaks = {name: peak_megabytes(solver) for name, solver in solvers.items()}
    report(title, times, gaps, peaks, ours)


def main() -> None:
    corpus = load_dataset("reuters21578")
    topics, train = modapte_topics(corpus), corpus.part("train")
    words = BagOfWords("log-tf-idf", analyzer="letters")
    X, Y = words.fit_transform(train.texts), train.indicator(topics)[0]
    prior = name_prior(topics, words.get_feature_names_out())
    Z = sp.csr_matrix(X @ prior.T)
    print(describe("textmargin", "scikit-learn", "scipy", "numpy"))
    print(f"{X.shape[0]} texts × {X.shape[1]} terms, {X.nnz} non-zeros, {Y.shape[1]} topics; one thread; median of {ROUNDS}")

    exact = {"tol": 1e-10, "max_iter": 1000}
    without = {"fit_intercept": False}
    compare(
        "No intercept: the same objective for all",
        {
            "PriorSVC": AllTopics(X, Y, tol=EARLY, **without),
            "PriorSVC, default tol": AllTopics(X, Y, **without),
            "LinearSVC(dual=False)": PerTopic(X, Y, dual=False, tol=EARLY_PEER, **without),
            "LinearSVC(dual=False), default tol": PerTopic(X, Y, dual=False, **without),
            "LinearSVC(dual=True)": PerTopic(X, Y, dual=True, **without),
        },
        [AllTopics(X, Y, **exact, **without)] * 5,
        ours="PriorSVC",
    )
    free, penalised = AllTopics(X, Y, **exact), PerTopic(X, Y, dual=True, tol=1e-6, max_iter=100_000)
    compare(
        "With intercept: free in PriorSVC, penalised in LinearSVC; each beside its own optimum",
        {
            "PriorSVC": AllTopics(X, Y, tol=EARLY),
            "PriorSVC, default tol": AllTopics(X, Y),
            "LinearSVC(dual=False)": PerTopic(X, Y, dual=False, tol=EARLY_PEER),
            "LinearSVC(dual=False), default tol": PerTopic(X, Y, dual=False),
            "LinearSVC(dual=True)": PerTopic(X, Y, dual=True),
        },
        [free, free, penalised, penalised, penalised],
        ours="PriorSVC",
    )
    known = {"prior": prior, "trust": "free"}
    free, penalised = AllTopics(X, Y, **exact, **known), PerTopic(X, Y, Z, dual=False, tol=1e-8, max_iter=100_000)
    compare(
        "With a prior, the words of the topic's name, at free trust",
        {
            "PriorSVC + prior": AllTopics(X, Y, tol=EARLY, **known),
            "PriorSVC + prior, default tol": AllTopics(X, Y, **known),
            "LinearSVC(dual=False) + prior": PerTopic(X, Y, Z, dual=False, tol=EARLY_PEER),
            "LinearSVC(dual=False)": PerTopic(X, Y, dual=False, tol=EARLY_PEER),
        },
        [free, free, penalised, PerTopic(X, Y, dual=True, tol=1e-6, max_iter=100_000)],
        ours="PriorSVC + prior",
    )
    model = PriorSVC().fit(X, Y)
    scores = {"leave-one-out": model.loo_decision_function, "five refitted folds": lambda: five_folds(X, Y, PriorSVC())}
    times = seconds(scores)
    report(
        "Scores of all training texts by models that did not see them",
        times,
        {},
        {n: peak_megabytes(s) for n, s in scores.items()},
        "leave-one-out",
    )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
