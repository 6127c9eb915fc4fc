"""Does feedback make decisions better, or at least not worse, where a text has one label of several?

    python -m benchmarks.bench_feedback  # six draws of wikipedia25 and of Reuters' texts with one topic
    python -m benchmarks.bench_feedback --draws 2

Of each draw a third of the texts is learnt from with costs, others are decided on and judged, the rest says
what decisions are worth. Judges name the right label of all texts (*named*), of those that got a label
(*decided*), or say of these only right or wrong (*right/wrong*). Columns: utility per 1,000 texts before, and
what feedback adds to it, with its standard error over draws: thresholds set together (`retune`), and each
against the rest, as if a label were decided on by itself.
"""

from __future__ import annotations

import argparse

import numpy as np

from textmargin import BagOfWords, TextClassifier, ThresholdClassifier, Utility, load_dataset
from textmargin.decisions.feedback import feedback_threshold
from textmargin.decisions.single_label import answer_table
from textmargin.errors import ScoreError
from textmargin.feedback.retune import retune
from textmargin.feedback.store import Feedback

from .measure import describe

COSTS = {"5/-1": Utility(5, -1), "1/-1": Utility(1, -1), "2/-5": Utility(2, -5), "1/-20": Utility(1, -20)}
JUDGES = ("named", "decided", "right/wrong")


def corpora():
    """Texts and labels; of labels those with 30 texts or more."""
    wikipedia = load_dataset("wikipedia25")
    reuters = load_dataset("reuters21578")
    one = [(text, own[0]) for text, own in zip(reuters.texts, reuters.labels, strict=True) if len(own) == 1]
    for name, pairs in (
        ("wikipedia25", list(zip(wikipedia.texts, wikipedia.labels, strict=True))),
        ("Reuters, one topic", one),
    ):
        labels = np.array([own if isinstance(own, str) else own[0] for _, own in pairs])
        names, counts = np.unique(labels, return_counts=True)
        rows = np.flatnonzero(np.isin(labels, names[counts >= 30]))
        yield name, np.array([text for text, _ in pairs], dtype=object)[rows], labels[rows]


def utility(model, texts, labels, costs):
    """Per 1,000 texts."""
    decided = model.decide(texts)
    names = list(decided.names)
    answers = np.where(decided.accepted.any(axis=1), decided.accepted.argmax(axis=1), len(names))
    truth = np.array([names.index(label) for label in labels])
    return 1000 * answer_table((costs,) * len(names))[truth, answers].mean()


def judge(model, texts, labels, how):
    decided = model.decide(texts).labels
    if how == "right/wrong":
        return [
            Feedback(text, own, own[0] == label)
            for text, own, label in zip(texts, decided, labels, strict=True)
            if own
        ]
    return [
        Feedback(text, own, (label,))
        for text, own, label in zip(texts, decided, labels, strict=True)
        if own or how == "named"
    ]


def each_by_itself(model, feedback, costs):
    """Thresholds set one label against the rest, as two labels are."""
    decided = model.decide([one.text for one in feedback])
    raw, decision = model.model_.raw_scores(decided), model.model_
    thetas = decision.thresholds_.copy()
    for k, name in enumerate(decided.names):
        says = [
            (row, name in one.correct if not isinstance(one.correct, bool) else one.correct)
            for row, one in enumerate(feedback)
            if not isinstance(one.correct, bool) or name in one.predicted
        ]
        rows, y = zip(*says, strict=True) if says else ((), ())
        try:
            thetas[k] = feedback_threshold(y, raw[list(rows), k], float(thetas[k]), costs).theta
        except ScoreError:
            continue
    from copy import copy

    other = copy(decision)
    other.thresholds_ = other.ask_thresholds_ = thetas
    return model.with_decision(other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=6)
    options = parser.parse_args()
    print(describe("textmargin", "scikit-learn", "numpy"))
    for corpus, texts, labels in corpora():
        gains = {}
        for draw in range(options.draws):
            order = np.random.default_rng(draw).permutation(len(texts))[:4500]
            train, rest = order[: len(order) // 3], order[len(order) // 3 :]
            train = train[np.isin(labels[train], labels[train])]
            rest = rest[np.isin(labels[rest], labels[train])]
            decision = ThresholdClassifier(utility=COSTS["1/-1"])
            first = TextClassifier(BagOfWords(analyzer="letters"), decision=decision).fit(
                list(texts[train]), labels[train]
            )
            for name, costs in COSTS.items():
                model = first.with_utility(costs)
                for n in (300, 1000):
                    n_judged = min(n, len(rest) // 2)
                    own, other = rest[:n_judged], rest[-len(rest) // 2 :]
                    before = utility(model, list(texts[other]), labels[other], costs)
                    for how in JUDGES:
                        feedback = judge(model, texts[own], labels[own], how)
                        try:
                            result = retune(model, feedback)
                            way, joint = (
                                result.way,
                                utility(result.model, list(texts[other]), labels[other], costs),
                            )
                        except ScoreError:
                            way, joint = "refused", before
                        single = utility(
                            each_by_itself(model, feedback, costs), list(texts[other]), labels[other], costs
                        )
                        gains.setdefault((name, n, how), []).append(
                            (before, joint - before, single - before, way)
                        )
        print(
            f"\n{corpus}: {len(train):,} texts to learn from, {len(set(labels[train]))} labels, "
            f"{options.draws} draws"
        )
        print(
            f"{'costs':8}{'judged':>7}  "
            f"{'how':12}{'before':>9}{'together':>18}{'lost':>6}{'each':>18}{'lost':>6}  ways"
        )
        for (name, n, how), rows in gains.items():
            numbers = np.array([row[:3] for row in rows])
            mean, error = numbers.mean(axis=0), numbers.std(axis=0, ddof=1) / np.sqrt(len(rows))
            lost = (numbers[:, 1:] < -1e-9).sum(axis=0)
            ways = ", ".join(sorted({row[3] for row in rows}))
            columns = "".join(f"{mean[k]:+11.1f} ± {error[k]:4.1f}{lost[k - 1]:6}" for k in (1, 2))
            print(f"{name:8}{n:7}  {how:12}{mean[0]:9.1f}{columns}  {ways}", flush=True)


if __name__ == "__main__":
    main()
