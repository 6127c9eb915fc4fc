"""Cross-fitting: a prior that was learnt from training texts is weighed on those that had no part in it.

The texts are dealt into folds, the prior is learnt again without each of them, and a fold's texts are scored
by a model that was refitted without them, with the prior that was learnt without them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import Bools, Floats, Indices
from ..errors import PriorError
from ._folds import deal_folds

N_FOLDS = 5


@dataclass(frozen=True)
class PriorFolds:
    """Priors learnt without each fold of the training texts.

    Parameters
    ----------
    fold : array (n_texts,) of int
        Which fold each text is in; `PriorFolds.deal` gives folds that have as many of each class.
    priors : array (n_folds, n_problems, n_priors, n_features)
        The priors learnt without the texts of a fold. They are used at the length of the priors learnt from
        all texts.
    judges : array (n_texts, n_priors) of bool, default=None
        Which texts had no part in the prior that is used for their fold; by default all of them.
    learnt : array (n_priors,) of bool, default=None
        Which priors were learnt from the texts; by default those that are others without a fold, or that not
        all texts judge.
    """

    fold: Any
    priors: Any
    judges: Any = None
    learnt: Any = None

    @staticmethod
    def deal(positive: Bools, random_state: int | None = 0) -> Indices:
        """The fold of each text, by which texts (n_texts, n_problems) are positive in each problem."""
        return deal_folds(positive, min(N_FOLDS, len(positive)), random_state)

    def check(self, prior: Floats, n_texts: int) -> PriorFolds:
        """As arrays, the priors as long as `prior`, those of all texts; an error for what does not fit
        these.
        """
        fold, priors = np.asarray(self.fold), np.asarray(self.priors, dtype=np.float64)
        if fold.shape != (n_texts,) or not np.isin(fold, np.arange(len(priors))).all():
            raise PriorError(
                f"prior_folds.fold must give each of {n_texts} texts one of {len(priors)} folds; got "
                f"{fold!r:.60}."
            )
        if priors.shape[1:] != prior.shape:
            raise PriorError(
                f"prior_folds.priors has the shape {priors.shape}; each fold's must be the prior's, "
                f"{prior.shape}."
            )
        if not np.isfinite(priors).all():
            raise PriorError(
                "prior_folds.priors contains NaN or infinity; give 0 to a term about which nothing is known."
            )
        judges = (
            np.ones((n_texts, prior.shape[1]), dtype=bool)
            if self.judges is None
            else np.asarray(self.judges, dtype=bool)
        )
        if judges.shape != (n_texts, prior.shape[1]):
            raise PriorError(
                f"prior_folds.judges has the shape {judges.shape}, not {(n_texts, prior.shape[1])}."
            )
        differ = (priors != prior).any(axis=(0, 1, 3)) | ~judges.all(axis=0)
        learnt = differ if self.learnt is None else np.asarray(self.learnt, dtype=bool)
        if learnt.shape != (prior.shape[1],):
            raise PriorError(f"prior_folds.learnt has the shape {learnt.shape}, not {(prior.shape[1],)}.")
        own, wanted = np.linalg.norm(priors, axis=-1), np.linalg.norm(prior, axis=-1)
        scale = np.divide(wanted, own, out=np.zeros_like(own), where=own > 0)
        return replace(
            self, fold=fold.astype(np.intp), priors=priors * scale[..., None], judges=judges, learnt=learnt
        )
