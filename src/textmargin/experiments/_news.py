"""The task of Lodhi et al.: news of four topics, drawn from Reuters-21578, as the paper reads them.

The paper's own subset is not known. A draw has its numbers, from the texts that have one of the four topics
and no other of them: those to train on from the training part of the ModApte split, those to test from its
test part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from ..datasets.corpus import Corpus
from ..datasets.loading import load_dataset
from .table import published

N_TRAIN, N_TEST = (
    {topic: row[part] for topic, row in published("strings", "documents").items()}
    for part in ("train", "test")
)
TOPICS = list(N_TRAIN)

_WORD = re.compile(r"[^\W_]+")


def as_in_the_paper(text: str) -> str:
    """Lower case, without punctuation and stop words, single spaces; digits stay."""
    return " ".join(word for word in _WORD.findall(text.lower()) if word not in ENGLISH_STOP_WORDS)


@dataclass(frozen=True)
class Draw:
    """Texts of one draw, and which of them have which topic."""

    train: list[str]
    test: list[str]
    Y_train: NDArray[np.int_]  # (n_texts, n_topics)
    Y_test: NDArray[np.int_]


def draws(seeds: list[int], share: float = 1.0) -> Iterator[Draw]:
    """A draw per seed; `share` of the paper's numbers."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        parts: list[Any] = []
        for split, numbers in (("train", N_TRAIN), ("test", N_TEST)):
            chosen = [_some(split, topic, max(2, round(share * n)), rng) for topic, n in numbers.items()]
            parts.append([text for texts in chosen for text in texts])
            parts.append(np.repeat(np.eye(len(TOPICS), dtype=int), [len(texts) for texts in chosen], axis=0))
        yield Draw(parts[0], parts[2], parts[1], parts[3])


def _some(split: str, topic: str, n: int, rng: np.random.Generator) -> list[str]:
    pool = _pool(split, topic)
    return [pool[row] for row in rng.choice(len(pool), n, replace=False)]


@cache
def _pool(split: str, topic: str) -> list[str]:
    news = _news().part(split)
    others = set(TOPICS) - {topic}
    return [
        as_in_the_paper(text)
        for text, own in zip(news.texts, news.labels, strict=True)
        if topic in own and others.isdisjoint(own)
    ]


@cache
def _news() -> Corpus:
    return load_dataset("reuters21578")
