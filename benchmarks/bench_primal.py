"""How fast is the linear SVM? Beside LIBLINEAR, through LinearSVC and its own library, at equal distance from
the optimum.

    python -m benchmarks.bench_primal                 # all of it, about an hour on two cores
    python -m benchmarks.bench_primal topics two      # or some parts: topics two many grid prior held-out
    python -m benchmarks.bench_primal topics --quick  # to see that it runs

Every solver gets the loosest tol that keeps its objective within a gap of its optimum on every label (columns
say which, and how close it came). Seconds are of CPU, and by the clock; peers have one thread.

`many` are shape twins of two public sets, 983 labels on 500 terms and 3,956 labels on 186,104: 100 labels of
them are drawn at random, and what all would take is extrapolated; ours learns them all as well, which takes 6
GB for the weights alone. `grid` is a search over eight values of C. `prior` gives LinearSVC the prior as one
more column, scaled so that its penalty hardly matters. `held-out`: leave-one-out scores of all topics beside
the five refitted folds that they replace.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from textmargin import BagOfWords, PriorSVC, load_dataset
from textmargin.datasets.reuters import modapte_topics

from .linear_peers import (
    WITHOUT_LIBRARY,
    Optima,
    Planes,
    by_linear_svc,
    by_prior_svc,
    liblinear,
    loosest,
    solvers,
)
from .measure import describe, peak_megabytes, ratio, seconds
from .planted_labels import DELICIOUS, EURLEX, make_twin

# the loosest tol that keeps each learner within 1e-4; both defaults are tighter
EARLY, EARLY_PEER = 1e-3, 3e-4
PRIOR_SCALE = 100.0
GAPS = [1e-4, 1e-6]
OURS = "PriorSVC, 1 thread"
GRID = 10.0 ** np.arange(-2, 2, 0.5)
N_SAMPLE = 100


def reuters(quick: bool):
    """X, Y, topics and terms of ModApte's training texts."""
    corpus = load_dataset("reuters21578")
    topics, train = modapte_topics(corpus), corpus.part("train")
    words = BagOfWords("log-tf-idf", analyzer="letters")
    X, Y = words.fit_transform(train.texts), np.asarray(train.indicator(topics)[0])
    if quick:
        common = np.argsort(-Y.sum(axis=0), kind="stable")[:5]
        X, Y, topics = X[:1000], Y[:1000, common], [topics[k] for k in common]
    return X, Y, topics, words.get_feature_names_out()


def beside_peers(title: str, X, Y, intercept: bool, quick: bool, n_labels: int | None = None) -> None:
    """A table for each gap. Where n_labels is given, Y is a sample of so many labels, and times are
    extrapolated.
    """
    share = 1 if n_labels is None else n_labels / Y.shape[1]
    optima, candidates = Optima(X, Y, 1.0, intercept), solvers(X)
    print(
        f"\n{title}; {X.shape[0]} texts × {X.shape[1]} terms, {X.nnz} entries, {n_labels or Y.shape[1]} "
        "labels, ",
        end="",
    )
    print(f"{'with' if intercept else 'without'} intercept")
    for goal in GAPS:
        ways, shown = {}, {}
        for name, solve in candidates.items():
            shown[name] = loosest(solve, optima, goal, penalised="PriorSVC" not in name)
            ways[name] = partial(solve, X, Y, 1.0, shown[name][0], intercept)
        cpu, wall = both_clocks(ways, 1 if quick or n_labels else 3)
        print(
            f"{f'gap {goal:.0e}':26}{'tol':>9}{'reached':>9}{'CPU s':>9}{'wall s':>9}{'peak MB':>9}", end=""
        )
        print(f"{'CPU times ours':>16}{'wall':>7}")
        for name, (tol, gap) in shown.items():
            peak = "" if quick else f"{peak_megabytes(ways[name]):.0f}"
            times = [share * statistics.median(clock[name]) for clock in (cpu, wall)]
            print(f"{name:26}{tol:9.0e}{gap:9.0e}{times[0]:9.2f}{times[1]:9.2f}{peak:>9}", end="")
            print(f"{ratio(cpu, name, OURS):16.2f}{ratio(wall, name, OURS):7.2f}", flush=True)


def both_clocks(ways, rounds: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """CPU seconds and seconds by the clock of the same runs."""
    wall: dict[str, list[float]] = {name: [] for name in ways}

    def timed(name: str) -> None:
        start = time.perf_counter()
        ways[name]()
        wall[name].append(time.perf_counter() - start)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        cpu = seconds({name: partial(timed, name) for name in ways}, rounds, time.process_time)
    return cpu, wall


def topics(quick: bool) -> None:
    """All topics of Reuters-21578."""
    X, Y, *_ = reuters(quick)
    for intercept in (True, False):
        beside_peers("Reuters-21578", X, Y, intercept, quick)


def two(quick: bool) -> None:
    """Two classes."""
    X, Y, names, _ = reuters(quick)
    beside_peers("earn against the rest", X, Y[:, [names.index("earn")]], True, quick)
    messages = load_dataset("sms_spam")
    Y = np.asarray(messages.indicator(["spam"])[0])
    n = 1000 if quick else len(Y)
    beside_peers("SMS spam", BagOfWords().fit_transform(messages.texts[:n]), Y[:n], True, quick)


def many(quick: bool) -> None:
    """Thousands of labels."""
    for name, shape in {"twin of Delicious": DELICIOUS, "twin of EURLex": EURLEX}.items():
        X, Y = make_twin(shape)
        sample = np.random.default_rng(0).choice(shape.n_labels, 5 if quick else N_SAMPLE, replace=False)
        beside_peers(name, X, Y[:, sample], True, quick, n_labels=shape.n_labels)
        if not quick:
            cpu, wall = both_clocks(
                {f"PriorSVC, {n}": partial(by_prior_svc, X, Y, 1.0, EARLY, True, n_jobs=n) for n in (1, 2)}, 1
            )
            for way in cpu:
                print(
                    f"{way} at a time, all labels, tol {EARLY}: {cpu[way][0]:.1f} s of CPU, "
                    f"{wall[way][0]:.1f} s by the clock"
                )


def grid(quick: bool) -> None:
    """Eight values of C: each from the solution before it, each by itself, and by LinearSVC."""
    X, Y, *_ = reuters(quick)

    def warm() -> list[Planes]:
        model, found = PriorSVC(tol=EARLY, warm_start=True), []
        for C in GRID:
            model.set_params(C=C).fit(X, Y)
            found.append(Planes(model.coef_.copy(), model.intercept_.copy()))
        return found

    ways = {
        "PriorSVC, warm start": warm,
        "PriorSVC, eight fits": lambda: [by_prior_svc(X, Y, C, EARLY, True) for C in GRID],
        "LinearSVC(dual=True)": lambda: [by_linear_svc(X, Y, C, EARLY_PEER, True, dual=True) for C in GRID],
        "LinearSVC(dual=False)": lambda: [by_linear_svc(X, Y, C, EARLY_PEER, True, dual=False) for C in GRID],
    }
    optima = [Optima(X, Y, C, True) for C in GRID]
    cpu, wall = both_clocks(ways, 1)
    print(f"\n{GRID.size} values of C from {GRID[0]:g} to {GRID[-1]:g}, {Y.shape[1]} labels, with intercept")
    print(f"{'':26}{'off optimum':>12}{'CPU s':>9}{'wall s':>9}{'CPU times warm start':>22}")
    for name, solve in ways.items():
        gap = max(best.gap(planes, "LinearSVC" in name) for best, planes in zip(optima, solve(), strict=True))
        print(
            f"{name:26}{gap:12.0e}{cpu[name][0]:9.2f}{wall[name][0]:9.2f}"
            f"{ratio(cpu, name, 'PriorSVC, warm start'):22.2f}",
            flush=True,
        )


class PerTopic:
    """LinearSVC for each topic, with the scores it ends at."""

    def __init__(self, X, Y, extra=None, **options):
        self.X, self.Y, self.extra, self.options = X, Y, extra, options

    def __call__(self):
        self.models = [
            LinearSVC(**self.options).fit(self.matrix(k), self.Y[:, k]) for k in range(self.Y.shape[1])
        ]
        return self

    def matrix(self, k):
        return (
            self.X
            if self.extra is None
            else sp.hstack([self.X, PRIOR_SCALE * self.extra[:, [k]]], format="csr")
        )

    def objectives(self):
        """½‖w‖² + Σ max(0, 1 − yf)² per topic, with what LinearSVC itself penalises."""
        found = []
        for k, model in enumerate(self.models):
            penalised = np.append(model.coef_[0], model.intercept_ if model.fit_intercept else [])
            found.append(
                0.5 * penalised @ penalised
                + squared_loss(self.Y[:, k], model.decision_function(self.matrix(k)))
            )
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
        scores[np.ix_(test, kept)] = (
            clone(learner).fit(X[train], Y[train][:, kept]).decision_function(X[test])
        )
    return scores


def report(title, times, gaps, peaks, ours):
    print(f"\n{title}\n{'':34}{'seconds':>9}{'off optimum':>13}{'peak MB':>9}{'times ' + ours:>24}")
    for name, values in times.items():
        off, peak = (
            (f"{gaps[name]:.0e}" if name in gaps else ""),
            (f"{peaks[name]:.0f}" if name in peaks else ""),
        )
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


def prior(quick: bool) -> None:
    """What a prior costs: the words of the topic's name, at free trust."""
    X, Y, topics, terms = reuters(quick)
    V = name_prior(topics, terms)
    Z, known = sp.csr_matrix(X @ V.T), {"prior": V, "trust": "free"}
    free, penalised = (
        AllTopics(X, Y, tol=1e-10, max_iter=1000, **known),
        PerTopic(X, Y, Z, dual=False, tol=1e-8, max_iter=100_000),
    )
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


def held_out(quick: bool) -> None:
    """Scores of all training texts by models that did not see them."""
    X, Y, *_ = reuters(quick)
    model = PriorSVC().fit(X, Y)
    ways = {
        "leave-one-out": model.loo_decision_function,
        "five refitted folds": lambda: five_folds(X, Y, PriorSVC()),
    }
    peaks = {name: peak_megabytes(way) for name, way in ways.items()}
    report(
        "Scores of all training texts by models that did not see them",
        seconds(ways),
        {},
        peaks,
        "leave-one-out",
    )


PARTS = {"topics": topics, "two": two, "many": many, "grid": grid, "prior": prior, "held-out": held_out}


def main(given: list[str] | None = None) -> None:
    """The parts that were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=f"{', '.join(PARTS)}; by default all")
    parser.add_argument("--quick", action="store_true", help="few texts and topics, to see that it runs")
    arguments = parser.parse_args(given)
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; parts are {', '.join(PARTS)}")
    print(describe("textmargin", "scikit-learn", "scipy", "numpy"))
    if liblinear is None:
        print(WITHOUT_LIBRARY)
    for part in arguments.parts or PARTS:
        PARTS[part](arguments.quick)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
