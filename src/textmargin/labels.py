"""Labels as binary problems: two classes make one, more classes one each against the rest, an indicator one per column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from ._typing import Floats
from .errors import LabelError


@dataclass(frozen=True)
class Labels:
    """The classes and, per problem, which texts are positive."""

    classes: NDArray[Any]
    positive: NDArray[np.bool_]  # (n_texts, n_problems)
    multilabel: bool

    @property
    def binary(self) -> bool:
        return not self.multilabel and self.classes.size == 2

    @property
    def n_problems(self) -> int:
        return self.positive.shape[1]

    @classmethod
    def read(cls, y: Any, weight: Floats, learner: str) -> Self:
        """Labels from y; every class must have an example for and one against it, of positive weight."""
        y = y.toarray() if sp.issparse(y) else y
        if np.ndim(y) == 2 and np.shape(y)[1] == 1:
            y = column_or_1d(y, warn=True)
        kind = type_of_target(y)
        if kind not in ("binary", "multiclass", "multilabel-indicator"):
            raise LabelError(
                f"Unknown label type: {kind}. {learner} takes classes, or a 0/1 indicator matrix for several per text."
            )
        multilabel = kind == "multilabel-indicator"
        if multilabel:
            labels = cls(np.arange(y.shape[1]), y != 0, multilabel)
        else:
            classes, codes = np.unique(np.ravel(y), return_inverse=True)
            if classes.size == 1:
                raise LabelError(f"{learner} needs at least two classes; y has only one class: {classes[0]}.")
            wanted = [1] if classes.size == 2 else range(classes.size)
            labels = cls(classes, np.column_stack([codes == k for k in wanted]), multilabel)
        labels._require_both_sides(weight)
        return labels

    def signs(self, problem: int) -> Floats:
        """+1 for the texts of the class, −1 for the others."""
        return np.where(self.positive[:, problem], 1.0, -1.0)

    def name(self, problem: int) -> Any:
        """The class that a problem is about, as Python writes it."""
        name = self.classes[1] if self.binary else self.classes[problem]
        return name.item() if isinstance(name, np.generic) else name

    def _require_both_sides(self, weight: Floats) -> None:
        counted = self.positive[weight > 0]
        self.require_both_sides(counted.sum(axis=0), len(counted))

    def require_both_sides(self, n_positive: NDArray[np.int64], n_texts: int) -> None:
        """An error for a class without a text of positive weight for it, or against it."""
        for side, counts in (("for", n_positive), ("against", n_texts - n_positive)):
            missing = np.flatnonzero(counts == 0)
            if missing.size:
                raise LabelError(
                    f"class {self.name(missing[0])!r} has no example {side} it among {n_texts} texts of positive weight"
                    f"{f' (nor have {missing.size - 1} other classes)' if missing.size > 1 else ''}; "
                    f"add one, or leave the class out."
                )


def shaped(scores: Floats, multilabel: bool) -> Floats:
    """Scores (n_texts, n_problems) as scikit-learn wants them: a vector for two classes."""
    return scores if multilabel or scores.shape[1] > 1 else scores[:, 0]


def decide(scores: Floats, classes: NDArray[Any], multilabel: bool) -> NDArray[Any]:
    """The labels that scores (n_texts, n_problems) stand for; zero counts as accepted."""
    if multilabel:
        return (scores >= 0).astype(int)
    if scores.shape[1] == 1:
        return classes[(scores[:, 0] >= 0).astype(int)]
    return classes[scores.argmax(axis=1)]


def problem_of(target: Any, scores: Floats, classes: NDArray[Any], multilabel: bool) -> tuple[int, float, Any]:
    """The problem that tells about a class (by default the likeliest), with which sign, and the class's own name."""
    two = scores.size == 1 and not multilabel
    if target is None:
        target = classes[1 if two else scores.argmax()]
    found = np.flatnonzero(classes == target)
    if found.size == 0:
        raise ValueError(f"target {target!r} is not among the classes: {classes[:10].tolist()}.")
    k = int(found[0])
    return (0, 2.0 * k - 1.0, classes[k]) if two else (k, 1.0, classes[k])


def class_costs(class_weight: Mapping[Any, float] | str | None, labels: Labels, problem: int, weight: Floats) -> Floats | float:
    """The cost factor of each text in one problem; see `PriorSVC` for what `class_weight` means."""
    if class_weight is None:
        return 1.0
    positive = labels.positive[:, problem]
    if isinstance(class_weight, str):  # "balanced"
        total, own = weight.sum(), weight[positive].sum()
        return np.where(positive, total / (2 * own), total / (2 * (total - own)))
    unknown = [label for label in class_weight if label not in labels.classes]
    if unknown:
        raise LabelError(f"class_weight names {unknown[0]!r}, which is not among the classes: {labels.classes[:10].tolist()}.")
    rest = class_weight.get(labels.classes[0], 1.0) if labels.binary else 1.0
    costs = np.where(positive, class_weight.get(labels.name(problem), 1.0), rest)
    if not (np.isfinite(costs) & (costs > 0)).all():
        raise LabelError(f"class_weight must be positive, finite numbers; got {class_weight!r}.")
    return costs
