"""The spectrum kernel against scikit-learn's counts of n-grams."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.svm import SVC

from textmargin import SpectrumKernel
from textmargin.errors import NotTextError

texts = st.lists(st.text(alphabet="ab c", min_size=4, max_size=12), min_size=1, max_size=6)


def counts(X, length):
    return CountVectorizer(
        analyzer=lambda text: [text[i : i + length] for i in range(len(text) - length + 1)]
    ).fit_transform(X)


@given(X=texts, length=st.integers(1, 4))
def test_equals_counted_ngrams(X, length):
    C = counts(X, length)
    np.testing.assert_allclose(SpectrumKernel(length, normalize=False)(X), (C @ C.T).toarray())
    np.testing.assert_allclose(SpectrumKernel(length)(X), cosine_similarity(C), atol=1e-12)
    np.testing.assert_allclose(SpectrumKernel(length)(X, X[::-1]), cosine_similarity(C)[:, ::-1], atol=1e-12)
    np.testing.assert_allclose(SpectrumKernel(length, normalize=False).diag(X), (C @ C.T).diagonal())


@given(X=texts)
def test_weighted_sum_of_lengths(X):
    expected = sum(w * SpectrumKernel(n, normalize=False)(X) for n, w in ((1, 0.5), (3, 2.0)))
    np.testing.assert_allclose(SpectrumKernel(3, weights=[0.5, 0, 2.0], normalize=False)(X), expected)


def test_ngrams_do_not_reach_over_the_end_of_a_text():
    assert SpectrumKernel(3)(["ab", "cab", "abc"]).tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert not SpectrumKernel(50)(["ab", "cab"]).any()


def test_words():
    assert SpectrumKernel(2, "word")(["new york city"], ["york city hall"]).item() == pytest.approx(0.5)


def test_fits_into_svc():
    model = SVC(kernel=SpectrumKernel(2)).fit(["aab", "aac", "xxy", "xxz"], [0, 0, 1, 1])
    assert model.predict(["aad", "xxw"]).tolist() == [0, 1]


def test_empty_list_is_refused():
    with pytest.raises(NotTextError, match="no texts"):
        SpectrumKernel()([])
