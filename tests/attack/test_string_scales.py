"""String kernels in single precision: what a pair has does not hang on its company, and tiny values are as exact as others.

The definition is written out here: every subsequence of both texts, in extended precision. TEXTMARGIN_ATTACK_SECONDS looks
further.
"""

import os
import time
from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest

from textmargin import SubsequenceKernel, core
from textmargin.representations._backends import Diagonal, KernelSpec
from textmargin.representations._cpu import Cpu
from textmargin.representations.encode import encode

SHORT = 40
ERROR = 1e-5  # relative, that single precision promises
LEVELS = core.levels()


def features(text, length, decay):
    """λ to the number of symbols spanned, over all occurrences of each subsequence."""
    found = defaultdict(np.longdouble)
    for places in combinations(range(len(text)), length):
        found[tuple(text[i] for i in places)] += np.longdouble(decay) ** (places[-1] - places[0] + 1)
    return found


def by_definition(s, t, weights, decay):
    total = np.longdouble(0)
    for length, weight in enumerate(weights, start=1):
        if weight:
            of_s, of_t = features(s, length, decay), features(t, length, decay)
            total += np.longdouble(weight) * sum((of_s[u] * of_t[u] for u in of_s.keys() & of_t.keys()), np.longdouble(0))
    return total


def random_texts(rng, n, longest, letters):
    return ["".join(rng.choice(list(letters), rng.integers(1, longest + 1))) for _ in range(n)]


def rounds(first):
    """Seeds: a few, or as many as the seconds asked for allow."""
    seconds = float(os.environ.get("TEXTMARGIN_ATTACK_SECONDS", 0))
    start = int(np.random.default_rng().integers(10_000, 2**31)) if seconds else first
    end = time.monotonic() + seconds
    seed = start
    while seed < start + SHORT or time.monotonic() < end:
        yield seed
        seed += 1
    print(f"\nseeds {start} to {seed}")


def test_tiny_values_were_lost_or_off_in_single_precision():
    """A decay of 1e-6: ten symbols skipped are 1e-60, which single precision does not know."""
    for seed in rounds(0):
        rng = np.random.default_rng([250, seed])
        length = int(rng.integers(2, 5))
        weights = 10 ** rng.uniform(-3, 3, length) * (rng.random(length) < 0.6) if rng.random() < 0.5 else np.zeros(length)
        weights[-1] = 1.0
        decay = float(rng.choice([1e-6, 1e-5, 1e-3, 0.1]))
        texts = random_texts(rng, 6, 11, "abcdefgh")
        K = SubsequenceKernel(length, decay, weights=weights if weights[:-1].any() else None)(texts)
        own = [by_definition(s, s, weights, decay) for s in texts]
        for i, s in enumerate(texts):
            for j, t in enumerate(texts):
                scale = np.sqrt(own[i] * own[j])
                expected = by_definition(s, t, weights, decay) / scale if scale else 0.0
                assert K[i, j] == pytest.approx(float(expected), rel=ERROR, abs=1e-290), (seed, s, t, decay, weights.tolist())


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("double", [False, True])
def test_what_a_pair_has_hung_on_what_else_was_compared(level, double):
    """k(a, b) to the bit: alone, swapped, in any batch, with any number of threads."""
    for seed in rounds(0):
        rng = np.random.default_rng([251, seed])
        longest = int(rng.choice([6, 30, 200]))
        spec_length, decay = int(rng.integers(1, 7)), float(rng.choice([1e-6, 0.01, 0.3, 0.5, 0.9, 1.0]))
        weights = np.append(rng.random(spec_length - 1), 1.0) if rng.random() < 0.3 and spec_length > 1 else np.empty(0)
        texts = random_texts(rng, int(rng.integers(2, 40)), longest, "abcdefghijklmnop"[: rng.integers(1, 17)])
        spec = KernelSpec(spec_length, np.full(26, decay), 1.0, weights)
        order = rng.permutation(len(texts))
        K = gram(level, double, 1, spec, texts)
        batch = gram(level, double, 3, spec, [texts[i] for i in order])
        np.testing.assert_array_equal(batch, K[np.ix_(order, order)], err_msg=str(seed))
        for _ in range(4):
            i, j = rng.integers(0, len(texts), 2)
            assert gram(level, double, 1, spec, [texts[i]], [texts[j]])[0, 0] == K[i, j], (seed, texts[i], texts[j])
            assert gram(level, double, 1, spec, [texts[j]], [texts[i]])[0, 0] == K[i, j], (seed, texts[i], texts[j])
        some = rng.integers(0, len(texts), 3)
        np.testing.assert_array_equal(gram(level, double, 2, spec, texts, [texts[i] for i in some]), K[:, some])


def gram(level, double, n_jobs, spec, X, Y=None):
    """Codes are by first appearance, as those of words are: other company, other codes."""
    corpora, symbols = encode(list, *([X] if Y is None else [X, Y]))
    spec = KernelSpec(spec.length, spec.gap[: len(symbols)], spec.match, spec.weights)
    backend = Cpu(double, n_jobs, level, shorten=False)
    none = Diagonal.none(), Diagonal.none()
    return backend.gram(spec, corpora[0], None if Y is None else corpora[1], none, 1.0)


def test_the_kernel_of_two_texts_is_the_same_in_every_batch():
    """Normalised, by the kernel as users have it."""
    rng = np.random.default_rng(0)
    texts = random_texts(rng, 30, 120, "the quick brown fox")
    kernel = SubsequenceKernel(length=4, decay=0.4)
    K = kernel(texts)
    for i, j in rng.integers(0, 30, (20, 2)):
        if i != j:
            assert kernel([texts[i]], [texts[j]])[0, 0] == kernel([texts[j]], [texts[i]])[0, 0] == K[i, j]
