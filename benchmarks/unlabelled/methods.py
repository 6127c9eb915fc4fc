"""Every method by its name: from a task and the rows that are labelled to answers on the test texts.

With no label at all, the last three baselines start from the labels that counting keywords gives to texts
with a clear winner.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from textmargin import TextClassifier
from textmargin._typing import Floats, Indices

from .keyword_counts import clear_winners, keyword_counts
from .naive_bayes import fit_labelled_features, one_against_rest
from .scikit_learn import label_spreading, self_training
from .tasks import Answers, Given, Task
from .transductive import transductive_svm

NOTES = {
    "plain": "TextClassifier() on the labelled texts",
    "auto": "TextClassifier(knowledge=keywords) on the labelled texts",
    "default": "TextClassifier(knowledge=keywords).fit(texts, labels, unlabelled=the others)",
    "counts": "how often a class's keywords occur",
    "naive Bayes": "with labelled features and one EM step (DUALIST)",
    "transductive": "linear SVM with class shares, multi-switch*",
    "self-training": "scikit-learn's, logistic regression*",
    "label spreading": "scikit-learn's, nearest neighbours*",
    "all labels": "TextClassifier() on the whole pool with its labels",
}
NEEDS_LABELS = ("plain", "auto")


def fit_plain(given: Given) -> TextClassifier:
    return TextClassifier().fit(given.texts, given.labels)


def fit_auto(given: Given) -> TextClassifier:
    return TextClassifier(knowledge=given.keywords).fit(given.texts, given.labels)


def fit_default(given: Given) -> TextClassifier:
    return TextClassifier(knowledge=given.keywords, **given.settings).fit(
        given.texts, given.labels, unlabelled=given.unlabelled
    )


FITS: dict[str, Callable[[Given], TextClassifier]] = {
    "plain": fit_plain,
    "auto": fit_auto,
    "default": fit_default,
}


def count_keywords(task: Task, rows: Indices) -> Floats:
    return keyword_counts(task.features.test_counts, task.features.keywords)


def bayes(task: Task, rows: Indices) -> Floats:
    own = task.features
    given = own.counts[rows], task.Y[rows], own.counts[own.others(rows)], own.keywords
    if task.multilabel:
        return one_against_rest(*given, own.test_counts)
    return fit_labelled_features(*given).log_odds(own.test_counts)


def transduction(task: Task, rows: Indices) -> Floats:
    """Class shares as a user would know them: all alike, or, of topics, those of the labelled texts, however
    these were drawn.
    """
    rows, Y = labels_or_winners(task, rows)
    own, n_classes = task.features, len(task.classes)
    shares = Y.mean(axis=0) if task.multilabel else np.full(n_classes, 1 / n_classes)
    return transductive_svm(own.X[rows], Y, own.X[own.others(rows)], shares).model.decision_function(
        own.X_test
    )


def self_train(task: Task, rows: Indices) -> Floats:
    rows, Y = labels_or_winners(task, rows)
    own = task.features
    return self_training(own.X[rows], Y, own.X[own.others(rows)], own.X_test, task.multilabel)


def spread(task: Task, rows: Indices) -> Floats:
    return label_spreading(task.features.neighbours, *labels_or_winners(task, rows), task.multilabel)


def labels_or_winners(task: Task, rows: Indices) -> tuple[Indices, Indices]:
    """Which rows have labels, and a 1 for each label; without any, those that keywords give."""
    if rows.size:
        return rows, task.Y[rows]
    return clear_winners(keyword_counts(task.features.counts, task.features.keywords), task.multilabel)


BASELINES: dict[str, Callable[[Task, Indices], Floats]] = {
    "counts": count_keywords,
    "naive Bayes": bayes,
    "transductive": transduction,
    "self-training": self_train,
    "label spreading": spread,
}


def answer(name: str, task: Task, rows: Indices) -> Answers:
    """Of one method."""
    if name in BASELINES:
        return task.answers_by(BASELINES[name](task, rows))
    if name == "all labels":
        return task.answers_of(fit_plain(task.given(np.arange(len(task.texts)))))
    return task.answers_of(FITS[name](task.given(rows)))
