"""Do marked passages help on film reviews, and does the default choose well? Accuracy by the number of
training texts.

    python -m benchmarks.bench_rationales              # about 10 minutes on two cores
    python -m benchmarks.bench_rationales --sizes 100 200 --draws 2

2,000 reviews (Pang & Lee 2004) with the passages that made an annotator decide (Zaidan, Eisner & Piatko
2007), the file `movie_rationales.jsonl.gz` of the data folder; texts are drawn from the 1,800 of its training
part, and the 200 of its test part test. Five draws, ± the standard error of their mean. *Prior* is
`RationalePrior`, whose trust `auto` weighs by cross-fitting, *contrasts* are `RationaleContrasts` unweighed,
and *default* is both of them weighed, which is what `--rationales` gives.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from textmargin import BagOfWords, PriorSVC, RationaleContrasts, RationalePrior, TextClassifier

from .measure import describe

SIZES = (100, 200, 400, 800, 1600)
COLUMNS = ("plain", "prior auto", "prior ridge", "contrasts", "default")


def read() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The training and the test part."""
    folder = os.environ.get("TEXTMARGIN_DATA")
    if folder is None:
        raise SystemExit("Set TEXTMARGIN_DATA to the folder that has movie_rationales.jsonl.gz.")
    with gzip.open(Path(folder) / "movie_rationales.jsonl.gz", "rt", encoding="utf-8") as file:
        reviews = [json.loads(line) for line in file]
    return [one for one in reviews if one["split"] == "train"], [
        one for one in reviews if one["split"] == "test"
    ]


def models(reviews: list[dict[str, Any]]) -> dict[str, TextClassifier]:
    """A classifier for each column, with what is marked in the reviews it is to learn from."""
    marked = [(one["text"], [(start, end, one["label"]) for start, end in one["marks"]]) for one in reviews]
    prior = RationalePrior(marked, analyzer=BagOfWords(stop_words=None).build_analyzer())
    contrasts = RationaleContrasts(marked)
    return {
        "plain": TextClassifier(),
        "prior auto": TextClassifier(knowledge=prior),
        "prior ridge": TextClassifier(knowledge=prior, learner=PriorSVC(trust="ridge")),
        "contrasts": TextClassifier(knowledge=contrasts, learner=PriorSVC(trust="fixed")),
        "default": TextClassifier(knowledge=[prior, contrasts]),
    }


def main(arguments: list[str] | None = None) -> None:
    """A line for each number of texts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--draws", type=int, default=5)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # of words that are no terms
    train, test = read()
    texts, truth = [one["text"] for one in test], [one["label"] for one in test]
    print(describe("textmargin", "scikit-learn", "numpy"))
    print(
        f"{'texts':>6}"
        + "".join(name.rjust(15) for name in COLUMNS)
        + f"{'seconds':>9}  what the default uses, in all draws"
    )
    for size in options.sizes:
        found, used, start = [], Counter[str](), time.perf_counter()
        for draw in range(options.draws):
            chosen = [train[i] for i in np.random.default_rng(draw).permutation(len(train))[:size]]
            fitted = {name: model.fit([one["text"] for one in chosen], [one["label"] for one in chosen])
                      for name, model in models(chosen).items()}  # fmt: skip
            found.append([100 * fitted[name].score(texts, truth) for name in COLUMNS])
            used.update(
                one.knowledge for one in fitted["default"].verdict_ if one.status in ("supported", "adopted")
            )
        error = (
            np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
            if len(found) > 1
            else np.full(len(COLUMNS), np.nan)
        )
        line = "".join(
            f"{m:.1f} ± {e:.1f}".rjust(15) for m, e in zip(np.mean(found, axis=0), error, strict=True)
        )
        known = ", ".join(f"{name}: {n}" for name, n in used.items())
        print(f"{size:>6}{line}{time.perf_counter() - start:>9.0f}  {known}", flush=True)


if __name__ == "__main__":
    main()
