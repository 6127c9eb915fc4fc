"""Texts of Dask collections are learnt from as in memory, whether the matrix is put on disk or stays with the
workers.
"""

import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster

from textmargin import (
    BagOfWords,
    KernelLandmarks,
    KeywordPrior,
    PriorSVC,
    RationaleContrasts,
    SpectrumKernel,
    SubsequenceFeatures,
    TextClassifier,
    ThresholdClassifier,
    Utility,
    load_dataset,
)
from textmargin.errors import ClusterError, EmptyVocabularyError, NotTextError
from textmargin.learners import _batch
from textmargin.representations.digests import text_digests
from textmargin.scale import Blocks, DaskTexts, WorkerBlocks, connect

DESK = load_dataset("desk").part("train")
TEXTS, LABELS = DESK.texts[:150], DESK.labels[:150]
NEW = load_dataset("desk").part("test").texts
CLASSES = sorted(set(LABELS))
KEYWORDS = KeywordPrior({CLASSES[0]: ["invoice", "payment"], CLASSES[1]: ["password", "login"]})


def bag(texts=TEXTS, n=4):
    return db.from_sequence(texts, npartitions=n)


@pytest.mark.parametrize(
    "settings", [{}, {"min_df": 2, "max_features": 50}, {"ngram_range": (1, 2)}], ids=str
)
@pytest.mark.parametrize("stay", [False, True])
def test_vocabulary_and_rows_are_those_of_memory(client, settings, stay):
    memory, words = BagOfWords(**settings), BagOfWords(**settings)
    X = memory.fit_transform(TEXTS)
    frame = dd.from_pandas(pd.DataFrame({"text": TEXTS}), npartitions=3)
    for collection in (bag(), frame["text"], frame):
        texts = DaskTexts(collection, stay=stay)
        blocks = words.fit_transform(texts)
        assert isinstance(blocks, WorkerBlocks if stay else Blocks)
        assert words.vocabulary_ == memory.vocabulary_
        np.testing.assert_allclose(blocks[:].toarray(), X.toarray(), atol=1e-6)
        assert np.array_equal(texts.digests, text_digests(TEXTS))


PASSAGES = [(text, [(0, 9, own)]) for text, own in zip(TEXTS[:60], LABELS, strict=False)]
SLOTS = {
    "plain": {},
    "utility": {"decision": ThresholdClassifier(utility=Utility(tp=5, fp=-1), scores="cv")},
    "knowledge": {"knowledge": KEYWORDS},
    "passages": {"knowledge": RationaleContrasts(PASSAGES)},
    "strings": {
        "representation": KernelLandmarks(SpectrumKernel(3), 40, random_state=0),
        "learner": PriorSVC(C=10.0),
    },
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stay", [False, True])
@pytest.mark.parametrize("name", SLOTS)
def test_a_classifier_is_that_of_memory(client, name, stay, monkeypatch):
    monkeypatch.setattr(_batch, "LEAST_ENTRIES", 100)
    memory = TextClassifier(**SLOTS[name]).fit(TEXTS, LABELS)
    model = TextClassifier(**SLOTS[name]).fit(DaskTexts(bag(), stay=stay), bag(LABELS, 2))
    np.testing.assert_allclose(model.decision_function(NEW), memory.decision_function(NEW), atol=5e-3)
    np.testing.assert_allclose(model.thresholds_, memory.thresholds_, atol=5e-3)
    assert model.metadata_["label_counts"] == memory.metadata_["label_counts"]


def test_a_collection_is_taken_as_it_is_with_weights_in_another(client):
    weight = 0.5 + np.arange(len(TEXTS)) % 4
    memory = TextClassifier().fit(TEXTS, LABELS, weight)
    model = TextClassifier().fit(bag(), LABELS, dd.from_pandas(pd.Series(weight), npartitions=2))
    np.testing.assert_allclose(model.decision_function(NEW), memory.decision_function(NEW), atol=1e-5)


def test_files_may_be_read_by_workers(client, in_parts, cut):
    parts = in_parts(cut(TEXTS, [40, 90]), LABELS, client=client)
    model, memory = TextClassifier().fit(parts), TextClassifier().fit(TEXTS, LABELS)
    assert model.representation_.vocabulary_ == memory.representation_.vocabulary_
    np.testing.assert_allclose(model.decision_function(NEW), memory.decision_function(NEW), atol=1e-5)


@pytest.mark.parametrize("kind", ["files", "dask"])
@pytest.mark.parametrize(
    "model",
    [
        SubsequenceFeatures(3, n_features=60),
        SubsequenceFeatures(2, n_features=60, tokens="word"),
        KernelLandmarks(n_landmarks=30, random_state=0),
    ],
    ids=str,
)
def test_a_map_of_a_string_kernel_is_that_of_memory(client, in_parts, cut, model, kind):
    texts = in_parts(cut(TEXTS, [0, 3, 90])) if kind == "files" else DaskTexts(bag(), stay=True)
    expected = model.fit_transform(TEXTS)
    found = model.fit(texts).transform(texts)[:].toarray()
    np.testing.assert_allclose(found, getattr(expected, "toarray", lambda: expected)(), atol=1e-6)


def test_bad_input_is_named(client):
    with pytest.raises(NotTextError, match=r"Part 1.*missing"):
        BagOfWords().fit(bag(["a", None], 2))
    with pytest.raises(EmptyVocabularyError):
        BagOfWords().fit(bag(["", ""], 2))
    with pytest.raises(NotTextError, match="got DataFrame; make one"):
        DaskTexts(dd.from_pandas(pd.DataFrame({"a": ["x"], "b": ["y"]}), npartitions=1))
    with pytest.raises(NotTextError, match="Expected a Dask bag or a text column"):
        DaskTexts(dd.from_pandas(pd.DataFrame({"a": ["x"]}), npartitions=1)["a"].sum())


def test_without_a_cluster_it_is_said_how_to_start_one(monkeypatch):
    with pytest.raises(ClusterError, match="No Dask cluster is in use; start one first"):
        DaskTexts(bag())
    monkeypatch.setattr("textmargin.scale.dask._FIRST_WORKER", 0.1)
    with LocalCluster(n_workers=0, processes=False, dashboard_address=None) as empty:
        connection = connect(empty.scheduler_address)
        with pytest.raises(ClusterError, match="has no workers; start some"):
            connection.__enter__()


def test_the_rows_of_a_worker_that_is_lost_are_made_anew(monkeypatch):
    """Its share is computed again on another worker."""
    monkeypatch.setattr(_batch, "LEAST_ENTRIES", 100)
    memory = PriorSVC(tol=1e-7).fit(BagOfWords().fit_transform(TEXTS), LABELS)
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(**settings, silence_logs=50) as mortal, mortal.get_client() as client:
        X = BagOfWords().fit_transform(DaskTexts(bag(), stay=True))
        client.retire_workers([next(iter(client.nthreads()))], close_workers=True)
        model = PriorSVC(tol=1e-7).fit(X, LABELS)
    np.testing.assert_allclose(model.coef_, memory.coef_, atol=1e-3)
