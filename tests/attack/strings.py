"""String kernels on hostile texts against their recurrence, symbol by symbol, and n-grams against a count of
slices.

K''_i ← λK''_i + λ²K'_{i−1} where the symbols match, else λK''_i; K'_i ← λK'_i + K''_i; K_n += λ²K'_{n−1}
where they match. A gap that costs otherwise than a match takes the place of λ where nothing is matched.
"""

import math
import random
from collections import Counter

import numpy as np
from attack.hostile_texts import a_text

from textmargin import SpectrumKernel, SubsequenceKernel
from textmargin.errors import TextmarginError

WITHIN = {"single": 1e-5, "double": 1e-12}
LOST = 1e-20  # what single precision may give as 0


def case(seed):
    rng = random.Random(f"strings/{seed}")
    rng.choice([subsequences, subsequences, subsequences, grams])(rng)


def kernels_by_recurrence(s, t, length, decay, gap):
    """K_1 … K_n of two sequences."""
    n_t = len(t)
    Kp = [[1.0] * (n_t + 1)] + [[0.0] * (n_t + 1) for _ in range(length)]
    K = [0.0] * (length + 1)
    for x in s:
        hits = [y == x for y in t]
        for i in range(1, length + 1):
            K[i] += math.fsum(decay * decay * Kp[i - 1][j] for j in range(n_t) if hits[j])
        for i in range(length, 0, -1):
            Kpp, below, own = 0.0, Kp[i - 1], Kp[i]
            skip = gap(x)
            for j in range(n_t):
                Kpp = gap(t[j]) * Kpp + (decay * decay * below[j] if hits[j] else 0.0)
                own[j + 1] = skip * own[j + 1] + Kpp
    return K[1:]


def texts_of(rng, most):
    texts = [a_text(rng, most, surrogates=True) for _ in range(rng.randrange(1, 5))]
    return (
        texts
        + rng.sample(texts, rng.randrange(len(texts) + 1))
        + [a_text(rng, most) for _ in range(rng.randrange(3))]
    )


def compare(kernel, values, texts, others, within, lost):
    """K(texts, others), its diagonal and its symmetry; `values` is the slow kernel, before it is
    normalised.
    """
    try:
        K, square, diagonal = kernel(texts, others), kernel(texts), kernel.diag(texts)
    except TextmarginError as error:
        if "overflow" in str(error) or "too" in str(error) or "small" in str(error):
            return  # a range that says so
        raise
    own, theirs = ([values(a, a) for a in list_] for list_ in (texts, others))
    for name, found, rows, columns, row_size, column_size in (
        ("K(X, Y)", K, texts, others, own, theirs),
        ("K(X)", square, texts, texts, own, own),
        ("diag", np.diag(diagonal), texts, texts, own, own),
    ):
        for i, s in enumerate(rows):
            for j, t in enumerate(columns):
                if name == "diag" and i != j:
                    continue
                slow = values(s, t)
                if kernel.normalize:
                    slow = (
                        slow / math.sqrt(row_size[i] * column_size[j])
                        if row_size[i] and column_size[j]
                        else 0.0
                    )
                assert abs(found[i, j] - slow) <= within * abs(slow) + lost, (
                    f"{name} of {s!r:.80} and {t!r:.80} is {found[i, j]!r}, by definition {slow!r}; "
                    f"{kernel!r:.200}"
                )
    assert (square == square.T).all(), "K(X) is not symmetric"


def subsequences(rng):
    length, decay = rng.choice([1, 2, 3, 3, 4, 6]), rng.choice([1.0, 0.5, 0.9, 0.01, rng.uniform(0.05, 1)])
    precision, words = rng.choice(["single", "double"]), rng.random() < 0.2
    gap_decay = rng.choice([None, None, rng.uniform(0.05, 1), {"a": 0.9, " ": 1.0, "\u0301": 0.3}])
    weights = (
        [rng.choice([0.0, 1.0, 0.25]) for _ in range(length - 1)] + [1.0] if rng.random() < 0.3 else None
    )
    kernel = SubsequenceKernel(
        length, decay, gap_decay=gap_decay, weights=weights, normalize=rng.random() < 0.7,
        precision=precision, progress=False, tokens=str.split if words else "char", backend="cpu",
        n_jobs=rng.choice([1, 2]),
    )  # fmt: skip
    texts, others = texts_of(rng, 25), texts_of(rng, 25)
    known = {}

    def gap(symbol):
        if isinstance(gap_decay, dict):
            return gap_decay.get(symbol, decay)
        return decay if gap_decay is None else gap_decay

    def values(a, b):
        if (a, b) not in known:
            s, t = (text.split() if words else list(text) for text in (a, b))
            found = kernels_by_recurrence(s, t, length, decay, gap)
            known[a, b] = sum(w * k for w, k in zip(weights or [0] * (length - 1) + [1], found, strict=True))
        return known[a, b]

    compare(kernel, values, texts, others, WITHIN[precision], LOST)


def grams(rng):
    length = rng.choice([1, 2, 3, 5])
    weights = (
        [rng.choice([0.0, 1.0, 0.25]) for _ in range(length - 1)] + [1.0] if rng.random() < 0.3 else None
    )
    kernel = SpectrumKernel(length, weights=weights, normalize=rng.random() < 0.7, progress=False)

    def values(a, b):
        total = 0.0
        for n, weight in enumerate(weights or [0.0] * (length - 1) + [1.0], start=1):
            one, two = (Counter(text[i : i + n] for i in range(len(text) - n + 1)) for text in (a, b))
            total += weight * sum(count * two[gram] for gram, count in one.items())
        return total

    compare(kernel, values, texts_of(rng, 60), texts_of(rng, 60), 1e-12, 0.0)
