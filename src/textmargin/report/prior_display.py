"""A plot of prior weights beside what was learnt (needs the extra `plot`)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._sklearn import dense_coef, term_names
from .._ties import descending_order
from ..errors import PriorError, install_hint
from ..labels import ClassLabels, listed


class PriorDisplay:
    """Prior weights against learnt ones, a point for each term that the prior knows; above the line the data
    give it more.

    Parameters
    ----------
    prior, learnt : arrays (n_terms,)
        Weights of the terms in the prior, times its trust (as given, if it is not trusted), and in the
        classifier.
    terms : array (n_terms,)
        Their names.
    name : str, default=None
    n_named : int, default=8
        How many terms are written out: those furthest from the line.

    Attributes
    ----------
    figure_, ax_ : the matplotlib figure and its axes.
    """

    def __init__(
        self, prior: ArrayLike, learnt: ArrayLike, terms: Any, *, name: str | None = None, n_named: int = 8
    ) -> None:
        self.prior: NDArray[np.float64] = np.asarray(prior, dtype=np.float64)
        self.learnt: NDArray[np.float64] = np.asarray(learnt, dtype=np.float64)
        self.terms = np.asarray(terms)
        self.name = name
        self.n_named = n_named
        if not self.prior.shape == self.learnt.shape == self.terms.shape:
            raise PriorError(
                f"prior, learnt and terms must be of one length; got {self.prior.size}, "
                f"{self.learnt.size}, {self.terms.size}."
            )

    @classmethod
    def from_estimator(cls, estimator: Any, *, target: Any = None, prior: int = 0, ax: Any = None) -> Self:
        """From a fitted PriorSVC, or a TextClassifier around one.

        Parameters
        ----------
        target : class, default=None
            Which class; default: the first that has a prior.
        prior : int, default=0
            Which of its priors.
        """
        learner, names = _learner(estimator)
        known = (
            np.abs(learner.prior_[:, prior]).sum(axis=1) > 0
            if learner.prior_.shape[1] > prior
            else np.zeros(1, dtype=bool)
        )
        if not known.any():
            raise PriorError(
                f"This {type(learner).__name__} was fitted without prior number {prior}; there is nothing "
                "to show."
            )
        classes = ClassLabels.of(learner.classes_, learner.multilabel_).problem_names
        if target is not None and target not in classes:
            raise PriorError(
                f"target {target!r} is not among the classes that have weights: {listed(target, classes)}"
            )
        k = int(known.argmax()) if target is None else classes.index(target)
        if not known[k]:
            raise PriorError(f"Class {classes[k]!r} has no prior number {prior}; there is nothing to show.")
        columns = np.flatnonzero(learner.prior_[k, prior])
        weights = (learner.trust_[k, prior] or 1.0) * learner.prior_[k, prior, columns]
        kinds = getattr(estimator, "knowledge_", [])
        name = f"{classes[k]}, {kinds[prior]}" if len({*kinds}) > 1 else str(classes[k])
        return cls(weights, dense_coef(learner)[k, columns], np.asarray(names)[columns], name=name).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on axes, or on a new figure."""
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise ImportError(
                    f"Plots need matplotlib, which is not installed: {install_hint('plot')}."
                ) from error
            _, ax = plt.subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        ax.scatter(self.prior, self.learnt, s=12, color="black")
        ax.axline((0, 0), slope=1, color="grey", linewidth=0.5)
        ax.axhline(0, color="grey", linewidth=0.5)
        ax.margins(x=0.25, y=0.1)  # room for names beside the last points
        ax.set(xlabel="prior weight", ylabel="learnt weight", title=self.name or "")
        named = descending_order(np.abs(self.learnt - self.prior))[: self.n_named]
        for j in named:
            place = (self.prior[j], self.learnt[j])
            ax.annotate(str(self.terms[j]), place, xytext=(4, 0), textcoords="offset points", fontsize=8)
        return self


def _learner(estimator: Any) -> tuple[Any, Any]:
    """The PriorSVC inside, and the names of its columns."""
    names = None
    if hasattr(estimator, "representation_"):
        names = term_names(estimator.representation_)
        estimator = estimator.learner_
    if not hasattr(estimator, "prior_"):
        raise PriorError(f"PriorDisplay needs a fitted PriorSVC; got {type(estimator).__name__}.")
    if names is None:
        names = getattr(estimator, "feature_names_in_", np.arange(estimator.coef_.shape[1]))
    return estimator, names
