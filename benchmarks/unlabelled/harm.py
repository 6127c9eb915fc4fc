"""Ways to do harm: what a person may give beside the labelled texts that is wrong.

Every condition takes what was given, its task, the labelled rows and a seed, and gives what is given instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from textmargin import load_dataset
from textmargin._typing import Indices

from .tasks import Given, Task

Condition = Callable[[Given, Task, Indices, int], Given]

FACTOR = 5  # how many times rarer a class is, or how many times too large its share
GERMAN = {
    "Astronomy": ["stern", "planet", "umlaufbahn"],
    "Ball games": ["ball", "spieler", "mannschaft"],
    "Chemistry": ["chemie", "chemisch", "verbindung"],
    "Cities": ["stadt", "einwohner", "hauptstadt"],
    "Court systems": ["gericht", "gesetz", "richter"],
    "Education": ["schule", "hochschule", "schüler"],
    "Elections": ["wahl", "wahlen", "stimme"],
    "Family": ["familie", "ehe", "eltern"],
    "Film": ["film", "filme", "regisseur"],
    "Government": ["regierung", "parlament", "verfassung"],
    "Internet": ["internet", "netz", "webseite"],
    "Languages": ["sprache", "dialekt", "mundart"],
    "Literature": ["roman", "gedicht", "buch"],
    "Mathematics": ["mathematik", "zahl", "funktion"],
    "Military and wars": ["krieg", "armee", "schlacht"],
    "Music": ["musik", "lied", "instrument"],
    "Natural disasters": ["erdbeben", "sturm", "vulkan"],
    "Olympics": ["olympia", "medaille", "spiele"],
    "Printing": ["druck", "buchdruck", "presse"],
    "Religion": ["kirche", "glaube", "gott"],
    "Software": ["software", "rechner", "programm"],
    "Television": ["fernsehen", "serie", "sendung"],
    "Transportation": ["verkehr", "eisenbahn", "fahrzeug"],
    "Visual arts": ["kunst", "gemälde", "künstler"],
    "Writing systems": ["alphabet", "schrift", "buchstabe"],
    "earn": ["gewinn", "dividende", "quartal"],
    "acq": ["übernahme", "fusion", "beteiligung"],
    "money-fx": ["währung", "wechselkurs", "devisen"],
    "grain": ["getreide", "weizen", "ernte"],
    "crude": ["erdöl", "barrel", "förderung"],
    "trade": ["handel", "ausfuhr", "zölle"],
    "interest": ["zins", "zinsen", "leitzins"],
    "ship": ["schiff", "hafen", "fracht"],
    "wheat": ["weizen", "mehl", "winterweizen"],
    "corn": ["mais", "futter", "acker"],
}


def nothing(given: Given, task: Task, rows: Indices, seed: int) -> Given:
    """No harm: the keywords are right, the texts of the task."""
    return given


def wrong_keywords(given: Given, task: Task, rows: Indices, seed: int) -> Given:
    """Every class has the keywords of the next one."""
    return replace(given, keywords=dict(zip(task.classes, _of_the_next(task), strict=True)))


def half_wrong(given: Given, task: Task, rows: Indices, seed: int) -> Given:
    """Every second keyword is one of the next class."""
    pairs = zip(task.classes, _of_the_next(task), strict=True)
    return replace(given, keywords={name: [*task.keywords[name][::2], *other[1::2]] for name, other in pairs})


def german_keywords(given: Given, task: Task, rows: Indices, seed: int) -> Given:
    return replace(given, keywords={name: GERMAN[name] for name in task.classes})


def random_keywords(given: Given, task: Task, rows: Indices, seed: int) -> Given:
    """As many as there were, of the words that three texts of the pool have at least."""
    frequent = task.features.words[task.features.counts.getnnz(axis=0) >= 3]
    rng = np.random.default_rng(seed)
    return replace(
        given,
        keywords={
            name: rng.choice(frequent, len(own), False).tolist() for name, own in task.keywords.items()
        },
    )


def texts_of(name: str) -> Condition:
    """Unlabelled texts of another corpus, as many as there were if it has them."""
    texts = load_dataset(name).texts

    def other_texts(given: Given, task: Task, rows: Indices, seed: int) -> Given:
        order = np.random.default_rng(seed).permutation(len(texts))[: len(given.unlabelled)]
        return replace(given, unlabelled=[texts[row] for row in order])

    return other_texts


def rare_classes(given: Given, task: Task, rows: Indices, seed: int) -> Given:
    """Of every second class a fifth of the unlabelled texts."""
    others, rng = task.features.others(rows), np.random.default_rng(seed)
    rare = task.Y[others, ::2].any(axis=1)
    left = others[~rare | (rng.random(others.size) < 1 / FACTOR)]
    return replace(given, unlabelled=[task.texts[row] for row in left])


def wrong_shares() -> Condition:
    """Five times the share that each class has, given as its own; at most nine texts of ten."""

    def too_many(given: Given, task: Task, rows: Indices, seed: int) -> Given:
        shares = np.minimum(0.9, FACTOR * task.Y.mean(axis=0))
        return replace(
            given,
            settings={**given.settings, "shares": dict(zip(task.classes, shares.tolist(), strict=True))},
        )

    return too_many


def conditions(task: Task) -> dict[str, Condition]:
    """Those that a task has, by name."""
    own: dict[str, Condition] = {
        "no harm": nothing,
        "wrong keywords": wrong_keywords,
        "half of them wrong": half_wrong,
        "random keywords": random_keywords,
        "a class in 2 rare": rare_classes,
    }
    if task.name != "desk":  # no other corpus comes with the package
        own["German keywords"] = german_keywords
        other = "reuters21578" if task.name == "wikipedia25" else "wikipedia25"
        own |= {f"texts: {name}": texts_of(name) for name in (other, "sms_spam")}
    if task.multilabel:
        own["shares × 5"] = wrong_shares()
    return own


def _of_the_next(task: Task) -> list[list[str]]:
    own = list(task.keywords.values())
    return [*own[1:], own[0]]
