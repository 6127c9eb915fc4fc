"""The four slots of a `TextClassifier`, joined: which kernel, learner, prior and decision they come to.

Slots that are None have defaults; a kernel on texts may stand in the representation or in the learner; knowledge becomes the
learner's prior; the learner goes inside the decision.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ._typing import Floats
from .decisions.threshold import ThresholdClassifier
from .errors import LabelError, PriorError, TextmarginError, TextmarginWarning
from .knowledge.keywords import KeywordPrior
from .knowledge.vocabulary import KnowledgeBase
from .labels import ClassLabels
from .learners.kernel import KernelSVC
from .learners.primal import PriorSVC
from .learners.prior import align_prior
from .representations.bow import BagOfWords


@dataclass(frozen=True)
class Slots:
    """What a `TextClassifier` was given."""

    representation: Any
    knowledge: Any
    learner: Any
    decision: Any

    def check(self) -> None:
        """An error for a class where an object of it should be."""
        for name, slot in vars(self).items():
            if isinstance(slot, type):
                raise TextmarginError(f"{name} is the class {slot.__name__} itself; write {name}={slot.__name__}().")

    def default(self, slot: str) -> Any:
        """What stands for a slot that is None."""
        if slot == "representation":
            return BagOfWords()
        if slot == "decision":
            return ThresholdClassifier()
        return PriorSVC() if self.kernel() is None else KernelSVC()

    def kernel(self) -> Any:
        """The kernel by which the learner compares texts as they are; None if it takes a matrix."""
        own = [value for name, value in self._inside_learner() if name.endswith("kernel") and _compares_texts(value)]
        if own:
            if self.representation is not None:
                raise TextmarginError("Both the representation and the learner's kernel take texts; leave one of them out.")
            return own[0]
        if not _compares_texts(self.representation):
            return None
        machines = [value for _, value in self._inside_learner() if isinstance(value, KernelSVC)]
        if any(machine.kernel != "linear" for machine in machines):
            raise TextmarginError(
                f"The representation is a kernel, but the learner has its own: kernel={machines[0].kernel!r}; leave one out."
            )
        return self.representation if self.learner is None or machines else None

    def new_learner(self) -> Any:
        """The learner, with the kernel that it compares texts by."""
        kernel = self.kernel()
        if kernel is None:
            return PriorSVC() if self.learner is None else clone(self.learner)
        if self.learner is None:
            return KernelSVC(clone(kernel))
        places = [name for name, value in self._inside_learner() if isinstance(value, KernelSVC)]
        return clone(self.learner).set_params(**{f"{name}__kernel".removeprefix("__"): clone(kernel) for name in places})

    def assemble(self, learner: Any, positive: Any = None) -> Any:
        """The learner inside the decision, which hears which of two classes is looked for.

        Without one, a learner that has held-out scores decides as it would alone, and these can be had.
        """
        if self.decision is None and not hasattr(learner, "held_out_method"):
            return learner
        own = ThresholdClassifier(rule="zero") if self.decision is None else clone(self.decision)
        decision = own.set_params(estimator=learner)
        own = getattr(decision, "pos_label", None)
        if None not in (own, positive) and own != positive:
            raise LabelError(f"positive={positive!r}, but the decision has pos_label={own!r}; give one of them.")
        hears = positive is not None and "pos_label" in decision.get_params(deep=False)
        return decision.set_params(pos_label=positive) if hears else decision

    def new_representation(self) -> Any:
        """The representation, which has the words that knowledge names among its terms, whatever the texts have."""
        words = BagOfWords() if self.representation is None else clone(self.representation)
        known = _with_keywords(self.knowledge)
        if not isinstance(words, BagOfWords) or words.vocabulary is not None or not isinstance(known, KnowledgeBase):
            return words
        return words.set_params(extra_terms=sorted({*words.extra_terms, *known.words(words.build_keyword_analyzer())}))

    def prior(self, learner: Any, representation: Any, labels: ClassLabels, matrix: Any) -> Floats | None:
        """Knowledge, or a prior that names terms, aligned with the representation's terms; None if there is neither.

        Parameters
        ----------
        learner, representation, labels : what takes it, and what it is about
        matrix : sparse matrix (n_texts, n_terms)
            The training texts, which may lack terms.
        """
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
        terms, names = representation.get_feature_names_out(), labels.names
        known = _with_keywords(known)
        if not isinstance(known, Mapping):
            own = clone(known) if isinstance(known, BaseEstimator) else known
            if isinstance(own, KnowledgeBase) and isinstance(representation, BagOfWords):
                unseen = frozenset(terms[np.bincount(matrix.indices, minlength=len(terms)) == 0])
                known = own.coef(terms, names, representation.build_keyword_analyzer(), unseen)
            else:
                known = own.coef(terms, names)
        # Not strict: in cross-validation a fold may well lack every word that is known of some class.
        return align_prior(known, names, labels.n_problems, len(terms), terms, strict=False)

    def warn_of_double_use(self, learner: Any, texts: list[str]) -> None:
        """Held-out scores flatter knowledge that was learnt from the same labelled texts."""
        if not hasattr(self.knowledge, "sources") or getattr(learner, "trust", None) != "auto":
            return
        sources = self.knowledge.sources()
        n_shared = sum(text in sources for text in texts)
        if n_shared:
            warnings.warn(
                f"{type(self.knowledge).__name__} was learnt from {n_shared} of the {len(texts)} training texts, so that these "
                f"flatter it and trust='auto' may believe it too readily; learn it from other texts, or set the trust "
                f"yourself.",
                TextmarginWarning,
                stacklevel=4,
            )

    def _inside_learner(self) -> list[tuple[str, Any]]:
        """The learner and all that is inside it, with their names as parameters."""
        if self.learner is None:
            return []
        inside = self.learner.get_params() if hasattr(self.learner, "get_params") else {}
        return [("", self.learner), *inside.items()]


def _compares_texts(kernel: Any) -> bool:
    return hasattr(kernel, "over")


def _with_keywords(known: Any) -> Any:
    """A mapping from classes to words as what it stands for; anything else as it is."""
    return KeywordPrior(known) if _names_words(known) else known


def _names_words(known: Any) -> bool:
    """Whether knowledge maps classes to words, as `KeywordPrior` takes them."""
    if not isinstance(known, Mapping) or not known:
        return False
    return all(
        isinstance(words, Mapping)
        or (isinstance(words, list | tuple | set | frozenset | str) and all(isinstance(word, str) for word in words))
        for words in known.values()
    )
