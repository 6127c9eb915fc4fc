"""Public recordings of reading, in the shape that Parrado-Hernández & Hardoon need: documents that were read
train, others test.

Beside the prior from gaze stands one of the same pipeline whose "measures" are a word's length and idf: what
reading adds is the difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..datasets.corpus import Corpus
from ..datasets.loading import load_dataset
from ..knowledge.gaze import GazePrior

Readings = dict[str, NDArray[Any]]  # a row per word as it was read: its document, the word, measures

# the last two would tell what a reader was asked for
_UNUSED = ("reader", "task", "in_asked_answer", "in_any_answer")
_PLACES = ("doc_id", "word", "word_index", "line")
_PUNCTUATION = ".,;:!?\"'()[]"


@dataclass(frozen=True)
class Recordings:
    """Texts and categories of documents, one or several each; readings of those to train on."""

    name: str
    texts: dict[str, str]
    labels: dict[str, tuple[str, ...]]
    train: list[str]
    test: list[str]
    readings: Readings

    @property
    def categories(self) -> list[str]:
        """Of the documents to train on, in order."""
        return sorted({category for name in self.train for category in self.labels[name]})

    def indicator(self, documents: Iterable[str]) -> NDArray[np.int_]:
        """(n_documents, n_categories), 0 and 1."""
        return np.array(
            [[category in self.labels[name] for category in self.categories] for name in documents], dtype=int
        )

    def rarest(self, document: str) -> str:
        """The one category of a document that fewest documents to train on have: `GazePrior` takes one."""
        sizes = Counter(category for name in self.train for category in self.labels[name])
        return min(self.labels[document], key=lambda category: (sizes[category], category))

    def document_measures(self) -> Floats:
        """Mean measures of each document to train on, (n_documents, n_measures)."""
        place = {name: row for row, name in enumerate(self.train)}
        rows = np.array([place[name] for name in self.readings["doc_id"]])
        measures = [values for name, values in self.readings.items() if name not in _PLACES]
        return (
            np.column_stack([np.bincount(rows, values) for values in measures]) / np.bincount(rows)[:, None]
        )


@dataclass(frozen=True)
class Priors:
    """The two pipelines, learnt on the documents to train on."""

    recordings: Recordings
    gaze: GazePrior
    without_gaze: GazePrior


@cache
def learn_priors(name: str, quick: bool) -> Priors:
    """Of one set of recordings; the search for the regression's settings takes minutes, so it is made
    once.
    """
    recordings = _few(SETS[name]()) if quick else SETS[name]()
    texts = {document: recordings.texts[document] for document in recordings.train}
    labels = {document: recordings.rarest(document) for document in recordings.train}

    def fit(readings: Readings) -> GazePrior:
        n_tune, n_jobs = (40, 1) if quick else (800, -1)
        return GazePrior(readings, texts, labels, n_tune=n_tune, n_jobs=n_jobs, progress=False).fit()

    return Priors(recordings, fit(recordings.readings), fit(_length_and_idf(recordings.readings, texts)))


def _length_and_idf(readings: Readings, texts: dict[str, str]) -> Readings:
    """The same rows, with nothing of how they were read."""
    words = [_bare(str(word)) for word in readings["word"]]
    df = Counter(word for text in texts.values() for word in {_bare(token) for token in text.split()})
    idf = np.array([np.log(len(texts) / max(1, df[word])) for word in words])
    return {
        "doc_id": readings["doc_id"],
        "word": readings["word"],
        "length": np.array([*map(len, words)]),
        "idf": idf,
    }


def _bare(token: str) -> str:
    return token.lower().strip(_PUNCTUATION)


def _webqamgaze() -> Recordings:
    """Paragraphs of Wikipedia in nine topics; those that nobody read test."""
    corpus = load_dataset("webqamgaze")
    labels: dict[str, tuple[str, ...]] = {name: (label,) for name, label in _labels(corpus).items()}
    return _recordings("WebQAmGaze", corpus, labels, corpus.part("train").ids, corpus.part("test").ids)


def _relations() -> Recordings:
    """Sentences with at least one of seven relations; those of the task that was recorded without gaze
    test.
    """
    corpus = load_dataset("zuco")
    known = _labels(corpus)
    asked = [name for name, twice in _field(corpus, "Z2TSR", "also_in_gaze_set") if known[name] and not twice]
    relations = {known[name][0] for name in asked}
    read = [
        name
        for name, gaze in _field(corpus, "Z1NR", "has_gaze")
        if gaze and relations.intersection(known[name])
    ]
    labels = {name: tuple(label for label in known[name] if label in relations) for name in (*read, *asked)}
    return _recordings("ZuCo relations", corpus, labels, read, asked)


def _sentiment() -> Recordings:
    """Sentences of film reviews, all of them read: half of them test, and their readings are not used."""
    corpus = load_dataset("zuco")
    known = _labels(corpus)
    reviews = [name for name, gaze in _field(corpus, "Z1SR", "has_gaze") if gaze and known[name]]
    labels = {name: known[name][:1] for name in reviews}
    names: list[str] = np.random.default_rng(0).permutation(reviews).tolist()
    return _recordings("ZuCo sentiment", corpus, labels, names[: len(names) // 2], names[len(names) // 2 :])


SETS: dict[str, Callable[[], Recordings]] = {
    "WebQAmGaze": _webqamgaze,
    "ZuCo relations": _relations,
    "ZuCo sentiment": _sentiment,
}


def _recordings(
    name: str, corpus: Corpus, labels: dict[str, tuple[str, ...]], train: list[str], test: list[str]
) -> Recordings:
    """With the readings of known words of the documents to train on."""
    texts = dict(zip(corpus.ids, corpus.texts, strict=True))
    table = corpus.tables["words"]
    rows = np.isin(table["doc_id"].astype(str), train) & (table["word"] != "")
    readings = {column: values[rows] for column, values in table.items() if column not in _UNUSED}
    return Recordings(name, texts, labels, train, test, readings)


def _few(recordings: Recordings, n_categories: int = 3, n_documents: int = 8) -> Recordings:
    """The largest categories, a few documents each."""
    sizes = Counter(category for name in recordings.train for category in recordings.labels[name])
    chosen = sorted(sizes, key=lambda category: (-sizes[category], category))[:n_categories]
    labels = {name: tuple(one for one in own if one in chosen) for name, own in recordings.labels.items()}
    of = {category: [name for name in recordings.train if category in labels[name]] for category in chosen}
    train = list(dict.fromkeys(name for names in of.values() for name in names[:n_documents]))
    test = [name for name in recordings.test if labels[name]]
    rows = np.isin(recordings.readings["doc_id"].astype(str), train)
    readings = {column: values[rows] for column, values in recordings.readings.items()}
    return replace(recordings, labels=labels, train=train, test=test, readings=readings)


def _labels(corpus: Corpus) -> dict[str, Any]:
    """A label, or a tuple of them, by id."""
    return dict(zip(corpus.ids, corpus.labels, strict=True))


def _field(corpus: Corpus, part: str, field: str) -> Iterable[tuple[str, Any]]:
    """Ids of a part with one of its fields."""
    chosen = corpus.part(part)
    return zip(chosen.ids, chosen.fields[field], strict=True)
