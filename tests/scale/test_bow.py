"""Words of texts in parts are those of all texts in one memory."""

import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import textmargin
from textmargin import load_dataset
from textmargin.errors import ClusterError, EmptyVocabularyError, NotTextError
from textmargin.scale import BagOfWords, connect

DESK = load_dataset("desk").texts

SETTINGS = [
    {},
    {"min_df": 3, "weight": "log-tf-idf"},
    {"min_df": 0.02, "max_df": 0.1},
    {"max_features": 50},
    {"ngram_range": (1, 2), "min_df": 2, "max_features": 100},
    {"analyzer": "char", "ngram_range": (2, 3), "weight": "count", "norm": None},
    {"vocabulary": ["printer", "password", "unheard"]},
]


def bag(texts, n):
    return db.from_sequence(texts, npartitions=n)


def column(texts, n):
    return dd.from_pandas(pd.DataFrame({"text": texts, "number": range(len(texts))}), npartitions=n)["text"]


def same(X, Y):
    return X.shape == Y.shape and abs(X - Y).max() == 0


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_vocabulary_weights_and_matrix_are_those_of_memory(client, settings):
    memory = textmargin.BagOfWords(**settings)
    X = memory.fit_transform(DESK)
    for texts in (bag(DESK, 5), column(DESK, 3)):
        words = BagOfWords(**settings).fit(texts)
        assert words.vocabulary_ == memory.vocabulary_
        assert words.n_texts_ == memory.n_texts_
        assert np.array_equal(words.idf_, memory.idf_)
        assert same(words.transform(texts).compute(), X)


def test_fit_transform_is_fit_and_transform(client):
    texts = bag(DESK, 4)
    X = BagOfWords(min_df=2).fit_transform(texts)
    assert len(X) == 4
    assert same(X.compute(), textmargin.BagOfWords(min_df=2).fit_transform(DESK))


def test_empty_parts_and_parts_without_words(client):
    texts = ["corn wheat", "", "corn oil"]
    parts = dd.from_delayed([_series(texts[:1]), _series([]), _series(["a b c"]), _series(texts[1:])], meta=_meta())["text"]
    memory = textmargin.BagOfWords().fit(["corn wheat", "a b c", "", "corn oil"])
    words = BagOfWords().fit(parts)
    assert words.vocabulary_ == memory.vocabulary_
    assert np.array_equal(words.idf_, memory.idf_)
    assert words.transform(parts).compute().shape == (4, 3)


def _meta():
    return pd.DataFrame({"text": pd.Series([], dtype=object)})


def _series(texts):
    from dask import delayed

    return delayed(pd.DataFrame({"text": pd.Series(texts, dtype=object)}))


def test_parts_of_a_narrow_column_stay_as_they_are(client, tmp_path):
    """Dask's optimiser joins the files of a narrow column; texts and labels would no longer be cut alike."""
    for number in range(4):
        pd.DataFrame({"text": ["corn wheat"] * 3, "other": ["x" * 5000] * 3}).to_parquet(tmp_path / f"{number}.parquet")
    table = dd.read_parquet(tmp_path)
    assert len(BagOfWords(weight="count").fit_transform(table["text"])) == table.npartitions == 4


def test_texts_in_memory_go_the_usual_way():
    words = BagOfWords(min_df=2)
    X = words.fit_transform(DESK)
    assert sp.issparse(X)
    assert same(X, textmargin.BagOfWords(min_df=2).fit_transform(DESK))
    assert same(words.transform(DESK[:9]), X[:9])


def test_a_model_fitted_on_parts_can_be_kept(client, tmp_path):
    words = BagOfWords(min_df=2).fit(bag(DESK, 3)).in_memory()
    textmargin.save(words, tmp_path / "words.tmm")
    assert type(words) is textmargin.BagOfWords
    assert same(textmargin.load(tmp_path / "words.tmm").transform(DESK), textmargin.BagOfWords(min_df=2).fit_transform(DESK))


@pytest.mark.parametrize(
    ("settings", "texts", "message"),
    [
        ({"min_df": 2}, ["corn wheat", "oil", "tea"], "min_df=2 and max_df=1.0 leave none of 4 terms in 3 texts"),
        ({"stop_words": "english"}, ["the", "a b"], "No words were found in 2 texts"),
        ({"min_df": 2, "max_df": 1}, ["corn wheat", "oil"], "max_df corresponds to < documents than min_df"),
    ],
)
def test_a_vocabulary_that_comes_out_empty_says_why(client, settings, texts, message):
    with pytest.raises(ValueError, match=message) as caught:
        BagOfWords(**settings).fit(bag(texts, 2))
    assert isinstance(caught.value, EmptyVocabularyError) or "corresponds" in message


def test_what_is_not_a_text_is_named_with_its_part(client):
    with pytest.raises(NotTextError, match="Part 1: Text number 0 is missing"):
        BagOfWords().fit(bag(["corn", None], 2))
    with pytest.raises(NotTextError, match=r"2 columns: \['text', 'number'\]; choose one"):
        BagOfWords().fit(dd.from_pandas(pd.DataFrame({"text": ["a"], "number": [1]}), npartitions=1))


def test_without_a_cluster_the_next_step_is_named():
    with pytest.raises(ClusterError, match=r"start one first: dask\.distributed\.Client\(\)"):
        BagOfWords().fit(bag(DESK, 2))


def test_an_address_where_nothing_listens_is_named_soon(monkeypatch):
    from textmargin.scale import _client

    monkeypatch.setattr(_client, "PATIENCE", 1.0)
    with pytest.raises(ClusterError, match=r"No Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"), connect("tcp://127.0.0.1:1"):
        pass


def test_workers_of_another_version_are_named(cluster, monkeypatch):
    """They would end at the first task that they cannot read."""
    from textmargin.scale import _client

    monkeypatch.setattr(_client, "__version__", "7.0")
    with pytest.raises(ClusterError, match=r"need textmargin 7\.0, as here; they have: 0\."), connect(cluster.scheduler_address):
        pass
