"""What decisions on texts come to: figures of so many texts of each outcome, so that to draw texts is to draw
counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from .._typing import Bools, Floats
from ..labels import ClassLabels
from ._cross_fitting import Answers
from .single_label import answer_table
from .utility import Measure, Utility

FIGURES = ("accuracy", "answered", "accuracy_answered", "macro_f1", "micro_f1", "utility")


@dataclass(frozen=True)
class Valuation:
    """Texts with their labels and decisions.

    Attributes
    ----------
    right, answered : arrays (n_texts,), 1 where all labels are right, and where nothing is left to a person
    tp, fp, fn : sparse (n_texts, n_classes), 1 where a class is a hit, a false alarm or a miss
    worth : array (n_texts,), what the decision is worth; None where measures do not add up, or there are none
    measures : a measure for each problem, or None
    columns : which classes are problems, of two the positive one
    """

    right: Floats
    answered: Floats
    tp: Any
    fp: Any
    fn: Any
    worth: Floats | None
    measures: Sequence[Measure] | None
    columns: slice

    @classmethod
    def of(
        cls, truth: Bools, answers: Answers, labels: ClassLabels, measures: Sequence[Measure] | None
    ) -> Self:
        """Labels and decisions (n_texts, n_classes), and a measure per problem if anything is worth
        something.
        """
        accepted, unsure = answers.accepted, answers.unsure
        answered: Bools = np.logical_not(unsure.any(axis=1))
        columns = slice(labels.positive, labels.positive + 1) if labels.kind == "binary" else slice(None)
        utilities = [one for one in measures or () if isinstance(one, Utility)]
        worth = None
        if measures is not None and len(utilities) == len(measures):
            if labels.kind == "multiclass":
                answer = np.where(accepted.any(axis=1), accepted.argmax(axis=1), accepted.shape[1])
                worth = answer_table(tuple(utilities))[truth.argmax(axis=1), answer]
            else:
                open_labels = unsure if labels.multilabel else ~answered[:, None]
                worth = _label_worth(truth[:, columns], accepted[:, columns], open_labels, utilities)
        return cls(
            ((accepted == truth).all(axis=1) & answered).astype(np.float64),
            np.asarray(answered, dtype=np.float64),
            sp.csr_array((truth & accepted).astype(np.float64)),
            sp.csr_array((accepted & ~truth).astype(np.float64)),
            sp.csr_array((truth & ~accepted).astype(np.float64)),
            worth,
            measures,
            columns,
        )

    def with_mistake(self, shares: Floats) -> Valuation:
        """With a text more, the last, whose labels are all wrong: on average over texts of such shares of
        truth and decisions.
        """
        truth = np.asarray(shares @ (self.tp + self.fn))
        given = np.asarray(shares @ (self.tp + self.fp))
        if self.columns != slice(None):
            given = truth[::-1]  # of two classes the other
        elif given.sum() > 0:
            given = given * (truth.sum() / given.sum())
        worth = None
        if self.worth is not None and self.measures is not None:
            fn, fp = truth[self.columns], given[self.columns]
            kinds = np.array([[one.fn, one.fp, one.tn] for one in self.measures if isinstance(one, Utility)])
            mean = kinds[:, 0] @ fn + kinds[:, 1] @ fp + kinds[:, 2] @ np.maximum(1 - fn - fp, 0.0)
            worth = np.append(self.worth, mean)
        nothing = sp.csr_array((1, truth.size))
        return Valuation(
            np.append(self.right, 0.0),
            np.append(self.answered, 1.0),
            sp.vstack([self.tp, nothing], format="csr"),
            sp.vstack([self.fp, sp.csr_array(given[None, :])], format="csr"),
            sp.vstack([self.fn, sp.csr_array(truth[None, :])], format="csr"),
            worth,
            self.measures,
            self.columns,
        )

    def figures(self, n_texts: Floats) -> dict[str, Floats]:
        """Of so many texts (n_draws, n_texts) of each kind, per draw, utility per 1,000 texts; NaN where one
        is not defined.
        """
        n = n_texts.sum(axis=1)
        answered, right = n_texts @ self.answered, n_texts @ self.right
        tp, fp, fn = (np.asarray(n_texts @ part) for part in (self.tp, self.fp, self.fn))
        present = tp + fn > 0
        f1 = np.where(present, _f1(tp, fp, fn), 0.0).sum(axis=1) / np.maximum(present.sum(axis=1), 1)
        return {
            "accuracy": right / n,
            "answered": answered / n,
            "accuracy_answered": np.where(answered > 0, right / np.maximum(answered, 1e-300), np.nan),
            "macro_f1": f1,
            "micro_f1": _f1(tp.sum(axis=1), fp.sum(axis=1), fn.sum(axis=1)),
            "utility": self._utility(n_texts, n, tp, fp, fn),
        }

    def _utility(self, n_texts: Floats, n: Floats, tp: Floats, fp: Floats, fn: Floats) -> Floats:
        if self.worth is not None:
            return 1000 * (n_texts @ self.worth) / n
        if self.measures is None:
            return np.full(n.size, np.nan)
        tp, fp, fn = (part[:, self.columns] for part in (tp, fp, fn))
        tn = n[:, None] - tp - fp - fn
        values = np.column_stack(
            [one(*(part[:, k] for part in (tp, fp, fn, tn))) for k, one in enumerate(self.measures)]
        )
        defined = ~np.isnan(values)
        total = np.where(defined, values, 0.0).sum(axis=1)
        return np.where(defined.any(axis=1), total / np.maximum(defined.sum(axis=1), 1), np.nan)


def _label_worth(truth: Bools, accepted: Bools, open_labels: Bools, utilities: Sequence[Utility]) -> Floats:
    """What the decisions on each label (n_texts, n_problems) are worth, summed over labels; an open one is
    asked, or rejected.
    """
    tp, fp, fn, tn = np.array([[one.tp, one.fp, one.fn, one.tn] for one in utilities]).T
    ask = np.array([np.nan if one.ask is None else one.ask for one in utilities])
    decided = np.where(truth, np.where(accepted, tp, fn), np.where(accepted, fp, tn))
    asked = np.where(truth, tp, tn) + ask
    worth: Floats = np.where(open_labels & ~np.isnan(ask), asked, decided).sum(axis=1)
    return worth


def _f1(tp: Floats, fp: Floats, fn: Floats) -> Floats:
    """2TP / (2TP + FP + FN), and 0 without a hit."""
    return np.where(tp > 0, 2 * tp / np.maximum(2 * tp + fp + fn, 1e-300), 0.0)
