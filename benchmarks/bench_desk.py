"""The reading desk, by simulated readers: which texts to ask about, what more labels are worth, and how long
an act takes.

    python -m benchmarks.bench_desk readers  # five corpora, four queues, three seeds
    python -m benchmarks.bench_desk worth
    python -m benchmarks.bench_desk latency --texts 1000 10000 100000

*readers*: a reader labels texts as the queue asks, always rightly. The lines are the queue's parts by
themselves and its mix, each from labels alone and with keywords and unlabelled texts ("+ words"). Figures are
of test texts that no reader saw: mean average precision over classes, and utility per 1,000 texts (desk: its
own costs; else a hit is worth 1, a false alarm −1, a miss 0), with thresholds that the desk sets. *area*: the
mean height of the line from the first checkpoint with labels to the last. *to 95 %*: labels until 95 % of the
mean average precision with all labels of the training part. With 0 labels, keywords alone.

*worth*: after every so many labels of the mix, what the desk says that the next 20 are worth, with its
interval, beside what they brought on the test texts, per 1,000 texts; and what they brought where it says
that more labels would not pay.

The queue and the curve were chosen on halves of the training texts of wikipedia25, Reuters-21578 and desk
(labels alone), which the figures of their test texts had no part in; medline (ten queries, the words of which
are the keywords) and sms_spam (two classes, ten plain words) had no part in anything.

*latency*: texts of made-up words in 20 classes; the median and 99th percentile of an act that labels a text,
with the new state and the next text, while slow work goes on; seconds to load, and memory at its highest.
"""

from __future__ import annotations

import argparse
import re
import resource
import statistics
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from uuid import uuid4

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.metrics import average_precision_score

from textmargin import load_dataset
from textmargin._typing import Bools, Floats, Indices
from textmargin.desk.answers import LabelledTexts, class_labels
from textmargin.desk.corpus import TextColumns
from textmargin.desk.deciding import Costs, Deciding, utilities_of, worth_of_each
from textmargin.desk.keywords import KeywordPriors
from textmargin.desk.learning import BackgroundFit, learn
from textmargin.desk.learning_curve import N_NEXT, learning_curve
from textmargin.desk.model import LinearModel, quick_step
from textmargin.desk.project import Project
from textmargin.desk.queue import SOURCES, TextQueue, source_of
from textmargin.desk.session import Desk
from textmargin.desk.worth import Worth, next_worth

from .measure import describe
from .unlabelled.tasks import Task

QUEUES: Mapping[str, tuple[str, ...]] = {
    "random": ("random",),
    "ties": ("tie",),
    "balanced-diverse": ("balanced",),
    "our mix": SOURCES,
}
STEP = 5  # labels between quick steps
CHECKPOINTS = {
    "wikipedia25": (0, 25, 50, 100, 200, 400),
    "reuters21578": (0, 25, 50, 100, 200, 400),
    "desk": (0, 15, 30, 60, 120, 200),
    "medline": (0, 25, 50, 100, 200, 400),
    "sms_spam": (0, 15, 30, 60, 120, 200),
}
SET_ON = ("wikipedia25", "reuters21578", "desk")  # on halves of whose training texts the queue was chosen
N_QUERIES, STOP_WORDS = (
    10,
    ENGLISH_STOP_WORDS,
)  # of Medline: the queries with the most texts, and the words that say what they ask
SPAM_WORDS = {
    "spam": ["free", "win", "prize", "claim", "txt"],
    "ham": ["home", "love", "ok", "sorry", "later"],
}
WORTH_AT = (60, 100, 160, 240)  # labels
PRICE = 10.0  # of 20 labels, in what 1,000 texts are worth
PLAIN_COSTS: Costs = {"*": {"hit": 1.0, "false_alarm": -1.0, "miss": 0.0}}


@dataclass(frozen=True, eq=False)
class Bench:
    """A corpus as the desk has it, and its test texts."""

    task: Task
    costs: Costs

    @classmethod
    def load(cls, name: str) -> Bench:
        task = Task.load(name) if name in SET_ON else unused_task(name)
        costs = PLAIN_COSTS
        if name == "desk":
            table = load_dataset("desk").tables["costs"]
            rows = zip(*(table[column] for column in ("topic", "hit", "false_alarm", "miss")), strict=True)
            costs = {
                str(topic): {"hit": float(h), "false_alarm": float(f), "miss": float(m)}
                for topic, h, f, m in rows
            }
        return cls(task, costs)

    @cached_property
    def texts(self) -> TextColumns:
        return TextColumns(self.task.texts, n_jobs=1)

    @cached_property
    def test(self) -> object:
        return self.texts.words.transform(self.task.test_texts)

    @cached_property
    def drawable(self) -> Bools:
        return np.arange(len(self.texts)) < self.task.n_drawable

    def knowledge(self, with_keywords: bool, answers: LabelledTexts) -> KeywordPriors:
        words = (
            {name: dict.fromkeys(own, 1.0) for name, own in self.task.keywords.items()}
            if with_keywords
            else {}
        )
        return KeywordPriors.of(
            self.texts, words, answers.labels, self.texts.vectors if with_keywords else None
        )

    def answers(self, rows: Sequence[int], sample: Bools) -> LabelledTexts:
        labels = class_labels(self.task.classes, self.task.multilabel)
        numbers = np.array(rows, dtype=np.intp)
        none = np.zeros(numbers.size, dtype=bool)
        return LabelledTexts(labels, numbers, self.task.Y[numbers].astype(bool), sample, none)

    def precision(self, model: LinearModel) -> float:
        """Mean average precision over classes."""
        scores = model.labels.class_scores(model.scores(self.test))
        return float(
            np.mean(
                [average_precision_score(y, own) for y, own in zip(self.task.Y_test.T, scores.T, strict=True)]
            )
        )

    def utility(self, model: LinearModel, deciding: Deciding) -> float:
        """Per 1,000 texts, whether or not thresholds could be set."""
        utilities, _ = utilities_of(self.costs, model.labels)
        decided = deciding.decide(model.scores(self.test))
        return 1000 * float(
            worth_of_each(deciding.rule.labels, utilities, self.task.Y_test.astype(bool), decided).mean()
        )


def unused_task(name: str) -> Task:
    """Medline's ten largest queries, whose words are the keywords, or short messages: halves to label and to
    test.
    """
    corpus = load_dataset(name)
    keywords = SPAM_WORDS
    if name == "medline":
        asked = corpus.tables["queries"]
        largest = np.argsort(-np.asarray(asked["n_relevant"]), kind="stable")[:N_QUERIES]
        words = {
            str(asked["id"][k]): re.findall(r"[a-z]{3,}", str(asked["text"][k]).lower())
            for k in largest.tolist()
        }
        keywords = {query: sorted({*own} - ENGLISH_STOP_WORDS) for query, own in words.items()}
    Y = corpus.indicator(list(keywords))[0]
    rows = np.random.default_rng(0).permutation(len(corpus.texts))
    train, test = (rows[: rows.size // 2], rows[rows.size // 2 :])
    texts, others = ([corpus.texts[row] for row in part] for part in (train, test))
    return Task(
        name, keywords, isinstance(corpus.labels[0], tuple), texts, Y[train], train.size, others, Y[test]
    )


@dataclass(eq=False)
class Reader:
    """Somebody who labels what is asked, rightly."""

    bench: Bench
    sources: tuple[str, ...]
    with_knowledge: bool
    seed: int
    rows: list[int] = field(default_factory=list)
    drawn: list[int] = field(default_factory=list)
    learnt: BackgroundFit | None = None

    def __post_init__(self) -> None:
        self.queue = TextQueue(self.bench.texts, self.seed)
        self.free = self.bench.drawable.copy()
        self.knowledge = self.bench.knowledge(self.with_knowledge, self.answers)

    @property
    def answers(self) -> LabelledTexts:
        place = np.empty(self.queue.order.size, dtype=np.intp)
        place[self.queue.order] = np.arange(place.size)
        rows = np.array(self.rows, dtype=np.intp)
        last = place[self.drawn].max() if self.drawn else -1
        return self.bench.answers(self.rows, place[rows] <= last)

    def unlabelled(self) -> Indices:
        if not self.with_knowledge:
            return np.empty(0, dtype=np.intp)
        others = np.ones(len(self.bench.texts), dtype=bool)
        others[self.rows] = False
        return self.queue.pool_order[others[self.queue.pool_order]]

    def study(self) -> BackgroundFit:
        """What the desk learns beside the reader."""
        self.learnt = learn(self.bench.texts, self.answers, self.knowledge, self.unlabelled(), n_jobs=1)
        return self.learnt

    def read(self, n: int) -> None:
        """Label texts until there are so many."""
        while len(self.rows) < n and self.free.any():
            model = quick_step(
                self.bench.texts,
                self.answers,
                self.knowledge,
                None if self.learnt is None else self.learnt.model,
            )
            pool = self.queue.pool(self.free)
            scores = model.scores(self.bench.texts.X[pool])
            for _ in range(min(STEP, n - len(self.rows), pool.size)):
                left = self.free[pool]
                self._ask(model, pool[left], scores[left])

    def _ask(self, model: LinearModel, pool: Indices, scores: Floats) -> None:
        source = source_of(len(self.rows)) if self.sources == SOURCES else self.sources[0]
        chosen, source = self.queue.choose(source, self.free, pool, scores, model, self.answers)
        if source == "random":
            self.drawn.append(chosen)
        self.rows.append(chosen)
        self.free[chosen] = False

    def figures(self) -> tuple[float, float]:
        """Mean average precision and utility on the test texts."""
        learnt, answers = self.study(), self.answers
        basis = answers if answers.sample.any() else self._all_sampled(answers)
        deciding = Deciding.of(basis, learnt.held_out, self.bench.costs)
        return self.bench.precision(learnt.model), self.bench.utility(learnt.model, deciding)

    def _all_sampled(self, answers: LabelledTexts) -> LabelledTexts:
        """Queues without a random part set thresholds on all they have."""
        return self.bench.answers(self.rows, np.ones(len(answers), dtype=bool))


def seeds_of(options: argparse.Namespace) -> range:
    return range(options.first_seed, options.first_seed + options.seeds)


def readers(options: argparse.Namespace) -> None:
    """A table a corpus."""
    for name in options.dataset:
        begin = time.perf_counter()
        bench = Bench.load(name)
        checkpoints = tuple(options.checkpoints or CHECKPOINTS[name])
        every = Reader(bench, ("random",), with_knowledge=False, seed=0)
        every.rows = every.drawn = [*range(bench.task.n_drawable)]
        best, best_utility = every.figures()
        print(
            f"\n{name}: {bench.task.n_drawable:,} texts to label of {len(bench.texts):,}, "
            f"{len(bench.task.classes)} classes; "
            f"with all labels mAP {best:.3f}, utility {best_utility:,.0f}; "
            f"mean of {options.seeds} seeds from {options.first_seed}"
        )
        head = "".join(f"{n:>8}" for n in checkpoints)
        print(f"{'':<24}{'':<9}{head}{'area':>8}{'to 95 %':>9}")
        for with_knowledge in (False, True):
            for title, sources in QUEUES.items():
                if options.queue and title not in options.queue:
                    continue
                runs = np.array(
                    [_run(bench, sources, with_knowledge, seed, checkpoints) for seed in seeds_of(options)]
                )
                mean = np.nanmean(runs, axis=0)
                what = f"{title}{' + words' if with_knowledge else ''}"
                for k, (figure, form) in enumerate((("mAP", ".3f"), ("utility", ",.0f"))):
                    line = mean[:, k]
                    area = _area(checkpoints, line)
                    needed = _needed(checkpoints, line, 0.95 * best) if figure == "mAP" else ""
                    cells = "".join(f"{'–' if np.isnan(value) else format(value, form):>8}" for value in line)
                    print(
                        f"{what if k == 0 else '':<24}{figure:<9}{cells}{format(area, form):>8}{needed:>9}",
                        flush=True,
                    )
        print(f"{time.perf_counter() - begin:.0f} s")


def _run(
    bench: Bench, sources: tuple[str, ...], with_knowledge: bool, seed: int, checkpoints: Sequence[int]
) -> Floats:
    reader = Reader(bench, sources, with_knowledge, seed)
    found = []
    for n in checkpoints:
        reader.read(n)
        found.append(reader.figures() if n or with_knowledge else (np.nan, np.nan))
    return np.array(found)


def _area(checkpoints: Sequence[int], line: Floats) -> float:
    """The mean height of a line, from the first checkpoint with labels."""
    n, own = np.array(checkpoints[1:], dtype=float), line[1:]
    return float(np.trapezoid(own, n) / (n[-1] - n[0]))


def _needed(checkpoints: Sequence[int], line: Floats, wanted: float) -> str:
    """Labels until a figure is reached, between checkpoints by a straight line."""
    known = np.nan_to_num(line, nan=0.0)
    for k in range(len(known)):
        if known[k] >= wanted:
            if k == 0:
                return "0"
            rise = (wanted - known[k - 1]) / (known[k] - known[k - 1])
            return f"{checkpoints[k - 1] + rise * (checkpoints[k] - checkpoints[k - 1]):.0f}"
    return f"> {checkpoints[-1]}"


@dataclass(frozen=True)
class Step:
    """What the next labels were said to be worth, per 1,000 texts, and what they brought on the test
    texts.
    """

    said: Worth
    brought: float

    @property
    def inside(self) -> bool:
        low, high = self.said.low, self.said.high
        return low is not None and high is not None and low - 1e-9 <= self.brought <= high + 1e-9


def worth(options: argparse.Namespace) -> None:
    """A line for each number of labels at which the worth of the next 20 is foretold, and what became of a
    corpus.
    """
    for name in options.dataset:
        bench = Bench.load(name)
        print(
            f"\n{name}: utility per 1,000 texts of the next {N_NEXT} labels, "
            f"mean of {options.seeds} seeds from {options.first_seed}"
        )
        print(f"{'':<18}{'labels':>8}{'foretold':>10}{'from':>9}{'to':>9}{'brought':>9}{'inside':>8}")
        every: list[Step] = []
        for with_knowledge in (False, True):
            runs = [_steps(bench, with_knowledge, seed) for seed in seeds_of(options)]
            for n in WORTH_AT:
                own = [run[n] for run in runs if n in run]
                every += own
                if own:
                    values = np.array(
                        [(one.said.gain, one.said.low, one.said.high, one.brought) for one in own],
                        dtype=float,
                    )
                    cells = "".join(f"{value:>9.1f}" for value in values.mean(axis=0)[1:])
                    hits = f"{sum(one.inside for one in own)}/{len(own)}"
                    what = "with words" if with_knowledge else "labels alone"
                    print(f"{what:<18}{n:>8}{values[:, 0].mean():>10.1f}{cells}{hits:>8}", flush=True)
        if every:
            _summary(every)


def _steps(bench: Bench, with_knowledge: bool, seed: int) -> dict[int, Step]:
    """Of one reader, by the number of labels; those of which the desk says something."""
    reader, found = Reader(bench, SOURCES, with_knowledge, seed), {}
    for n in WORTH_AT:
        if n + N_NEXT > bench.task.n_drawable:
            break
        reader.read(n)
        _, before = reader.figures()
        assert reader.learnt is not None
        curve = learning_curve(
            bench.texts, reader.answers, reader.knowledge, reader.learnt, reader.unlabelled(), bench.costs
        )
        said = next_worth(
            curve, n_sample=0, n_left=1000, money=True, currency="", seconds=10.0, minute=0.3 * PRICE
        )
        reader.read(n + N_NEXT)
        _, after = reader.figures()
        if said.gain is not None:
            found[n] = Step(said, after - before)
    return found


def _summary(steps: Sequence[Step]) -> None:
    foretold = np.array([one.said.gain for one in steps], dtype=float)
    brought, stop = np.array([one.brought for one in steps]), np.array([one.said.stop for one in steps])
    error = brought.std(ddof=1) / np.sqrt(len(steps)) if len(steps) > 1 else np.nan
    print(
        f"all: foretold {foretold.mean():.1f}, brought {brought.mean():.1f} ± {error:.1f}; "
        f"in the interval {sum(one.inside for one in steps)} of {len(steps)}"
    )
    parts = [("more labels would not pay", stop), ("they would", ~stop)]
    said = [
        f"{what}: {own.sum()} steps, which brought {brought[own].mean():.1f}"
        for what, own in parts
        if own.any()
    ]
    print(f"where {N_NEXT} labels cost {PRICE:g}: {'; '.join(said)}")


def latency(options: argparse.Namespace) -> None:
    """A line for each number of texts."""
    print(f"{'texts':>8}{'load s':>8}{'median ms':>11}{'p99 ms':>8}{'memory MB':>11}{'settled s':>11}")
    for n in options.texts:
        with tempfile.TemporaryDirectory() as folder:
            texts, truth = made_up_texts(n, options.classes)
            names = [f"class {k:02}" for k in range(options.classes)]
            path = Path(folder) / "work.desk"
            Project.create(path, texts, classes=names).close()
            del texts
            begin = time.perf_counter()
            with Project.open(path) as project, Desk(project, n_jobs=1) as desk:
                desk.next("anna")
                loading = time.perf_counter() - begin
                _answer(
                    desk,
                    {
                        "kind": "keyword",
                        "content": {"label": names[0], "word": "w0x1", "weight": 1, "source": "list"},
                    },
                )
                times = []
                for _ in range(options.acts):
                    question = desk.next("anna")
                    if question["kind"] == "word":
                        content = {
                            "label": question["label"],
                            "word": question["word"],
                            "weight": 1,
                            "source": "queue",
                        }
                        _answer(desk, {"kind": "keyword", "content": content})
                        continue
                    number = question["text"]
                    content = {
                        "text": number,
                        "labels": [names[truth[number]]],
                        "source": question["source"],
                        "seconds": 1.0,
                    }
                    begin = time.perf_counter()
                    _answer(desk, {"kind": "label", "content": content})
                    times.append(1000 * (time.perf_counter() - begin))
                    time.sleep(options.pause)
                begin = time.perf_counter()
                desk.wait()
                settled = time.perf_counter() - begin
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
                p99 = float(np.quantile(times, 0.99))
                print(
                    f"{n:>8,}{loading:>8.1f}{statistics.median(times):>11.0f}{p99:>8.0f}{memory:>11.0f}{settled:>11.1f}",
                    flush=True,
                )


def _answer(desk: Desk, act: dict[str, object]) -> None:
    desk.act({"id": uuid4().hex, "annotator": "anna", **act})


def made_up_texts(n: int, n_classes: int, seed: int = 0) -> tuple[list[str], Indices]:
    """Texts of about 60 words: most from a long common list, a fifth from the list of their class."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    common = [f"c{k}y" for k in range(40_000)]
    own = [[f"w{k}x{j}" for j in range(400)] for k in range(n_classes)]
    texts = []
    for k in truth.tolist():
        n_words = int(rng.integers(30, 90))
        many = (len(common) * rng.random(n_words) ** 3).astype(int)
        few = (len(own[k]) * rng.random(n_words // 5) ** 2).astype(int)
        texts.append(" ".join([*(common[j] for j in many.tolist()), *(own[k][j] for j in few.tolist())]))
    return texts, truth


def main(arguments: Sequence[str] | None = None) -> None:
    """One of three sections."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="section", required=True)
    for title in ("readers", "worth"):
        part = parts.add_parser(title)
        part.add_argument("--dataset", nargs="+", choices=tuple(CHECKPOINTS), default=tuple(CHECKPOINTS))
        part.add_argument("--seeds", type=int, default=3 if title == "readers" else 4)
        part.add_argument(
            "--first-seed", type=int, default=0, help="the seeds are this one and the next ones"
        )
        if title == "readers":
            part.add_argument("--checkpoints", nargs="+", type=int)
            part.add_argument("--queue", nargs="+", choices=tuple(QUEUES))
    part = parts.add_parser("latency")
    part.add_argument("--texts", nargs="+", type=int, default=(1_000, 10_000, 100_000))
    part.add_argument("--classes", type=int, default=20)
    part.add_argument("--acts", type=int, default=100)
    part.add_argument("--pause", type=float, default=0.3, help="seconds between acts")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print(describe("textmargin", "scikit-learn", "numpy"))
    {"readers": readers, "worth": worth, "latency": latency}[options.section](options)


if __name__ == "__main__":
    main()
