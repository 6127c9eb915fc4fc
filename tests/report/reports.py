"""Models and texts that reports are made of in tests."""

from functools import cache
from importlib.resources import files

import numpy as np
from samples import WORDS, corpus

from textmargin import Corpus, TextClassifier, Utility, load_dataset
from textmargin.config import ModelConfig, read_costs

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "<!-- <script>",
    "]]>\"'`&amp;&lt;",
    "\u202etxet desrever\u202c \u200fعربي",
    "👩‍👩‍👧 \U0001f600",
    "NUL \x00 bell \x07",
    "line\u2028paragraph\u2029end",
    "lone \ud800 surrogate",
    "{{ 1111 * 1111 }} {% raw %}",
)


def one_label(n=90, seed=0):
    texts, topics = corpus(n, seed)
    return Corpus("made-up", texts, topics.tolist())


def two_labels(n=90, seed=0):
    own = one_label(n, seed)
    return Corpus("two", own.texts, ["grain" if label == "grain" else "other" for label in own.labels])


def any_labels(n=90, seed=0):
    """Texts with one label, some with two or none."""
    own = one_label(n, seed)
    labels = [
        (label,) + (("late",) if row % 7 == 0 else ()) if row % 5 else ()
        for row, label in enumerate(own.labels)
    ]
    return Corpus("many", own.texts, labels)


def hostile(n=60, seed=0):
    """Texts and labels that would be scripts if a page let them."""
    own = one_label(n, seed)
    texts = [f"{HOSTILE[row % len(HOSTILE)]} {text}" for row, text in enumerate(own.texts)]
    names = {"grain": "<b>grain</b>", "money": '"money"\'</script>', "oil": "oil\u2028\u202e"}
    return Corpus("<i>hostile</i>", texts, [names[label] for label in own.labels])


def large(n_topics=90, n_texts=3000, seed=0):
    """Made-up texts of many topics, a few labels each; topics are skewed."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, n_topics + 1)
    topics = rng.choice(n_topics, (n_texts, 2), p=share / share.sum())
    topics[:n_topics, 0] = np.arange(n_topics)  # none without a text
    words = np.array([f"{word}{j}" for word in WORDS for j in range(400)])
    texts = []
    for own in topics:
        drawn = np.concatenate([rng.integers(40 * t, 40 * t + 60, 12) % words.size for t in own])
        texts.append(" ".join(words[np.append(drawn, rng.integers(0, words.size, 40))]))
    return Corpus("large", texts, [tuple(sorted({f"topic {t:02d}" for t in own})) for own in topics.tolist()])


FORMS = ("strings", "ints", "tuples", "indicator")


def in_form(form, **slots):
    """(a TextClassifier that was given its labels in a form, texts to report on)."""
    names = {"grain": 7, "money": 12, "oil": 31} if form == "ints" else {}
    texts = any_labels if form in ("tuples", "indicator") else one_label
    own, other = texts(seed=1), texts(seed=0)
    labels = own.indicator()[0] if form == "indicator" else [names.get(label, label) for label in own.labels]
    classes = own.classes if form == "indicator" else None
    shown = [str(names.get(label, label)) if isinstance(label, str) else label for label in other.labels]
    return TextClassifier(classes=classes, **slots).fit(own.texts, labels), Corpus(
        other.name, other.texts, shown
    )


@cache
def made(kind):
    """(model, texts to report on, utility) of a kind of model."""
    if kind == "desk":
        desk = load_dataset("desk")
        known = files("textmargin.datasets") / "desk_keywords.toml"
        costs = read_costs(known)
        return ModelConfig(keywords=known, utility=costs).fit(desk.part("train")), desk.part("test"), costs
    if kind == "large":
        return ModelConfig(utility=Utility()).fit(large(seed=1, n_texts=1500)), large(seed=0), None
    configs = {
        "plain": (ModelConfig(), one_label),
        "costs": (ModelConfig(utility=Utility(tp=3)), one_label),
        "dear": (ModelConfig(utility=Utility(tp=1, fp=-20)), one_label),
        "asked": (ModelConfig(utility=Utility(tp=1, fp=-3, ask=-0.1)), two_labels),
        "binary": (ModelConfig(utility=Utility(tp=1, fp=-3)), two_labels),
        "multilabel": (ModelConfig(utility=Utility()), any_labels),
        "strings": (ModelConfig(features="subsequence", length=3, utility=Utility()), one_label),
        "ngrams": (ModelConfig(features="ngrams", length=3), two_labels),
        "hostile": (ModelConfig(utility=Utility()), hostile),
    }
    config, texts = configs[kind]
    return config.fit(texts(seed=1)), texts(seed=0), None
