"""Explicit maps over partitioned texts are those of the in-memory classes."""

from itertools import pairwise

import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from dask import delayed
from samples import corpus

import textmargin
from textmargin import SpectrumKernel, SubsequenceKernel, scale
from textmargin.errors import EmptyVocabularyError, NotTextError

TEXTS, TOPICS = corpus(100)


def bag_of(texts, n_parts):
    """Parts of all sizes, some of them empty."""
    cuts = np.sort(np.random.default_rng(n_parts).integers(0, len(texts), n_parts - 1)).tolist()
    return db.from_delayed([delayed(texts[a:b], pure=False) for a, b in pairwise([0, *cuts, len(texts)])])


@pytest.mark.parametrize(
    ("tokens", "length", "n_parts"),
    [("char", 3, 1), ("char", 3, 2), ("char", 3, 7), ("char", 3, 50), ("word", 2, 17), (str.split, 1, 5)],
)
def test_substrings_are_those_found_in_memory(client, tokens, length, n_parts):
    """In the same order: of equally frequent ones, of which there are many, the first to occur."""
    here = textmargin.SubsequenceFeatures(length, n_features=80, tokens=tokens).fit(TEXTS)
    there = scale.SubsequenceFeatures(length, n_features=80, tokens=tokens).fit(bag_of(TEXTS, n_parts))
    assert there.substrings_ == here.substrings_
    assert there.counts_.tolist() == here.counts_.tolist()
    assert there.alignment_ == pytest.approx(here.alignment_)
    assert there.get_feature_names_out().tolist() == here.get_feature_names_out().tolist()


def test_parts_are_counted_a_few_texts_at_a_time(client):
    texts = [f"{text}{i % 7}" for i, text in enumerate(TEXTS * 25)]
    here = textmargin.SubsequenceFeatures(3, n_features=500).fit(texts)
    there = scale.SubsequenceFeatures(3, n_features=500).fit(db.from_sequence(texts, npartitions=2))
    assert there.substrings_ == here.substrings_
    assert there.counts_.tolist() == here.counts_.tolist()


@pytest.mark.parametrize("n_parts", [1, 2, 7, 50])
def test_landmarks_are_those_drawn_in_memory(client, n_parts):
    kernel = SubsequenceKernel(3, precision="double")
    here = textmargin.KernelLandmarks(kernel, 20, random_state=3).fit(TEXTS)
    there = scale.KernelLandmarks(kernel, 20, random_state=3).fit(bag_of(TEXTS, n_parts))
    assert there.landmarks_ == here.landmarks_
    assert there.alignment_ == pytest.approx(here.alignment_)
    np.testing.assert_allclose(there.transform(bag_of(TEXTS, 3)).compute(), here.transform(TEXTS), atol=1e-9)


def test_landmarks_of_more_texts_than_are_shuffled(client, monkeypatch):
    monkeypatch.setattr("textmargin.scale.maps._MOST_SHUFFLED", 10)
    found = [scale.KernelLandmarks(SpectrumKernel(2), 15, random_state=3).fit(bag_of(TEXTS, n)).landmarks_ for n in (2, 7)]
    assert found[0] == found[1]
    assert len(set(found[0])) == 15


@pytest.mark.parametrize("sparse", [True, False])
def test_a_text_column_is_mapped_part_by_part(client, sparse):
    frame = dd.from_pandas(pd.DataFrame({"text": TEXTS, "topic": TOPICS}), npartitions=4)
    features = scale.SubsequenceFeatures(3, n_features=50, sparse_output=sparse).fit(frame["text"])
    blocks = features.transform(frame[["text"]])
    assert isinstance(blocks, scale.Blocks)
    assert (len(blocks), blocks.n_columns) == (4, 50)
    found, expected = blocks.compute(), textmargin.SubsequenceFeatures(3, n_features=50).fit_transform(TEXTS)
    assert sp.issparse(found) == sparse
    np.testing.assert_allclose(found.toarray() if sparse else found, expected, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize(
    "make",
    [lambda home: home.SubsequenceFeatures(3, n_features=60), lambda home: home.KernelLandmarks(n_landmarks=30, random_state=0)],
)
def test_a_linear_learner_on_parts(client, make):
    here, there = make(textmargin), make(scale)
    y = np.asarray(TOPICS == "oil")
    expected = textmargin.PriorSVC().fit(here.fit_transform(TEXTS), y).coef_
    blocks = there.fit_transform(bag_of(TEXTS, 5)).persist()
    np.testing.assert_allclose(scale.PriorSVC().fit(blocks, y).coef_, expected, atol=1e-4)


def test_lists_of_texts_and_what_is_saved(client, tmp_path):
    bag = bag_of(TEXTS, 3)
    for model in (scale.SubsequenceFeatures(2, n_features=9), scale.KernelLandmarks(SpectrumKernel(2), 9, random_state=0)):
        mapped = model.fit(bag).transform(TEXTS)
        textmargin.save(model.in_memory(), tmp_path / "map.tmm")
        np.testing.assert_array_equal(textmargin.load(tmp_path / "map.tmm").transform(TEXTS), mapped)
        np.testing.assert_allclose(model.fit(TEXTS).transform(TEXTS), mapped, rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "texts", "error", "message"),
    [
        (scale.SubsequenceFeatures(5), ["abc", ""], EmptyVocabularyError, "No text has 5 symbols"),
        (scale.SubsequenceFeatures(), ["a", None], NotTextError, "Part 1.*missing"),
        (scale.KernelLandmarks(), ["abc", "d"], EmptyVocabularyError, "shorter than the kernel"),
        (scale.KernelLandmarks(n_landmarks=0), ["abc", "d"], ValueError, "n_landmarks"),
    ],
)
def test_bad_input_says_what_is_wrong(client, model, texts, error, message):
    with pytest.raises(error, match=message):
        model.fit(db.from_sequence(texts, npartitions=2))


def test_no_texts_at_all(client):
    nothing = db.from_sequence(["a", "b"], npartitions=2).filter(str.isdigit)
    with pytest.raises(NotTextError, match="all parts are empty"):
        scale.KernelLandmarks().fit(nothing)
    with pytest.raises(EmptyVocabularyError, match="No text has 3 symbols"):
        scale.SubsequenceFeatures().fit(nothing)
