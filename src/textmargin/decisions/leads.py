"""How far a decision is from being lost: by how much a class's threshold could rise before a text is no
longer given the class.

    two classes, or any number a text   s_k − θ_k
    one label of several                s_k − θ_k − max(0, max_{j≠k} s_j − θ_j); without the 0 where every
                                        text is answered

From 0 on the class is given. Budgets take those of the highest leads.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._ties import ROUNDING
from .._typing import Bools, Floats
from ..labels import ClassLabels, Decisions
from .threshold import ThresholdClassifier


def class_leads(decisions: Decisions, labels: ClassLabels, always_answer: bool) -> Floats:
    """Leads (n_texts, n_problems): of two classes one column, that of the positive one.

    Examples
    --------
    >>> import numpy as np
    >>> from textmargin.decisions.leads import class_leads
    >>> from textmargin.labels import ClassLabels, Decisions
    >>> labels = ClassLabels.of(["a", "b", "c"], multilabel=False)
    >>> scores = np.array([[2.0, 0.5, -1.0], [-0.3, -0.1, -0.2]])
    >>> decisions = Decisions(["a", "b", "c"], scores, scores > 0.5, scores == -0.1)
    >>> class_leads(decisions, labels, always_answer=False)
    array([[ 1.5, -1.5, -3. ],
           [-0.3, -0.1, -0.2]])
    """
    columns = problem_columns(labels)
    scores, accepted = decisions.scores[:, columns], decisions.accepted[:, columns]
    if labels.kind == "multiclass":
        ordered = np.sort(scores, axis=1)
        best = scores.argmax(axis=1)[:, None] == np.arange(scores.shape[1])
        other = np.where(best, ordered[:, [-2]], ordered[:, [-1]])
        scores = scores - (other if always_answer else np.maximum(other, 0.0))
    return np.where(accepted, np.maximum(scores, 0.0), np.minimum(scores, -ROUNDING))


def held_out_leads(classifier: ThresholdClassifier, labels: ClassLabels) -> Floats:
    """Those of the training texts, by their held-out scores."""
    decisions = classifier.decide_scores(labels.sign * classifier.held_out_.complete())
    return class_leads(decisions, labels, always_answer=not classifier.can_be_unsure)


def problem_columns(labels: ClassLabels) -> list[int]:
    """The columns of decisions that have a threshold: of two classes that of the positive one."""
    return [labels.positive] if labels.kind == "binary" else list(range(labels.names.size))


def withhold(decisions: Decisions, labels: ClassLabels, within: Bools) -> Decisions:
    """Decisions without those that a budget has no room for: they become guesses, for a person or another
    day.

    Parameters
    ----------
    decisions : Decisions
    labels : ClassLabels
    within : array (n_texts, n_problems) of bool, which texts may be given each class
    """
    columns = problem_columns(labels)
    accepted, unsure = decisions.accepted.copy(), decisions.unsure.copy()
    over = accepted[:, columns] & ~within
    accepted[:, columns] &= ~over
    unsure[:, columns] |= over
    return replace(decisions, accepted=accepted, unsure=unsure)
