"""Small corpora for tests, made up on the spot; and what tests say that need the real ones."""

import os

import numpy as np
import pytest

needs_corpora = pytest.mark.skipif(
    "TEXTMARGIN_DATA" not in os.environ, reason="TEXTMARGIN_DATA does not name the folder of the corpora"
)

WORDS = [
    "wheat",
    "corn",
    "harvest",
    "grain",
    "bank",
    "rates",
    "dollar",
    "yen",
    "oil",
    "barrel",
    "crude",
    "export",
]
TOPICS = {"grain": WORDS[:4], "money": WORDS[4:8], "oil": WORDS[8:]}


def corpus(n=90, seed=0):
    """Texts of three topics, with typing errors."""
    rng = np.random.default_rng(seed)
    topics = rng.choice(list(TOPICS), n, p=[0.5, 0.3, 0.2])
    texts = []
    for topic in topics:
        words = [*rng.choice(TOPICS[topic], 4), *rng.choice(WORDS, 4)]
        text = list(" ".join(rng.permutation(words)))
        for place in rng.integers(0, len(text), 3):
            text[place] = rng.choice(list("abcdefghijklmnop"))
        texts.append("".join(text))
    return texts, topics
