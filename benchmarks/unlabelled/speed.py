"""How long a classifier from keywords and unlabelled texts takes: texts cut from two corpora, at two
sizes.
"""

from __future__ import annotations

import resource
import time

import numpy as np

from textmargin import TextClassifier, load_dataset

SIZES = {"11,000 texts of 200 words": (11_000, 200), "100,000 texts of 12 words": (100_000, 12)}


def show_seconds() -> None:
    """Seconds and largest memory of `fit` without any label, 25 classes."""
    wikipedia = load_dataset("wikipedia25")
    texts = [*wikipedia.texts, *load_dataset("reuters21578").part("train").texts]
    words = [word for text in texts for word in text.split()]
    for what, (n_texts, length) in SIZES.items():
        starts = np.random.default_rng(0).integers(0, len(words) - length, n_texts).tolist()
        texts = [" ".join(words[start : start + length]) for start in starts]
        start = time.perf_counter()
        TextClassifier(knowledge=wikipedia.keywords).fit(texts)
        seconds, memory = (
            time.perf_counter() - start,
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        )
        print(f"{what}: {seconds:.1f} s, at most {memory:,.0f} MB in all")
