"""The road from text to label on real news, 9,603 texts and 90 topics."""

from dataclasses import dataclass

import numpy as np
import pytest
from samples import needs_corpora
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

from textmargin import BagOfWords, PriorSVC, TextClassifier, load_dataset
from textmargin.datasets.reuters import modapte_topics

pytestmark = needs_corpora


@dataclass(frozen=True)
class Part:
    texts: list[str]
    Y: np.ndarray  # (n_texts, 90)
    topics: list[str]


@pytest.fixture(scope="module")
def parts():
    corpus = load_dataset("reuters21578")
    topics = modapte_topics(corpus)
    return {
        split: Part(part.texts, *part.indicator(topics))
        for split in ("train", "test")
        for part in [corpus.part(split)]
    }


@pytest.fixture(scope="module")
def train(parts):
    return parts["train"]


@pytest.fixture(scope="module")
def matrix(train):
    return BagOfWords("log-tf-idf", analyzer="letters").fit_transform(train.texts)


def objective(X, signs, w):
    missed = np.maximum(0, 1 - signs * (X @ w))
    return 0.5 * w @ w + missed @ missed


def test_the_papers_analyser_finds_the_known_matrix(matrix):
    assert matrix.shape == (9603, 27064)
    assert matrix.nnz == 477_168


@pytest.mark.parametrize("topic", ["earn", "wheat", "castor-oil"])
def test_same_optimum_as_liblinear(matrix, train, topic):
    y = train.Y[:, train.topics.index(topic)]
    ours = PriorSVC(fit_intercept=False).fit(matrix, y).coef_[0]
    theirs = LinearSVC(fit_intercept=False, dual=False, tol=1e-8).fit(matrix, y).coef_[0]
    assert objective(matrix, 2 * y - 1, ours) == pytest.approx(objective(matrix, 2 * y - 1, theirs), rel=1e-6)


def test_ninety_topics_from_text_to_label(train, parts):
    test = parts["test"]
    model = TextClassifier(BagOfWords("tf-idf", analyzer="letters"), learner=PriorSVC(n_jobs=2)).fit(
        train.texts, train.Y
    )
    predicted = model.predict(test.texts)
    assert f1_score(test.Y, predicted, average="micro") > 0.84
    # what a plain linear SVM at threshold 0 is known to reach here
    assert f1_score(test.Y, predicted, average="macro", zero_division=0) == pytest.approx(0.452, abs=0.02)


def test_leave_one_out_scores_are_those_of_retraining(train, matrix):
    """Thirty texts inside the margin of a topic, each left out for real."""
    y = train.Y[:, train.topics.index("trade")]
    model = PriorSVC().fit(matrix, y)
    estimated, scores = model.loo_decision_function(), model.decision_function(matrix)
    inside = np.random.default_rng(0).choice(np.flatnonzero((2 * y - 1) * scores < 1), 30, replace=False)
    truth = []
    for i in inside:
        rest = np.arange(len(y)) != i
        truth.append(PriorSVC().fit(matrix[rest], y[rest]).decision_function(matrix[i])[0])
    assert np.corrcoef(estimated[inside], truth)[0, 1] > 0.999
    assert np.abs(estimated[inside] - truth).mean() < 0.1 * np.abs(scores[inside] - truth).mean()
