"""A model that knows its labels by name, as the command line trains, keeps and uses it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .classifier import TextClassifier
from .datasets.corpus import Corpus
from .decisions.threshold import ThresholdClassifier
from .errors import LabelError, ModelFileError, ScoreError
from .labelling import Labelling
from .learners.explanation import KernelExplanation
from .persistence import load, save
from .tables.formats import Blank, InvalidLine, Read, Row
from .tables.reader import TextBatch, stream_texts


class Decision(NamedTuple):
    """What a model says of one text: the label, or labels, and the score of each class, in their order, 0 being the decision."""

    number: int
    labels: tuple[str, ...]
    scores: list[float]


@dataclass(frozen=True)
class Reason:
    """A word, or a subsequence shared with a training text, and by how much it moved a score; of that, what was known before."""

    what: str
    share: float
    known: float = 0.0


@dataclass(frozen=True)
class Reasons:
    """Why a text got its score for a label, the largest reasons first; they and the rest add up to the score."""

    labels: tuple[str, ...]
    label: str
    score: float
    reasons: list[Reason]
    rest: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


@dataclass
class Trained:
    """A fitted classifier of texts and the names of its classes.

    Parameters
    ----------
    model : TextClassifier, fitted
    classes : list of str
    multilabel : bool
        Whether a text may have any number of labels.
    about : dict
        What it was trained on and how, for those who get the file.
    worth : measure, or dict label → measure, default=None
        What decisions are worth, as was said in training; with two labels one measure speaks of the second.
    text_column : str, default=None
        The column that the texts of training stood in; new ones are looked for under the same name first.
    """

    model: TextClassifier
    classes: list[str]
    multilabel: bool
    about: dict[str, Any] = field(default_factory=dict)
    worth: Any = None
    text_column: str | None = None

    @classmethod
    def on(cls, model: TextClassifier, corpus: Corpus, labels: Labelling, about: dict[str, Any]) -> Self:
        """Fit a classifier to a corpus."""
        return cls(model.fit(corpus.texts, labels.targets(corpus)), labels.names, labels.multilabel, about)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Keep it in a file."""
        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote."""
        found = load(path)
        if not isinstance(found, cls):
            raise ModelFileError(f"{path} holds a {type(found).__name__}, not a model that `textmargin train` wrote.")
        return found

    def scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(n_texts, n_classes), 0 being the decision; of two classes that of the second, and its negative."""
        scores = self.model.decision_function(list(texts))
        if scores.ndim == 1:
            scores = scores[:, None] if self.multilabel else np.column_stack([-scores, scores])
        return np.asarray(scores)

    def labels(self, scores: NDArray[np.float64]) -> list[tuple[str, ...]]:
        """What is accepted: with several labels a text all that reach 0, else the class with the highest score."""
        if self.multilabel:
            return [tuple(self.classes[k] for k in np.flatnonzero(row >= 0)) for row in scores]
        best = scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1) if len(self.classes) == 2 else scores.argmax(axis=1)
        return [(self.classes[k],) for k in best]

    def thresholds(self) -> list[float]:
        """Where each class is cut on the learner's own scores: 0 unless a decision moved it."""
        moved = getattr(self.model.model_, "thresholds_", None)
        if moved is None:
            return [0.0] * len(self.classes)
        return [-float(moved[0]), float(moved[0])] if len(moved) < len(self.classes) else [float(theta) for theta in moved]

    def moved(self, utility: Any = None, **floors: float | None) -> Trained:
        """The same model with its thresholds set anew: for another utility, or mapping label → utility, or other floors."""
        if not isinstance(self.model.model_, ThresholdClassifier):
            raise ScoreError(
                "This model was trained without costs, so it keeps no scores to set thresholds on; train it with --hit and "
                "--false-alarm, or any other costs."
            )
        new = {name: value for name, value in floors.items() if value is not None}
        if utility is not None:
            new["utility"] = Labelling(self.classes, self.multilabel).measures(utility)
        model = copy(self.model)
        model.model_ = self.model.model_.moved(**new)
        model.decision = clone(self.model.decision).set_params(**new)
        return replace(self, model=model, worth=self.worth if utility is None else utility)

    def explain(self, text: str, label: str | None = None, n: int = 10) -> Reasons:
        """What in a text moved its score for a label, by default for the one it gets."""
        if label is not None and label not in self.classes:
            raise LabelError(f"There is no label {label!r}; there are {', '.join(self.classes[:10])}.")
        scores = self.scores([text])
        labels = self.labels(scores)[0]
        label = label or (labels[0] if labels else self.classes[int(scores[0].argmax())])
        k = self.classes.index(label)
        found = self.model.explain(text, self._target(k))
        score = float(scores[0, k])
        if isinstance(found, KernelExplanation):
            every = [Reason(f"“{match.shown}” as in “{match.other_shown}”", float(match.value)) for match in found.matches]
        else:
            parts = zip(found.terms, found.total, found.priors.sum(axis=0), strict=True)
            every = [Reason(str(term), float(total), float(known)) for term, total, known in parts]
        reasons = sorted(every, key=lambda reason: -abs(reason.share))[:n]
        return Reasons(labels, label, score, reasons, score - sum(reason.share for reason in reasons))

    def _target(self, k: int) -> Any:
        """What the classifier calls a class."""
        if self.multilabel and len(self.classes) == 1:
            return 1  # a single column is learnt as no and yes
        return k if self.multilabel or len(self.classes) == 2 else self.classes[k]

    def decide(
        self, batches: Iterable[list[Read]], source: Any, text: str | None = None, tell: Callable[[str], None] | None = None
    ) -> Iterator[list[Decision | InvalidLine | Blank]]:
        """A decision for each row as it arrives; rows without a text are bad lines, and blank lines stay what they are.

        Parameters
        ----------
        batches : rows, as `read_rows` gives them
        source : what to call them in errors
        text : str, default=None
            The column of the texts, which the first row should have. By default that of the texts of training, where the first
            row has it, else one with a telling name, else the only one.
        tell : function of a line, default=None
            Gets to know which column was guessed.
        """
        for batch in stream_texts(batches, source, text, self.text_column, tell):
            yield self._decided(batch)

    def _decided(self, batch: TextBatch) -> list[Decision | InvalidLine | Blank]:
        scores = self.scores(batch.texts) if batch.texts else np.empty((0, len(self.classes)))
        decided = zip(self.labels(scores), scores.tolist(), strict=True)
        return [Decision(row.number, *next(decided)) if isinstance(row, Row) else row for row in batch.rows]
