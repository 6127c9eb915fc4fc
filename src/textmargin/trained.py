"""A model that knows its labels by name, as the command line trains, keeps and uses it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .classifier import TextClassifier
from .datasets.corpus import Corpus
from .datasets.own import find_columns, text_of
from .datasets.rows import BadLine, Read, Row
from .decisions.threshold import ThresholdClassifier
from .decisions.utility import T10U, Measure
from .errors import LabelError, ModelFileError, ScoreError, TableError
from .learners._explanation import KernelExplanation
from .persistence import load, save


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
    """

    model: TextClassifier
    classes: list[str]
    multilabel: bool
    about: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def on(cls, model: TextClassifier, corpus: Corpus, about: dict[str, Any]) -> Self:
        """Fit a classifier to a corpus."""
        multilabel = any(isinstance(own, tuple) for own in corpus.labels)
        if len(corpus.classes) < 2 and not multilabel:
            only = corpus.classes[0] if corpus.classes else ""
            raise LabelError(
                f"All {len(corpus)} texts have the label {only!r}; a classifier needs texts of two classes at least."
            )
        y, classes = corpus.indicator() if multilabel else (np.array(corpus.labels), corpus.classes)
        return cls(model.fit(corpus.texts, y), classes, multilabel, about)

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
        if isinstance(utility, Mapping):
            utility = measures_by_class(utility, self.classes, self.multilabel)
        if utility is not None:
            new["utility"] = utility
        model = copy(self.model)
        model.model_ = self.model.model_.moved(**new)
        model.decision = clone(self.model.decision).set_params(**new)
        return replace(self, model=model)

    def explain(self, text: str, label: str | None = None, n: int = 10) -> Reasons:
        """What in a text moved its score for a label, by default for the one it gets."""
        if label is not None and label not in self.classes:
            raise LabelError(f"There is no label {label!r}; there are {', '.join(self.classes[:10])}.")
        scores = self.scores([text])
        labels = self.labels(scores)[0]
        label = label or (labels[0] if labels else self.classes[int(scores[0].argmax())])
        k = self.classes.index(label)
        found = self.model.explain(text, k if self.multilabel else label)
        score = float(scores[0, k])
        if isinstance(found, KernelExplanation):
            every = [Reason(f"“{match.shown}” as in “{match.other_shown}”", float(match.value)) for match in found.matches]
        else:
            parts = zip(found.terms, found.total, found.priors.sum(axis=0), strict=True)
            every = [Reason(str(term), float(total), float(known)) for term, total, known in parts]
        reasons = sorted(every, key=lambda reason: -abs(reason.share))[:n]
        return Reasons(labels, label, score, reasons, score - sum(reason.share for reason in reasons))

    def decide(self, batches: Iterable[list[Read]], source: Any, text: str | None = None) -> Iterator[list[Decision | BadLine]]:
        """A decision for each row as it arrives; rows without a text are bad lines.

        Parameters
        ----------
        batches : rows, as `read_rows` gives them
        source : what to call them in errors
        text : str, default=None
            The column of the texts; guessed from the first rows.
        """
        for batch in batches:
            rows = [row for row in batch if isinstance(row, Row)]
            if text is None and rows:
                text = find_columns(rows, source).text
            yield self._decided(batch, text or "text")

    def _decided(self, batch: list[Read], column: str) -> list[Decision | BadLine]:
        rows: list[Read] = []
        texts = []
        for row in batch:
            if isinstance(row, Row):
                text = row.values.get(column)
                if isinstance(text, str):
                    texts.append(text)
                else:
                    row = BadLine(row.number, _why_no_text(row, column))
            rows.append(row)
        scores = self.scores(texts) if texts else np.empty((0, len(self.classes)))
        decided = zip(self.labels(scores), scores.tolist(), strict=True)
        return [Decision(row.number, *next(decided)) if isinstance(row, Row) else row for row in rows]


def _why_no_text(row: Row, column: str) -> str:
    try:
        text_of(row, column)
    except ValueError as error:
        return str(error)
    return ""


def measures_by_class(utility: Mapping[str, Measure], classes: list[str], multilabel: bool) -> list[Measure]:
    """A measure per threshold, in the order of the classes; of two classes the second has the only one."""
    unknown = [label for label in utility if label not in classes]
    if unknown:
        raise TableError(f"The costs name {unknown[0]!r}, which is not among the labels: {', '.join(classes[:10])}.")
    return [utility.get(name, T10U) for name in (classes[1:] if len(classes) == 2 and not multilabel else classes)]
