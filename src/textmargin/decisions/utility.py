"""What decisions are worth: measures of the four counts of a confusion table.

    linear      U = a·TP + b·FP + c·FN + d·TN    T10U: a = 2, b = −1
    T11SU       (max(U/MaxU, −½) + ½) / 1½       MaxU is the utility of deciding all right; nothing gives ⅓
    T10SU       (max(U, −100) + 100) / (MaxU + 100)
    F_β         (1 + β²)TP / ((1 + β²)TP + β²FN + FP)

Counts may be arrays, so that a whole curve of decisions is valued at once. T11SU, T10SU and F_β are undefined
(NaN) for a class without positives; averages over classes say how many they left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ..records import record

Counts = Any  # a number, or an array of them


class Measure(Protocol):
    """A value for counts of true and false positives and negatives."""

    def __call__(self, tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> NDArray[np.float64]:
        """The value of a decision, or of many."""
        ...


@record()
@dataclass(frozen=True)
class Utility:
    """Linear utility: so much for each decision of a kind.

    Parameters
    ----------
    tp, fp, fn, tn : float
        What a hit, a false alarm, a miss and a right rejection are worth.
    ask : float, default=None
        What it is worth, 0 or less, that a person looks at a text, who then decides rightly. With it a
        decision may be to ask.

    Examples
    --------
    >>> from textmargin import Utility
    >>> float(Utility(tp=2, fp=-1)(tp=3, fp=1, fn=1, tn=7))
    5.0
    """

    tp: float = 2.0
    fp: float = -1.0
    fn: float = 0.0
    tn: float = 0.0
    ask: float | None = None

    def __post_init__(self) -> None:
        worth = (self.tp, self.fp, self.fn, self.tn)
        if not np.isfinite(worth).all() or (self.tp <= self.fn or self.fp >= self.tn):
            raise ValueError(
                f"A utility must be finite, and a right decision worth more than a wrong one; got {self}."
            )
        if self.ask is not None and not -np.inf < self.ask <= 0:
            raise ValueError(
                "ask is what a person's look costs, as a worth: 0 or a negative number; got "
                f"ask={self.ask!r}."
            )

    def __call__(self, tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> NDArray[np.float64]:
        return np.asarray(self.tp * tp + self.fp * fp + self.fn * fn + self.tn * tn, dtype=np.float64)


@record()
@dataclass(frozen=True)
class ScaledUtility:
    """A linear utility between 0 (its floor, or worse) and 1 (all right), so that classes of any size can be
    averaged.

    The floor is a share of the best possible utility, or with `absolute` a utility.
    """

    utility: Utility = Utility()
    floor: float = -0.5
    absolute: bool = False

    def __call__(self, tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> NDArray[np.float64]:
        positives, negatives = np.add(tp, fn), np.add(fp, tn)
        best = self.utility(positives, 0, 0, negatives)
        floor = self.floor if self.absolute else self.floor * best
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = (np.maximum(self.utility(tp, fp, fn, tn), floor) - floor) / (best - floor)
        return np.where(positives > 0, scaled, np.nan)


@record()
@dataclass(frozen=True)
class FBeta:
    """F_β: recall counts β times as much as precision. Accepting nothing is worth 0."""

    beta: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.beta < np.inf:
            raise ValueError(f"beta of FBeta must be a positive number; got {self.beta!r}.")

    def __call__(self, tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> NDArray[np.float64]:
        weighted = (1 + self.beta**2) * np.asarray(tp, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = weighted / (weighted + self.beta**2 * np.asarray(fn) + np.asarray(fp))
        return np.where(np.add(tp, fn) > 0, value, np.nan)


T10U = Utility(tp=2.0, fp=-1.0)
T11SU = ScaledUtility(T10U, floor=-0.5)
T10SU = ScaledUtility(T10U, floor=-100.0, absolute=True)
F1 = FBeta(1.0)

MEASURES = (Utility, ScaledUtility, FBeta)  # all that there are here; a user may write others


@dataclass(frozen=True)
class ClassAverage:
    """A mean over classes, with the classes it had to leave out."""

    value: float
    n_classes: int
    n_undefined: int


def class_values(y_true: Any, y_pred: Any, measure: Measure = T11SU) -> NDArray[np.float64]:
    """The measure of each class, one against the rest; of each column of an indicator matrix."""
    from sklearn.metrics import multilabel_confusion_matrix

    tables = multilabel_confusion_matrix(y_true, y_pred)
    return measure(tables[:, 1, 1], tables[:, 0, 1], tables[:, 1, 0], tables[:, 0, 0])


def macro_average(y_true: Any, y_pred: Any, measure: Measure = T11SU) -> ClassAverage:
    """The mean over classes where the measure is defined."""
    values = class_values(y_true, y_pred, measure)
    undefined = np.isnan(values)
    mean = float(values[~undefined].mean()) if not undefined.all() else float("nan")
    return ClassAverage(mean, values.size, int(undefined.sum()))


def micro_average(y_true: Any, y_pred: Any, measure: Measure = T11SU) -> ClassAverage:
    """The measure of the counts of all classes together."""
    from sklearn.metrics import multilabel_confusion_matrix

    tables = multilabel_confusion_matrix(y_true, y_pred).sum(axis=0)
    value = measure(tables[1, 1], tables[0, 1], tables[1, 0], tables[0, 0])
    return ClassAverage(float(value), 1, int(np.isnan(value)))


def utility_score(
    y_true: Any,
    y_pred: Any,
    measure: Measure = T11SU,
    average: Literal["binary", "macro", "micro"] | None = None,
    pos_label: Any = None,
    unsure_label: Any = None,
) -> float:
    """The measure as one number; NaN where it is undefined for every class.

    Parameters
    ----------
    y_true, y_pred : labels, or 0/1 indicator matrices
    measure : a utility, `T11SU` by default
    average : {"binary", "macro", "micro"}, default=None
        `binary` values one class alone; default: `binary` for two classes, `macro` otherwise.
    pos_label : class, default=None
        The class that `binary` values: by default 1 where the labels are 0/1 or −1/+1, else the last of them
        in order.
    unsure_label : default=None
        A prediction of this is no answer (see `ThresholdClassifier`), and a miss.
    """
    from sklearn.utils.multiclass import type_of_target

    multilabel = type_of_target(y_true) == "multilabel-indicator"
    answered = np.ones(len(y_true), dtype=bool)
    if not multilabel:
        y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
        answered = np.array([label != unsure_label for label in y_pred.tolist()], dtype=bool)
    present = [] if multilabel else np.union1d(y_true, y_pred[answered].astype(y_true.dtype)).tolist()
    if average is None:
        average = "macro" if multilabel or len(present) > 2 else "binary"
    if average == "binary":
        if pos_label is None:
            pos_label = 1 if set(present) <= {-1, 0, 1} else present[-1]
        truth, accepted = (np.asarray(y) == pos_label for y in (y_true, y_pred))
        tp, fp = (truth & accepted).sum(), (~truth & accepted).sum()
        return float(measure(tp, fp, truth.sum() - tp, (~truth).sum() - fp))
    if not answered.all():  # scikit-learn's tables have no place for what is no class
        names = np.array(present)
        y_true, y_pred = (np.asarray(y)[:, None] == names for y in (y_true, y_pred))
    mean = macro_average if average == "macro" else micro_average
    return mean(y_true, y_pred, measure).value


def utility_scorer(
    measure: Measure = T11SU,
    average: Literal["binary", "macro", "micro"] | None = None,
    unsure_label: Any = None,
) -> Callable[..., float]:
    """`utility_score` for `cross_val_score` and `GridSearchCV`."""
    from sklearn.metrics import make_scorer

    return make_scorer(utility_score, measure=measure, average=average, unsure_label=unsure_label)
