"""A `TextClassifier` learns from texts in parts what it learns from the same texts in memory."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
from textmargin.scale.texts import TextLists

CORPUS = load_dataset("desk").part("train")
TEXTS, NAMES = CORPUS.texts[:150], CORPUS.labels[:150]
TWO = ["yes" if name == max(set(NAMES), key=NAMES.count) else "no" for name in NAMES]
SETS = [(name,) if i % 3 else (name, "also") for i, name in enumerate(NAMES)]
SETS[7] = ()
CLASSES = sorted(set(NAMES))
KEYWORDS = KeywordPrior({CLASSES[0]: ["invoice", "refund", "payment"], CLASSES[1]: ["password", "login"]})
WEIGHTS = 0.5 + np.arange(150) % 4


def cut(texts, places):
    """In lists, at these places."""
    edges = [0, *sorted(places), len(texts)]
    return [texts[a:b] for a, b in pairwise(edges)]


def fit_both(places, labels, weight=None, texts=TEXTS, **slots):
    """The model of all texts in memory, and of the same in parts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = TextClassifier(**slots).fit(texts, labels, weight)
        parts = TextClassifier(**slots).fit(TextLists(cut(texts, places), labels), sample_weight=weight)
    return whole, parts


def assert_same(whole, parts, tol=1e-6):
    """All that was learnt, to single precision, which the matrix is in."""
    assert parts.labels_.names.tolist() == whole.labels_.names.tolist()
    assert parts.labels_.positive == whole.labels_.positive
    assert parts.metadata_["label_counts"] == whole.metadata_["label_counts"]
    assert parts.metadata_["n_texts"] == whole.metadata_["n_texts"]
    assert parts.text_digests_.tolist() == whole.text_digests_.tolist()
    assert parts.knowledge_ == whole.knowledge_
    assert parts.representation_.vocabulary_ == whole.representation_.vocabulary_
    new = load_dataset("desk").part("test").texts
    np.testing.assert_allclose(parts.decision_function(new), whole.decision_function(new), atol=tol)
    np.testing.assert_allclose(parts.thresholds_, whole.thresholds_, atol=tol)
    np.testing.assert_allclose(parts.learner_.trust_, whole.learner_.trust_, atol=tol)
    assert [(one.target, one.prior, one.status) for one in parts.verdict_] == [
        (one.target, one.prior, one.status) for one in whole.verdict_
    ]
    if whole.has_held_out:
        assert parts.held_out_.positive.tolist() == whole.held_out_.positive.tolist()
        assert parts.held_out_.method == whole.held_out_.method
        np.testing.assert_allclose(parts.held_out_.scores, whole.held_out_.scores, atol=10 * tol)
        np.testing.assert_allclose(parts.predict_proba(new), whole.predict_proba(new), atol=1e-4)


@given(places=st.lists(st.integers(0, 150), max_size=49), labels=st.sampled_from([NAMES, TWO, SETS]))
@settings(max_examples=12, deadline=None)
def test_any_parts(places, labels):
    """One to fifty, empty ones, with one text, without a text of some topic."""
    assert_same(*fit_both(places, labels))


UTILITY = Utility(tp=3, fp=-1)
LEARNERS = [
    {"learner": PriorSVC(C=0.3)},
    {"learner": PriorSVC(class_weight="balanced")},
    {"learner": PriorSVC(margins=(1.0, 0.5))},
    {"learner": PriorSVC(fit_intercept=False)},
    {"learner": PriorSVC(sparse_coef=True)},
    {"representation": BagOfWords("tf-idf", ngram_range=(1, 2), min_df=2)},
    *(
        {"knowledge": KEYWORDS, "learner": PriorSVC(trust=trust)}
        for trust in ("auto", "free", "nonneg", "ridge", "fixed", 0.5)
    ),
    {"knowledge": {CLASSES[0]: {"invoice": 2.0}, CLASSES[1]: {"password": 1.5}}},
    {"knowledge": [KEYWORDS, {"invoice": 1.0, "password": -1.0}]},
]


@pytest.mark.parametrize("slots", LEARNERS, ids=lambda slots: "-".join(map(str, slots.values()))[:60])
@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["", "weights"])
def test_every_learner(slots, weight):
    assert_same(*fit_both([0, 1, 40, 40, 149], NAMES, weight, **slots))


@pytest.mark.parametrize("labels", [TWO, NAMES, SETS], ids=["two", "names", "sets"])
@pytest.mark.parametrize(
    "settings",
    [
        {"rule": "parameter-free"},
        {"rule": "select"},
        {"rule": "beta-gamma", "beta": 0.2, "gamma": 0.1},
        {"rule": "best"},
        {"rule": "parameter-free", "scores": "cv"},
        {"rule": "best", "scores": "loo"},
        {"rule": "best", "scores": "train"},
        {"rule": "parameter-free", "utility": Utility(tp=2, fp=-1, ask=-0.2)},
        {"rule": "zero", "min_recall": 0.2},
    ],
    ids=str,
)
def test_every_rule(labels, settings):
    whole, parts = fit_both(
        [30, 77], labels, decision=ThresholdClassifier(**{"utility": UTILITY, **settings})
    )
    assert_same(whole, parts)
    assert parts.model_.always_answer_ == whole.model_.always_answer_


def test_copies_are_one_text():
    texts, labels = [*TEXTS, *TEXTS[:20], TEXTS[0]], [*NAMES, *NAMES[:19], "other", "other"]
    whole, parts = fit_both([15, 155], labels, texts=texts, decision=ThresholdClassifier(utility=UTILITY))
    assert_same(whole, parts)
    np.testing.assert_allclose(parts.held_out_.weight, whole.held_out_.weight)


def test_marked_passages():
    for labels in (NAMES, TWO):
        spans = [
            (text, [(0, min(12, len(text)), name)]) for text, name in zip(TEXTS[:60], labels, strict=False)
        ]
        knowledge = [RationalePrior(spans), RationaleContrasts(spans)]
        assert_same(*fit_both([10, 11, 90], labels, knowledge=knowledge))


def test_earlier_model_of_the_same_texts():
    earlier = TextClassifier().fit(TEXTS[:70], NAMES[:70])
    assert_same(*fit_both([33], NAMES, knowledge=ModelPrior(earlier)))


def test_labels_may_be_given():
    parts = TextLists(cut(TEXTS, [50]))
    whole = TextClassifier().fit(TEXTS, NAMES)
    assert_same(whole, TextClassifier().fit(parts, NAMES))
    with pytest.raises(LabelError, match="texts has no labels; give those of its 150 texts as y"):
        TextClassifier().fit(TextLists(cut(TEXTS, [50])))
    with pytest.raises(LabelError, match="There are 150 texts but 149 labels"):
        TextClassifier().fit(TextLists(cut(TEXTS, [50])), NAMES[:-1])


def test_texts_without_labels_are_learnt_from_in_memory():
    """Where all fit, as in memory; else a sample of them beside all labelled ones; else these alone, in
    parts.
    """
    new = load_dataset("desk").part("test").texts
    few = [name if i % 3 else None for i, name in enumerate(NAMES)]
    whole = TextClassifier().fit(TEXTS, few, unlabelled=new)
    for parts, labels, more in [
        (TextLists(cut(TEXTS, [40])), few, new),
        (TextLists(cut(TEXTS, [40])), few, TextLists(cut(new, [5, 90]))),
        (TEXTS, few, TextLists(cut(new, [50]))),
    ]:
        found = TextClassifier().fit(parts, labels, unlabelled=more)
        assert_same(whole, found)
        assert found.metadata_["n_unlabelled"] == whole.metadata_["n_unlabelled"]
    parts = TextLists(cut(TEXTS, [40]), NAMES)
    parts.memory = 12 * sum(map(len, TEXTS)) + 500 * len(TEXTS) + 30_000
    with pytest.warns(
        TextmarginWarning,
        match=rf"of {len(new)} texts without a label are learnt from, drawn at random: more do",
    ):
        sampled = TextClassifier().fit(parts, unlabelled=new)
    assert 10 < sampled.metadata_["n_unlabelled"] < 60
    parts.memory = 1000
    with pytest.warns(TextmarginWarning, match="left aside: the labelled ones alone do not fit into memory"):
        assert_same(TextClassifier().fit(TEXTS, NAMES), TextClassifier().fit(parts, unlabelled=new))
    with pytest.raises(
        LabelError, match="50 of 150 texts have no label, and the others do not fit into memory"
    ):
        TextClassifier().fit(parts, few)


def test_no_text_without_a_label_fits_beside_those_that_have_one():
    rows = [i for i in range(len(TEXTS)) if i % 3]
    few, weight = [name if i % 3 else None for i, name in enumerate(NAMES)], 1.0 + np.arange(len(TEXTS)) % 2
    parts = TextLists(cut(TEXTS, [40]))
    parts.memory = sum(12 * len(TEXTS[i]) + 500 for i in rows)
    alone = TextClassifier().fit([TEXTS[i] for i in rows], [NAMES[i] for i in rows], weight[rows])
    with pytest.warns(TextmarginWarning, match="0 of 50 texts without a label are learnt from"):
        assert_same(alone, TextClassifier().fit(parts, few, weight))


@pytest.mark.parametrize(
    ("slots", "way"),
    [
        ({"representation": SubsequenceKernel(3)}, "KernelLandmarks"),
        ({"learner": KernelSVC(SubsequenceKernel(3))}, "SubsequenceFeatures"),
        ({"learner": KernelSVC()}, "PriorSVC learns"),
        ({"learner": LinearSVC()}, "PriorSVC learns"),
        ({"representation": TfidfVectorizer()}, "BagOfWords"),
        ({"decision": FixedThresholdClassifier(PriorSVC())}, "ThresholdClassifier decides"),
    ],
    ids=str,
)
def test_what_needs_one_memory_names_the_way_that_does_not(slots, way):
    with pytest.raises(TextmarginError, match=way):
        TextClassifier(**slots).fit(TextLists([TEXTS], NAMES))


def test_thresholds_around_an_estimator_of_others():
    X = BagOfWords().fit_transform(TextLists([TEXTS]))
    with pytest.raises(
        ScoreError, match="LinearSVC needs all texts in one memory; of a matrix that lies elsewhere PriorSVC"
    ):
        ThresholdClassifier(LinearSVC()).fit(X, NAMES)
