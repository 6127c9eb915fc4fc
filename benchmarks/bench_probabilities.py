"""How good are probabilities from leave-one-out scores? Beside scikit-learn's `CalibratedClassifierCV`, in
the same run.

    python -m benchmarks.bench_probabilities          # about two minutes
    python -m benchmarks.bench_probabilities --quick  # ten topics, without scikit-learn's
    python -m benchmarks.bench_probabilities --few    # how sure models of few texts are, how often right

First 90 topics of Reuters-21578 (ModApte): the sum of the topics' Brier scores on the test texts, the mean
calibration error (15 bins of equally many texts), seconds beyond training (held-out scores included), and
topics that fail, which get the base rate. Then tasks with one label a text: Brier score, calibration error
and accuracy of the most probable class. Last a budget: what held-out scores expect of so many texts a day,
beside what the days of the test part deliver.
"""

from __future__ import annotations

import argparse
import time
import warnings
from datetime import datetime

import numpy as np
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import LinearSVC

from textmargin import BagOfWords, PriorSVC, TextClassifier, load_dataset
from textmargin.datasets.reuters import modapte_topics
from textmargin.decisions.budget import Budget, budget_outcome
from textmargin.decisions.calibration import Calibration, brier_score, calibration_error

from .measure import describe


def timed(call):
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def show(name, truth, proba, seconds, n_failed=0, accuracy=""):
    figures = (
        f"{brier_score(truth, proba):9.4f}{calibration_error(truth, proba):9.4f}{seconds:9.2f}{n_failed:7d}"
    )
    print(f"{name:52}{figures}  {accuracy}", flush=True)


def scikit_learn(estimator, method, X, Y, X_test):
    """Per topic, and the base rate where there are fewer positives than folds."""
    proba, n_failed = np.empty((X_test.shape[0], Y.shape[1])), 0
    for k, y in enumerate(Y.T):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                proba[:, k] = (
                    CalibratedClassifierCV(estimator, method=method, cv=5)
                    .fit(X, y)
                    .predict_proba(X_test)[:, 1]
                )
        except ValueError:
            proba[:, k], n_failed = y.mean(), n_failed + 1
    return proba, n_failed


def topics(quick):
    corpus = load_dataset("reuters21578")
    names, train, test = modapte_topics(corpus), corpus.part("train"), corpus.part("test")
    Y, Y_test = train.indicator(names)[0], test.indicator(names)[0]
    if quick:
        largest = np.argsort(-Y.sum(axis=0), kind="stable")[:10]
        names, Y, Y_test = [names[k] for k in largest], Y[:, largest], Y_test[:, largest]
    words = BagOfWords("log-tf-idf", analyzer="letters")
    X, X_test = words.fit_transform(train.texts), words.transform(test.texts)
    model, training = timed(lambda: PriorSVC().fit(X, Y))
    scores = model.decision_function(X_test)
    print(f"Reuters, {Y.shape[1]} topics, {len(train)} / {len(test)} texts, training {training:.1f} s")
    print(f"{'':52}{'Brier':>9}{'error':>9}{'seconds':>9}{'failed':>7}")
    held_out, loo = timed(model.loo_decision_function)
    calibration, seconds = timed(lambda: Calibration.fit(Y, held_out, "multilabel"))
    name = f"leave-one-out scores ({calibration.isotonic.sum()} isotonic), fitted in {seconds:.2f} s"
    show(name, Y_test, calibration.predict(scores), loo + seconds)
    show("  sigmoids only", Y_test, expit(calibration.slope * scores + calibration.intercept), loo + seconds)
    on_training, seconds = timed(lambda: Calibration.fit(Y, model.decision_function(X), "multilabel"))
    show("training scores", Y_test, on_training.predict(scores), seconds)
    show("base rate", Y_test, np.broadcast_to(Y.mean(axis=0), Y_test.shape), 0.0)
    if not quick:
        for estimator in (PriorSVC(), LinearSVC(C=1.0)):
            for method in ("sigmoid", "isotonic"):
                arguments = estimator, method, X, Y, X_test
                (proba, n_failed), seconds = timed(lambda arguments=arguments: scikit_learn(*arguments))
                show(
                    f"CalibratedClassifierCV({type(estimator).__name__}(), {method}, 5 folds)",
                    Y_test,
                    proba,
                    seconds,
                    n_failed,
                )
        few = Y.sum(axis=0) < 5
        print(f"of these the {few.sum()} topics with fewer than five positives, which it fails on:")
        show("  leave-one-out scores", Y_test[:, few], calibration.predict(scores)[:, few], 0.0)
        show("  base rate", Y_test[:, few], np.broadcast_to(Y.mean(axis=0), Y_test.shape)[:, few], 0.0)
    return names, train, test, Y, Y_test, held_out, scores


def one_label(name, texts, labels, new_texts, new_labels, quick):
    """Tasks in which a text has one class of several."""
    classes = np.unique(labels)
    truth, new_truth = labels[:, None] == classes, new_labels[:, None] == classes
    words = BagOfWords("log-tf-idf", analyzer="letters")
    X, X_new = words.fit_transform(texts), words.transform(new_texts)
    model = PriorSVC().fit(X, labels)
    held_out, loo = timed(model.loo_decision_function)
    scores = model.decision_function(X_new)

    def report(way, proba, seconds):
        accuracy = f"accuracy {np.mean(proba.argmax(axis=1) == new_truth.argmax(axis=1)):.3f}"
        show(f"{name}, {way}", new_truth, proba, seconds, accuracy=accuracy)

    print(f"\n{name}: {classes.size} classes, {len(texts)} / {len(new_texts)} texts; the highest score is "
          "right in "
          f"{np.mean(scores.argmax(axis=1) == new_truth.argmax(axis=1)):.3f}")  # fmt: skip
    calibration, seconds = timed(lambda: Calibration.fit(truth, held_out, "multiclass"))
    report("leave-one-out scores, softmax", calibration.predict(scores), loo + seconds)
    sigmoids, seconds = timed(lambda: Calibration.fit(truth, held_out, "multilabel").predict(scores))
    report("leave-one-out scores, normalised", sigmoids / sigmoids.sum(axis=1, keepdims=True), loo + seconds)
    if not quick:
        smallest = int(truth.sum(axis=0).min())
        if smallest >= 2:
            fit = CalibratedClassifierCV(PriorSVC(), cv=min(5, smallest)).fit
            fitted, seconds = timed(lambda: fit(X, labels))
            report(f"CalibratedClassifierCV, {min(5, smallest)} folds", fitted.predict_proba(X_new), seconds)


def single_topic(names, train, test, Y, Y_test):
    """Texts of one topic, of topics with five such texts or more."""
    frequent = np.flatnonzero(np.sum(Y * (Y.sum(axis=1) == 1)[:, None], axis=0) >= 5)
    parts = []
    for corpus, truth in ((train, Y), (test, Y_test)):
        rows = np.flatnonzero((truth.sum(axis=1) == 1) & np.isin(truth.argmax(axis=1), frequent))
        parts += [[corpus.texts[i] for i in rows], np.array(names)[truth[rows].argmax(axis=1)]]
    return parts


def day_of(date):
    """Such as " 8-APR-1987 01:02:03.04"; some carry codes of the wire after it."""
    return datetime.strptime(date.split()[0].title(), "%d-%b-%Y").date()


def budget(names, train, test, Y, Y_test, held_out, scores):
    """A day's budget is half of what the topic has a day: the highest of the day, and what a threshold would
    deliver.
    """
    days = [day_of(date) for date in test.fields["date"]]
    n_days, per_day = len(set(days)), len(days) / len(set(days))
    print(f"\nA budget a day, test part by date: {n_days} days, {per_day:.0f} texts a day on average")
    print(f"{'':12}{'a day':>7}  {'expected: precision':>20}{'recall':>16}   "
          f"{'threshold: a day':>16}{'prec':>6}{'rec':>6}   "
          f"{'highest of each day: a day':>26}{'prec':>6}{'rec':>6}")  # fmt: skip
    for k in np.argsort(-Y.sum(axis=0), kind="stable")[:10]:
        n = max(1, round(Y[:, k].mean() * per_day / 2))
        outcome = budget_outcome(Y[:, k], held_out[:, k], n, per_day)
        line = (
            f"{names[k]:12}{n:7d}  {outcome.precision:.2f} ({outcome.precision_low:.2f} to "
            f"{outcome.precision_high:.2f})"
        )
        line += f"{outcome.recall:6.2f} ({outcome.recall_low:.2f} to {outcome.recall_high:.2f})"
        by_day = Budget(n, by="day").select(scores[:, k] - np.min(scores[:, k]), days)
        for accepted, width in ((scores[:, k] >= outcome.theta, 16), (by_day, 26)):
            hits = np.sum(accepted & (Y_test[:, k] > 0))
            line += f"   {accepted.sum() / n_days:{width}.1f}"
            line += f"{hits / max(1, accepted.sum()):6.2f}{hits / Y_test[:, k].sum():6.2f}"
        print(line, flush=True)


def few_texts(draws=8):
    """Of models of few texts: the mean probability of the likeliest label, and how often that is right, on up
    to 2,000 others.
    """
    print("\nfew texts                        confidence    right  log loss")
    for name, sizes in {"desk": (60, 120, 240), "wikipedia25": (150, 300, 1000)}.items():
        corpus = load_dataset(name)
        for n in sizes:
            figures = []
            for draw in range(draws):
                order = np.random.default_rng(draw).permutation(len(corpus)).tolist()
                train, test = corpus.take(order[:n]), corpus.take(order[n : n + 2000])
                test = test.take([row for row, label in enumerate(test.labels) if label in set(train.labels)])
                model = TextClassifier().fit(train.texts, train.labels)
                proba, truth = model.predict_proba(test.texts), np.searchsorted(model.classes_, test.labels)
                own = proba[np.arange(len(truth)), truth]
                figures.append(
                    (proba.max(axis=1).mean(), np.mean(proba.argmax(axis=1) == truth), -np.log(own).mean())
                )
            print(
                f"{name + f', {n} texts':30}"
                + "".join(f"{value:12.3f}" for value in np.mean(figures, axis=0)),
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="ten topics, and nothing of scikit-learn's")
    parser.add_argument("--few", action="store_true", help="models of few texts alone")
    options = parser.parse_args()
    quick = options.quick
    print(describe("textmargin", "scikit-learn"))
    if options.few:
        few_texts()
        return
    reuters = topics(quick)
    for name in ("wikipedia25", "desk"):
        corpus = load_dataset(name)
        train, test = corpus.part("train"), corpus.part("test")
        one_label(name, train.texts, np.array(train.labels), test.texts, np.array(test.labels), quick)
    one_label("Reuters, one topic", *single_topic(*reuters[:5]), quick)
    budget(*reuters)
    if not quick:
        few_texts()


if __name__ == "__main__":
    main()
