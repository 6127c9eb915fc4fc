"""What is feedback worth to a filter? Reuters-21578 by date, three positives a topic, the truth told of
accepted texts only.

    python -m benchmarks.bench_stream                  # the topics to report on; a minute a draw on one core
    python -m benchmarks.bench_stream --topics tuning  # those that constants were chosen on
    python -m benchmarks.bench_stream --wikipedia      # another corpus, all of its topics, in a random order
    python -m benchmarks.bench_stream --quick

The 12,902 texts of ModApte in the order of their days; the first 2,000 are at hand at the start. A topic
takes part if three or more of these and 20 or more of the others are about it: 47 do. Three are known, of the
other texts nothing: the first three of the topic in the first draw, any three of the first 2,000 texts in the
others. In the order of their names every second topic is for tuning, the others are reported;
docs/filtering.md says what was chosen where.

    nothing          accepts no text
    static           PriorSVC on the three and all other first texts as negatives; beta-gamma as
                     `ThresholdClassifier` sets it
    start            what `AdaptiveFilter` begins with, never told anything
    no exploration   AdaptiveFilter(), adaptive without exploration
    no budget        AdaptiveFilter(exploration=1, budget=1e9): explores whatever may be a hit, once in 1,000
                     texts
    adaptive         AdaptiveFilter(exploration=1)
    full             PriorSVC and parameter-free beta-gamma with all labels of all topics up to the middle of
                     the stream: what a filter could know that had everything judged. It is valued on the
                     second half alone.

Columns: mean T11SU of the topics over the stream and over its second half; sum of T10U; mean precision (of
topics that accept something) and recall; texts judged, and of those explored, a topic; seconds; all of them
means over draws. Then differences, with their standard error over topics, and draw by draw.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import FunctionTransformer
from threadpoolctl import threadpool_limits

from textmargin import (
    T10U,
    T11SU,
    AdaptiveFilter,
    BagOfWords,
    Corpus,
    PriorSVC,
    ThresholdClassifier,
    load_dataset,
)

from .measure import describe

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
N_START, N_KNOWN, LEAST = 2000, 3, 20


def by_date(corpus: Corpus) -> Corpus:
    """ModApte's texts by day, and within a day by number: some hours are misprinted ("605:12:19")."""

    def place(row: int) -> tuple[int, int, int, int]:
        day, month, year = corpus.fields["date"][row].split()[0].split("-")
        return int(year), MONTHS.index(month), int(day), int(corpus.ids[row])

    return corpus.take(
        sorted((row for row, split in enumerate(corpus.split) if split != "unused"), key=place)
    )


class Stream:
    """Rows and truth, and the three positives that are known of each topic."""

    def __init__(
        self, corpus: Corpus, n_start: int, part: str, n_texts: int | None, n_topics: int | None
    ) -> None:
        Y, names = corpus.indicator()
        known = np.flatnonzero((Y[:n_start].sum(axis=0) >= N_KNOWN) & (Y[n_start:].sum(axis=0) >= LEAST))
        chosen = {"tuning": known[1::2], "report": known[::2], "all": known}[part][:n_topics]
        words = BagOfWords(analyzer="letters").fit(corpus.texts[:n_start])
        X, Y = words.transform(corpus.texts[:n_texts]), Y[:n_texts, chosen]
        self.names = [names[k] for k in chosen]
        self.start, self.rows, self.truth = X[:n_start], X[n_start:], Y[n_start:] > 0
        self.start_truth = Y[:n_start] > 0
        self.half = self.truth.shape[0] // 2
        self.draw_known(0)

    def draw_known(self, draw: int) -> None:
        """Which three positives are known: the first ones, or others."""
        rng = np.random.default_rng(draw)
        self.draw, self.known = draw, np.full(self.start_truth.shape, np.nan)
        for k, positive in enumerate(self.start_truth.T):
            places = np.flatnonzero(positive)
            self.known[places[:N_KNOWN] if draw == 0 else rng.choice(places, N_KNOWN, replace=False), k] = 1.0

    def filtered(self, learns: bool, **choice: float) -> tuple[np.ndarray, np.ndarray]:
        """What an `AdaptiveFilter` accepts, and explores, text by text."""
        filters = AdaptiveFilter(FunctionTransformer(), random_state=self.draw, **choice).start(
            self.start, self.known
        )
        if not learns:
            accepted = filters.decide(self.rows).scores >= 0
            return accepted, np.zeros_like(accepted)
        accepted, explored = np.zeros_like(self.truth), np.zeros_like(self.truth)
        for i, truth in enumerate(self.truth):
            decision = filters.decide(self.rows[i])
            accepted[i], explored[i] = decision.accepted[0], decision.explored[0]
            if accepted[i].any():
                filters.learn(decision, truth[None])
        return accepted, explored

    def static(self) -> np.ndarray:
        """Decisions of a model of the start."""
        model = ThresholdClassifier(PriorSVC()).fit(self.start, (self.known > 0).astype(int))
        return model.predict(self.rows) > 0

    def full(self) -> np.ndarray:
        """Decisions of a model that knows every label up to the middle; nothing is accepted before."""
        X = sp.vstack([self.start, self.rows[: self.half]]).tocsr()
        model = ThresholdClassifier(PriorSVC()).fit(
            X, np.vstack([self.start_truth, self.truth[: self.half]]).astype(int)
        )
        return np.vstack([np.zeros_like(self.truth[: self.half]), model.predict(self.rows[self.half :]) > 0])


def counts(truth: np.ndarray, accepted: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(
        (a & b).sum(axis=0)
        for a, b in ((accepted, truth), (accepted, ~truth), (~accepted, truth), (~accepted, ~truth))
    )


def figures(stream: Stream, accepted: np.ndarray, explored: np.ndarray) -> list[float]:
    """The columns from the second half on."""
    tp, fp, fn, tn = counts(stream.truth, accepted)
    precision = (tp / np.maximum(tp + fp, 1))[tp + fp > 0]
    second = T11SU(*counts(stream.truth[stream.half :], accepted[stream.half :]))
    columns = [np.nanmean(second), T10U(tp, fp, fn, tn).sum(), precision.mean() if precision.size else np.nan]
    return [*columns, (tp / (tp + fn)).mean(), (tp + fp).mean(), explored.sum(axis=0).mean()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", choices=["report", "tuning", "all"], default="report")
    parser.add_argument(
        "--draws", type=int, default=3, help="how many choices of the three positives that are known"
    )
    parser.add_argument(
        "--wikipedia", action="store_true", help="wikipedia25, 400 texts at hand, instead of Reuters-21578"
    )
    parser.add_argument(
        "--quick", action="store_true", help="one draw, four topics and the first 1,000 texts of the stream"
    )
    options = parser.parse_args()

    if options.wikipedia:
        corpus, n_start, part = load_dataset("wikipedia25"), 400, "all"
        corpus = corpus.take(np.random.default_rng(0).permutation(len(corpus)).tolist())
    else:
        corpus, n_start, part = by_date(load_dataset("reuters21578")), N_START, options.topics
    stream = Stream(corpus, n_start, part, *((n_start + 1000, 4) if options.quick else (None, None)))
    print(describe("textmargin", "scikit-learn"))
    print(
        f"{len(stream.truth)} texts after {n_start}, {len(stream.names)} topics: {', '.join(stream.names)}\n"
    )
    print(
        f"{'':16}{'T11SU':>8}{'2nd half':>10}{'T10U':>8}{'prec':>7}{'recall':>8}"
        f"{'judged':>8}{'explored':>10}{'sec':>7}"
    )
    nothing = np.zeros_like(stream.truth)
    runs: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
        "nothing": lambda: (nothing, nothing),
        "static": lambda: (stream.static(), nothing),
        "start": lambda: stream.filtered(False),
        "no exploration": lambda: stream.filtered(True, exploration=0.0),
        "no budget": lambda: stream.filtered(True, exploration=1.0, budget=1e9),
        "adaptive": lambda: stream.filtered(True, exploration=1.0),
        "full": lambda: (stream.full(), nothing),
    }
    values = {}
    for name, run in runs.items():
        topics, rows = [], []
        # of those two it is no matter
        for draw in range(1 if options.quick or name in ("nothing", "full") else options.draws):
            stream.draw_known(draw)
            begin = time.perf_counter()
            accepted, explored = run()
            seconds = time.perf_counter() - begin
            whole = T11SU(*counts(stream.truth, accepted))
            topics.append(whole if name != "full" else np.full_like(whole, np.nan))
            rows.append([*figures(stream, accepted, explored), seconds])
        values[name] = np.array(topics)
        widths = ("10.3f", "8.0f", "7.3f", "8.3f", "8.1f", "10.1f", "7.1f")
        shown = "".join(
            f"{value:{width}}" for value, width in zip(np.mean(rows, axis=0), widths, strict=True)
        )
        print(f"{name:16}{values[name].mean():8.3f}{shown}", flush=True)
    print()
    others = [("adaptive", name) for name in ("static", "start", "no exploration")]
    for better, other in [*others, ("no budget", "no exploration")]:
        gain = values[better] - values[other]
        error = gain.mean(axis=0).std(ddof=1) / np.sqrt(gain.shape[1])
        print(
            f"{better} − {other}: {gain.mean():+.3f} ± {error:.3f}; draws "
            f"{' '.join(f'{one:+.3f}' for one in gain.mean(axis=1))}"
        )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
