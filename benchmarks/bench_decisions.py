"""What are decisions worth on test texts: plain argmax, thresholds one against the rest, and thresholds of
all classes together?

    python -m benchmarks.bench_decisions                # ten splits each, some minutes
    python -m benchmarks.bench_decisions --quick        # desk, two splits, seconds

Random halves of wikipedia25, SMS (two labels), desk, and the Reuters training texts of one topic (topics with
four such texts or more). Per 1,000 test texts, for a hit and a false alarm worth as much as the head says:
the utility of argmax; what it gains with each class's threshold set against the rest and the class furthest
above winning; what it gains with the default `ThresholdClassifier`, with the standard error over splits; the
share of texts that this one answers, and the ways it chose. Then floors: the precision of all decisions, and
the mean of classes, with min_precision=0.9; of two labels for the rarer. Last a price for asking, beside the
decisions of the same model where every text is answered.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from textmargin import BagOfWords, PriorSVC, ThresholdClassifier, Utility, load_dataset
from textmargin.datasets.reuters import modapte_topics
from textmargin.decisions.joint import joint_thresholds
from textmargin.decisions.setting import Setting
from textmargin.decisions.single_label import SingleLabelTexts, answer_table
from textmargin.errors import ScoreError

from .measure import describe

UTILITIES = (Utility(5, -1), Utility(1, -1), Utility(2, -5), Utility(1, -20))
PRICES = (0.0, 0.25, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Half:
    """A fitted model with held-out scores, and the other half: classes in numbers, and scores."""

    model: ThresholdClassifier
    truth: np.ndarray
    columns: np.ndarray

    def answers(self, model: ThresholdClassifier) -> np.ndarray:
        """The class of each text; n_classes where the answer is unsure."""
        decisions = model.decide_scores(self.columns)
        return np.where(
            decisions.accepted.any(axis=1), decisions.accepted.argmax(axis=1), model.classes_.size
        )

    def utility(self, answers: np.ndarray, utility: Utility) -> float:
        """Per 1,000 texts. Of two classes it is that of the positive one."""
        if self.model.pos_label_ is None:
            return 1000 * float(
                answer_table((utility,) * self.model.classes_.size)[self.truth, answers].mean()
            )
        positive = self.model.classes_.tolist().index(self.model.pos_label_)
        true, given, asked = self.truth == positive, answers == positive, answers == 2
        worth = np.where(
            true, np.where(given, utility.tp, utility.fn), np.where(given, utility.fp, utility.tn)
        )
        paid = np.where(true, utility.tp, utility.tn) + (utility.ask or 0.0)
        return 1000 * float(np.where(asked, paid, worth).mean())


def corpora(quick: bool) -> Iterator[tuple[str, list[str], np.ndarray]]:
    """Texts and their classes."""
    if not quick:
        for name in ("wikipedia25", "sms_spam"):
            corpus = load_dataset(name)
            yield name, list(corpus.texts), np.array(corpus.labels)
    desk = load_dataset("desk")
    yield "desk", list(desk.texts), np.array(desk.labels)
    if not quick:
        corpus = load_dataset("reuters21578")
        train = corpus.part("train")
        Y, names = train.indicator(modapte_topics(corpus))
        single = Y.sum(axis=1) == 1
        frequent = Y[single].sum(axis=0) >= 4
        rows = np.flatnonzero(single & (Y @ frequent > 0))
        yield (
            "Reuters, one topic",
            [train.texts[row] for row in rows],
            np.array(names)[Y[rows].argmax(axis=1)],
        )


def halves(texts: list[str], labels: np.ndarray, n_splits: int) -> Iterator[Half]:
    rng = np.random.default_rng(0)
    classes, codes = np.unique(labels, return_inverse=True)
    while n_splits:
        order = rng.permutation(codes.size)
        train, test = order[: order.size // 2], order[order.size // 2 :]
        if np.unique(codes[train]).size < classes.size:
            continue
        n_splits -= 1
        words = BagOfWords(analyzer="letters")
        X = words.fit_transform([texts[row] for row in train])
        model = ThresholdClassifier(PriorSVC(), rule="zero").fit(X, labels[train])
        scores = model.estimator_.decision_function(words.transform([texts[row] for row in test]))
        yield Half(model, codes[test], scores.reshape(len(test), -1))


def one_against_rest(half: Half, utility: Utility, min_precision: float | None = None) -> np.ndarray:
    """Today's: each class's threshold against the rest, and the class furthest above its own wins."""
    model = half.model.with_utility(utility, rule="parameter-free", always_answer=True)
    setting = Setting.of(model)
    thresholds = []
    names = model.classes_.tolist() if half.model.pos_label_ is None else [model.pos_label_]
    for texts, name in zip(model.ranked_, names, strict=True):
        try:
            floor = Setting(**{**vars(setting), "min_precision": min_precision})
            thresholds.append(floor.threshold(texts, name).theta)
        except ScoreError:  # no threshold reaches it
            thresholds.append(setting.threshold(texts, name).theta)
    if half.model.pos_label_ is not None:
        model.thresholds_ = model.ask_thresholds_ = np.array(thresholds)
        return half.answers(model)
    return (half.columns - thresholds).argmax(axis=1)


def way(half: Half, utility: Utility) -> str:
    """How the thresholds of all classes were found."""
    if half.model.pos_label_ is not None:
        return "beta-gamma"
    held_out = half.model.held_out_
    texts = SingleLabelTexts(held_out.truth, held_out.complete(), (utility,) * half.model.classes_.size)
    return joint_thresholds(texts).way


def mean(values: Any, digits: int = 0) -> str:
    """With its standard error."""
    values = np.asarray(values, dtype=float)
    return f"{values.mean():+,.{digits}f} ± {values.std(ddof=1) / np.sqrt(values.size):,.{digits}f}"


def utilities(name: str, found: list[Half]) -> None:
    classes = found[0].model.classes_.size
    print(
        f"\n{name}: {classes} classes, {len(found[0].model.held_out_)} / {found[0].truth.size} texts, "
        f"{len(found)} splits"
    )
    print(
        f"{'(hit, false alarm)':20}{'argmax':>10}{'one against rest':>22}{'together':>22}{'answered':>10} "
        " ways"
    )
    for utility in UTILITIES:
        plain = [half.utility(half.answers(half.model), utility) for half in found]
        alone = [half.utility(one_against_rest(half, utility), utility) for half in found]
        given = [half.answers(half.model.with_utility(utility, rule="parameter-free")) for half in found]
        joint = [half.utility(answers, utility) for half, answers in zip(found, given, strict=True)]
        answered = np.mean([np.mean(answers < classes) for answers in given])
        ways = ", ".join(
            f"{one} {n}" for one, n in Counter(way(half, utility) for half in found).most_common()
        )
        columns = f"{mean(np.subtract(alone, plain)):>22}{mean(np.subtract(joint, plain)):>22}"
        head = f"({utility.tp:g}, {utility.fp:g})".replace("-", "−")
        print(f"{head:20}{np.mean(plain):10,.0f}{columns}{answered:10.1%}  {ways}", flush=True)


def floors(found: list[Half], floor: float = 0.9) -> None:
    classes, rows, refused = found[0].model.classes_.size, {"one against rest": [], "together": []}, 0
    for half in found:
        try:
            joint = half.answers(
                half.model.with_utility(Utility(), rule="parameter-free", min_precision=floor)
            )
        except ScoreError:
            refused += 1
            continue
        for key, answers in (
            ("together", joint),
            ("one against rest", one_against_rest(half, Utility(), floor)),
        ):
            looked = [k for k in range(classes) if half.model.pos_label_ in (None, half.model.classes_[k])]
            given = np.isin(answers, looked)
            own = [np.mean(half.truth[answers == k] == k) for k in looked if (answers == k).any()]
            right = np.mean(half.truth[given] == answers[given]) if given.any() else np.nan
            rows[key].append((right, np.mean(own), given.mean()))
    for key, values in rows.items():
        if values:
            right, own, given = np.nanmean(values, axis=0)
            print(
                f"min_precision={floor:g}, {key:18} precision {right:.3f}, mean of classes {own:.3f}, "
                f"given {given:.1%}"
            )
    if refused:
        print(
            f"min_precision={floor:g}, refused on {refused} of {len(found)} splits: some class cannot "
            "reach it"
        )


def asking(found: list[Half]) -> None:
    print(f"{'asking, (1, −5), at':20}{'without':>10}{'gain':>22}{'asked':>10}")
    for price in PRICES:
        gains, plain, asked = [], [], []
        for half in found:
            two_way, utility = Utility(1, -5), Utility(1, -5, ask=-price)
            answers = half.answers(
                half.model.with_utility(two_way, rule="parameter-free", always_answer=True)
            )
            three = half.answers(half.model.with_utility(utility, rule="parameter-free"))
            plain.append(half.utility(answers, utility))
            gains.append(half.utility(three, utility) - plain[-1])
            asked.append(np.mean(three == half.model.classes_.size))
        print(f"{-price:<20g}{np.mean(plain):10,.0f}{mean(gains):>22}{np.mean(asked):10.1%}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="desk alone, two splits")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--only", default="", help="the corpora whose name begins so")
    options = parser.parse_args(arguments)
    print(describe("textmargin"))
    for name, texts, labels in corpora(options.quick):
        if not name.startswith(options.only):
            continue
        found = list(halves(texts, labels, 2 if options.quick else options.splits))
        utilities(name, found)
        floors(found)
        asking(found)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
