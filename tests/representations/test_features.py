"""Explicit maps against the kernels they stand for."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from reference import ssk_by_definition
from sklearn.pipeline import make_pipeline

from textmargin import KernelLandmarks, PriorSVC, SubsequenceFeatures, SubsequenceKernel, kernel_alignment
from textmargin.errors import EmptyVocabularyError, NotTextError

texts = st.lists(st.text(alphabet="ab c", min_size=3, max_size=9), min_size=2, max_size=6)
MESSAGES = [
    "cheap pills now",
    "cheap pils nw",
    "chep pills",
    "meeting at noon",
    "meetng at nine",
    "lunch at noon",
]
SPAM = [1, 1, 1, 0, 0, 0]


@given(X=texts, length=st.integers(1, 3), decay=st.floats(0.1, 1.0))
def test_a_feature_adds_up_the_occurrences_of_its_substring(X, length, decay):
    features = SubsequenceFeatures(length, decay, n_features=5, norm=None).fit(X)
    expected = [
        [ssk_by_definition(x, u, length, decay) / decay**length for u in features.substrings_] for x in X
    ]
    np.testing.assert_allclose(features.transform(X), expected, rtol=1e-5, atol=1e-30)


@given(X=texts)
def test_most_frequent_contiguous_substrings_first(X):
    features = SubsequenceFeatures(2, n_features=4).fit(X)
    counts = [sum(x.startswith(u, i) for x in X for i in range(len(x))) for u in features.substrings_]
    assert counts == features.counts_.tolist() == sorted(counts, reverse=True)


def test_over_all_strings_the_map_is_the_kernel():
    X = ["abab", "bbaa", "aabb", "baba"]  # every string of two symbols occurs
    mapped = SubsequenceFeatures(2, n_features=100).fit_transform(X)
    np.testing.assert_allclose(mapped @ mapped.T, SubsequenceKernel(2)(X), rtol=1e-5)


def test_alignment_grows_with_features():
    found = [SubsequenceFeatures(2, n_features=k).fit(MESSAGES).alignment_ for k in (3, 10, 1000)]
    assert found == sorted(found)
    assert found[-1] > 0.98


def test_words_and_sparse_output():
    features = SubsequenceFeatures(2, tokens="word", n_features=3, sparse_output=True, norm=None)
    mapped = features.fit_transform(["new york city", "new york", "york city new york"])
    assert sp.issparse(mapped)
    assert features.get_feature_names_out().tolist() == ["new york", "york city", "city new"]
    np.testing.assert_allclose(mapped.toarray()[0], [0.25, 0.25, 0])
    np.testing.assert_allclose(features.transform(["new big york"]).toarray(), [[0.125, 0, 0]])


@pytest.mark.parametrize("tokens", [str.split, str.swapcase])
def test_a_function_of_texts_is_not_applied_to_substrings(tokens):
    mapped = SubsequenceFeatures(2, tokens=tokens, norm=None).fit_transform(["A B A C", "B A C A", "A A B B"])
    assert (mapped > 0).any(axis=1).all()


def test_lists_of_tokens():
    features = SubsequenceFeatures(2, n_features=1, norm=None).fit([[1, 2, 1, 2], [2, 1]])
    assert features.substrings_ == [(1, 2)]
    np.testing.assert_allclose(features.transform([[1, 2]]), [[0.25]])


def test_landmarks_are_exact_where_they_lie():
    kernel = SubsequenceKernel(2, precision="double")
    landmarks = KernelLandmarks(kernel, n_landmarks=6, random_state=0).fit(MESSAGES)
    mapped = landmarks.transform(MESSAGES)
    np.testing.assert_allclose(mapped @ mapped.T, kernel(MESSAGES), atol=1e-9)
    assert landmarks.alignment_ == pytest.approx(1)
    assert landmarks.get_feature_names_out().tolist() == [
        f"kernellandmarks{i}" for i in range(mapped.shape[1])
    ]


def test_equal_landmarks_and_texts_like_no_other_add_no_column():
    landmarks = KernelLandmarks(SubsequenceKernel(2), n_landmarks=4).fit(["abc", "abc", "xyz", ""])
    assert landmarks.transform(["abc", "q"]).shape == (2, 2)
    assert not landmarks.transform(["q"]).any()


@pytest.mark.parametrize(
    "representation", [SubsequenceFeatures(2), KernelLandmarks(SubsequenceKernel(2), random_state=0)]
)
def test_before_a_linear_learner(representation):
    model = make_pipeline(representation, PriorSVC()).fit(MESSAGES, SPAM)
    assert model.predict(["cheap pill", "lunch meeting"]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("estimator", "X", "error", "message"),
    [
        (SubsequenceFeatures(5), ["abc", ""], EmptyVocabularyError, "No text has 5 symbols"),
        (SubsequenceFeatures(), [], EmptyVocabularyError, "No text has 3 symbols"),
        (SubsequenceFeatures(), ["a", None], NotTextError, "number 1 is missing"),
        (KernelLandmarks(), ["abc", "d"], EmptyVocabularyError, "shorter than the kernel"),
        (KernelLandmarks(), [], NotTextError, "no texts"),
        (KernelLandmarks(n_landmarks=0), ["abc"], ValueError, "n_landmarks"),
    ],
)
def test_bad_input_says_what_is_wrong(estimator, X, error, message):
    with pytest.raises(error, match=message):
        estimator.fit(X)


def test_alignment_of_matrices():
    K = np.array([[1.0, 0.3], [0.3, 1.0]])
    assert kernel_alignment(K, 7 * K) == pytest.approx(1)
    assert kernel_alignment(K, np.zeros((2, 2))) == 0
