"""The messages of the package as a project of the desk, and a reader who labels them rightly."""

from __future__ import annotations

from uuid import uuid4

import numpy as np

from textmargin import load_dataset
from textmargin.desk.answers import LabelledTexts, class_labels
from textmargin.desk.project import Project

TRAIN = load_dataset("desk").part("train")
CLASSES = sorted({*TRAIN.labels})
KEYWORDS = {name: dict.fromkeys(words, 1.0) for name, words in TRAIN.keywords.items()}
COSTS = {"*": {"hit": 5.0, "false_alarm": -2.0, "miss": -1.0}}


def answers(n, *, sample=1.0, keywords=None, classes=CLASSES, seed=0):
    """The first n texts of a shuffled order with their labels; a share of them is the random sample."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(TRAIN.texts))[:n]
    member = np.array([[TRAIN.labels[row] == name for name in classes] for row in rows], dtype=bool).reshape(
        n, len(classes)
    )
    chosen = rng.random(n) < sample
    return LabelledTexts(
        class_labels(list(classes), False), rows, member, chosen, np.zeros(n, dtype=bool), keywords or {}
    )


def project(path, **settings):
    return Project.create(path / "work.desk", TRAIN.texts, classes=CLASSES, source="tickets.csv", **settings)


def act(desk, kind, content, who="anna"):
    return desk.act({"id": uuid4().hex, "annotator": who, "kind": kind, "content": content})


def label(desk, question, who="anna", seconds=4.0):
    """Answer a question about a text."""
    number = question["text"]
    content = {
        "text": number,
        "labels": [TRAIN.labels[number]],
        "source": question["source"],
        "seconds": seconds,
    }
    return act(desk, "label", content, who)


def read(desk, n, who="anna"):
    """Label so many texts as the queue asks; words are taken as they come."""
    question, done = desk.next(who), 0
    while done < n and question["kind"] != "done":
        if question["kind"] == "word":
            content = {"label": question["label"], "word": question["word"], "weight": 0, "source": "queue"}
            question = act(desk, "keyword", content, who)["next"]
            continue
        question = label(desk, question, who)["next"]
        done += 1
    return question
