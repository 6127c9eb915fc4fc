"""A corpus of any size with topics planted in it: Zipf's law over a vocabulary of 500,000 words, 60 words a
text.

A text of a topic has a few of its words from the topic's own hundred, which other texts use too; the rest
follows Zipf's law. Each part is made from its number alone, and written to Parquet once.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from sklearn.preprocessing import normalize

N_TERMS, N_WORDS, PART = 500_000, 60, 50_000
SHARES = np.geomspace(0.005, 0.1, 10)  # of the texts that a topic has
TOPICS = [f"topic{k}" for k in range(SHARES.size)]
_N_TOPIC_WORDS, _FROM_TOPIC = 100, 0.07
_SYLLABLES = np.array([a + b for a in "bcdfghjklmnprstvwxyz" for b in "aeiou"], dtype="S2")


def word_table() -> np.ndarray:
    """Three syllables and a space for each word, as bytes (N_TERMS, 7)."""
    numbers = np.arange(N_TERMS)
    syllables = [_SYLLABLES[numbers // 100**i % 100].view(np.uint8).reshape(-1, 2) for i in range(3)]
    return np.hstack([*syllables, np.full((N_TERMS, 1), ord(" "), np.uint8)])


def topic_words() -> np.ndarray:
    """The words of each topic, (n_topics, _N_TOPIC_WORDS), from the middle of the frequencies."""
    rng = np.random.default_rng(0)
    return rng.choice(np.arange(1_000, 50_000), (SHARES.size, _N_TOPIC_WORDS), replace=False)


def draw(number: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The words of each text of a part, by number, and which topics it has."""
    rng = np.random.default_rng([1, number])
    # Zipf's law: log-uniform ranks
    words = np.exp(rng.random((size, N_WORDS)) * np.log(N_TERMS)).astype(np.int64) - 1
    has = rng.random((size, SHARES.size)) < SHARES
    own = topic_words()
    for k in range(SHARES.size):
        texts = np.flatnonzero(has[:, k])
        swapped = rng.random((texts.size, N_WORDS)) < _FROM_TOPIC
        words[texts] = np.where(swapped, rng.choice(own[k], (texts.size, N_WORDS)), words[texts])
    return words, has


def make_block(number: int, size: int) -> sp.csr_matrix:
    """The same texts as counts of words, of unit length, without the way through text."""
    words, _ = draw(number, size)
    starts = np.arange(0, words.size + 1, N_WORDS, dtype=np.int32)
    counts = sp.csr_matrix(
        (np.ones(words.size), words.ravel().astype(np.int32), starts), shape=(size, N_TERMS)
    )
    counts.sum_duplicates()
    return normalize(counts, copy=False)


def make_topics(number: int, size: int) -> np.ndarray:
    """And which topics they have, 0 or 1."""
    return draw(number, size)[1].astype(np.uint8)


def make_part(number: int, size: int) -> pa.Table:
    """The texts of one part and, as a column for each, its topics."""
    words, has = draw(number, size)
    characters = word_table()[words].reshape(-1)
    ends = np.arange(0, 7 * N_WORDS * (size + 1), 7 * N_WORDS, dtype=np.int32)
    texts = pa.StringArray.from_buffers(size, pa.py_buffer(ends), pa.py_buffer(characters))
    return pa.table({"text": texts, **{topic: pa.array(has[:, k]) for k, topic in enumerate(TOPICS)}})


def write(folder: Path, n_texts: int) -> Path:
    """The folder with a file per part; what is there already is not made again."""
    folder = folder / f"planted-{n_texts}"
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, n_texts, PART)):
        path = folder / f"part-{number:05}.parquet"
        if not path.exists():
            pq.write_table(make_part(number, min(PART, n_texts - start)), path.with_suffix(".half"))
            path.with_suffix(".half").rename(path)
    return folder
