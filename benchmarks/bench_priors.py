"""Do keywords help, and does `trust="auto"` know when? Mean average precision by the number of examples.

    python -m benchmarks.bench_priors                    # all of it, about 8 minutes on two cores
    python -m benchmarks.bench_priors wikipedia reuters  # or some parts of it

`wikipedia`: 25 categories of Wikipedia articles, keywords of the file beside the corpus, so many positives per category drawn
from the training articles, the others' positives as negatives, 242 test articles. `reuters`: the ten largest topics of
Reuters-21578 with five keywords each, written down here before any result was seen, so many positives of each topic and as many
texts of none; 3,299 test texts. Ten draws, ± the standard error of their mean. *Wrong* gives every category the keywords of
another one. Words are those of all training texts, weighted `log-tf-idf` (or `--weight tf-idf`); C = 1.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.metrics import average_precision_score

from textmargin import BagOfWords, KeywordPrior, PriorSVC, load_dataset

from .measure import describe

SIZES = (1, 2, 4, 8, 20)
N_DRAWS = 10
TRUSTS = ("free", "nonneg", "ridge", "fixed", "auto")
REUTERS_KEYWORDS = {
    "earn": ["profit", "net", "dividend", "quarter", "shr"],
    "acq": ["acquire", "acquisition", "merger", "stake", "takeover"],
    "money-fx": ["currency", "dollar", "exchange", "intervention", "yen"],
    "grain": ["grain", "wheat", "corn", "crop", "tonnes"],
    "crude": ["oil", "crude", "barrel", "opec", "petroleum"],
    "trade": ["trade", "exports", "imports", "tariffs", "deficit"],
    "interest": ["interest", "rates", "rate", "prime", "discount"],
    "ship": ["ship", "shipping", "vessel", "port", "cargo"],
    "wheat": ["wheat", "flour", "durum", "winter", "bushels"],
    "corn": ["corn", "maize", "feed", "acres", "bushels"],
}


def average_precision(Y: np.ndarray, scores: np.ndarray) -> float:
    """Mean over the categories."""
    return float(np.mean([average_precision_score(y, column) for y, column in zip(Y.T, scores.T, strict=True)]))


def table(X, Y, X_test, Y_test, V, draw) -> None:
    """Rows: numbers of examples. Columns: no prior, prior alone, each trust, and auto with the wrong prior."""
    wrong = np.roll(V, 1, axis=0)
    names = ["plain", "prior", *TRUSTS, "wrong fixed", "wrong auto"]
    print(f"{'positives':>9}" + "".join(f"{name:>15}" for name in names) + f"{'auto/plain s':>14}", flush=True)
    for size in SIZES:
        results, seconds = [], {"plain": 0.0, "auto": 0.0}
        for seed in range(N_DRAWS):
            rows = draw(size, np.random.default_rng(seed))
            models = {
                "plain": PriorSVC(),
                **{trust: PriorSVC(prior=V, trust=trust) for trust in TRUSTS},
                "wrong fixed": PriorSVC(prior=wrong, trust="fixed"),
                "wrong auto": PriorSVC(prior=wrong),
            }
            found = {"prior": average_precision(Y_test, X_test @ V.T)}
            for name, model in models.items():
                start = time.perf_counter()
                model.fit(X[rows], Y[rows])
                if name in seconds:
                    seconds[name] += time.perf_counter() - start
                found[name] = average_precision(Y_test, model.decision_function(X_test))
            results.append([found[name] for name in names])
        mean, error = np.mean(results, axis=0), np.std(results, axis=0, ddof=1) / np.sqrt(N_DRAWS)
        line = "".join(f"{m:>9.3f} ± {e:.3f}"[-15:].rjust(15) for m, e in zip(mean, error, strict=True))
        print(f"{size:>9}{line}{seconds['auto'] / seconds['plain']:>14.1f}", flush=True)


def keyword_weights(keywords: dict[str, list[str]], words: BagOfWords, categories: list[str]) -> np.ndarray:
    """A row per category."""
    found = KeywordPrior(keywords).coef(words.get_feature_names_out(), categories)
    return np.array([found[name] for name in categories])


def wikipedia(weight: str) -> None:
    """25 categories."""
    articles = load_dataset("wikipedia25")
    train, test, categories = articles.part("train"), articles.part("test"), sorted(articles.keywords)
    words = BagOfWords(weight)
    X, X_test = words.fit_transform(train.texts), words.transform(test.texts)
    Y, Y_test = train.indicator(categories)[0], test.indicator(categories)[0]

    def draw(size, rng):
        return np.sort(np.concatenate([rng.permutation(np.flatnonzero(y))[:size] for y in Y.T]))

    print(f"\nwikipedia25: {len(train)} training articles, {len(test)} to test")
    table(X, Y, X_test, Y_test, keyword_weights(articles.keywords, words, categories), draw)


def reuters(weight: str) -> None:
    """The ten largest topics."""
    corpus = load_dataset("reuters21578")
    train, test, topics = corpus.part("train"), corpus.part("test"), list(REUTERS_KEYWORDS)
    words = BagOfWords(weight)
    X, X_test = words.fit_transform(train.texts), words.transform(test.texts)
    Y, Y_test = train.indicator(topics)[0], test.indicator(topics)[0]

    def draw(size, rng):
        positives = [rng.permutation(np.flatnonzero(y))[:size] for y in Y.T]
        neither = rng.permutation(np.flatnonzero(~Y.any(axis=1)))[: size * len(topics)]
        return np.unique(np.concatenate([*positives, neither]))

    print("\nReuters-21578, ten largest topics")
    table(X, Y, X_test, Y_test, keyword_weights(REUTERS_KEYWORDS, words, topics), draw)


def main() -> None:
    """The parts that were asked for."""
    print(describe("textmargin", "scikit-learn", "numpy"))
    arguments = sys.argv[1:]
    weight = arguments.pop(arguments.index("--weight") + 1) if "--weight" in arguments else "log-tf-idf"
    for part in [part for part in arguments if part != "--weight"] or ["wikipedia", "reuters"]:
        {"wikipedia": wikipedia, "reuters": reuters}[part](weight)


if __name__ == "__main__":
    main()
