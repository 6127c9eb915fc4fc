"""How fast do texts become columns, beside scikit-learn's vectorisers?

    python -m benchmarks.bench_words                # all, about ten minutes
    python -m benchmarks.bench_words Reuters emoji  # some corpora
    python -m benchmarks.bench_words --cpu          # by CPU time, if others use the machine: see ×1 only
    python -m benchmarks.bench_words --quick        # a little of each, which says nothing of speed

Reuters, Wikipedia, a million short lines, and lines in German, in Chinese and full of emoji that are made
here of a seeded vocabulary. Megabytes of UTF-8 a second by the clock, the best of some rounds that go through
all candidates in turn: scikit-learn's `TfidfVectorizer`, `CountVectorizer` and `HashingVectorizer`; ours of
the first two names, with one thread and with two. A ratio is how many times faster ours is, where the peer
hashes our `TfidfVectorizer`. The peer of `BagOfWords()`, which finds out the language and leaves its function
words out, is the same with words found by Python, and the language named. Where scikit-learn takes long, a
part of the texts is used, as the table says. Results that differ in a single bit are an error.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

import textmargin
from textmargin import BagOfWords, load_dataset

from .measure import describe, seconds

Clock: TypeAlias = Callable[[], float]

ROUNDS = 3
THREADS = (1, 2)
# Options, and how many megabytes scikit-learn gets through in a few seconds.
SETTINGS: dict[str, tuple[dict[str, Any], float]] = {
    "words": ({}, 50.0),
    "bigrams": ({"ngram_range": (1, 2)}, 8.0),
    "char_wb(2, 4)": ({"analyzer": "char_wb", "ngram_range": (2, 4)}, 1.5),
}
WORDS = "BagOfWords()"


def main(arguments: Sequence[str]) -> None:
    """A line per corpus, kind of terms and step."""
    quick = "--quick" in arguments
    clock = time.process_time if "--cpu" in arguments else time.perf_counter
    names = [name for name in arguments if not name.startswith("--")] or list(CORPORA)
    print(describe("textmargin", "scikit-learn", "numpy"))
    peers = "".join(f"{peer:>11}{'×1':>7}{'×2':>7}" for peer in ("Tfidf", "Count", "Hashing"))
    print(
        "\nMB/s of ours and of scikit-learn, and how many times faster ours is, with one thread and with two"
    )
    print(f"{'':41}{'MB':>6}{'ours ×1':>9}{'×2':>7}{peers}")
    for name in names:
        texts = CORPORA[name]()
        for terms, (options, megabytes) in SETTINGS.items():
            some = cut(texts, 0.02 if quick else megabytes)
            for step, times in measured(some, options, 1 if quick else ROUNDS, clock).items():
                show(
                    f"{name}, {terms}",
                    step,
                    some,
                    times,
                    [(peer, "Count" if peer == "Count" else "Tfidf") for peer in PEERS],
                )
        some = cut(texts, 0.02 if quick else 10.0)
        for step, times in measured_words(some, 1 if quick else ROUNDS, clock).items():
            show(f"{name}, {WORDS}", step, some, times, [("Python", "Words")])


PEERS: dict[str, type] = {"Tfidf": TfidfVectorizer, "Count": CountVectorizer, "Hashing": HashingVectorizer}
OURS: dict[str, type] = {"Tfidf": textmargin.TfidfVectorizer, "Count": textmargin.CountVectorizer}


def measured(
    texts: list[str], options: dict[str, Any], rounds: int, clock: Clock
) -> dict[str, dict[str, float]]:
    """Per step the best seconds of each candidate."""
    makers = {peer: partial(kind, **options) for peer, kind in PEERS.items()}
    makers |= {
        f"{name} ×{n}": partial(kind, **options, n_jobs=n) for name, kind in OURS.items() for n in THREADS
    }
    return _steps(texts, makers, rounds, clock, [(name, f"{name} ×{n}") for name in OURS for n in THREADS])


def measured_words(texts: list[str], rounds: int, clock: Clock) -> dict[str, dict[str, float]]:
    """The same of BagOfWords."""
    makers = {"Python": partial(BagOfWords, analyzer=BagOfWords().fit(texts).build_analyzer())}
    makers |= {f"Words ×{n}": partial(BagOfWords, n_jobs=n) for n in THREADS}
    return _steps(texts, makers, rounds, clock, [("Python", f"Words ×{n}") for n in THREADS])


def _steps(
    texts: list[str],
    makers: dict[str, Callable[[], Any]],
    rounds: int,
    clock: Clock,
    pairs: list[tuple[str, str]],
) -> dict[str, dict[str, float]]:
    fitted = {name: make().fit(texts) for name, make in makers.items()}
    for theirs, ours in pairs:
        _require_same(fitted[theirs].transform(texts), fitted[ours].transform(texts), ours)
    steps = {
        "fit_transform": {
            name: lambda make=make: make().fit_transform(texts) for name, make in makers.items()
        },
        "transform": {name: partial(one.transform, texts) for name, one in fitted.items()},
    }
    return {
        step: {name: min(own) for name, own in seconds(todo, rounds, clock).items()}
        for step, todo in steps.items()
    }


def _require_same(A: Any, B: Any, what: str) -> None:
    for name in ("indptr", "indices", "data"):
        if getattr(A, name).tobytes() != getattr(B, name).tobytes():
            raise SystemExit(f"{what}: {name} differs")


def show(
    what: str, step: str, texts: list[str], times: dict[str, float], pairs: list[tuple[str, str]]
) -> None:
    megabytes = size(texts)
    own = [megabytes / times[f"{pairs[0][1]} ×{n}"] for n in THREADS]
    line = f"{what:27}{step:14}{megabytes:6.1f}{own[0]:9.0f}{own[1]:7.0f}"
    for peer, ours in pairs:
        ratios = "".join(f"{times[peer] / times[f'{ours} ×{n}']:7.1f}" for n in THREADS)
        line += f"{megabytes / times[peer]:11.2f}{ratios}"
    print(line, flush=True)


def size(texts: list[str]) -> float:
    """Megabytes of UTF-8."""
    return sum(len(text.encode()) for text in texts) / 1e6


def cut(texts: list[str], megabytes: float) -> list[str]:
    """So much of them, from all over."""
    return texts[:: max(1, round(size(texts) / megabytes))]


def short_lines() -> list[str]:
    """A million lines of some words of `desk`."""
    words = [word for text in load_dataset("desk").texts for word in text.split()]
    rng = np.random.default_rng(0)
    starts = rng.integers(len(words) - 8, size=1_000_000).tolist()
    return [" ".join(words[start : start + 4 + start % 5]) for start in starts]


def made_lines(syllables: Sequence[str], blank: str, marks: str, n: int = 40_000) -> list[str]:
    """Lines of words of syllables, some of them frequent and most of them rare, with marks at their ends."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(syllables, size=length)) for length in rng.integers(1, 5, size=20_000)]
    ranks = np.minimum(rng.zipf(1.2, size=(n, 15)), len(words)) - 1
    ends = rng.integers(len(marks), size=n).tolist()
    return [
        blank.join([words[rank] for rank in own]) + marks[end]
        for own, end in zip(ranks.tolist(), ends, strict=True)
    ]


GERMAN = [
    "Stra",
    "ße",
    "ge",
    "ver",
    "zu",
    "bär",
    "Öl",
    "ung",
    "heit",
    "Wör",
    "ter",
    "über",
    "fähr",
    "Rech",
    "nung",
    "groß",
    "Äp",
    "fel",
]
EMOJI = [*"😀😡👍🎉❤☎€$", "👍🏽", "👩\u200d💻", "🇩🇪", " ok ", " thanks ", " no ", " 5 "]
CHINESE = [chr(code) for code in range(0x4E00, 0x5600)]
CORPORA: dict[str, Callable[[], list[str]]] = {
    "Reuters": lambda: load_dataset("reuters21578").texts,
    "Wikipedia": lambda: load_dataset("wikipedia25").texts,
    "short lines": short_lines,
    "German": partial(made_lines, GERMAN, " ", ".!?"),
    "Chinese": partial(made_lines, CHINESE, "", "。！？"),
    "emoji": partial(made_lines, EMOJI, " ", "!?😀"),
}


if __name__ == "__main__":
    main(sys.argv[1:])
