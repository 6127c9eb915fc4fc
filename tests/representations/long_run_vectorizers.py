"""Vectorisers against scikit-learn on as many random texts as one has time for; beside the tests, which take
seconds.

    python tests/representations/long_run_vectorizers.py 1000000            # some minutes
    python tests/representations/long_run_vectorizers.py 1000000 --seed 7

First every character there is, in nine places each, for every idea of a word; then random texts of all
scripts under random options, fitted on and new. Stops at the first difference, and prints what reproduces it.
"""

import argparse
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import vectorizer_cases as cases
from sklearn.feature_extraction.text import CountVectorizer

import textmargin
from textmargin import BagOfWords


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n_texts", type=int)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    every = list(cases.every_context(range(sys.maxunicode + 1)))
    for lowercase in (True, False):
        for pattern in cases.PATTERNS:
            options = {"lowercase": lowercase, "token_pattern": pattern}
            pair = textmargin.CountVectorizer(**options, n_jobs=2), CountVectorizer(**options)
            report(f"every character, {options}", cases.difference(*pair, every, every[:50]))
        for analyzer in ("word", "letters", "char_wb"):
            options = {
                **cases.WORDS_OPTIONS,
                "lowercase": lowercase,
                "analyzer": analyzer,
                "ngram_range": (1, 1),
            }
            pair = BagOfWords(**options, n_jobs=2), cases.in_python(options)
            report(
                f"every character, BagOfWords {analyzer}, lowercase={lowercase}",
                cases.difference(*pair, every, every[:50], False),
            )
    n, start, rng = 0, time.time(), random.Random(arguments.seed)
    while n < arguments.n_texts:
        texts = [cases.random_text(rng) for _ in range(rng.choice([1, 3, 40, 80]))]
        new = [cases.random_text(rng) for _ in range(20)] + texts[:20]
        for _ in range(2):  # under several options: to make texts takes longer than to compare them
            what, options = cases.random_difference(rng, texts, new)
            if what:
                raise SystemExit(f"{what}\n{options}\ntexts={texts!r}\nnew={new!r}")
        n += len(texts) + 20
        if n // 50_000 > (n - len(texts) - 20) // 50_000:
            print(f"{n:,} random texts: equal, {time.time() - start:.0f} s", flush=True)
    print(f"{n:,} random texts under two random options each: equal")


def report(what, difference):
    if difference:
        raise SystemExit(f"{what}: {difference}")
    print(f"{what}: equal", flush=True)


if __name__ == "__main__":
    main()
