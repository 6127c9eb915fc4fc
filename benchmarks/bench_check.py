"""What does `textmargin check` find of faults that were planted? And how fast is it on 100,000 texts?

    python -m benchmarks.bench_check            # half an hour or more
    python -m benchmarks.bench_check --quick    # one draw, 5,000 texts

Labels: of SMS and wikipedia25 5, 10 and 20 % are flipped at random to another label, in ten draws. Of the
list of doubtful labels: how many of its first 10, 50 and 100 were flipped; and of all of it, precision and
recall. Beside it confident learning as cleanlab has it, written down here, in three draws where it takes
long: probabilities of a logistic regression on tf-idf by 5-fold cross-validation, ranked by the probability
of the given label, those listed where another label is more probable than it is on average for texts of that
label. The rule was chosen on desk and Reuters, which are shown last. In Reuters with all its labels one label
is taken away from, or given to, so many texts; labels that are wrong as published count against the list. In
brackets: standard deviations over draws.

Before that, copies: texts of four sentences each of Reuters and wikipedia25, of which one in twenty is copied
with some words replaced. Of the copies whose 5-grams have a Jaccard similarity of 0.8 or more, by sets of
Python, how many are found; of the pairs that are given how many have it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import time
import warnings
from collections import defaultdict

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from textmargin import check_data, load_dataset
from textmargin.check.doubts import doubtful_labels
from textmargin.check.near_duplicates import near_duplicates
from textmargin.datasets.reuters import modapte_topics

from .measure import describe, with_memory

RATES, N_DRAWS = (0.05, 0.1, 0.2), 10
FIRST = (10, 50, 100)


def one_label(name):
    """Texts and labels of a corpus; of Reuters the training texts of one topic, of topics with ten such or
    more.
    """
    corpus = load_dataset(name)
    if name == "reuters21578":
        corpus = corpus.part("train")
        rows = [row for row, own in enumerate(corpus.labels) if len(own) == 1]
        counts = defaultdict(int)
        for row in rows:
            counts[corpus.labels[row]] += 1
        rows = [row for row in rows if counts[corpus.labels[row]] >= 10]
        return [corpus.texts[row] for row in rows], np.array([corpus.labels[row][0] for row in rows])
    return corpus.texts, np.array(corpus.labels)


def flip(labels, rate, seed):
    """Labels of which some are another, and which these are."""
    rng = np.random.default_rng(seed)
    names, given = np.unique(labels, return_inverse=True)
    wrong = rng.random(given.size) < rate
    given[wrong] = (given[wrong] + rng.integers(1, names.size, wrong.sum())) % names.size
    return names[given], wrong


def confident_learning(texts, labels):
    """Rows in order of doubt, and how many of them are listed."""
    names, given = np.unique(labels, return_inverse=True)
    X = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(texts)
    proba = cross_val_predict(
        LogisticRegression(max_iter=1000), X, given, cv=5, method="predict_proba", n_jobs=2
    )
    own = proba[np.arange(given.size), given]
    usual = np.array([own[given == k].mean() for k in range(names.size)])
    above = np.where(proba >= usual, proba, 0.0)
    listed = (above.max(axis=1) > 0) & (above.argmax(axis=1) != given)
    order = np.argsort(own, kind="stable")
    return [*order[listed[order]], *order[~listed[order]]], int(listed.sum())


def judge(rows, n_listed, wrong):
    """Precision of the first rows, how many are listed, their precision and recall."""
    hits = wrong[np.array(rows, dtype=int)] if len(rows) else np.zeros(1, dtype=bool)
    listed = hits[:n_listed]
    return [
        *(hits[:n].mean() for n in FIRST),
        n_listed,
        listed.mean() if n_listed else 0.0,
        listed.sum() / max(1, wrong.sum()),
    ]


def show(name, results, seconds):
    """Means and standard deviations over draws, and the seconds of one."""
    mean, deviation = np.mean(results, axis=0), np.std(results, axis=0)
    shares = [f"{m:.2f} ({d:.2f})" for m, d in zip(mean, deviation, strict=True)]
    figures = "  ".join([*shares[:3], f"{mean[3]:6.0f}", *shares[4:]])
    print(f"{name:46}{figures}  {seconds / len(results):6.1f} s, {len(results)} draws", flush=True)


def flips(quick, corpora=("sms_spam", "wikipedia25", "desk", "reuters21578")):
    print(f"\n{'':46}{'first 10':12}{'first 50':13}{'first 100':13}{'listed':8}{'precision':13}recall")
    for name in corpora:
        texts, labels = one_label(name)
        group = near_duplicates(texts).group
        for rate in RATES:
            ours, theirs, spent = [], [], np.zeros(2)
            for seed in range(1 if quick else 3 if name == "reuters21578" else N_DRAWS):
                given, wrong = flip(labels, rate, seed)
                start = time.perf_counter()
                rows = [one.rows[0] for one in doubtful_labels(texts, given.tolist(), group).findings]
                spent[0] += time.perf_counter() - start
                ours.append(judge(rows, len(rows), wrong))
                if seed < 3 or name in ("sms_spam", "desk"):  # half a minute each elsewhere
                    start = time.perf_counter()
                    theirs.append(judge(*confident_learning(texts, given), wrong))
                    spent[1] += time.perf_counter() - start
            show(f"{name}, {len(texts):,} texts, {rate:.0%}: check", ours, spent[0])
            show("  confident learning", theirs, spent[1])


def several_labels(quick):
    """Reuters with all its labels, of the ten most frequent topics: some texts lose a label, as many get one
    more.
    """
    corpus = load_dataset("reuters21578")
    Y, names = corpus.part("train").indicator(modapte_topics(corpus))
    largest = np.argsort(-Y.sum(axis=0), kind="stable")[:10]
    Y, names, texts = Y[:, largest], [names[k] for k in largest], corpus.part("train").texts
    group = near_duplicates(texts).group
    for rate in (0.05,) if quick else RATES:
        results, start = [], time.perf_counter()
        for seed in range(1 if quick else 3):
            rng, given, wrong = np.random.default_rng(seed), Y.copy(), set()
            for row in np.flatnonzero((rng.random(len(Y)) < rate) & Y.any(axis=1)).tolist():
                has = bool(rng.random() < 0.5)
                k = int(rng.choice(np.flatnonzero(Y[row] == has)))
                given[row, k] = 1 - given[row, k]
                wrong.add((row, names[k]))
            labels = [tuple(names[k] for k in np.flatnonzero(own)) for own in given]
            found = [(one.rows[0], one.label) for one in doubtful_labels(texts, labels, group).findings]
            hits = np.array([one in wrong for one in found])
            results.append(
                [*(hits[:n].mean() for n in FIRST), len(found), hits.mean(), hits.sum() / len(wrong)]
            )
        seconds = time.perf_counter() - start
        show(f"Reuters, ten labels, {len(texts):,} texts, {rate:.0%}: check", results, seconds)


def compose(n_texts):
    """Texts of four sentences of one topic, with their labels; and copies with some words replaced, as pairs
    of rows.
    """
    rng = np.random.default_rng(0)
    sentences = defaultdict(set)
    for corpus in (load_dataset("reuters21578"), load_dataset("wikipedia25")):
        for text, own in zip(corpus.texts, corpus.labels, strict=True):
            label = own if isinstance(own, str) else own[0] if own else "none"
            sentences[label].update(part for part in re.split(r"(?<=[.!?])\s+", text) if 40 < len(part) < 400)
    pools = {label: sorted(own) for label, own in sorted(sentences.items()) if len(own) > 500}
    sizes = np.array([len(own) for own in pools.values()], dtype=float)
    chosen = rng.choice(len(pools), n_texts, p=sizes / sizes.sum())
    names = list(pools)
    texts, labels = [], []
    for k in chosen.tolist():
        pool = pools[names[k]]
        texts.append(" ".join(pool[j] for j in rng.integers(0, len(pool), 4).tolist()))
        labels.append(names[k])
    words = sorted({word for text in texts[:2000] for word in text.split()})
    pairs = []
    for row in range(0, n_texts - 1, 20):
        own = texts[row].split()
        for j in np.flatnonzero(rng.random(len(own)) < rng.choice([0.01, 0.03, 0.05])).tolist():
            own[j] = words[rng.integers(len(words))]
        texts[row + 1], labels[row + 1] = " ".join(own), labels[row]
        pairs.append((row, row + 1))
    return texts, labels, pairs


def similarity(a, b):
    """By its definition."""
    first, second = ({text[i : i + 5] for i in range(len(text) - 4)} for text in (a, b))
    return len(first & second) / len(first | second)


def plain(text):
    return " ".join(text.casefold().split())


def in_process(call):
    """What a call gives, its seconds and its megabytes, in a process of its own."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def work():
        start = time.perf_counter()
        result, megabytes = with_memory(call)
        send.send((result, time.perf_counter() - start, megabytes))

    process = context.Process(target=work)
    process.start()
    answer = receive.recv()
    process.join()
    return answer


def copies(n_texts):
    texts, labels, planted = compose(n_texts)
    print(
        f"\n{n_texts:,} texts, {sum(map(len, texts)):,} characters, {len(set(labels))} labels, "
        f"{len(planted):,} planted copies"
    )

    def find():
        found = near_duplicates(texts, n_jobs=2)
        return found.pairs, found.same, found.group

    (pairs, same, group), seconds, megabytes = in_process(find)
    near = [(a, b) for a, b in planted if similarity(plain(texts[a]), plain(texts[b])) >= 0.8]
    hits = sum(group[a] == group[b] for a, b in near)
    right = np.mean([similarity(plain(texts[a]), plain(texts[b])) >= 0.8 for a, b in pairs.tolist()])
    n_repeated = np.sum(same != np.arange(n_texts))
    print(f"near-duplicates: {seconds:.1f} s, {megabytes:.0f} MB more; of {len(near):,} copies with "
          "similarity 0.8 or "
          f"more {hits / len(near):.2%} found; of {len(pairs):,} pairs {right:.2%} have it; "
          f"{n_repeated:,} the same")  # fmt: skip
    for doubts in (False, True):
        result, seconds, megabytes = in_process(
            lambda doubts=doubts: repr(check_data(texts, labels, doubts=doubts, n_jobs=2))
        )
        print(
            f"all of it, {'with' if doubts else 'without'} doubts: {seconds:.1f} s, {megabytes:.0f} MB "
            f"more; {result}",
            flush=True,
        )


def main(arguments=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one draw, and 5,000 texts")
    parser.add_argument("--only", choices=["flips", "several", "copies"], help="one part of it")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print(describe("textmargin", "scikit-learn"))
    if options.only in (None, "copies"):
        copies(5_000 if options.quick else 100_000)
    if options.only in (None, "flips"):
        flips(options.quick)
    if options.only in (None, "several"):
        several_labels(options.quick)


if __name__ == "__main__":
    main()
