"""What does a threshold do for 90 topics of Reuters-21578 (ModApte)? Every rule and score source, baselines,
and the oracle.

    python -m benchmarks.bench_thresholds            # linear SVM, log-tf-idf, C = 1; about three minutes
    python -m benchmarks.bench_thresholds --C 0.2 --weight tf-idf --quick

Columns: T11SU, macro F1, micro F1, F0.5, precision and recall (macro), seconds beyond training (scores
included, one thread), topics helped / unchanged / hurt against threshold 0. Then what leave-one-out scores of
the training texts say of other weights and C: nothing here is chosen on test texts. The gain by number of
positives, and asymmetric costs, are tables of their own: `textmargin reproduce thresholds-positives
thresholds-costs`.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

from textmargin import (
    T10U,
    T11SU,
    BagOfWords,
    FBeta,
    PriorSVC,
    Rocchio,
    ThresholdClassifier,
    load_dataset,
    utility_curve,
    utility_scorer,
)
from textmargin.datasets.reuters import modapte_topics
from textmargin.decisions.utility import F1

from .bench_primal import five_folds
from .measure import describe


class Comparison:
    """Decisions on the test texts, each beside threshold 0."""

    def __init__(self, truth: np.ndarray) -> None:
        self.truth = truth.astype(bool)
        self.values: dict[str, np.ndarray] = {}
        print(
            f"{'':44}{'T11SU':>7}{'maF1':>7}{'miF1':>7}{'F0.5':>7}{'prec':>7}{'rec':>7}{'sec':>8}  "
            "helped/same/hurt"
        )

    def show(self, name: str, accepted: np.ndarray, seconds: float) -> None:
        accepted = accepted.astype(bool)
        tp, fp = (accepted & self.truth).sum(axis=0), (accepted & ~self.truth).sum(axis=0)
        fn, tn = (~accepted & self.truth).sum(axis=0), (~accepted & ~self.truth).sum(axis=0)
        value = self.values[name] = T11SU(tp, fp, fn, tn)
        zero = next(iter(self.values.values()))
        columns = [
            value.mean(),
            FBeta(1)(tp, fp, fn, tn).mean(),
            float(FBeta(1)(tp.sum(), fp.sum(), fn.sum(), tn.sum())),
        ]
        columns += [
            FBeta(0.5)(tp, fp, fn, tn).mean(),
            np.mean(tp / np.maximum(tp + fp, 1)),
            np.mean(tp / (tp + fn)),
        ]
        gain = value - zero
        counts = "/".join(
            str(int(n)) for n in ((gain > 1e-9).sum(), (np.abs(gain) <= 1e-9).sum(), (gain < -1e-9).sum())
        )
        print(f"{name:44}" + "".join(f"{x:7.3f}" for x in columns) + f"{seconds:8.2f}  {counts}", flush=True)


def timed(call):
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


class Handed(BaseEstimator):
    """A trained model that hands out scores computed before, so that a rule is timed by itself."""

    def __init__(self, trained=None, held_out=None):
        self.trained, self.held_out = trained, held_out
        self.classes_ = np.arange(trained.shape[1])

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return self.trained

    def loo_decision_function(self):
        return self.held_out


def scut(y, score, fbr=None, below="infinity"):
    """SCut: the best threshold of each fold, averaged. With `fbr` SCutFBR.0, or SCutFBR.1 (`below="top"`):
    where the mean F1 is below it, the threshold is ∞, or the highest score.
    """
    n_folds = min(5, int(y.sum()))
    if n_folds > 1:
        folds = [rows for _, rows in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(y, y)]
    else:
        folds = [slice(None)]
    curves = [utility_curve(y[rows], score[rows], F1) for rows in folds]
    if fbr is not None and np.mean([curve.utility.max() for curve in curves]) < fbr:
        return np.inf if below == "infinity" else score.max()
    return np.mean([curve.best_middle for curve in curves])


def rcut(scores, t=1):
    """Each text gets its t best classes."""
    labels = np.zeros(scores.shape, dtype=int)
    np.put_along_axis(labels, np.argsort(-scores, axis=1, kind="stable")[:, :t], 1, axis=1)
    return labels


def pcut(scores, prior, x=1.0):
    """Each class gets its top x·prior·n texts."""
    labels = np.zeros(scores.shape, dtype=int)
    for k, n in enumerate(np.rint(x * prior * len(scores)).astype(int)):
        labels[np.argsort(-scores[:, k], kind="stable")[:n], k] = 1
    return labels


def uneven_margin_threshold(tau):
    """The threshold that equals training with margins (1, τ), given a free intercept."""
    return -(1 - tau) / (1 + tau)


def training_value(X, Y, C):
    """What training texts alone say of a representation and C."""
    Y = Y[:, Y.sum(axis=0) >= 4]
    scores = PriorSVC(C=C).fit(X, Y).loo_decision_function()
    return np.mean(
        [
            T11SU(*_counts(y, s, np.mean(utility_curve(y, s).best_interval)))
            for y, s in zip(Y.T, scores.T, strict=True)
        ]
    )


def _counts(y, score, theta):
    accepted, y = score >= theta, y != 0
    return (accepted & y).sum(), (accepted & ~y).sum(), (~accepted & y).sum(), (~accepted & ~y).sum()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--weight", default="log-tf-idf", choices=["tf-idf", "log-tf-idf", "count"])
    parser.add_argument(
        "--quick",
        action="store_true",
        help="leave out the tuned thresholds and other settings, which take minutes",
    )
    options = parser.parse_args()

    corpus = load_dataset("reuters21578")
    topics, train, test = modapte_topics(corpus), corpus.part("train"), corpus.part("test")
    Y, Y_test = train.indicator(topics)[0], test.indicator(topics)[0]
    words = BagOfWords(options.weight, analyzer="letters")
    X, X_test = words.fit_transform(train.texts), words.transform(test.texts)
    print(describe("textmargin", "scikit-learn"))
    svm = PriorSVC(C=options.C)
    model, seconds = timed(lambda: svm.fit(X, Y))
    scores = model.decision_function(X_test)
    print(f"{X.shape[0]} / {X_test.shape[0]} texts, {Y.shape[1]} topics, {options.weight}, C = {options.C:g}")
    print(f"training {seconds:.1f} s\n")

    comparison = Comparison(Y_test)
    comparison.show("threshold 0", scores >= 0, 0.0)
    sources, cost = {}, {}
    sources["train"], cost["train"] = timed(lambda: model.decision_function(X))
    sources["loo"], cost["loo"] = timed(model.loo_decision_function)
    sources["cv"], cost["cv"] = timed(lambda: five_folds(X, Y, svm))

    def thresholds(source, **choice):
        handed = FrozenEstimator(Handed(sources["train"], sources[source]))
        return ThresholdClassifier(handed, **choice).fit(X, Y).thresholds_

    rules = {
        "parameter-free": {},
        "parameter-free, γ = 0.3": {"gamma": 0.3},
        "select β, γ": {"rule": "select"},
        "β = 0.1, γ = 0.05": {"rule": "beta-gamma", "beta": 0.1, "gamma": 0.05},
        "β = 0.05, γ = 0.3": {"rule": "beta-gamma", "beta": 0.05, "gamma": 0.3},
        "best interval": {"rule": "best"},
        "parameter-free, few positives alike": {"few_positives": 0},
    }
    for source in ("loo", "cv", "train"):
        for name, choice in rules.items():
            theta, seconds = timed(lambda source=source, choice=choice: thresholds(source, **choice))
            comparison.show(f"{name}, {source} scores", scores >= theta, seconds + cost[source])

    for tau in (0.2, 0.4, 0.6):
        comparison.show(f"uneven margins, τ = {tau}", scores >= uneven_margin_threshold(tau), 0.0)
    scored = [(y[~np.isnan(s)], s[~np.isnan(s)]) for y, s in zip(Y.T, sources["cv"].T, strict=True)]
    for name, choice in {
        "SCut": {},
        "SCutFBR.0, 0.3": {"fbr": 0.3},
        "SCutFBR.1, 0.3": {"fbr": 0.3, "below": "top"},
    }.items():
        theta, seconds = timed(
            lambda choice=choice: [scut(y, s, **choice) if y.any() else np.inf for y, s in scored]
        )
        comparison.show(name, scores >= np.array(theta), seconds + cost["cv"])
    comparison.show("RCut, t = 1", rcut(scores), 0.0)
    comparison.show("PCut, x = 1 (needs all test texts at once)", pcut(scores, Y.mean(axis=0)), 0.0)
    rocchio = ThresholdClassifier(Rocchio(), scores="train", rule="best", few_positives=0)
    fitted, seconds = timed(lambda: rocchio.fit(X, Y))
    comparison.show("Rocchio, best interval, train scores", fitted.predict(X_test), seconds)

    if not options.quick:

        def tuned():
            accepted = np.zeros_like(Y_test)
            for k in range(Y.shape[1]):
                n = min(5, int(Y[:, k].sum()))
                if n > 1:
                    one = TunedThresholdClassifierCV(
                        PriorSVC(C=options.C), scoring=utility_scorer(T10U), cv=n
                    )
                    accepted[:, k] = one.fit(X, Y[:, k]).predict(X_test)
            return accepted

        accepted, seconds = timed(tuned)
        comparison.show("TunedThresholdClassifierCV, T10U", accepted, seconds)
    oracle = np.array([utility_curve(y, s, T10U).theta_max for y, s in zip(Y_test.T, scores.T, strict=True)])
    comparison.show("oracle (knows the test labels)", scores >= oracle, 0.0)
    if not options.quick:
        print(
            "\nT11SU of the best interval on leave-one-out scores of the training texts, topics with four "
            "positives or more"
        )
        for weight in ("tf-idf", "log-tf-idf"):
            matrix = BagOfWords(weight, analyzer="letters").fit_transform(train.texts)
            print(
                f"  {weight:11}"
                + "".join(f"   C = {C:g}: {training_value(matrix, Y, C):.4f}" for C in (0.2, 1.0, 5.0))
            )


if __name__ == "__main__":
    main()
