"""An earlier model as prior: what it learnt of each term, wherever the new vocabulary has the term."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from .._sklearn import dense_coef, term_names
from .._typing import Bools
from ..errors import PriorError
from ..records import record
from .vocabulary import KnowledgeBase


@record()
class ModelPrior(KnowledgeBase):
    """The weights of a linear model that was trained on other texts, aligned by term.

    Parameters
    ----------
    model : fitted classifier
        A `TextClassifier`, a pipeline that ends in a linear classifier, or a linear classifier with
        `feature_names_in_`.
    terms : array of str, default=None
        The names of the model's columns, if it does not know them itself.
    file_name : str, default=None
        Where the model comes from, for messages.

    Examples
    --------
    >>> from textmargin import ModelPrior, TextClassifier
    >>> texts = ["wheat and corn", "corn prices", "bank rates", "bank and yen"]
    >>> old = TextClassifier().fit(texts, ["grain", "grain", "money", "money"])
    >>> weights = ModelPrior(old).coef(["bank", "corn", "oil"], ["grain", "money"])
    >>> weights["money"].round(2)
    array([ 0.53, -0.53,  0.  ])
    """

    def __init__(self, model: Any, *, terms: Any = None, file_name: str | None = None) -> None:
        self.model = model
        self.terms = terms
        self.file_name = file_name

    def __sklearn_clone__(self) -> ModelPrior:
        return ModelPrior(**self.get_params(deep=False))  # the model is what it is about: not unfitted

    @property
    def title(self) -> str:
        """With the file, where it comes from one."""
        return "earlier model" if self.file_name is None else f"earlier model {self.file_name}"

    def learnt_from(self, texts: Sequence[str]) -> Bools:
        """The texts that the model was trained on, as far as it knows them."""
        if getattr(self.model, "text_digests_", None) is None:
            return np.zeros(len(texts), dtype=bool)
        return np.asarray(self.model.trained_on(texts))

    def classes(self) -> list[Any]:
        """Those of the model."""
        self._check_loaded()
        return list(getattr(self.model, "classes_", []))

    def known(self) -> dict[Any, dict[str, float]]:
        """The weights that are used, class → term → weight."""
        return self._entries()

    def _check_loaded(self) -> None:
        if isinstance(self.model, str | PathLike):
            raise PriorError(
                f"model is a path, {str(self.model)!r}; load it first: ModelPrior(load({str(self.model)!r}))."
            )

    def _entries(self) -> dict[Any, dict[str, float]]:
        self._check_loaded()
        try:
            learner, terms = _linear_part(self.model)
        except NotFittedError as error:
            raise PriorError(f"ModelPrior needs a fitted model: {error}") from error
        terms = self.terms if self.terms is not None else terms
        if terms is None:
            raise PriorError(
                f"The names of the columns of {type(learner).__name__} are not known; give them: "
                "ModelPrior(model, terms=names)."
            )
        weights, terms = dense_coef(learner), np.asarray(terms)
        if weights.shape[1] != terms.size:
            raise PriorError(f"The model has {weights.shape[1]} weights, but terms has {terms.size} names.")
        classes = list(
            learner.classes_[1:] if len(weights) == 1 and len(learner.classes_) == 2 else learner.classes_
        )
        entries = {}
        for name, row in zip(classes, weights, strict=True):
            entries[name.item() if isinstance(name, np.generic) else name] = {
                str(terms[j]): float(row[j]) for j in np.flatnonzero(row)
            }
        return entries

    def _warn(self, *found: Any) -> None:
        """Two vocabularies always differ; `match_vocabulary` tells by how much."""


def _linear_part(model: Any) -> tuple[Any, Any]:
    """The linear classifier inside a model, and the names of its columns."""
    names = None
    if hasattr(model, "representation_"):
        names = term_names(model.representation_)
        model = getattr(model.model_, "estimator_", model.model_)
    elif hasattr(model, "steps"):
        names = term_names(model[:-1])
        model = model[-1]
    if not hasattr(model, "coef_"):
        raise PriorError(
            f"ModelPrior needs a fitted linear model, one with coef_; {type(model).__name__} has none."
        )
    return model, names if names is not None else getattr(model, "feature_names_in_", None)
