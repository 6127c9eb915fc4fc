"""Which class is which column, and what its score means: all who derive classes, signs, columns or decisions
ask here.

| kind       | labels of the texts                                   | columns of scores | decided           |
|------------|-------------------------------------------------------|-------------------|-------------------|
| binary     | the names of two classes                              | one: the second's | the second at ≥ 0 |
| multiclass | the names of more                                     | one per class     | the highest       |
| multilabel | a list, set or tuple of names, or an indicator matrix | one per label     | each at ≥ 0       |

Scores are on the scale of margins, 1; what differs from a bound by rounding alone is at it. A column is a
binary problem, its class against the rest. Names are strings or numbers, in order; `_label_forms.py` reads
them in every form that people have them, and gives decisions back in the same. Deciding needs NumPy alone:
scikit-learn and SciPy, which take a second to import, are imported where labels are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ._ties import ROUNDING
from ._typing import Bools, Floats, Indices
from .errors import LabelError, ScoreError, nearest
from .records import record

Kind = Literal["binary", "multiclass", "multilabel"]


class Indicator(np.ndarray[Any, Any]):
    """A 0/1 matrix (n_texts, n_labels) whose columns have names, like a data frame's; rows taken from it keep
    them.
    """

    names: NDArray[Any] | None

    def __new__(cls, matrix: Any, names: Sequence[Any] | NDArray[Any]) -> Self:
        array = np.asarray(matrix).view(cls)
        array.names = np.asarray(names)
        return array

    def __array_finalize__(self, other: Any) -> None:
        names = getattr(other, "names", None)
        self.names = names if names is not None and self.ndim == 2 and self.shape[1] == len(names) else None

    def __reduce__(self) -> tuple[Any, ...]:
        return Indicator, (np.asarray(self), self.names) if self.names is not None else (
            np.asarray(self),
            range(self.shape[-1]),
        )


def column_names(y: Any) -> NDArray[Any] | None:
    """The names of an indicator matrix's columns, if it has any: those of an `Indicator`, or of a data
    frame.
    """
    if isinstance(y, Indicator):
        return y.names
    if getattr(y, "ndim", 1) == 2 and hasattr(y, "columns") and y.shape[1] > 1:
        return np.asarray(list(y.columns))
    return None


@record()
@dataclass(frozen=True)
class ClassLabels:
    """The classes of a problem.

    Parameters
    ----------
    names : array (n_classes,)
    kind : {"binary", "multiclass", "multilabel"}
    positive : int, default=1
        Which of two classes is looked for, the one that utilities and floors speak of.
    form : {"names", "sets", "indicator"}, default="names"
        How labels were given, and how decisions are given back.
    """

    names: NDArray[Any]
    kind: Kind
    positive: int = 1
    form: Literal["names", "sets", "indicator"] = "names"

    @classmethod
    def of(cls, classes: Any, multilabel: bool) -> Self:
        """Those of a fitted learner."""
        names = np.asarray(classes)
        kind: Kind = "multilabel" if multilabel else "binary" if names.size == 2 else "multiclass"
        return cls(names, kind, form="indicator" if multilabel else "names")

    @property
    def multilabel(self) -> bool:
        return self.kind == "multilabel"

    @property
    def n_problems(self) -> int:
        """Columns of scores."""
        return 1 if self.kind == "binary" else self.names.size

    @property
    def problem_names(self) -> list[Any]:
        """The classes that have a column of scores, as Python writes them."""
        return list((self.names[1:] if self.kind == "binary" else self.names).tolist())

    @property
    def threshold_names(self) -> list[Any]:
        """The classes that have a threshold: of two the one that is looked for, else all."""
        names = self.names.tolist()
        return [names[self.positive]] if self.kind == "binary" else list(names)

    @property
    def sign(self) -> float:
        """By which the score of a column is that of the class with the threshold: −1 where of two classes
        that is the first.
        """
        return -1.0 if self.kind == "binary" and self.positive == 0 else 1.0

    @property
    def text_names(self) -> list[str]:
        """All classes as text, for files and pages."""
        return [str(name) for name in self.names.tolist()]

    def respell(self, by_name: Mapping[Any, Any]) -> dict[Any, Any]:
        """A mapping whose keys are names as text, as files have them, with the names themselves."""
        spelled = dict(zip(self.text_names, self.names.tolist(), strict=True))
        return {
            spelled.get(name, name) if isinstance(name, str) else name: value
            for name, value in by_name.items()
        }

    def columns(self, scores: Any) -> Floats:
        """Scores of any shape that estimators give, as (n_texts, n_problems)."""
        scores = np.asarray(scores, dtype=np.float64)
        return scores.reshape(len(scores), -1)

    def shape(self, columns: Floats) -> Floats:
        """Scores (n_texts, n_problems) as scikit-learn wants them: a vector for two classes."""
        return columns[:, 0] if self.kind == "binary" else columns

    def decide(self, columns: Floats) -> NDArray[Any]:
        """What scores (n_texts, n_problems) stand for: names, or for several labels a text a matrix of 0 and
        1.
        """
        if self.multilabel:
            return (columns >= -ROUNDING).astype(int)
        if self.kind == "binary":
            return self.names[(columns[:, 0] >= -ROUNDING).astype(int)]
        return self.names[best_class(columns)]

    def class_scores(self, columns: Floats) -> Floats:
        """Scores (n_texts, n_classes): of two classes the first has the second's, negated."""
        return np.column_stack([-columns, columns]) if self.kind == "binary" else columns

    def accepted(self, class_scores: Floats) -> Bools:
        """Which class (n_texts, n_classes) each text is given; 0 decides for the second of two, and for a
        label.
        """
        if self.multilabel:
            return class_scores >= -ROUNDING
        if self.kind == "binary":
            second = class_scores[:, 1] >= -ROUNDING
            return np.column_stack([~second, second])
        return best_class(class_scores)[:, None] == np.arange(self.names.size)

    def membership(self, decided: Any) -> Bools:
        """The same from what an estimator's `predict` gives."""
        decided = np.asarray(decided)
        return (
            decided.reshape(len(decided), -1) != 0
            if self.multilabel
            else decided[:, None] == self.names[None, :]
        )

    def problem(self, target: Any, columns: Floats) -> tuple[int, float, Any]:
        """The column that tells about a class (by default the likeliest), with which sign, and the class's
        own name.
        """
        two = self.kind == "binary"
        if target is None:
            target = self.names[1 if two else columns.argmax()]
        k = self.index(target)
        return (0, 2.0 * k - 1.0, self.names[k]) if two else (k, 1.0, self.names[k])

    def index(self, target: Any) -> int:
        """The place of a class."""
        names = self.names.tolist()
        if target not in names:
            raise LabelError(f"There is no class {target!r}: it is not among {listed(target, names)}")
        return int(names.index(target))

    def name(self, problem: int) -> Any:
        """The class that a problem is about, as Python writes it."""
        return self.problem_names[problem]

    def require_both_sides(self, n_positive: NDArray[np.int64], n_texts: int) -> None:
        """An error for a class without a text of positive weight for it, or against it."""
        for side, counts in (("for", n_positive), ("against", n_texts - n_positive)):
            missing = np.flatnonzero(counts == 0)
            if missing.size:
                raise LabelError(
                    f"class {self.name(missing[0])!r} has no example {side} it among {n_texts} texts of "
                    "positive weight"
                    f"{f' (nor have {missing.size - 1} other classes)' if missing.size > 1 else ''}; "
                    f"add one, or leave the class out."
                )


class LabelsMixin:
    """What a fitted learner's `classes_` and `multilabel_` come to."""

    classes_: NDArray[Any]
    multilabel_: bool

    @property
    def _labels(self) -> ClassLabels:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return ClassLabels.of(self.classes_, self.multilabel_)


def _is_indicator(y: Any) -> bool:
    """Whether y plainly is a table of 0 and 1; scikit-learn finds out as well, but sorts all of it for
    that.
    """
    plain = (
        isinstance(y, np.ndarray) and y.ndim == 2 and y.size > 0 and y.shape[1] > 1 and y.dtype.kind in "biu"
    )
    return bool(plain and y.min() >= 0 and y.max() <= 1)


@dataclass(frozen=True)
class OneVsRest:
    """Labels as binary problems: which texts are positive in each, (n_texts, n_problems)."""

    labels: ClassLabels
    positive: Bools

    @classmethod
    def read(cls, y: Any, weight: Floats | None, learner: str, names: NDArray[Any] | None = None) -> Self:
        """From y as scikit-learn's estimators take it; every class must have an example for and against it.

        Parameters
        ----------
        y : array (n_texts,), or an indicator matrix
        weight : array (n_texts,), or None; examples of weight 0 do not count
        learner : str, who asks, for errors
        names : array, default=None
            Of an indicator's columns, see `column_names`; their numbers by default.
        """
        from scipy.sparse import issparse
        from sklearn.utils.multiclass import type_of_target
        from sklearn.utils.validation import column_or_1d

        y = y.toarray() if issparse(y) else y
        if names is None and np.ndim(y) == 2 and np.shape(y)[1] == 1:
            y = column_or_1d(y, warn=True)
        kind = "multilabel-indicator" if names is not None or _is_indicator(y) else type_of_target(y)
        if kind not in ("binary", "multiclass", "multilabel-indicator"):
            raise LabelError(
                f"Unknown label type: {kind}. {learner} takes classes, or a 0/1 indicator matrix for "
                "several per text."
            )
        if kind == "multilabel-indicator":
            y = np.asarray(y)
            labels = ClassLabels.of(np.arange(y.shape[1]) if names is None else names, multilabel=True)
            problems = cls(labels, y != 0)
        else:
            classes, codes = np.unique(np.ravel(y), return_inverse=True)
            if classes.size == 1:
                raise LabelError(f"{learner} needs at least two classes; y has only one class: {classes[0]}.")
            wanted = [1] if classes.size == 2 else range(classes.size)
            problems = cls(
                ClassLabels.of(classes, multilabel=False), np.column_stack([codes == k for k in wanted])
            )
        counted = problems.positive if weight is None else problems.positive[weight > 0]
        problems.labels.require_both_sides(counted.sum(axis=0), len(counted))
        return problems

    @property
    def n_problems(self) -> int:
        return self.positive.shape[1]

    def signs(self, problem: int) -> Floats:
        """+1 for the texts of the class, −1 for the others."""
        return np.where(self.positive[:, problem], 1.0, -1.0)

    def costs(
        self, class_weight: Mapping[Any, float] | str | None, problem: int, weight: Floats
    ) -> Floats | float:
        """The cost factor of each text in one problem; see `PriorSVC` for what `class_weight` means."""
        if class_weight is None:
            return 1.0
        positive = self.positive[:, problem]
        if isinstance(class_weight, str):  # "balanced"
            total, own = weight.sum(), weight[positive].sum()
            return np.where(positive, total / (2 * own), total / (2 * (total - own)))
        names = self.labels.names.tolist()
        unknown = [label for label in class_weight if label not in names]
        if unknown:
            raise LabelError(
                f"class_weight names {unknown[0]!r}, which is not among the classes: "
                f"{listed(unknown[0], names)}"
            )
        rest = class_weight.get(names[0], 1.0) if self.labels.kind == "binary" else 1.0
        costs = np.where(positive, class_weight.get(self.labels.name(problem), 1.0), rest)
        if not (np.isfinite(costs) & (costs > 0)).all():
            raise LabelError(f"class_weight must be positive, finite numbers; got {class_weight!r}.")
        return costs


@dataclass(frozen=True, repr=False)
class Decisions:
    """What a model decides on texts.

    Attributes
    ----------
    names : list of str, the classes
    scores : array (n_texts, n_classes), 0 being the decision; of two classes the first has the second's,
        negated
    accepted : array (n_texts, n_classes) of bool, which class each text is given
    unsure : array (n_texts, n_classes) of bool, what a person should decide: with one label a text the best
        guess where none is
        given, else the labels that are open
    probabilities : array (n_texts, n_classes), or None where nobody asked for them, or the model has none
    """

    names: list[str]
    scores: Floats
    accepted: Bools
    unsure: Bools
    probabilities: Floats | None = None

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        given = dict(zip(self.names, self.accepted.sum(axis=0).tolist(), strict=True))
        return f"Decisions on {len(self)} texts: {', '.join(f'{name} {n}' for name, n in given.items())}"

    def __getitem__(self, rows: Any) -> Decisions:
        """The decisions on some texts."""
        probabilities = None if self.probabilities is None else self.probabilities[rows]
        return Decisions(self.names, self.scores[rows], self.accepted[rows], self.unsure[rows], probabilities)

    @classmethod
    def join(cls, parts: Sequence[Decisions]) -> Decisions:
        """The decisions on several batches of texts, one after the other."""
        scores, accepted, unsure = (
            np.vstack([getattr(one, name) for one in parts]) for name in ("scores", "accepted", "unsure")
        )
        known = [one.probabilities for one in parts if one.probabilities is not None]
        return cls(
            parts[0].names, scores, accepted, unsure, np.vstack(known) if len(known) == len(parts) else None
        )

    @property
    def labels(self) -> list[tuple[str, ...]]:
        """The names that each text is given."""
        return self._named(self.accepted)

    @property
    def guesses(self) -> list[tuple[str, ...]]:
        """The names that are left to a person."""
        return self._named(self.unsure)

    @property
    def score(self) -> Floats:
        """The score of the label that each text is given, or of the guess where it is given none.

        Of several labels the lowest. A text that is given none, with none open either, has the highest score
        of all labels.
        """
        mask = self._mask
        lowest = np.min(self.scores, axis=1, where=mask, initial=np.inf)
        return np.asarray(np.where(mask.any(axis=1), lowest, self.scores.max(axis=1, initial=-np.inf)))

    @property
    def confidence(self) -> Floats:
        """The probability of the label that each text is given, or of the guess where it is given none.

        Of several labels the lowest. A text that is given none, with none open either, has the probability
        that its likeliest label is wrong.
        """
        if self.probabilities is None:
            raise ScoreError(
                "These decisions come without probabilities; ask for them: decide(texts, probabilities=True)."
            )
        mask = self._mask
        lowest = np.min(self.probabilities, axis=1, where=mask, initial=1.0)
        return np.asarray(
            np.where(mask.any(axis=1), lowest, 1.0 - self.probabilities.max(axis=1, initial=0.0))
        )

    @property
    def _mask(self) -> Bools:
        """The labels that each text is given, or those that are open where it is given none."""
        return np.where(self.accepted.any(axis=1, keepdims=True), self.accepted, self.unsure)

    def _named(self, which: Bools) -> list[tuple[str, ...]]:
        rows, columns = np.nonzero(which)
        named: list[tuple[str, ...]] = [()] * len(which)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            named[row] += (self.names[column],)
        return named


def as_sets(names: NDArray[Any], matrix: Bools) -> NDArray[Any]:
    """Rows of a matrix (n_texts, n_classes) as an array of tuples of names."""
    rows, spelled = np.empty(len(matrix), dtype=object), names.tolist()
    for row, own in enumerate(matrix):  # one by one: NumPy would look into them
        rows[row] = tuple(spelled[k] for k in np.flatnonzero(own).tolist())
    return rows


def best_class(scores: Floats) -> Indices:
    """The class with the highest score; of those that are equal but for rounding the first."""
    highest = scores.max(axis=1, keepdims=True)
    return np.asarray((scores >= highest - ROUNDING * np.maximum(np.abs(highest), 1.0)).argmax(axis=1))


def positive_of(
    names: Sequence[Any], counts: Sequence[float], positive: Any = None, parameter: str = "positive"
) -> int:
    """Which of two classes is looked for.

    The one asked for; else 1 of 0 and 1, or of −1 and 1; else the rarer, and of two equally frequent ones the
    second.
    """
    first, second = names
    if positive is not None:
        if positive not in (first, second):
            raise LabelError(
                f"{parameter}={positive!r} is neither of the two classes, {listed(positive, names)}"
            )
        return int(positive == second)
    if not isinstance(first, str) and {first, second} in ({0, 1}, {-1, 1}):
        return 1
    return int(counts[1] <= counts[0])


def listed(name: Any, names: Sequence[Any]) -> str:
    """The names there are, and which of them may have been meant, for the end of a message about one that is
    not there.
    """
    meant = nearest(name, names)
    return f"{shorten(names)}." + ("" if meant is None else f" Did you mean {meant!r}?")


def shorten(names: Sequence[Any], at_most: int = 10) -> str:
    """Names for a message, of many the first."""
    shown = ", ".join(repr(name) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} more"
