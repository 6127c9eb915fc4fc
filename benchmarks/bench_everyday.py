"""What defaults do for everyday texts.

    python -m benchmarks.bench_everyday words     # default words beside the papers', four corpora, ten halves
    python -m benchmarks.bench_everyday keywords  # 8 labelled texts, 47 keywords, on desk-test, ten draws
    python -m benchmarks.bench_everyday tune      # settings chosen on held-out scores beside the default's

Random halves of a corpus: trained on one, judged on the other (Reuters: 3,000 texts of the training part
each, topics with at least 20 texts). "papers" are words of letters alone without scikit-learn's English stop
words, the default until it was changed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, average_precision_score, f1_score

from textmargin import BagOfWords, Corpus, KeywordPrior, ModelConfig, PriorSVC, TextClassifier, load_dataset
from textmargin.tuning import tune

from .measure import describe

CORPORA = ("sms_spam", "desk", "reuters21578", "wikipedia25")
WORDS: dict[str, dict[str, Any]] = {
    "papers": {"analyzer": "letters"},
    "default": {},
    "no stop words": {"stop_words": None},
    "exact numbers": {"numbers": "exact"},
    "scikit-learn's": {"token_pattern": r"(?u)\b\w\w+\b", "stop_words": None},
}
N_DRAWS = 10


def halves(name: str, draw: int) -> tuple[Corpus, Corpus]:
    """The texts to train on, and those to judge by."""
    corpus = load_dataset(name)
    size = len(corpus) // 2
    if name == "reuters21578":
        corpus, size = corpus.part("train"), 3000
        counts = Counter(topic for own in corpus.labels for topic in own)
        labels = [tuple(topic for topic in own if counts[topic] >= 20) for own in corpus.labels]
        corpus = Corpus(corpus.name, corpus.texts, labels)
    order = np.random.default_rng(draw).permutation(len(corpus)).tolist()
    return corpus.take(order[:size]), corpus.take(order[size : 2 * size])


def figures(train: Corpus, test: Corpus, settings: dict[str, Any]) -> tuple[float, float, float]:
    """Accuracy (several labels: micro F1), macro F1 and mean average precision."""
    words = BagOfWords(**settings)
    X, Z = words.fit_transform(train.texts), words.transform(test.texts)
    several = isinstance(train.labels[0], tuple)
    indicator, classes = train.indicator()
    truth = (
        test.indicator(classes)[0]
        if several
        else np.array([[own == one for one in classes] for own in test.labels])
    )
    enough = (indicator.sum(axis=0) > 1) & truth.any(axis=0)
    target: Any = indicator[:, enough] if several else np.array(train.labels)
    model = PriorSVC().fit(X, target)
    scores = model.decision_function(Z)
    scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    truth = truth[:, enough] if several else truth
    precision = np.mean(
        [average_precision_score(truth[:, k], scores[:, k]) for k in np.flatnonzero(truth.any(axis=0))]
    )
    if several:
        accepted = scores > 0
        first, macro = (f1_score(truth, accepted, average=how, zero_division=0) for how in ("micro", "macro"))
    else:
        answers = model.predict(Z)
        first, macro = accuracy_score(test.labels, answers), f1_score(test.labels, answers, average="macro")
    return float(first), float(macro), float(precision)


def show(what: str, values: NDArray[np.float64], start: NDArray[np.float64]) -> None:
    """A line of means, and how far they are from the first ones, with standard errors over draws."""
    lead = values - start
    error = lead.std(axis=0, ddof=1) / np.sqrt(len(lead))
    columns = zip(values.mean(axis=0), lead.mean(axis=0), error, strict=True)
    print(
        f"{what:>28}  " + "  ".join(f"{value:.4f} ({a:+.4f} ± {b:.4f})" for value, a, b in columns),
        flush=True,
    )


def compare_words(names: list[str]) -> None:
    print(
        "accuracy (Reuters: micro F1), macro F1, mean average precision; in brackets beside the papers' words"
    )
    for name in names:
        draws = [halves(name, draw) for draw in range(N_DRAWS)]
        start = None
        for what, settings in WORDS.items():
            values = np.array([figures(*draw, settings) for draw in draws])
            start = values if start is None else start
            show(f"{name}, {what}", values, start)


def compare_keywords() -> None:
    """One labelled text of each label; keywords that no training text has were dropped before."""
    desk = load_dataset("desk")
    train, test = desk.part("train"), desk.part("test")
    known, labels = KeywordPrior(desk.keywords), np.array(train.labels)

    def right(rows: list[int], words: BagOfWords | None, knowledge: Any) -> float:
        some = train.take(rows)
        model = TextClassifier(words, knowledge=knowledge).fit(some.texts, some.labels)
        return float(np.mean(model.predict(test.texts) == np.array(test.labels)))

    def four_ways(rows: list[int]) -> list[float]:
        found = BagOfWords(analyzer="letters").fit(train.take(rows).texts)
        dropped = BagOfWords(analyzer="letters", vocabulary=sorted(found.vocabulary_))
        return [right(rows, None, None), right(rows, dropped, known), right(rows, None, known)]

    first = [int(np.flatnonzero(labels == label)[0]) for label in desk.classes]
    print("right on desk-test:                 no keywords, keywords before, keywords now")
    print("first text of each label:          ", *(f"{value:.3f}" for value in four_ways(first)))
    draws = []
    for draw in range(N_DRAWS):
        rng = np.random.default_rng(draw)
        draws.append(four_ways([int(rng.choice(np.flatnonzero(labels == label))) for label in desk.classes]))
    values = np.array(draws)
    print("a text of each label, ten draws:   ", *(f"{value:.3f}" for value in values.mean(axis=0)))
    print(
        "standard errors:                   ",
        *(f"{value:.3f}" for value in values.std(axis=0, ddof=1) / np.sqrt(N_DRAWS)),
    )


def compare_tuning(names: list[str]) -> None:
    print(
        "share of texts decided rightly (Reuters: mean F1 of texts): default, tuned; in brackets the "
        "difference"
    )
    for name in names:
        rows, seconds, chosen = [], 0.0, Counter[str]()
        for draw in range(N_DRAWS):
            train, test = halves(name, draw)
            train = train.take(range(min(len(train), 1000)))
            began = time.perf_counter()
            tuning = tune(ModelConfig(), train)
            seconds += time.perf_counter() - began
            chosen[str(tuning).split(",")[0] if tuning.choice.config != ModelConfig() else "default"] += 1
            rows.append(
                [rightness(config.fit(train), test) for config in (ModelConfig(), tuning.choice.config)]
            )
        values = np.array(rows)
        show(f"{name}, default", values[:, :1], values[:, :1])
        show(f"{name}, tuned", values[:, 1:], values[:, :1])
        print(f"{'':>28}  {seconds / N_DRAWS:.1f} s a choice; {dict(chosen)}")


def rightness(model: TextClassifier, test: Corpus) -> float:
    answers = model.predict(test.texts)
    if not isinstance(test.labels[0], tuple):
        return float(np.mean([answer == own for answer, own in zip(answers, test.labels, strict=True)]))
    pairs = [({*answer}, {*own}) for answer, own in zip(answers, test.labels, strict=True)]
    return float(np.mean([2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0 for a, b in pairs]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["words", "keywords", "tune"])
    parser.add_argument("--only", nargs="+", default=list(CORPORA))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(describe("textmargin", "scikit-learn"))
    if options.what == "words":
        compare_words(options.only)
    elif options.what == "keywords":
        compare_keywords()
    else:
        compare_tuning(options.only)


if __name__ == "__main__":
    main()
