"""From text to label: the only file that knows all four slots.

text ── representation ──▶ matrix ── learner, with knowledge ──▶ scores ── decision ──▶ label
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ._sklearn import HasMethods, fit_context
from .errors import LabelError, PriorError, TextmarginError, TextmarginWarning
from .labels import Labels
from .learners.evidence import Disagreement
from .learners.explanation import Explanation, KernelExplanation
from .learners.kernel import KernelSVC
from .learners.primal import PriorSVC
from .learners.prior import align_prior
from .representations.bow import BagOfWords
from .representations.texts import as_texts


def _last_part_has(method: str) -> Any:
    """Whether the part that has the last word offers a method."""

    def check(self: TextClassifier) -> bool:
        getattr(self.model_ if hasattr(self, "model_") else self._joined(), method)
        return True

    return available_if(check)


class TextClassifier(ClassifierMixin, BaseEstimator):
    """Text in, labels out.

    Four slots, each with a default; each also takes the scikit-learn object of its kind.

    Parameters
    ----------
    representation : transformer or kernel on texts, default=None
        Texts to a matrix: `BagOfWords()` by default, or any scikit-learn vectoriser. With a string kernel here, or as the
        `kernel` of the learner, texts are compared as they are.
    knowledge : mapping, or object with `coef(terms, classes)`, default=None
        What is known of the words: a mapping term → weight, a mapping class → mapping term → weight, or an object that gives
        such weights for the representation's terms. It becomes the learner's `prior`.
    learner : classifier, default=None
        Matrix to scores: `PriorSVC()` by default, `KernelSVC()` for a kernel, or any scikit-learn classifier.
    decision : meta-estimator, default=None
        Scores to labels: an estimator with an `estimator` parameter, which is set to the learner, such as scikit-learn's
        `FixedThresholdClassifier`. By default the learner decides.

    Attributes
    ----------
    representation_ : the fitted representation; the kernel, where texts are compared as they are.
    model_ : the fitted learner, inside the decision if there is one.
    classes_ : array (n_classes,)

    Examples
    --------
    >>> from textmargin import TextClassifier
    >>> texts = ["wheat and corn harvest", "corn exports fell", "bank raises rates", "rates and the dollar"]
    >>> model = TextClassifier(knowledge={"grain": {"wheat": 1, "corn": 1}})
    >>> model.fit(texts, ["grain", "grain", "money", "money"]).predict(["wheat prices", "dollar falls"])
    array(['grain', 'money'], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "representation": [HasMethods(["fit_transform", "transform"]), None],
        "knowledge": [Mapping, HasMethods(["coef"]), None],
        "learner": [HasMethods(["fit", "predict"]), None],
        "decision": [HasMethods(["fit", "predict"]), None],
    }

    def __init__(self, representation: Any = None, *, knowledge: Any = None, learner: Any = None, decision: Any = None) -> None:
        self.representation = representation
        self.knowledge = knowledge
        self.learner = learner
        self.decision = decision

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from texts and labels.

        Parameters
        ----------
        X : list, array or column of n_texts strings
        y : array (n_texts,), or a 0/1 indicator matrix (n_texts, n_classes) for multilabel
        sample_weight : array (n_texts,), default=None
            Cost of each text, passed to the learner.
        """
        texts, y = as_texts(X), _as_labels(y)
        if y.shape[0] != len(texts):
            raise LabelError(f"There are {len(texts)} texts but {y.shape[0]} labels.")
        kernel = self._kernel()
        if kernel is None:
            self.representation_ = BagOfWords() if self.representation is None else clone(self.representation)
            matrix = self.representation_.fit_transform(texts, y)
        else:
            self.representation_, matrix = kernel, texts
        self._warn_of_double_use(texts)
        model = self._joined(self._prior(y))
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if weights and not has_fit_parameter(model, "sample_weight"):
            raise LabelError(f"sample_weight is given, but {type(model).__name__}.fit does not take it.")
        self.model_ = model.fit(matrix, y, **weights)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each text; an indicator matrix if it was trained on one."""
        matrix = self._represent(X)
        return self.model_.predict(matrix)

    @_last_part_has("decision_function")
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of each text."""
        matrix = self._represent(X)
        return self.model_.decision_function(matrix)

    @_last_part_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, where the learner gives them."""
        matrix = self._represent(X)
        return self.model_.predict_proba(matrix)

    @_last_part_has("loo_decision_function")
    def loo_decision_function(self) -> NDArray[np.float64]:
        """Scores of the training texts by the model trained on all others (see `PriorSVC`); the words are those of all texts."""
        check_is_fitted(self)
        return self.model_.loo_decision_function()

    def explain(self, text: str, target: Any = None) -> Explanation | KernelExplanation:
        """How much of a text's score each of its terms gave, or with a kernel, the subsequences it shares with other texts.

        Parameters
        ----------
        text : str
        target : class, default=None
            Whose score; default: the second class of two, else the class with the highest score.
        """
        row = self._represent([text])
        learner = self.model_ if self.decision is None else getattr(self.model_, "estimator_", self.model_)
        if not hasattr(learner, "explain"):
            raise TextmarginError(f"explain needs a learner that can tell, such as PriorSVC; {type(learner).__name__} cannot.")
        explanation = learner.explain(row if self._kernel() is None else text, target)
        if isinstance(explanation, KernelExplanation):
            return explanation
        if explanation.terms.dtype.kind == "i" and hasattr(self.representation_, "get_feature_names_out"):
            return replace(explanation, terms=self.representation_.get_feature_names_out()[explanation.terms])
        return explanation

    def disagreements(self, n: int = 10) -> list[Disagreement]:
        """The n terms of which knowledge and data disagree most (see `PriorSVC`): a tool to mend a list of words with."""
        check_is_fitted(self)
        learner = getattr(self.model_, "estimator_", self.model_)
        if not hasattr(learner, "disagreements"):
            raise TextmarginError(f"disagreements needs a learner with a prior; {type(learner).__name__} has none.")
        names = self.representation_.get_feature_names_out()
        return [
            found if isinstance(found.term, str) else replace(found, term=names[found.term]) for found in learner.disagreements(n)
        ]

    def _represent(self, X: Any) -> Any:
        check_is_fitted(self)
        texts = as_texts(X)
        return self.representation_.transform(texts) if self._kernel() is None else texts

    def _kernel(self) -> Any:
        """The kernel by which the learner compares texts as they are; None if it takes a matrix."""
        own = [value for name, value in self._slots_of_learner() if name.endswith("kernel") and _compares_texts(value)]
        if own:
            if self.representation is not None:
                raise TextmarginError("Both the representation and the learner's kernel take texts; leave one of them out.")
            return own[0]
        if not _compares_texts(self.representation):
            return None
        machines = [value for _, value in self._slots_of_learner() if isinstance(value, KernelSVC)]
        if any(machine.kernel != "linear" for machine in machines):
            raise TextmarginError(
                f"The representation is a kernel, but the learner has its own: kernel={machines[0].kernel!r}; leave one out."
            )
        return self.representation if self.learner is None or machines else None

    def _slots_of_learner(self) -> list[tuple[str, Any]]:
        """The learner and all that is inside it, with their names as parameters."""
        if self.learner is None:
            return []
        inside = self.learner.get_params() if hasattr(self.learner, "get_params") else {}
        return [("", self.learner), *inside.items()]

    def _joined(self, prior: Any = None) -> Any:
        """The learner with its prior, inside the decision."""
        learner = self._learner()
        if prior is not None:
            learner.set_params(prior=prior)
        return learner if self.decision is None else clone(self.decision).set_params(estimator=learner)

    def _learner(self) -> Any:
        kernel = self._kernel()
        if kernel is None:
            return PriorSVC() if self.learner is None else clone(self.learner)
        if self.learner is None:
            return KernelSVC(clone(kernel))
        places = [name for name, value in self._slots_of_learner() if isinstance(value, KernelSVC)]
        return clone(self.learner).set_params(**{f"{name}__kernel".removeprefix("__"): clone(kernel) for name in places})

    def _prior(self, y: Any) -> Any:
        """Knowledge, or a prior that names terms, aligned with the representation's terms; None if there is neither."""
        learner = self._learner()
        own = getattr(learner, "prior", None)
        if self.knowledge is None:
            known = own if isinstance(own, Mapping) else None
        elif "prior" not in learner.get_params():
            raise PriorError(
                f"knowledge needs a learner with a 'prior' parameter, such as PriorSVC; {type(learner).__name__} has none"
                f"{', but takes a score per text: prior_scores' if hasattr(learner, 'prior_scores') else ''}."
            )
        elif own is not None:
            raise PriorError("Both knowledge and the learner's own prior are given; choose one.")
        else:
            known = self.knowledge
        if known is None:
            return None
        labels = Labels.read(y, np.ones(y.shape[0]), type(self).__name__)
        terms = self.representation_.get_feature_names_out()
        if not isinstance(known, Mapping):
            known = (clone(known) if isinstance(known, BaseEstimator) else known).coef(terms, labels.classes)
        # Not strict: in cross-validation a fold may well lack every word that is known of some class.
        return align_prior(known, labels.classes, labels.n_problems, len(terms), terms, strict=False)

    def _warn_of_double_use(self, texts: list[str]) -> None:
        """Leave-one-out scores flatter knowledge that was learnt from the same labelled texts."""
        if not hasattr(self.knowledge, "sources") or getattr(self._learner(), "trust", None) != "auto":
            return
        sources = self.knowledge.sources()
        n_shared = sum(text in sources for text in texts)
        if n_shared:
            warnings.warn(
                f"{type(self.knowledge).__name__} was learnt from {n_shared} of the {len(texts)} training texts, so that these "
                f"flatter it and trust='auto' may believe it too readily; learn it from other texts, or set the trust "
                f"yourself.",
                TextmarginWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags


def _compares_texts(kernel: Any) -> bool:
    return hasattr(kernel, "over")


def _as_labels(y: Any) -> Any:
    """Labels from a list, an array, a sparse indicator, or a pandas or polars column."""
    if y is None:
        raise LabelError("There are no labels: y is None.")
    return y if sp.issparse(y) else np.asarray(y)
