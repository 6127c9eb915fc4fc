"""From text to decisions with NumPy and the compiled core alone: a linear model of words, as its file has it.

text ── LinearScorer ──▶ scores ── DecisionRule ──▶ Decisions

A `TextClassifier` decides the same, but needs scikit-learn and SciPy, which take longer to import than
thousands of texts to decide on.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import core
from ._typing import is_floats
from .decisions.calibration import Calibration
from .decisions.rule import DecisionRule
from .errors import ScoreError
from .labels import ClassLabels, Decisions
from .persistence import load_classifier, load_stand_in
from .representations.linear_scores import LinearScorer, warn_of_unknown_terms
from .representations.saved_terms import linear_scorer
from .representations.texts import as_texts

if TYPE_CHECKING:
    from .classifier import TextClassifier

_LINEAR = ("PriorSVC", "Rocchio")  # whose scores are ⟨w, x⟩ + b, and that decide by them


def load_decider(
    path: str | os.PathLike[str], n_jobs: int | None = None, *, key: bytes | None = None
) -> Decider | TextClassifier:
    """What decides on texts as the model in a file does: a `Decider` where it can be, else the fitted
    TextClassifier.

    A model of another kind (a kernel, a vectoriser or a learner of scikit-learn, functions of one's own) is
    loaded as usual; so is one that is not as it should be, so that the same is said of it.

    Parameters
    ----------
    path : str or path
        A file that `save` or `textmargin train` wrote.
    n_jobs : int, default=None
        Threads; None: as many as the model says.
    key : bytes, default=None
        A file that is not signed with it is refused.

    Examples
    --------
    >>> import tempfile
    >>> from textmargin import TextClassifier
    >>> from textmargin.decider import load_decider
    >>> texts = ["wheat and corn harvest", "corn exports fell", "bank raises rates", "rates and the dollar"]
    >>> model = TextClassifier().fit(texts, ["grain", "grain", "money", "money"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/topics.tmm")
    ...     load_decider(f"{folder}/topics.tmm").decide(["corn prices", "dollar falls"]).labels
    [('grain',), ('money',)]
    """
    model = load_stand_in(path, key=key)
    decider = None if model is None else _decider_of(model)
    if decider is None:
        return load_classifier(path, key=key)
    if n_jobs is not None:
        decider.scorer.n_jobs = n_jobs
    return decider


class Decider:
    """Texts to decisions.

    Parameters
    ----------
    scorer : LinearScorer
    rule : DecisionRule
    labels : ClassLabels
    metadata : dict
        As `TextClassifier.metadata_`.
    """

    def __init__(
        self, scorer: LinearScorer, rule: DecisionRule, labels: ClassLabels, metadata: dict[str, Any]
    ) -> None:
        self.scorer = scorer
        self.rule = rule
        self.labels_ = labels
        self.metadata_ = metadata

    @property
    def has_held_out(self) -> bool:
        """Whether there are probabilities, which rest on held-out scores."""
        return self.rule.calibration is not None

    @property
    def can_be_unsure(self) -> bool:
        """Whether there are texts that the model leaves to a person."""
        return self.rule.can_be_unsure

    def decide(self, texts: list[str] | core.Strings, *, probabilities: bool = False) -> Decisions:
        """Scores and labels of each text, as `TextClassifier.decide` gives them.

        Parameters
        ----------
        texts : list of n_texts strings, or Strings
        probabilities : bool, default=False
            Whether to give them as well; the model must have held-out scores (`has_held_out`).
        """
        scores, known = self.scorer(texts if isinstance(texts, core.Strings) else as_texts(texts))
        if np.isnan(scores).any():
            raise ScoreError("The model gave NaN as a score, on which nothing can be decided.")
        if known.size and not known.any():
            warn_of_unknown_terms(known.size, stacklevel=3)
        return self.rule.decide(scores, probabilities)


def _decider_of(model: Any) -> Decider | None:
    """From stand-ins; None unless this is a linear model of words whose arrays are all as they should be."""
    if type(model).__name__ != "TextClassifier" or not hasattr(model, "labels_"):
        return None
    labels: ClassLabels = model.labels_
    learner = getattr(model.model_, "estimator_", model.model_)
    rule = _rule_of(model.model_, labels)
    scorer = _scorer_of(model.representation_, learner, labels.n_problems)
    return None if rule is None or scorer is None else Decider(scorer, rule, labels, model.metadata_)


def _scorer_of(words: Any, learner: Any, n_problems: int) -> LinearScorer | None:
    if type(words).__name__ != "BagOfWords" or type(learner).__name__ not in _LINEAR:
        return None
    return linear_scorer(
        vars(words), getattr(learner, "coef_", None), getattr(learner, "intercept_", None), n_problems
    )


def _rule_of(decision: Any, labels: ClassLabels) -> DecisionRule | None:
    if type(decision).__name__ in _LINEAR:
        return DecisionRule(ClassLabels.of(labels.names, labels.multilabel))
    if type(decision).__name__ != "ThresholdClassifier":
        return None
    thresholds, ask_thresholds = (
        getattr(decision, "thresholds_", None),
        getattr(decision, "ask_thresholds_", None),
    )
    always_answer, calibration = (
        getattr(decision, "always_answer_", None),
        getattr(decision, "_calibration", None),
    )
    positive = tuple(labels.threshold_names) if labels.kind == "binary" else (None,)
    fits = (
        is_floats(thresholds, labels.n_problems)
        and is_floats(ask_thresholds, labels.n_problems)
        and _is_among(always_answer, (True, False))
        and _is_among(getattr(decision, "pos_label_", labels), positive)
        and isinstance(calibration, Calibration)
        and _is_whole(calibration, labels)
    )
    return (
        DecisionRule(labels, thresholds, ask_thresholds, bool(always_answer), calibration) if fits else None
    )


def _is_among(value: Any, values: tuple[Any, ...]) -> bool:
    """Whether a value is one of these, and of its type: 1 is not true, and an array no word."""
    return any(type(value) is type(one) and value == one for one in values)


def _is_whole(calibration: Calibration, labels: ClassLabels) -> bool:
    """Whether the arrays fit each other and the labels: they are looked up by one another."""
    n, ends, n_knots = labels.n_problems, calibration.knot_ends, calibration.knot_scores.size
    return (
        calibration.kind == labels.kind
        and is_floats(calibration.slope, n)
        and is_floats(calibration.intercept, n)
        and is_floats(calibration.knot_scores, n_knots)
        and is_floats(calibration.knot_log_odds, n_knots)
        and ends.dtype == np.intp
        and ends.shape == (n + 1,)
        and ends[0] == 0
        and ends[-1] == n_knots
        and bool((np.diff(ends) >= 0).all())
    )
