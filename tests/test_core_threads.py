"""What the core shares out among threads is what one thread gives, also where several callers use one object
at a time.

`make sanitize` runs these under ThreadSanitizer, which finds what happens to go well.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import make_texts

from textmargin import BagOfWords, PriorSVC, SpectrumKernel, SubsequenceKernel

N_THREADS = 4
TERMS = "wheat corn harvest bank rates dollar oil price 1987 账单 Straße ΟΔΟΣ naïve 😡 x11"
WORDS = np.array(TERMS.split(" "))


def some_texts(n=600, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(1, 40))) for _ in range(n)]


def at_once(work, n=N_THREADS):
    """What several threads get that start together."""
    with ThreadPoolExecutor(n) as pool:
        return [one.result() for one in [pool.submit(work) for _ in range(n)]]


def same(a, b):
    return (a != b).nnz == 0


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
def test_words_are_counted_alike(ngram_range):
    texts = some_texts()
    alone = BagOfWords(ngram_range=ngram_range, n_jobs=1)
    together = BagOfWords(ngram_range=ngram_range, n_jobs=N_THREADS)
    assert same(alone.fit_transform(texts), together.fit_transform(texts))
    assert alone.get_feature_names_out().tolist() == together.get_feature_names_out().tolist()


def test_one_vocabulary_for_several_callers():
    texts = some_texts()
    words = BagOfWords(n_jobs=2).fit([text for text in texts if text.isascii()] or texts)
    found = at_once(lambda: words.transform(texts))  # none has asked for the table of characters yet
    assert all(same(found[0], other) for other in found)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_of_strings(precision):
    texts = [text[:60] for text in some_texts(60)]
    kernels = [
        SubsequenceKernel(3, 0.5, precision=precision, n_jobs=n, progress=False, backend="cpu")
        for n in (1, N_THREADS)
    ]
    np.testing.assert_array_equal(kernels[0](texts), kernels[1](texts))
    found = at_once(lambda: kernels[1](texts, texts[:20]))
    assert all((found[0] == other).all() for other in found)
    assert all((one == found[0]).all() for one in at_once(lambda: kernels[1](texts, texts[:20]), 2))
    counted = SpectrumKernel(3, progress=False)
    assert all((one == counted(texts)).all() for one in at_once(lambda: counted(texts), 2))


def test_classes_are_learnt_alike():
    X, y = make_texts(n=300, d=500)
    Y = np.column_stack([np.roll(y, k) for k in range(6)])
    alone, together = (PriorSVC(n_jobs=n).fit(X, Y) for n in (1, N_THREADS))
    np.testing.assert_array_equal(alone.coef_, together.coef_)
    np.testing.assert_array_equal(alone.decision_function(X), together.decision_function(X))
