"""Does `estimate_mix` find a changed mix without labels, gain by it, and refuse what is no change of mix?

    python -m benchmarks.bench_mix            # about five minutes
    python -m benchmarks.bench_mix --quick    # three topics, few draws

The ten largest topics of Reuters-21578: a model of two thirds of the ModApte training texts, chosen by
chance; the others are the new texts, resampled until the topic has half, the same, twice or five times its
share. Per change: true and estimated share, how often the 90 % interval holds the true one, how often the
test refuses, and the utility per 1,000 texts with the old threshold, the one set again with the weights, and
the best there is. Then texts of another kind: negatives of topics never trained on, positives that lost half
of their words, SMS, Medline abstracts, and the ModApte test part, weeks later. Last the same with one label a
text.

Held-out scores come in two forms. A text's own words that no other text has count in its length, though a
model without that text cannot know them; in a new text such words are not in the vocabulary, and do not
count. So plain leave-one-out scores are nearer to the intercept than those of new texts. `known words` are
the same scores with the length taken over words that others have too.
"""

from __future__ import annotations

import argparse

import numpy as np

from textmargin import (
    BagOfWords,
    PriorSVC,
    Utility,
    beta_gamma_threshold,
    load_dataset,
    retrofit_beta,
    utility_curve,
)
from textmargin.datasets.reuters import modapte_topics
from textmargin.decisions.drift import DriftMonitor
from textmargin.decisions.mix import estimate_mix

from .measure import describe

UTILITIES = {
    "(2, −1)": Utility(tp=2, fp=-1),
    "(1, −5)": Utility(tp=1, fp=-5),
    "(5, −1)": Utility(tp=5, fp=-1),
}
FACTORS = (0.5, 1.0, 2.0, 5.0)


def known_words(X, scores, intercept):
    """Leave-one-out scores as if words that only this text has were not in its vector, whose length is 1."""
    alone = np.bincount(X.indices, minlength=X.shape[1]) == 1
    lost = np.asarray(X.multiply(X).tocsc()[:, alone].sum(axis=1)).ravel()
    return intercept + (scores - intercept) / np.sqrt(np.maximum(1 - lost, 0.1))[:, None]


class Model:
    """Old texts and their two forms of held-out scores."""

    def __init__(self, texts, labels):
        self.words = BagOfWords("log-tf-idf", analyzer="letters")
        X = self.words.fit_transform(texts).tocsr()
        self.svm = PriorSVC().fit(X, labels)
        self.plain = self.svm.loo_decision_function()
        self.known = known_words(X, self.plain, self.svm.intercept_)

    def scores(self, texts):
        return self.svm.decision_function(self.words.transform(texts))


def resample(positive, factor, n, rng):
    """Rows in which positives have so many times their share."""
    share = min(0.9, factor * positive.mean())
    wanted = rng.random(n) < share
    rows = np.where(wanted, rng.choice(np.flatnonzero(positive), n), rng.choice(np.flatnonzero(~positive), n))
    return rows, share


def threshold(positive, score, utility, weight=None):
    beta = retrofit_beta(positive, score, None, utility, sample_weight=weight)
    return beta_gamma_threshold(positive, score, beta, utility=utility, sample_weight=weight)


def changes(names, Y, model, truth, scores, n_draws, n_new, n_bootstrap):
    """Changed shares, topic by topic."""
    print(
        f"{n_new} new texts, {n_draws} draws each, known words; utility per 1,000 texts: old threshold / "
        "adapted / best"
    )
    print(
        f"{'':10}{'times':>6}{'true':>7}{'mean':>7}{'held':>6}{'refused':>8}{'plain':>7}   "
        + "".join(f"{u:^26}" for u in UTILITIES)
    )
    totals = {}
    for factor in FACTORS:
        for k, name in enumerate(names):
            rng = np.random.default_rng(k)
            figures, worth = [], {u: [] for u in UTILITIES}
            for draw in range(n_draws):
                rows, share = resample(truth[:, k], factor, n_new, rng)
                new, y = scores[rows, k], truth[rows, k]
                mix, plain = (
                    estimate_mix(
                        Y[:, [k]], old[:, [k]], new, "binary", n_bootstrap=n_bootstrap, random_state=draw
                    )
                    for old in (model.known, model.plain)
                )
                held = mix.low[0] <= share <= mix.high[0]
                figures.append((share, mix.shares[0], held, not mix.explained[0], not plain.explained[0]))
                weight = mix.text_weights(Y[:, [k]])[:, 0]
                for name_of, utility in UTILITIES.items():
                    curve = utility_curve(y, new, utility)
                    thetas = [threshold(Y[:, k], model.known[:, k], utility, w) for w in (None, weight)]
                    worth[name_of].append(
                        [curve.utility_at(theta) for theta in thetas] + [curve.utility.max()]
                    )
            share, mean, held, refused, plain = np.mean(figures, axis=0)
            means = {u: 1000 / n_new * np.mean(values, axis=0) for u, values in worth.items()}
            totals.setdefault(factor, []).append(
                (held, refused, plain, *np.concatenate(list(means.values())))
            )
            line = f"{name:10}{factor:6g}{share:7.3f}{mean:7.3f}{held:6.2f}{refused:8.2f}{plain:7.2f}   "
            print(line + "".join(f"{a:8.0f}{b:8.0f}{c:8.0f}  " for a, b, c in means.values()), flush=True)
    print("mean over topics")
    for factor, rows in totals.items():
        held, refused, plain, *worth = np.mean(rows, axis=0)
        line = f"{'':10}{factor:6g}{'':14}{held:6.2f}{refused:8.2f}{plain:7.2f}   "
        print(line + "".join(f"{a:8.0f}{b:8.0f}{c:8.0f}  " for a, b, c in np.reshape(worth, (-1, 3))))


def half_of_words(text, rng):
    """Every word type of a text stays or goes by chance: as if half of the vocabulary were new."""
    choice = {}
    return " ".join(word for word in text.split() if choice.setdefault(word.lower(), rng.random() < 0.5))


def other_kinds(names, Y, model, truth, scores, texts, unseen, later, n_draws, n_new, n_bootstrap):
    """How often texts of another kind are refused, over topics and draws."""
    rng = np.random.default_rng(0)
    sms, medline = (model.scores(load_dataset(name).texts) for name in ("sms_spam", "medline"))
    halved = model.scores([half_of_words(text, rng) for text in texts])
    unseen = model.scores(unseen)

    def refused(draw_new):
        outcomes = []
        for k in range(len(names)):
            for draw in range(n_draws):
                new = draw_new(k)
                mix = estimate_mix(
                    Y[:, [k]], model.known[:, [k]], new, "binary", n_bootstrap=n_bootstrap, random_state=draw
                )
                outcomes.append(not mix.explained[0])
        return np.mean(outcomes)

    def some(k, positives, negatives):
        rows, _ = resample(truth[:, k], 2.0, n_new, rng)
        here = truth[rows, k]
        return np.where(
            here,
            positives[rows, k],
            rng.choice(negatives[:, k], n_new) if negatives is not None else scores[rows, k],
        )

    print(f"\nrefused, of {len(names) * n_draws}, {n_new} new texts each")
    kinds = {
        "same texts, same mix": lambda k: scores[rng.choice(len(scores), n_new), k],
        "same texts, twice the topic's share": lambda k: some(k, scores, None),
        f"negatives of topics never seen ({len(unseen)} texts), share twice": lambda k: some(
            k, scores, unseen
        ),
        "half of all words new": lambda k: halved[rng.choice(len(halved), n_new), k],
        "positives with half of their words new, share twice": lambda k: some(k, halved, None),
        "negatives are SMS": lambda k: some(k, scores, sms),
        "all are Medline abstracts": lambda k: medline[rng.choice(len(medline), n_new), k],
        "ModApte's test part, weeks later": lambda k: later[rng.choice(len(later), n_new), k],
    }
    for name, draw_new in kinds.items():
        print(f"  {name:64}{refused(draw_new):6.2f}", flush=True)


def monitor(names, Y, model, scores, later, n_streams):
    """Alarms over streams of 20,000 texts: the new texts in another order each time, then those of weeks
    later.
    """
    print(f"\nDriftMonitor, {len(names)} topics, {n_streams} streams of 20,000 of the same texts")
    for form, held_out in (("known words", model.known), ("plain", model.plain)):
        for tolerance in (0.0, 0.05):
            n_alarms = 0
            for seed in range(n_streams):
                stream = scores[np.random.default_rng(seed).integers(0, len(scores), 20_000)]
                watch = DriftMonitor(Y, held_out, "multilabel", tolerance=tolerance)
                n_alarms += any(watch.update(part) is not None for part in np.array_split(stream, 40))
            alarm = DriftMonitor(Y, held_out, "multilabel", tolerance=tolerance).update(later)
            words = "no alarm" if alarm is None else f"{alarm.classes.size} topics, cause: {alarm.cause}"
            print(
                f"  {form:12} tolerance {tolerance:.2f}: an alarm in {n_alarms} streams; on the test part "
                f"{words}",
                flush=True,
            )


def one_label(train, Y, names, n_draws, n_new, n_bootstrap):
    """One label a text: the shares of all topics drawn anew."""
    frequent = np.flatnonzero(np.sum(Y * (Y.sum(axis=1) == 1)[:, None], axis=0) >= 60)
    rows = np.flatnonzero((Y.sum(axis=1) == 1) & np.isin(Y.argmax(axis=1), frequent))
    labels = Y[rows].argmax(axis=1)
    rng = np.random.default_rng(0)
    order = rng.permutation(rows.size)
    old, held = order[: 2 * rows.size // 3], order[2 * rows.size // 3 :]
    model = Model([train.texts[i] for i in rows[old]], labels[old])
    scores, truth = model.scores([train.texts[i] for i in rows[held]]), labels[held]
    classes = np.unique(labels)
    positive = labels[old][:, None] == classes
    print(
        f"\none label a text, {classes.size} topics, {old.size} old texts, {n_new} new ones, {n_draws} draws"
    )
    for name in ("same shares", "other shares"):
        figures = []
        for draw in range(n_draws):
            shares = positive.mean(axis=0)
            if name == "other shares":
                shares = rng.dirichlet(np.ones(classes.size))
            drawn = rng.choice(classes.size, n_new, p=shares / shares.sum())
            new = scores[[rng.choice(np.flatnonzero(truth == classes[k])) for k in drawn]]
            mix = estimate_mix(
                positive, model.known, new, "multiclass", n_bootstrap=n_bootstrap, random_state=draw
            )
            off = [np.abs(estimate - shares).sum() / 2 for estimate in (mix.old_shares, mix.shares)]
            figures.append(
                (*off, np.mean((mix.low <= shares) & (shares <= mix.high)), not mix.explained.all())
            )
        before, after, held_share, refused = np.mean(figures, axis=0)
        print(f"  {name:14} texts misplaced by the old shares {before:.3f}, by the estimated {after:.3f}; "
              f"intervals hold {held_share:.2f}; refused {refused:.2f}", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three topics, few draws")
    quick = parser.parse_args().quick
    n_topics, n_draws, n_new, n_bootstrap, n_streams = (3, 2, 500, 50, 2) if quick else (10, 5, 1000, 100, 40)
    corpus = load_dataset("reuters21578")
    train, test = corpus.part("train"), corpus.part("test")
    every = modapte_topics(corpus)
    Y_all = train.indicator(every)[0]
    largest = np.argsort(-Y_all.sum(axis=0), kind="stable")[:n_topics]
    names, Y = [every[k] for k in largest], Y_all[:, largest] > 0
    rng = np.random.default_rng(0)
    unseen_topic = np.zeros(len(every), dtype=bool)
    unseen_topic[[every.index(name) for name in ("coffee", "sugar", "gold", "cocoa", "rubber", "cotton")]] = (
        True
    )
    unseen = (Y_all[:, unseen_topic].any(axis=1)) & ~Y.any(axis=1)
    order = rng.permutation(np.flatnonzero(~unseen))
    old, new = order[: 2 * order.size // 3], order[2 * order.size // 3 :]
    texts = [train.texts[i] for i in new]
    model = Model([train.texts[i] for i in old], Y[old].astype(int))
    scores, later = model.scores(texts), model.scores(test.texts)
    print(describe("textmargin", "scikit-learn"))
    print(f"{old.size} old texts, {new.size} others to draw new ones from")
    changes(names, Y[old], model, Y[new], scores, n_draws, n_new, n_bootstrap)
    unseen_texts = [train.texts[i] for i in np.flatnonzero(unseen)]
    other_kinds(names, Y[old], model, Y[new], scores, texts, unseen_texts, later, n_draws, n_new, n_bootstrap)
    monitor(names, Y[old], model, scores, later, n_streams)
    one_label(train, Y_all, every, n_draws, n_new, n_bootstrap)


if __name__ == "__main__":
    main()
