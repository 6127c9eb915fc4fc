"""A linear model of the desk, and the quick step after each label.

All that is learnt slowly, from unlabelled texts and by held-out evidence (`learning.py`), is a model w̄, b̄.
After a label the step

    min over d  ½λ‖d‖² + ½ Σᵢ max(0, 1 − yᵢ(⟨w̄ + d, xᵢ⟩ + b̄ + κd₀))²        over labelled texts, κ = ½

moves it towards the labels at hand: `PriorSVC` with the model as its prior. It takes milliseconds, since the
labelled texts are few, and all columns that none of them has stay as they are. Before there is a model,
keywords are the prior; a class that has neither text nor words is out of the question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Bools, Floats, Indices
from ..labels import ClassLabels, Indicator
from ..learners.primal import PriorSVC
from ..learners.semi_supervised import scale_jointly
from .answers import LabelledTexts
from .corpus import TextColumns
from .keywords import KeywordPriors

OUT_OF_QUESTION = -3.0  # the score of a class of which nothing is known
_KAPPA = 0.5  # how freely the intercept moves
_CONTRADICTED = 0.3  # how far inside its margin a label must be to count
_MOST_ROWS = 200  # labelled texts of a quick step: what is new, and as many of the others as fit
_AT_ONCE = 4_000  # texts that are scored at once, so that other threads have their turn


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores of texts: ⟨coef, x⟩ + intercept.

    Attributes
    ----------
    labels : ClassLabels
    coef : array (n_problems, n_terms)
    intercept : array (n_problems,)
    prior : sparse matrix (n_problems, n_terms), what of `coef` comes from knowledge
    known : array (n_problems,) of bool, of which classes anything is known
    rows : array, the texts that it learnt from
    version : int, of the acts that it learnt from
    """

    labels: ClassLabels
    coef: Floats
    intercept: Floats
    prior: Any
    known: Bools
    rows: Indices
    version: int

    def scores(self, X: Any) -> Floats:
        """Of texts, (n_texts, n_problems)."""
        if X.shape[0] <= _AT_ONCE:
            return np.asarray(X @ self.coef.T + self.intercept)
        parts = [X[start : start + _AT_ONCE] @ self.coef.T for start in range(0, X.shape[0], _AT_ONCE)]
        return np.concatenate(parts) + self.intercept

    @property
    def decides(self) -> bool:
        """Whether there is anything to decide between."""
        return bool(self.known.sum() > (0 if self.labels.kind != "multiclass" else 1))


def no_model(labels: ClassLabels, n_terms: int, version: int = 0) -> LinearModel:
    """Before anything is known."""
    n = labels.n_problems
    coef, known = np.zeros((n, n_terms)), np.zeros(n, dtype=bool)
    return LinearModel(
        labels,
        coef,
        np.full(n, OUT_OF_QUESTION),
        sp.csr_array((n, n_terms)),
        known,
        np.empty(0, dtype=np.intp),
        version,
    )


def quick_step(
    texts: TextColumns, answers: LabelledTexts, knowledge: KeywordPriors, last: LinearModel | None
) -> LinearModel:
    """The model after the labels at hand, from the last one, or from keywords alone.

    Only problems that some new label clearly contradicts are moved: the others have it on its side already.
    """
    base = start(texts, answers, knowledge) if last is None else last
    chosen, is_new = _chosen_rows(answers, base)
    if not is_new.any():
        return replace(base, version=answers.version)
    some = answers.take(chosen)
    signs, rows = some.signs, texts.X[some.rows]
    coef, intercept, known = base.coef.copy(), base.intercept.copy(), base.known | (signs > 0).any(axis=0)
    # A class that has its first text starts where a class without knowledge does.
    intercept[~base.known & known] = -1.0
    columns = np.unique(rows.indices)
    X = sp.hstack([rows[:, columns], sp.csr_array(np.full((some.rows.size, 1), _KAPPA))], format="csr")
    scores = X[is_new] @ np.column_stack([coef[:, columns], intercept / _KAPPA]).T
    contradicted = (1 - signs[is_new] * scores).max(axis=0) > _CONTRADICTED
    problems = np.flatnonzero(contradicted & known & (signs > 0).any(axis=0) & (signs < 0).any(axis=0))
    if problems.size:
        prior = np.column_stack([coef[problems][:, columns], intercept[problems] / _KAPPA])[:, None, :]
        learner = PriorSVC(prior=prior, trust="fixed", fit_intercept=False, tol=1e-3, n_jobs=1)
        learner.fit(X, Indicator((signs[:, problems] > 0).astype(np.uint8), np.arange(problems.size)))
        moved = np.asarray(learner.coef_)
        coef[np.ix_(problems, columns)] = moved[:, :-1]
        intercept[problems] = moved[:, -1] * _KAPPA
    return replace(
        base, coef=coef, intercept=intercept, known=known, rows=answers.rows, version=answers.version
    )


def start(texts: TextColumns, answers: LabelledTexts, knowledge: KeywordPriors) -> LinearModel:
    """What keywords say by themselves."""
    base = no_model(answers.labels, texts.X.shape[1], answers.version)
    if not knowledge.priors.size:
        return base
    known = np.asarray((knowledge.priors != 0).any(axis=2))
    prior = scale_jointly(knowledge.priors, known, 1.0).sum(axis=1)
    speaks = knowledge.speaks
    intercept = np.where(speaks, -1.0 if answers.labels.kind != "binary" else 0.0, OUT_OF_QUESTION)
    return replace(base, coef=prior, intercept=intercept, prior=sp.csr_array(prior), known=speaks)


def add_knowledge(model: LinearModel, new: LinearModel, old: LinearModel, dropped: Bools) -> LinearModel:
    """A model with new knowledge in place of old, as `start` has them; problems that drop it stay as they
    are.
    """
    change = np.where(dropped[:, None], 0.0, new.coef - old.coef)
    known = model.known | new.known
    intercept = np.where(known & ~model.known, new.intercept, model.intercept)
    return replace(
        model,
        coef=model.coef + change,
        prior=model.prior + sp.csr_array(change),
        known=known,
        intercept=intercept,
    )


def _chosen_rows(answers: LabelledTexts, base: LinearModel) -> tuple[Indices, Bools]:
    """Places of the labelled texts of a step, and which of them the model has not learnt from: all that are
    new, some others.
    """
    is_new = ~np.isin(answers.rows, base.rows)
    new = np.flatnonzero(is_new)[-_MOST_ROWS:]
    old = np.flatnonzero(~is_new)
    n_old = min(old.size, max(_MOST_ROWS - new.size, _MOST_ROWS // 4))
    if n_old < old.size:
        old = old[np.linspace(0, old.size - 1, n_old).astype(np.intp)]
    chosen = np.sort(np.concatenate([new, old]))
    return chosen, is_new[chosen]
