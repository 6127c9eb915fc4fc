"""The four slots of a `TextClassifier`, joined: which kernel, learner, prior and decision they come to.

Slots that are None have defaults; a kernel on texts may stand in the representation or in the learner;
knowledge becomes the learner's prior; the learner goes inside the decision.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ._cross_fitting import KindPrior, TrainingTexts, contrasts_of, cross_fit, warn_of_double_use
from ._label_forms import label_names
from ._sklearn import term_names
from ._typing import Floats
from .decisions.threshold import ThresholdClassifier
from .errors import LabelError, PriorError, TextmarginError
from .knowledge.keywords import KeywordPrior
from .knowledge.vocabulary import KnowledgeBase
from .labels import ClassLabels
from .learners.kernel import KernelSVC
from .learners.matrix import column_presence
from .learners.primal import PriorSVC
from .learners.prior import align_prior
from .representations.bow import BagOfWords

_SLIP = 0.9  # names that are alike by more are one, spelled in two ways


@dataclass(frozen=True)
class KnownWeights:
    """What all kinds of knowledge come to: a prior's weights, and which knowledge each column of priors comes
    from.
    """

    kinds: list[KindPrior]
    knowledge: list[str]  # (n_priors,)

    @property
    def prior(self) -> Floats:
        """(n_problems, n_priors, n_terms)."""
        return np.concatenate([one.prior for one in self.kinds], axis=1)


@dataclass(frozen=True)
class Slots:
    """What a `TextClassifier` was given."""

    representation: Any
    knowledge: Any
    learner: Any
    decision: Any

    def check(self) -> None:
        """An error for a class where an object of it should be, and for what is none of its slot."""
        for name, slot in vars(self).items():
            if isinstance(slot, type):
                raise TextmarginError(
                    f"{name} is the class {slot.__name__} itself; write {name}={slot.__name__}()."
                )
        if self.decision is not None and "estimator" not in self.decision.get_params(deep=False):
            raise TextmarginError(
                f"decision is {self.decision!r:.60}, which goes around no learner; give one with an "
                "estimator parameter, such as "
                f"ThresholdClassifier(), and put a classifier into learner=."
            )
        for number, kind in enumerate(self.knowledge if isinstance(self.knowledge, list | tuple) else []):
            if isinstance(kind, type) or not (isinstance(kind, Mapping) or hasattr(kind, "coef")):
                raise PriorError(
                    f"knowledge[{number}] is {kind!r:.60}; each kind of knowledge is a mapping class → "
                    "words, a mapping word → "
                    f"weight, or an object with coef, such as KeywordPrior(...)."
                )

    def default(self, slot: str) -> Any:
        """What stands for a slot that is None."""
        if slot == "representation":
            return BagOfWords()
        if slot == "decision":
            return ThresholdClassifier()
        return PriorSVC() if self.kernel() is None else KernelSVC()

    def kernel(self) -> Any:
        """The kernel by which the learner compares texts as they are; None if it takes a matrix."""
        own = [
            value
            for name, value in self._inside_learner()
            if name.endswith("kernel") and _compares_texts(value)
        ]
        if own:
            if self.representation is not None:
                raise TextmarginError(
                    "Both the representation and the learner's kernel take texts; leave one of them out."
                )
            return own[0]
        if not _compares_texts(self.representation):
            return None
        machines = [value for _, value in self._inside_learner() if isinstance(value, KernelSVC)]
        if any(machine.kernel != "linear" for machine in machines):
            raise TextmarginError(
                "The representation is a kernel, but the learner has its own: "
                f"kernel={machines[0].kernel!r}; leave one out."
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
        return clone(self.learner).set_params(
            **{f"{name}__kernel".removeprefix("__"): clone(kernel) for name in places}
        )

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
            raise LabelError(
                f"positive={positive!r}, but the decision has pos_label={own!r}; give one of them."
            )
        hears = positive is not None and "pos_label" in decision.get_params(deep=False)
        return decision.set_params(pos_label=positive) if hears else decision

    def new_representation(self) -> Any:
        """The representation, which has the words that knowledge names among its terms, whatever the texts
        have.
        """
        words = BagOfWords() if self.representation is None else clone(self.representation)
        bases = [kind for kind in self.kinds() if isinstance(kind, KnowledgeBase)]
        if not isinstance(words, BagOfWords) or words.vocabulary is not None or not bases:
            return words
        analyze = words.build_keyword_analyzer()
        return words.set_params(
            extra_terms=sorted({*words.extra_terms, *(word for one in bases for word in one.words(analyze))})
        )

    def kinds(self) -> list[Any]:
        """Each kind of knowledge by itself, a mapping from classes to words as the keywords it stands for."""
        given = self.knowledge if isinstance(self.knowledge, list | tuple) else [self.knowledge]
        return [_with_keywords(kind) for kind in given if kind is not None]

    def named_classes(self, y: Any, classes: Sequence[Any] | None = None) -> list[Any]:
        """The classes that knowledge speaks of; an error for one that looks like a slip of the pen for a
        label.

        A label that knowledge names as well was not misspelt, nor is a name one that `classes` has.
        """
        names = list(
            dict.fromkeys(
                name for kind in self.kinds() if isinstance(kind, KnowledgeBase) for name in kind.classes()
            )
        )
        spelled, given = (
            [str(name) for name in names],
            list(dict.fromkeys([] if y is None else label_names(y))),
        )
        others = [name for name in given if name not in spelled]
        known = {*given, *map(str, classes if classes is not None else [])}
        for name in (name for name in spelled if name not in known):
            meant = next((other for other in others if _is_slip(name, other)), None)
            if meant is not None:
                raise PriorError(
                    f"knowledge names {name!r}, which no text is labelled. Did you mean {meant!r}? If it "
                    "is a class of its "
                    f"own, name it in classes=[...], or label a text so."
                )
        return names

    def prior(
        self, learner: Any, representation: Any, labels: ClassLabels, matrix: Any
    ) -> KnownWeights | None:
        """All knowledge, or a prior that names terms, aligned with the representation's terms; None if there
        is neither.

        A column of priors is of one kind whatever the class; of two classes, a kind that knows both has two.

        Parameters
        ----------
        learner, representation, labels : what takes it, and what it is about
        matrix : sparse matrix or BlockMatrix (n_texts, n_terms)
            The training texts, which may lack terms.
        """
        own, kinds = getattr(learner, "prior", None), self.kinds()
        if not kinds:
            kinds = [_with_keywords(own)] if isinstance(own, Mapping) else []
        elif "prior" not in learner.get_params():
            raise PriorError(
                "knowledge needs a learner with a 'prior' parameter, such as PriorSVC; "
                f"{type(learner).__name__} has none"
                f"{', but takes a score per text: prior_scores' if hasattr(learner, 'prior_scores') else ''}."
            )
        elif own is not None:
            raise PriorError("Both knowledge and the learner's own prior are given; choose one.")
        if not kinds:
            return None
        parts = [_align(kind, representation, labels, matrix) for kind in kinds]
        columns = [
            title
            for title, part in zip(_titles(kinds), parts, strict=True)
            for _ in range(part.prior.shape[1])
        ]
        return KnownWeights(parts, columns)

    def fit_params(
        self,
        model: Any,
        known: KnownWeights | None,
        representation: Any,
        labels: ClassLabels,
        texts: TrainingTexts,
        target: Any,
    ) -> dict[str, Any]:
        """What else a learner's `fit` is told of knowledge that was learnt from texts, or is made of them.

        Parameters
        ----------
        model : the learner, inside the decision if there is one
        known : what `prior` gave
        representation, labels : what the knowledge is about
        texts, target : what is learnt from
        """
        learner = getattr(model, "estimator", model)
        if known is None:
            return {}
        if isinstance(learner, PriorSVC) and isinstance(model, PriorSVC | ThresholdClassifier):
            found = {
                "prior_folds": cross_fit(known.kinds, labels.membership(target), texts),
                "contrasts": contrasts_of(self.kinds(), representation.transform, labels, texts),
            }
            return {name: value for name, value in found.items() if value is not None}
        for kind in self.kinds():
            if hasattr(kind, "differences"):
                raise PriorError(
                    f"{type(kind).__name__} needs PriorSVC, alone or in a ThresholdClassifier; got "
                    f"{model!r:.60}."
                )
            part = texts.learnt_from(kind)
            if part.any() and getattr(learner, "trust", None) == "auto":
                warn_of_double_use(
                    kind, part, "these flatter it, so that trust='auto' may believe it too readily"
                )
        return {}

    def _inside_learner(self) -> list[tuple[str, Any]]:
        """The learner and all that is inside it, with their names as parameters."""
        if self.learner is None:
            return []
        inside = self.learner.get_params() if hasattr(self.learner, "get_params") else {}
        return [("", self.learner), *inside.items()]


def _is_slip(name: str, other: str) -> bool:
    """Whether a name is another, but for a letter or two, or their order."""
    return sorted(name) == sorted(other) or difflib.SequenceMatcher(None, name, other).ratio() >= _SLIP


def _compares_texts(kernel: Any) -> bool:
    return hasattr(kernel, "over")


def _align(known: Any, representation: Any, labels: ClassLabels, matrix: Any) -> KindPrior:
    """One kind of knowledge in the columns of the representation."""
    terms, names = term_names(representation), labels.names
    if terms is None and not _is_by_column(known):
        raise PriorError(
            f"knowledge is about words, and the columns of {type(representation).__name__} have no names "
            f"(get_feature_names_out); use BagOfWords, or a vectoriser that keeps its words."
        )

    def weights_of(kind: Any) -> Any:
        if isinstance(kind, Mapping) or terms is None:
            return kind
        if isinstance(kind, KnowledgeBase) and isinstance(representation, BagOfWords):
            unseen = frozenset(terms[~column_presence(matrix)])
            return kind.coef(terms, names, representation.build_keyword_analyzer(), unseen)
        return kind.coef(terms, names)

    def align(weights: Any) -> Floats:
        # Not strict: in cross-validation a fold may well lack every word that is known of some class.
        return align_prior(weights, names, labels.n_problems, matrix.shape[1], terms, strict=False)

    def align_like(kind: Any) -> Floats:
        """With a prior for every class that has one, also where nothing is left to say of it."""
        rest = weights_of(kind)
        return align(
            {name: rest.get(name, np.zeros(matrix.shape[1])) for name in weights}
            if isinstance(rest, Mapping)
            else rest
        )

    own = clone(known) if isinstance(known, BaseEstimator) else known
    weights = weights_of(own)
    return KindPrior(own, align(weights), align_like)


def _is_by_column(known: Any) -> bool:
    """Whether it is a weight for each column, of each class."""
    return isinstance(known, Mapping) and not any(
        isinstance(weights, Real | Mapping) for weights in known.values()
    )


def _titles(kinds: list[Any]) -> list[str]:
    """What each kind of knowledge is called; those of one name are numbered."""
    names = [
        kind.title
        if isinstance(kind, KnowledgeBase)
        else "weights"
        if isinstance(kind, Mapping)
        else type(kind).__name__
        for kind in kinds
    ]
    return [
        name if names.count(name) == 1 else f"{name} {names[: j + 1].count(name)}"
        for j, name in enumerate(names)
    ]


def _with_keywords(known: Any) -> Any:
    """A mapping from classes to words as what it stands for; anything else as it is."""
    return KeywordPrior(known) if _names_words(known) else known


def _names_words(known: Any) -> bool:
    """Whether knowledge maps classes to words, as `KeywordPrior` takes them."""
    if not isinstance(known, Mapping) or not known:
        return False
    return all(
        isinstance(words, Mapping)
        or (
            isinstance(words, list | tuple | set | frozenset | str)
            and all(isinstance(word, str) for word in words)
        )
        for words in known.values()
    )
