"""Do removed keywords come back, and are planted ones struck? By the texts at hand, without labels and with
some.

    python -m benchmarks.bench_suggest  # both tasks, without labels and with four a class, ten draws
    python -m benchmarks.bench_suggest --dataset desk --draws 2

*Removed*: of each class's keywords half are removed at random; the share of these that are among the first
ten words by

    suggest      what `suggest` says to add
    weights      the weights of the same model
    cosine       the largest cosine with a keyword that is left, of LSA's vectors: the spread alone
    frequency    the number of texts that have the word

of those that stand in three texts or more; *chance* is ten of these at random. *Planted*: each class is given
one word more, of another class's keywords or of the words in ten texts or more, at even odds; the shares of
these and of the others that `suggest` strikes. The model is the default: without labels it learns from all
texts and the keywords, with labels from these alone.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from textmargin import KeywordPrior, Suggestions, TextClassifier, suggest
from textmargin._ties import descending_order
from textmargin._typing import Floats
from textmargin.knowledge.spread import WordVectors

from .measure import describe
from .unlabelled.tasks import Task

N_FIRST = 10
MIN_TEXTS = 3
Keywords = Mapping[str, Sequence[str]]


def main(arguments: Sequence[str] | None = None) -> None:
    """A line for each ranking, and one for what is struck."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dataset",
        nargs="+",
        choices=("wikipedia25", "reuters21578", "desk"),
        default=("wikipedia25", "reuters21578"),
    )
    parser.add_argument("--sizes", nargs="+", type=int, default=(0, 4), help="labels a class")
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print(describe("textmargin", "scikit-learn", "numpy"))
    for name in options.dataset:
        task = Task.load(name)
        for size in options.sizes:
            print(f"\n{name}, {len(task.texts):,} texts, {size} labels a class")
            start = time.perf_counter()
            draws = [measure(task, size, seed) for seed in range(options.draws)]
            for what in draws[0]:
                values = np.array([draw[what] for draw in draws])
                error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else 0.0
                print(f"{what:>22}  {values.mean():.3f} ± {error:.3f}")
            print(f"{'seconds a draw':>22}  {(time.perf_counter() - start) / options.draws:.1f}", flush=True)


def measure(task: Task, size: int, seed: int) -> dict[str, float]:
    """The shares of one draw."""
    rng = np.random.default_rng(seed)
    removed = {
        name: [*map(str, rng.permutation(words)[: len(words) // 2])] for name, words in task.keywords.items()
    }
    half = {
        name: [word for word in words if word not in removed[name]] for name, words in task.keywords.items()
    }
    model = learn(task, half, size, seed)
    found = suggest(model, task.texts, n=N_FIRST)
    n_removed = sum(map(len, removed.values()))
    returned = {
        "suggest": {name: [one.word for one in words] for name, words in found.add.items()},
        **rankings(task, model, half),
    }
    shares = {
        f"removed, {what}": sum(len({*words[name]} & {*own}) for name, own in removed.items()) / n_removed
        for what, words in returned.items()
        if what != "chance"
    }
    shares["removed, chance"] = returned["chance"]
    planted = plant(task, rng)
    both = {name: [*words, planted[name]] for name, words in task.keywords.items()}
    return {**shares, **struck(suggest(learn(task, both, size, seed), task.texts), planted)}


def struck(found: Suggestions, planted: Mapping[str, str]) -> dict[str, float]:
    """Which of the planted words, and of the others, are to be struck."""
    named = [(name, word, word == planted[name]) for name, words in found.keywords.items() for word in words]
    strikes = {(name, one.entry) for name, some in found.strike.items() for one in some}
    splits = {(name, one.word) for one in found.split for name in one.claims}
    return {
        f"{what}, {title}": float(
            np.mean([(name, word) in chosen for name, word, wrong in named if wrong == is_wrong])
        )
        for what, chosen in (("struck", strikes), ("split", splits))
        for title, is_wrong in (("planted", True), ("others", False))
    }


def plant(task: Task, rng: np.random.Generator) -> dict[str, str]:
    """A wrong word for each class."""
    features = task.features
    frequent = features.words[np.bincount(features.counts.indices, minlength=len(features.words)) >= 10]
    found = {}
    for name, own in task.keywords.items():
        others = [word for other, words in task.keywords.items() if other != name for word in words]
        words = others if rng.random() < 0.5 else [word for word in frequent.tolist() if word.isalpha()]
        found[name] = next(str(word) for word in rng.permutation(words) if word not in own)
    return found


def learn(task: Task, keywords: Keywords, size: int, seed: int) -> TextClassifier:
    """The default with so many labels a class; without any, from all texts."""
    model = TextClassifier(knowledge=KeywordPrior(keywords), multilabel=task.multilabel)
    given = task.given(task.draw(size, seed))
    return model.fit(given.texts, given.labels) if size else model.fit(task.texts)


def rankings(task: Task, model: TextClassifier, keywords: Keywords) -> dict[str, dict[str, list[str]]]:
    """The first words of each class by the other rankings; and what chance is."""
    words = model.representation_
    terms = words.get_feature_names_out()
    X = words.transform(task.texts).tocsr()
    counts = np.bincount(X.indices, minlength=len(terms))
    known = KeywordPrior(keywords).coef(terms, task.classes)
    named = np.array([known[name] > 0 for name in task.classes])
    vectors = WordVectors.of(X)
    scores: dict[str, Floats] = {
        "weights": model.learner_.coef_[[model.labels_.index(name) for name in task.classes]],
        "cosine": np.array([vectors.cosines(np.flatnonzero(own)).max(axis=0) for own in named]),
        "frequency": np.tile(counts.astype(float), (len(task.classes), 1)),
    }
    found = {}
    for what, values in scores.items():
        values = np.where(named | (counts < MIN_TEXTS), -np.inf, values)
        order = descending_order(values)[:, :N_FIRST]
        found[what] = {name: [*map(str, terms[row])] for name, row in zip(task.classes, order, strict=True)}
    return {**found, "chance": N_FIRST / (counts >= MIN_TEXTS).sum()}


if __name__ == "__main__":
    main()
