"""Explicit maps of string kernels over texts in parts are those of memory, wherever the parts are."""

from itertools import pairwise

import dask.bag as db
import numpy as np
import pytest
from distributed import Client
from samples import corpus

from textmargin import KernelLandmarks, PriorSVC, SpectrumKernel, SubsequenceFeatures, SubsequenceKernel
from textmargin.errors import EmptyVocabularyError, NotTextError
from textmargin.learners.matrix import BlockMatrix
from textmargin.representations import features
from textmargin.scale import ClusterBlocks, TextLists

TEXTS, TOPICS = corpus(100)


def cut(texts, n_parts):
    """Parts of all sizes, some of them empty."""
    cuts = np.sort(np.random.default_rng(n_parts).integers(0, len(texts), n_parts - 1)).tolist()
    return TextLists([texts[a:b] for a, b in pairwise([0, *cuts, len(texts)])])


@pytest.fixture(scope="module")
def inside(threads):
    with Client(threads) as connected:
        yield connected


@pytest.mark.parametrize(
    ("tokens", "length", "n_parts"),
    [("char", 3, 1), ("char", 3, 2), ("char", 3, 7), ("char", 3, 50), ("word", 2, 17), (str.split, 1, 5)],
)
def test_substrings_are_those_found_in_memory(tokens, length, n_parts):
    """In the same order: of equally frequent ones, of which there are many, the first to occur."""
    here = SubsequenceFeatures(length, n_features=80, tokens=tokens).fit(TEXTS)
    there = SubsequenceFeatures(length, n_features=80, tokens=tokens).fit(cut(TEXTS, n_parts))
    assert there.substrings_ == here.substrings_
    assert there.counts_.tolist() == here.counts_.tolist()
    assert there.alignment_ == pytest.approx(here.alignment_)
    assert there.get_feature_names_out().tolist() == here.get_feature_names_out().tolist()


def test_parts_are_counted_a_few_texts_at_a_time():
    texts = [f"{text}{i % 7}" for i, text in enumerate(TEXTS * 25)]
    here = SubsequenceFeatures(3, n_features=500).fit(texts)
    there = SubsequenceFeatures(3, n_features=500).fit(cut(texts, 2))
    assert there.substrings_ == here.substrings_
    assert there.counts_.tolist() == here.counts_.tolist()


@pytest.mark.parametrize("n_parts", [1, 2, 7, 50])
def test_landmarks_are_those_drawn_in_memory(n_parts):
    kernel = SubsequenceKernel(3, precision="double")
    here = KernelLandmarks(kernel, 20, random_state=3).fit(TEXTS)
    there = KernelLandmarks(kernel, 20, random_state=3).fit(cut(TEXTS, n_parts))
    assert there.landmarks_ == here.landmarks_
    assert there.alignment_ == pytest.approx(here.alignment_)
    np.testing.assert_allclose(there.transform(cut(TEXTS, 3))[:].toarray(), here.transform(TEXTS), atol=1e-7)


def test_landmarks_of_more_texts_than_are_shuffled(monkeypatch):
    monkeypatch.setattr(features, "_MOST_SHUFFLED", 10)
    found = [
        KernelLandmarks(SpectrumKernel(2), 15, random_state=3).fit(cut(TEXTS, n)).landmarks_ for n in (2, 7)
    ]
    assert found[0] == found[1]
    assert len(set(found[0])) == 15


MAPS = [
    SubsequenceFeatures(3, n_features=60),
    SubsequenceFeatures(2, n_features=60, tokens="word", sparse_output=True),
    KernelLandmarks(n_landmarks=30, random_state=0),
]


@pytest.mark.parametrize("model", MAPS)
def test_a_map_is_the_same_on_a_cluster(client, model):
    expected = model.fit_transform(TEXTS)
    bag = db.from_sequence(TEXTS, npartitions=4)
    blocks = model.fit(bag).transform(bag)
    assert isinstance(blocks, ClusterBlocks)
    np.testing.assert_allclose(
        blocks.compute().toarray(), getattr(expected, "toarray", lambda: expected)(), atol=1e-7
    )


@pytest.mark.parametrize("model", MAPS)
def test_a_linear_learner_on_parts(model):
    y = np.asarray(TOPICS == "oil")
    X = model.fit_transform(TEXTS)
    blocks = model.fit_transform(cut(TEXTS, 5))
    assert isinstance(blocks, BlockMatrix)
    expected = PriorSVC(tol=1e-7).fit(X, y).decision_function(X)
    np.testing.assert_allclose(
        PriorSVC(tol=1e-7).fit(blocks, y).decision_function(blocks), expected, atol=1e-3
    )


@pytest.mark.parametrize(
    ("model", "texts", "error", "message"),
    [
        (SubsequenceFeatures(5), ["abc", ""], EmptyVocabularyError, "No text has 5 symbols"),
        (SubsequenceFeatures(), [], EmptyVocabularyError, "No text has 3 symbols"),
        (KernelLandmarks(), ["abc", "d"], EmptyVocabularyError, "shorter than the kernel"),
        (KernelLandmarks(), [], NotTextError, "There are no texts to choose landmarks from"),
        (KernelLandmarks(n_landmarks=0), ["abc", "d"], ValueError, "n_landmarks"),
    ],
)
def test_bad_input_says_what_is_wrong(model, texts, error, message):
    with pytest.raises(error, match=message):
        model.fit(TextLists([texts[:1], texts[1:]]))


def test_a_part_of_a_collection_that_is_no_text_is_named(inside):
    with pytest.raises(NotTextError, match=r"Part 1.*missing"):
        SubsequenceFeatures().fit(db.from_sequence(["a", None], npartitions=2))
