"""Texts without labels in a `TextClassifier`: what it learns from them, or that it leaves them aside.

The words are those of all texts. Knowledge becomes priors over them, and keywords spread to the words that
keep their company (`knowledge/spread.py`); which of it is believed, and whether the unlabelled texts are
learnt from, `learners/semi_supervised.py` decides. The learner then learns from the labelled texts and the
guesses, with the priors held as they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import has_fit_parameter

from ._cross_fitting import TrainingTexts
from ._slots import KnownWeights, Slots
from ._system.stages import stage
from ._system.wording import quantity
from ._typing import Bools, Floats
from .decisions.held_out import HeldOutRows
from .decisions.threshold import ThresholdClassifier
from .errors import LabelError, PriorError, TextmarginError, TextmarginWarning
from .knowledge.keywords import KeywordPrior
from .knowledge.spread import WordVectors, spread
from .labels import ClassLabels, Indicator, listed, shorten
from .learners.evidence import Verdict
from .learners.primal import PriorSVC
from .learners.prior import align_prior
from .learners.problem import median_length
from .learners.self_training import WEIGHT, Pool, SelfTraining
from .learners.semi_supervised import Belief, WordHalves, agree, believe, split_words
from .learners.trust import Solver
from .representations.bow import BagOfWords

NEAR = "words near "  # in the title of what keywords spread to
_TOL = 1e-2  # of the rounds: what they choose does not hang on more


@dataclass(frozen=True)
class Learnt:
    """What was learnt, or None for the model where the unlabelled texts are left aside.

    Attributes
    ----------
    representation, model : fitted
    knowledge : list of str, the title of each prior
    verdicts : list of Verdict
    shares : array (n_classes,)
    X : the unlabelled texts, in columns
    """

    representation: Any
    model: Any
    knowledge: list[str]
    verdicts: list[Verdict]
    shares: Floats | None
    X: Any


@dataclass(frozen=True)
class SemiSupervised:
    """A fit to texts of which some have labels.

    Attributes
    ----------
    slots : Slots
    labels : ClassLabels
    texts : list of str, first those with labels, then those without
    target : the labels of the first, encoded
    weight : array, their weights
    shares : mapping class → share, or None
    positive : of two classes the one that is looked for, or None
    """

    slots: Slots
    labels: ClassLabels
    texts: list[str]
    target: Any
    weight: Floats
    shares: Mapping[Any, float] | None
    positive: Any

    def fit(self) -> Learnt:
        """Learn from all texts, or find that the unlabelled ones do not help."""
        slots, labels, n = self.slots, self.labels, len(self.target)
        learner = slots.new_learner()
        if slots.kernel() is not None or not isinstance(learner, PriorSVC):
            raise TextmarginError(
                "Unlabelled texts are learnt from by words in columns and PriorSVC; with another learner, "
                "or a kernel on texts, "
                "leave them out."
            )
        self._require_weights(learner)
        own = TrainingTexts(self.texts[:n])
        learnt = [
            kind for kind in slots.kinds() if hasattr(kind, "differences") or own.learnt_from(kind).any()
        ]
        if learnt:
            return self._leave_aside(learnt[0])
        representation = slots.new_representation()
        # a copy of a text that has a label is no text without one
        place = {text: row for row, text in enumerate(self.texts[:n])}
        rest = list(dict.fromkeys(text for text in self.texts[n:] if text not in place))
        place |= {text: n + row for row, text in enumerate(rest)}
        self._require_texts(rest)
        with stage(f"turning {n + len(rest):,} texts into columns"):
            X = _fit_transform(representation, [*self.texts[:n], *rest])
        known = slots.prior(learner, representation, labels, X)
        named = (
            align_prior(learner.prior, labels.names, labels.n_problems, X.shape[1])
            if known is None
            else known.prior
        )
        add_near = None if known is None else self._spread(known, representation, X)
        priors = named if add_near is None else add_near(named)
        pool = self._pool(X, priors)
        training = SelfTraining(
            learner.C,
            Solver(learner.trust_strength, _TOL, learner.max_iter, learner.n_jobs),
            fit_intercept=learner.fit_intercept,
        )
        row_size = median_length(X, np.ones(X.shape[0], dtype=bool)) or 1.0  # of texts without a word, any
        with stage(f"learning from {len(rest):,} unlabelled texts"):
            belief = believe(training, pool, priors, row_size)
            agreement = None
            if belief.held_out is None and belief.guess is not None and add_near is not None:
                halves = [add_near(half) for half in split_words(named)]
                agreement = agree(training, pool, belief.guess.shares, halves, row_size)
        titles = ["prior"] * named.shape[1] if known is None else known.knowledge
        verdicts = [_with_title(one, titles) for one in belief.verdicts]
        unlabelled = X[[place[text] for text in self.texts[n:]]]
        if belief.guess is None:
            return Learnt(representation, None, titles, verdicts, None, unlabelled)
        self._tell_shares(pool.shares, belief.guess.shares)
        near = [j for j in range(len(titles)) if ((priors[:, j] != 0) & (named[:, j] == 0)).any()]
        columns = [
            np.where(named != 0, belief.priors, 0.0),
            np.where(named != 0, 0.0, belief.priors)[:, near],
        ]
        learner.set_params(prior=np.concatenate(columns, axis=1), trust="fixed")
        model = self._model(learner, belief, agreement, X)
        return Learnt(
            representation,
            model,
            [*titles, *(NEAR + titles[j] for j in near)],
            verdicts,
            belief.guess.shares,
            unlabelled,
        )

    def _require_weights(self, learner: Any) -> None:
        """An error where guesses could not count for less than labels."""
        model = self.slots.assemble(learner)
        if not has_fit_parameter(model, "sample_weight"):
            raise TextmarginError(
                f"Guesses at unlabelled texts weigh less than labels, but {type(model).__name__}.fit "
                "takes no sample_weight. "
                f"Decide by a ThresholdClassifier, or leave the unlabelled texts out."
            )

    def _require_texts(self, rest: list[str]) -> None:
        """An error where there are fewer different texts than classes that no text is labelled."""
        if self.labels.multilabel:
            return
        n_classes = self.labels.names.size - len(set(self.target.tolist()))
        if len(rest) < n_classes:
            which = " without a label" if len(self.target) else ""
            raise LabelError(
                f"There are {n_classes} classes{which} but {quantity(len(rest), 'different text')}{which}: "
                f"give more texts, or name fewer classes."
            )

    def _leave_aside(self, kind: Any) -> Learnt:
        """Knowledge that was learnt from labelled texts would have to be learnt again without each text that
        weighs it.
        """
        if not len(self.target):
            raise PriorError(
                f"{type(kind).__name__} needs labelled texts; these have no labels. Give keywords, or "
                "label some."
            )
        warnings.warn(
            f"{type(kind).__name__} was learnt from the labelled texts, beside which unlabelled ones are "
            "not weighed: they are "
            f"left aside.",
            TextmarginWarning,
            stacklevel=5,
        )
        return Learnt(
            None, None, [], [Verdict(None, None, "dropped", 0.0, 0.0, "unlabelled texts")], None, None
        )

    def _spread(self, known: KnownWeights, representation: Any, X: Any) -> Callable[[Floats], Floats]:
        """What adds to priors (n_problems, n_priors, n_terms) the words near their keywords."""
        # a prior's, and the words that it must not reach
        vectors: list[tuple[WordVectors, Bools] | None] = []
        with stage("words that keep company"):
            for kind in known.kinds:
                own: tuple[WordVectors, Bools] | None = None
                if isinstance(kind.kind, KeywordPrior):
                    path = kind.kind.word_vectors
                    terms = representation.get_feature_names_out()
                    near = WordVectors.of(X) if path is None else WordVectors.from_file(path, terms)
                    own = (
                        near,
                        _struck(kind.kind, representation, self.labels) | (kind.prior != 0).any(axis=1),
                    )
                vectors += [own] * kind.prior.shape[1]

        def add(priors: Floats) -> Floats:
            wider = priors.copy()
            for j, own in enumerate(vectors):
                if own is not None:
                    weights = priors[:, j]
                    wider[:, j] += np.where(own[1], 0.0, spread(weights, own[0]))
                    # words for the first of two classes speak against the second
                    if self.labels.kind == "binary":
                        wider[:, j] -= np.where(own[1], 0.0, spread(-weights, own[0]))
            return wider

        return add

    def _pool(self, X: Any, priors: Floats) -> Pool:
        labels, n = self.labels, len(self.target)
        signs = np.zeros((X.shape[0], labels.n_problems), dtype=np.int8)
        if n:
            member = labels.membership(self.target)
            signs[:n] = np.where(member[:, 1:] if labels.kind == "binary" else member, 1, -1)
        weight = np.concatenate([self.weight, np.ones(X.shape[0] - n)])
        pool = Pool(X, signs, weight, np.zeros((labels.n_problems, X.shape[1])), labels, self._shares())
        self._require_knowledge(pool, priors)
        return pool

    def _require_knowledge(self, pool: Pool, priors: Floats) -> None:
        """An error where nothing tells a class from the others: at most one may be what the others are
        not.
        """
        labels = self.labels
        speaks = np.asarray((pool.X @ priors.sum(axis=1).T != 0).any(axis=0))
        unknown = np.flatnonzero(
            ~speaks & ~(pool.signs > 0).any(axis=0) & ~((labels.kind == "binary") & pool.signs.any(axis=0))
        )
        names = [labels.name(k) for k in unknown.tolist()]
        if unknown.size and labels.kind == "binary":
            if (pool.X @ np.abs(priors).sum(axis=1).T != 0).any():
                raise PriorError(
                    f"What is known of {' and of '.join(map(repr, labels.names.tolist()))} cancels out: "
                    "in every text the same "
                    f"weight speaks for both. Give each class words of its own, or label some texts."
                )
            raise PriorError(
                "No text has a label, or a word of those that are known. Give words that stand in them, "
                "or label some."
            )
        if unknown.size > (0 if labels.multilabel else 1):
            raise PriorError(
                f"Nothing tells {shorten(names)} from other texts: no text is labelled so, and none has a "
                "word that is known of "
                f"{'it' if len(names) == 1 else 'them'}. Give words that stand in the texts, or label one "
                "text at least."
            )
        if unknown.size:
            warnings.warn(
                f"Nothing is known of {names[0]!r}: it starts from the texts in which no word of another "
                "class stands. Give it "
                f"words, or a labelled text.",
                TextmarginWarning,
                stacklevel=5,
            )

    def _shares(self) -> Floats | None:
        """Of each class, where they are given; NaN for those that are not, unless what is left is all
        theirs.
        """
        if not self.shares:
            return None
        labels, given = self.labels, self.labels.respell(self.shares)
        names = labels.names.tolist()
        for name, share in given.items():
            if name not in names:
                raise LabelError(
                    f"shares names {name!r}, which is not among the classes: {listed(name, names)}"
                )
            if not isinstance(share, Real) or isinstance(share, bool) or not 0 < float(share) < 1:
                raise LabelError(f"The share of {name!r} must be between 0 and 1; got {share!r}.")
        missing = [name for name in names if name not in given]
        if labels.multilabel:
            if missing:
                raise LabelError(
                    f"shares must name every label where a text may have several; {missing[0]!r} is missing."
                )
            return np.array([float(given[name]) for name in names])
        left = 1.0 - sum(float(share) for share in given.values())
        if left <= 0 if missing else abs(left) > 1e-9:
            raise LabelError(
                f"The shares of {shorten(list(given))} add up to {1 - left:.3g}; those of all classes are 1."
            )
        return np.array([float(given.get(name, left if len(missing) == 1 else np.nan)) for name in names])

    def _tell_shares(self, given: Floats | None, used: Floats) -> None:
        """A warning where others were learnt with than those that were given."""
        if given is None or np.nanmax(np.abs(used - given)) < 1e-9:
            return
        shown = ", ".join(
            f"{name} {share:.0%}"
            for name, share, told in zip(
                self.labels.names.tolist(), used.tolist(), given.tolist(), strict=True
            )
            if not np.isnan(told)
        )
        warnings.warn(
            "Learning with the shares that were given would take the decisions on the unlabelled texts "
            "further from them: "
            f"learnt with {shown}.",
            TextmarginWarning,
            stacklevel=5,
        )

    def _model(self, learner: Any, belief: Belief, agreement: WordHalves | None, X: Any) -> Any:
        """The learner, inside the decision, fitted to labelled texts and guesses."""
        labels, n = self.labels, len(self.target)
        assert belief.guess is not None
        signs = belief.guess.signs
        rows = np.flatnonzero(signs.any(axis=1))
        weight = np.concatenate([self.weight, np.full(X.shape[0] - n, WEIGHT)])[rows]
        held_out = None
        if belief.held_out is not None:
            # labelled texts come first in both
            held_out = HeldOutRows(belief.held_out.rows, belief.held_out.scores)
        elif agreement is not None:
            held_out = HeldOutRows(np.arange(rows.size), agreement.scores[rows], agreement.member[rows])
        positive = self.positive
        if (
            positive is None
            and labels.kind == "binary"
            and getattr(self.slots.decision, "pos_label", None) is None
        ):
            positive = labels.names.tolist()[labels.positive]  # not the rarer of the guesses
        model = self.slots.assemble(learner, positive)
        honest = (
            {"held_out": held_out} if isinstance(model, ThresholdClassifier) and held_out is not None else {}
        )
        with stage(f"training {labels.names.size} labels"):
            return model.fit(X[rows], _target(labels, signs[rows]), sample_weight=weight, **honest)


def _fit_transform(representation: Any, texts: list[str]) -> Any:
    """Texts in columns; somebody else's representation may be learnt from labels, which fails in words of its
    own.
    """
    try:
        return sp.csr_array(representation.fit_transform(texts))
    except (TypeError, ValueError) as error:
        if isinstance(representation, BagOfWords):
            raise
        raise TextmarginError(
            f"The representation, {type(representation).__name__}, cannot be fitted without labels: "
            f"{str(error).rstrip('.')}. "
            f"If it needs labels, take one that does not, or leave the unlabelled texts out."
        ) from error


def warn_of_guesses() -> None:
    """Where costs meet a model without labels."""
    warnings.warn(
        "No text has a label: thresholds and probabilities rest on guesses, on how far models of half the "
        "words agree. Label "
        "some texts before mistakes cost anything.",
        TextmarginWarning,
        stacklevel=4,
    )


def _target(labels: ClassLabels, signs: Any) -> Any:
    """Signs (n_texts, n_problems) as estimators take labels."""
    if labels.multilabel:
        return Indicator((signs > 0).astype(np.int8), labels.names)
    columns = np.column_stack([signs < 0, signs > 0]) if labels.kind == "binary" else signs > 0
    return labels.names[columns.argmax(axis=1)]


def _struck(kind: KeywordPrior, representation: Any, labels: ClassLabels) -> Bools:
    """The words that are named with weight 0, (n_problems, n_terms): nothing spreads to them."""
    terms = representation.get_feature_names_out()
    place = {term: j for j, term in enumerate(terms)}
    struck = np.zeros((labels.n_problems, len(terms)), dtype=bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextmarginWarning)
        analyze = (
            representation.build_keyword_analyzer() if isinstance(representation, BagOfWords) else str.split
        )
        matches = kind.match_vocabulary(terms, labels.names, analyze)
    for match in matches:
        k = 0 if labels.kind == "binary" else labels.index(match.target)
        struck[k, [place[term] for term, weight in match.terms.items() if weight == 0]] = True
    return struck


def _with_title(one: Verdict, titles: list[str]) -> Verdict:
    return replace(one, knowledge="unlabelled texts" if one.prior is None else titles[one.prior])
