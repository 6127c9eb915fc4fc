"""Estimators on texts that workers have learn what they learn in memory."""

import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client

from textmargin import (
    BagOfWords,
    KernelLandmarks,
    KeywordPrior,
    PriorSVC,
    SpectrumKernel,
    TextClassifier,
    ThresholdClassifier,
    Utility,
    load,
    load_dataset,
)
from textmargin.learners import _batch

DESK = load_dataset("desk").part("train")
TEXTS, LABELS = DESK.texts[:150], DESK.labels[:150]
NEW = load_dataset("desk").part("test").texts
CLASSES = sorted(set(LABELS))
KEYWORDS = KeywordPrior({CLASSES[0]: ["invoice", "refund", "payment"], CLASSES[1]: ["password", "login"]})


@pytest.fixture
def inside(threads):
    with Client(threads) as connected:
        yield connected


@pytest.fixture(params=["single", "double"])
def precision(request, monkeypatch):
    """Small matrices are taken to memory and to double precision; larger ones are not."""
    if request.param == "single":
        monkeypatch.setattr(_batch, "LEAST_ENTRIES", 100)
    return 5e-3 if request.param == "single" else 1e-5


SLOTS = {
    "plain": {},
    "utility": {"decision": ThresholdClassifier(utility=Utility(tp=5, fp=-1), scores="cv")},
    "knowledge": {"knowledge": KEYWORDS},
    "strings": {
        "representation": KernelLandmarks(SpectrumKernel(3), 40, random_state=0),
        "learner": PriorSVC(C=10.0),
    },
}


@pytest.mark.parametrize("name", SLOTS)
def test_a_classifier_of_a_bag_is_that_of_memory(inside, precision, name):
    memory = TextClassifier(**SLOTS[name]).fit(TEXTS, LABELS)
    model = TextClassifier(**SLOTS[name]).fit(
        db.from_sequence(TEXTS, npartitions=4), db.from_sequence(LABELS, npartitions=2)
    )
    np.testing.assert_allclose(model.decision_function(NEW), memory.decision_function(NEW), atol=precision)
    np.testing.assert_allclose(model.thresholds_, memory.thresholds_, atol=precision)
    assert model.metadata_["label_counts"] == memory.metadata_["label_counts"]
    assert model.text_digests_.tolist() == memory.text_digests_.tolist()


def test_a_model_of_a_cluster_is_saved_and_needs_none_to_be_used(client, tmp_path):
    frame = dd.from_pandas(pd.DataFrame({"text": TEXTS, "label": LABELS}), npartitions=3)
    TextClassifier().fit(frame["text"], frame["label"]).save(tmp_path / "model.tmm")
    model, memory = load(tmp_path / "model.tmm"), TextClassifier().fit(TEXTS, LABELS)
    assert model.predict(NEW).tolist() == memory.predict(NEW).tolist()


def test_weights_in_a_collection(inside):
    weight = 0.5 + np.arange(len(TEXTS)) % 4
    X = BagOfWords().fit_transform(db.from_sequence(TEXTS, npartitions=3))
    as_series = dd.from_pandas(pd.Series(weight), npartitions=2)
    for learner in (PriorSVC(), ThresholdClassifier(PriorSVC(), scores="train")):
        here, there = (learner.fit(X, LABELS, own).decision_function(X) for own in (weight, as_series))
        assert np.array_equal(here, there)


def test_folds_by_several_threads(inside, monkeypatch):
    """Workers remember the active rows of one fit: another one at the same time would have its steps taken on
    these.
    """
    monkeypatch.setattr(_batch, "LEAST_ENTRIES", 100)
    X = BagOfWords().fit_transform(db.from_sequence(TEXTS, npartitions=3))
    one, four = (ThresholdClassifier(PriorSVC(), scores="cv", n_jobs=n).fit(X, LABELS) for n in (1, 4))
    assert np.array_equal(one.held_out_.scores, four.held_out_.scores, equal_nan=True)
