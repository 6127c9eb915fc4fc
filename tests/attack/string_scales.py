"""String kernels in single precision: what a pair has does not hang on its company, and tiny values are as
exact as others.

The definition is written out here: every subsequence of both texts, in extended precision.
"""

from collections import defaultdict
from itertools import combinations

import numpy as np

from textmargin import SubsequenceKernel, core
from textmargin.representations._backends import Diagonal, KernelSpec
from textmargin.representations._cpu import Cpu
from textmargin.representations.encode import encode

ERROR = 1e-5  # relative, that single precision promises
LEVELS = core.levels()


def case(seed):
    tiny_values(seed)
    company(seed, LEVELS[seed % len(LEVELS)], double=bool(seed // len(LEVELS) % 2))


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
            total += np.longdouble(weight) * sum(
                (of_s[u] * of_t[u] for u in of_s.keys() & of_t.keys()), np.longdouble(0)
            )
    return total


def random_texts(rng, n, longest, letters):
    return ["".join(rng.choice(list(letters), rng.integers(1, longest + 1))) for _ in range(n)]


def tiny_values(seed):
    """A decay of 1e-6: ten symbols skipped are 1e-60, which single precision does not know."""
    rng = np.random.default_rng([250, seed])
    length = int(rng.integers(2, 5))
    weights = (
        10 ** rng.uniform(-3, 3, length) * (rng.random(length) < 0.6)
        if rng.random() < 0.5
        else np.zeros(length)
    )
    weights[-1] = 1.0
    decay = float(rng.choice([1e-6, 1e-5, 1e-3, 0.1]))
    texts = random_texts(rng, 6, 11, "abcdefgh")
    K = SubsequenceKernel(length, decay, weights=weights if weights[:-1].any() else None)(texts)
    own = [by_definition(s, s, weights, decay) for s in texts]
    for i, s in enumerate(texts):
        for j, t in enumerate(texts):
            scale = np.sqrt(own[i] * own[j])
            expected = by_definition(s, t, weights, decay) / scale if scale else 0.0
            off = abs(K[i, j] - float(expected))
            assert off <= ERROR * float(expected) + 1e-290, (seed, s, t, decay, weights.tolist())


def company(seed, level, double):
    """k(a, b) to the bit: alone, swapped, in any batch, with any number of threads."""
    rng = np.random.default_rng([251, seed])
    longest = int(rng.choice([6, 30, 200]))
    spec_length, decay = int(rng.integers(1, 7)), float(rng.choice([1e-6, 0.01, 0.3, 0.5, 0.9, 1.0]))
    weights = (
        np.append(rng.random(spec_length - 1), 1.0) if rng.random() < 0.3 and spec_length > 1 else np.empty(0)
    )
    texts = random_texts(rng, int(rng.integers(2, 40)), longest, "abcdefghijklmnop"[: rng.integers(1, 17)])
    spec = KernelSpec(spec_length, np.full(26, decay), 1.0, weights)
    order = rng.permutation(len(texts))
    K = gram(level, double, 1, spec, texts)
    batch = gram(level, double, 3, spec, [texts[i] for i in order])
    np.testing.assert_array_equal(batch, K[np.ix_(order, order)], err_msg=str(seed))
    for _ in range(4):
        i, j = rng.integers(0, len(texts), 2)
        assert gram(level, double, 1, spec, [texts[i]], [texts[j]])[0, 0] == K[i, j], (
            seed,
            texts[i],
            texts[j],
        )
        assert gram(level, double, 1, spec, [texts[j]], [texts[i]])[0, 0] == K[i, j], (
            seed,
            texts[i],
            texts[j],
        )
    some = rng.integers(0, len(texts), 3)
    np.testing.assert_array_equal(gram(level, double, 2, spec, texts, [texts[i] for i in some]), K[:, some])


def gram(level, double, n_jobs, spec, X, Y=None):
    """Codes are by first appearance, as those of words are: other company, other codes."""
    corpora, symbols = encode(list, *([X] if Y is None else [X, Y]))
    spec = KernelSpec(spec.length, spec.gap[: len(symbols)], spec.match, spec.weights)
    backend = Cpu(double, n_jobs, level, shorten=False)
    none = Diagonal.none(), Diagonal.none()
    return backend.gram(spec, corpora[0], None if Y is None else corpora[1], none, 1.0)
