"""A `TextClassifier` learns from texts in parts what it learns from the same texts in memory."""

import warnings

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.svm import LinearSVC

from textmargin import (
    BagOfWords,
    KernelSVC,
    KeywordPrior,
    ModelPrior,
    PriorSVC,
    RationaleContrasts,
    RationalePrior,
    SubsequenceKernel,
    TextClassifier,
    ThresholdClassifier,
    Utility,
    load_dataset,
)
from textmargin.errors import LabelError, ScoreError, TextmarginError, TextmarginWarning
from textmargin.learners import _batch

CORPUS = load_dataset("desk").part("train")
TEXTS, NAMES = CORPUS.texts[:150], CORPUS.labels[:150]
TWO = ["yes" if name == max(set(NAMES), key=NAMES.count) else "no" for name in NAMES]
SETS = [(name,) if i % 3 else (name, "also") for i, name in enumerate(NAMES)]
CLASSES = sorted(set(NAMES))
NEW = load_dataset("desk").part("test").texts
KEYWORDS = KeywordPrior({CLASSES[0]: ["invoice", "refund", "payment"], CLASSES[1]: ["password", "login"]})
WEIGHTS = 0.5 + np.arange(150) % 4
UTILITY = Utility(tp=3, fp=-1)


@pytest.fixture
def parts(in_parts, cut):
    """Texts in parts, with no labels of their own that matter."""
    return lambda texts=TEXTS, places=(1, 40, 40, 120), **more: in_parts(cut(texts, places), **more)


@pytest.fixture
def same(parts):
    """Whether parts give the model of memory."""

    def check(labels=NAMES, weight=None, texts=TEXTS, tol=1e-6, **slots):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = TextClassifier(**slots).fit(texts, labels, weight)
            found = TextClassifier(**slots).fit(parts(texts), labels, weight)
        assert_same(whole, found, tol)

    return check


def assert_same(whole, parts, tol=1e-6):
    """All that was learnt, to single precision, which the matrix is in."""
    assert parts.labels_.names.tolist() == whole.labels_.names.tolist()
    assert parts.metadata_["label_counts"] == whole.metadata_["label_counts"]
    assert parts.text_digests_.tolist() == whole.text_digests_.tolist()
    assert parts.knowledge_ == whole.knowledge_
    assert parts.representation_.vocabulary_ == whole.representation_.vocabulary_
    np.testing.assert_allclose(parts.decision_function(NEW), whole.decision_function(NEW), atol=tol)
    np.testing.assert_allclose(parts.thresholds_, whole.thresholds_, atol=10 * tol)
    np.testing.assert_allclose(parts.learner_.trust_, whole.learner_.trust_, atol=tol)
    assert [one.status for one in parts.verdict_] == [one.status for one in whole.verdict_]


@pytest.mark.parametrize("labels", [NAMES, TWO, SETS], ids=["names", "two", "sets"])
@pytest.mark.parametrize("decision", [None, ThresholdClassifier(utility=UTILITY)], ids=["plain", "utility"])
def test_any_kind_of_labels(same, labels, decision):
    same(labels, decision=decision)


@pytest.mark.parametrize(
    "slots",
    [
        {"learner": PriorSVC(class_weight="balanced", margins=(1.0, 0.5))},
        {"learner": PriorSVC(fit_intercept=False, sparse_coef=True)},
        {"representation": BagOfWords("tf-idf", ngram_range=(1, 2), min_df=2)},
        {"knowledge": KEYWORDS, "learner": PriorSVC(trust="auto")},
        {"knowledge": KEYWORDS, "learner": PriorSVC(trust="nonneg")},
        {"knowledge": KEYWORDS, "learner": PriorSVC(trust=0.5)},
        {"knowledge": [KEYWORDS, {"invoice": 1.0, "password": -1.0}]},
        {"decision": ThresholdClassifier(utility=UTILITY, rule="best", scores="loo")},
        {"decision": ThresholdClassifier(utility=UTILITY, rule="parameter-free", scores="cv")},
    ],
    ids=lambda slots: "-".join(map(str, slots.values()))[:60],
)  # fmt: skip
def test_every_slot(same, slots):
    same(weight=WEIGHTS, **slots)


def test_larger_texts_are_learnt_from_in_single_precision_from_the_disk(same, monkeypatch):
    monkeypatch.setattr(_batch, "LEAST_ENTRIES", 100)
    same(tol=5e-3, decision=ThresholdClassifier(utility=UTILITY))


def test_copies_are_one_text(same):
    labels = [*NAMES, *NAMES[:19], "other", "other"]
    same(labels, texts=[*TEXTS, *TEXTS[:20], TEXTS[0]], decision=ThresholdClassifier(utility=UTILITY))


def test_marked_passages_and_an_earlier_model(same):
    spans = [(text, [(0, min(12, len(text)), name)]) for text, name in zip(TEXTS[:60], NAMES, strict=False)]
    same(knowledge=[RationalePrior(spans), RationaleContrasts(spans)])
    same(knowledge=ModelPrior(TextClassifier().fit(TEXTS[:70], NAMES[:70])))


def test_the_files_labels_are_the_labels_unless_others_are_given(in_parts, cut):
    whole = TextClassifier().fit(TEXTS, NAMES)
    assert_same(whole, TextClassifier().fit(in_parts(cut(TEXTS, [50]), NAMES)))
    with pytest.raises(LabelError, match="There are 150 texts but 149 labels"):
        TextClassifier().fit(in_parts(cut(TEXTS, [50])), NAMES[:-1])


def test_texts_without_labels_are_learnt_from_in_memory(parts, in_parts):
    """All if they fit, as in memory; else a sample of them beside all labelled ones; else none."""
    few = [name if i % 3 else None for i, name in enumerate(NAMES)]
    whole = TextClassifier().fit(TEXTS, few, unlabelled=NEW)
    for texts, more in [(parts(), NEW), (parts(), parts(NEW, [5, 90])), (TEXTS, parts(NEW, [50]))]:
        found = TextClassifier().fit(texts, few, unlabelled=more)
        assert_same(whole, found)
        assert found.metadata_["n_unlabelled"] == whole.metadata_["n_unlabelled"]
    room = 12 * sum(map(len, TEXTS)) + 500 * len(TEXTS) + 30_000
    with pytest.warns(
        TextmarginWarning, match=rf"of {len(NEW)} texts without a label are learnt from, drawn"
    ):
        sampled = TextClassifier().fit(parts(memory=room), NAMES, unlabelled=NEW)
    assert 10 < sampled.metadata_["n_unlabelled"] < 60
    with pytest.warns(TextmarginWarning, match="left aside: the labelled ones alone do not fit into memory"):
        alone = TextClassifier().fit(parts(memory=1000), NAMES, unlabelled=NEW)
    assert_same(TextClassifier().fit(TEXTS, NAMES), alone)
    with pytest.raises(LabelError, match="50 of 150 texts have no label, and the others do not fit into"):
        TextClassifier().fit(parts(memory=1000), few)


@pytest.mark.parametrize(
    ("slots", "way"),
    [
        ({"representation": SubsequenceKernel(3)}, "KernelLandmarks"),
        ({"learner": KernelSVC(SubsequenceKernel(3))}, "SubsequenceFeatures"),
        ({"learner": LinearSVC()}, "PriorSVC learns"),
        ({"representation": TfidfVectorizer()}, "BagOfWords"),
        ({"decision": FixedThresholdClassifier(PriorSVC())}, "ThresholdClassifier decides"),
    ],
    ids=str,
)
def test_what_needs_one_memory_names_the_way_that_does_not(parts, slots, way):
    with pytest.raises(TextmarginError, match=way):
        TextClassifier(**slots).fit(parts(), NAMES)


def test_thresholds_around_an_estimator_of_others(parts):
    X = BagOfWords().fit_transform(parts())
    with pytest.raises(ScoreError, match="LinearSVC needs all texts in one memory"):
        ThresholdClassifier(LinearSVC()).fit(X, NAMES)
