"""Words of texts that workers read are those of all texts in one memory."""

import os
import signal

import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from textmargin import BagOfWords, load_dataset
from textmargin.errors import ClusterError, EmptyVocabularyError, NotTextError
from textmargin.representations import text_parts
from textmargin.representations.digests import text_digests
from textmargin.scale import ClusterBlocks, ClusterTexts, _client, connect
from textmargin.tables.parts import open_parts

DESK = load_dataset("desk")

SETTINGS = [
    {},
    {"min_df": 3, "weight": "log-tf-idf"},
    {"min_df": 0.02, "max_df": 0.1},
    {"max_features": 50, "stop_words": "auto"},
    {"ngram_range": (1, 2), "min_df": 2, "max_features": 100},
    {"analyzer": "char", "ngram_range": (2, 3), "weight": "count", "norm": None},
    {"vocabulary": ["printer", "password", "unheard"]},
    {"extra_terms": ["unheard", "zebra"]},
]


def bag(texts, n):
    return db.from_sequence(texts, npartitions=n)


def column(texts, n):
    return dd.from_pandas(pd.DataFrame({"text": texts, "number": range(len(texts))}), npartitions=n)["text"]


def same(X, Y):
    """As single precision has it."""
    return X.shape == Y.shape and np.array_equal(X.compute().toarray(), Y.toarray().astype(np.float32))


@pytest.fixture
def inside(threads):
    with Client(threads) as connected:
        yield connected


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_vocabulary_weights_and_matrix_are_those_of_memory(inside, settings):
    memory = BagOfWords(**settings)
    X = memory.fit_transform(DESK.texts)
    for texts in (bag(DESK.texts, 5), column(DESK.texts, 3)):
        words = BagOfWords(**settings)
        blocks = words.fit_transform(texts)
        assert isinstance(blocks, ClusterBlocks)
        assert words.vocabulary_ == memory.vocabulary_
        assert words.n_texts_ == memory.n_texts_
        assert np.array_equal(words.idf_, memory.idf_)
        assert same(blocks, X)
        assert same(words.transform(texts), X)


def test_worker_processes_count_as_this_one_does(client):
    memory = BagOfWords(min_df=2)
    X = memory.fit_transform(DESK.texts)
    words = BagOfWords(min_df=2)
    assert same(words.fit_transform(bag(DESK.texts, 4)), X)
    assert BagOfWords(min_df=2).fit(bag(DESK.texts, 2)).vocabulary_ == memory.vocabulary_


def test_facts_of_texts_come_with_their_words(inside, monkeypatch):
    texts = ClusterTexts.of(bag(DESK.texts, 3))
    BagOfWords().fit_transform(texts)
    monkeypatch.setattr(ClusterTexts, "_gather_facts", None)  # nothing is read again
    assert (len(texts), texts.n_texts, texts.labels) == (3, len(DESK.texts), None)
    assert np.array_equal(texts.digests, text_digests(DESK.texts))


def test_parts_are_read_where_they_are_asked_for(inside):
    texts = ClusterTexts.of(bag(DESK.texts, 4))
    assert texts.n_texts == len(DESK.texts)
    assert [text for i in range(4) for text in texts.read(i)] == DESK.texts
    assert list(texts.map_parts(_count, [3, 1])) == [(3, 120), (1, 120)]


def _count(texts, number):
    return number, len(texts)


def test_files_are_read_by_workers_with_their_labels(inside, tmp_path):
    frame = pd.DataFrame({"text": DESK.texts, "label": [str(label) for label in DESK.labels]})
    for number, own in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[own].to_parquet(tmp_path / f"{number}.parquet")
    texts = ClusterTexts.of_files(open_parts(tmp_path))
    words = BagOfWords()
    assert same(words.fit_transform(texts), BagOfWords().fit_transform(DESK.texts))
    assert list(texts.labels) == frame["label"].tolist()
    assert np.array_equal(texts.digests, text_digests(DESK.texts))


def test_empty_parts_and_parts_without_words(inside):
    parts = [["corn wheat"], [], ["a b c"], ["", "corn oil"]]
    texts = db.from_delayed([_part(own) for own in parts])
    memory, words = BagOfWords(), BagOfWords()
    assert same(words.fit_transform(texts), memory.fit_transform([text for own in parts for text in own]))
    assert words.vocabulary_ == memory.vocabulary_


def _part(texts):
    from dask import delayed

    return delayed(texts, pure=False)


def test_parts_of_a_narrow_column_stay_as_they_are(inside, tmp_path):
    """Dask's optimiser joins the files of a narrow column; texts and labels would no longer be cut alike."""
    for number in range(4):
        pd.DataFrame({"text": ["corn wheat"] * 3, "other": ["x" * 5000] * 3}).to_parquet(
            tmp_path / f"{number}.parquet"
        )
    table = dd.read_parquet(tmp_path)
    assert len(ClusterTexts.of(table["text"])) == table.npartitions == 4


@pytest.mark.parametrize(
    ("settings", "texts", "message"),
    [
        (
            {"min_df": 2},
            ["corn wheat", "oil", "tea"],
            "min_df=2 and max_df=1.0 leave none of 4 terms in 3 texts",
        ),
        ({"stop_words": "english"}, ["the", "a b"], "All words are stop words"),
        ({"min_df": 2, "max_df": 1}, ["corn wheat", "oil"], "max_df corresponds to < documents than min_df"),
    ],
)
def test_a_vocabulary_that_comes_out_empty_says_why(inside, settings, texts, message):
    with pytest.raises(ValueError, match=message) as caught:
        BagOfWords(**settings).fit(bag(texts, 2))
    assert isinstance(caught.value, EmptyVocabularyError) or "corresponds" in message


def test_what_is_not_a_text_is_named_with_its_part(inside):
    with pytest.raises(NotTextError, match="Part 1: Text number 0 is missing"):
        BagOfWords().fit(bag(["corn", None], 2))
    with pytest.raises(NotTextError, match=r"2 columns: \['text', 'number'\]; choose one"):
        BagOfWords().fit(dd.from_pandas(pd.DataFrame({"text": ["a"], "number": [1]}), npartitions=1))
    with pytest.raises(
        NotTextError, match="Expected a Dask bag or a text column of a Dask dataframe, got Array"
    ):
        BagOfWords().fit(dd.from_pandas(pd.Series(["a"]), npartitions=1).to_dask_array(lengths=True))


def test_a_collection_needs_the_package_that_reads_it(monkeypatch):
    monkeypatch.setattr(text_parts, "_MAKERS", {})
    with pytest.raises(
        NotTextError, match=r"Bag is a collection of Dask, which textmargin\.scale reads: import it first"
    ):
        BagOfWords().fit(bag(DESK.texts, 2))


def test_a_worker_that_is_killed_takes_its_words_along_and_they_are_counted_again():
    settings = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": "2GB", "silence_logs": 50}
    memory = BagOfWords()
    X = memory.fit_transform(DESK.texts)
    with LocalCluster(n_workers=2, **settings) as cluster, Client(cluster, direct_to_workers=True) as client:
        words = BagOfWords()
        drafts = words._fit_parts(ClusterTexts.of(bag(DESK.texts, 6)))
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        from textmargin.representations._bow_parts import term_columns

        blocks = drafts.finish(term_columns(words))
        assert same(blocks, X)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        assert same(blocks, X)


def test_without_a_cluster_the_next_step_is_named():
    with pytest.raises(ClusterError, match=r"start one first: dask\.distributed\.Client\(\)"):
        BagOfWords().fit(bag(DESK.texts, 2))


def test_an_address_where_nothing_listens_is_named_soon(monkeypatch):
    monkeypatch.setattr(_client, "PATIENCE", 1.0)
    with (
        pytest.raises(ClusterError, match=r"No Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"),
        connect("tcp://127.0.0.1:1"),
    ):
        pass


def test_workers_of_another_version_are_named(cluster, monkeypatch):
    """They would end at the first task that they cannot read."""
    monkeypatch.setattr(_client, "__version__", "7.0")
    with (
        pytest.raises(ClusterError, match=r"need textmargin 7\.0, as here; they have: 0\."),
        connect(cluster.scheduler_address),
    ):
        pass
