"""From text to decisions with NumPy and the compiled core alone: what a linear model of words decides by.

text ── LinearScorer ──▶ scores ── DecisionRule ──▶ labels

A `TextClassifier` decides by its `decider_`, which is one record of its file. `load_decider` reads that
alone: without scikit-learn and SciPy, which take longer to import than thousands of texts to decide on.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import core
from ._typing import Floats
from .decisions.rule import DecisionRule
from .errors import ScoreError
from .labels import ClassLabels, Decisions
from .persistence import load_classifier
from .persistence.file import read_file, refusal
from .records import read_record, record
from .representations.linear_scores import LinearScorer, warn_of_unknown_terms
from .representations.texts import as_texts

if TYPE_CHECKING:
    from .classifier import TextClassifier


@record()
@dataclass(frozen=True, eq=False)
class Decider:
    """Texts to decisions.

    Parameters
    ----------
    scorer : LinearScorer
    rule : DecisionRule
    metadata_ : dict
        As `TextClassifier.metadata_`.
    """

    scorer: LinearScorer
    rule: DecisionRule
    metadata_: dict[str, Any]

    @property
    def labels_(self) -> ClassLabels:
        """What the labels are."""
        return self.rule.labels

    @property
    def has_held_out(self) -> bool:
        """Whether there are probabilities, which rest on held-out scores."""
        return self.rule.calibration is not None

    @property
    def can_be_unsure(self) -> bool:
        """Whether there are texts that the model leaves to a person."""
        return self.rule.can_be_unsure

    def scores(self, texts: list[str] | core.Strings) -> Floats:
        """The learner's own scores (n_texts, n_problems)."""
        scores, known = self.scorer(texts if isinstance(texts, core.Strings) else as_texts(texts))
        if np.isnan(scores).any():
            raise ScoreError("The model gave NaN as a score, on which nothing can be decided.")
        if known.size and not known.any():
            warn_of_unknown_terms(known.size, stacklevel=5)
        return scores

    def decide(self, texts: list[str] | core.Strings, *, probabilities: bool = False) -> Decisions:
        """Scores and labels of each text, as `TextClassifier.decide` gives them.

        Parameters
        ----------
        texts : list of n_texts strings, or Strings
        probabilities : bool, default=False
            Whether to give them as well; the model must have held-out scores (`has_held_out`).
        """
        return self.rule.decide(self.scores(texts), probabilities)

    def decision_function(self, texts: list[str]) -> Floats:
        """Scores less thresholds: (n_texts,) for two classes, else (n_texts, n_classes)."""
        return self.labels_.shape(self.rule.shift(self.scores(texts)))

    def predict(self, texts: list[str]) -> NDArray[Any]:
        """The label of each text, in the form that `fit` was given."""
        return self.rule.predict(self.scores(texts))

    def predict_proba(self, texts: list[str]) -> Floats:
        """Probabilities of the classes (n_texts, n_classes)."""
        return self.rule.probabilities(self.scores(texts))


def load_decider(path: str | os.PathLike[str], n_jobs: int | None = None) -> Decider | TextClassifier:
    """What decides on texts as the model in a file does: its `decider_` if it has one, else the fitted
    TextClassifier.

    Models that compare texts by a kernel have none, nor do those that find words by a function of yours.

    Parameters
    ----------
    path : str or path
        A file that `save` or `textmargin train` wrote.
    n_jobs : int, default=None
        Threads; None: as many as the model says.

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
    document, arrays = read_file(path)
    with refusal(path):
        own = document["fields"].get("decider_")
        decider = None if own is None else read_record(own, arrays)
    if not isinstance(decider, Decider):
        return load_classifier(path)
    if n_jobs is not None:
        decider.scorer.n_jobs = n_jobs
    return decider
