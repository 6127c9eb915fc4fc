"""From text to label: the four slots, and the names of the labels.

text ── representation ──▶ matrix ── learner, with knowledge ──▶ scores ── decision ──▶ label
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from numbers import Real
from operator import is_
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import __version__
from ._fitting import fit_labelled, weight_of_each, without_copies
from ._gathering import available_memory, gather, warn_of_sample
from ._label_forms import decode, describe_partly, encode, labelled_rows, take_labels
from ._sklearn import HasMethods, check_sample_weight, fit_context, serial_diagram, term_names
from ._slots import Slots
from ._system.collections import in_memory
from ._ties import descending_order
from ._typing import Bools, Floats
from ._unlabelled import NEAR, SemiSupervised, warn_of_guesses
from .decider import Decider
from .decisions.estimate import Estimate, estimate
from .decisions.held_out import score_columns
from .decisions.rule import DecisionRule
from .decisions.scores import HeldOutScores
from .decisions.threshold import ThresholdClassifier
from .errors import EmptyVocabularyError, LabelError, NotTextError, ScoreError, TextmarginError
from .labels import ClassLabels, Decisions
from .learners.evidence import Disagreement, Verdict
from .learners.explanation import Explanation, KernelExplanation
from .learners.kernel import KernelSVC
from .learners.primal import PriorSVC
from .learners.rocchio import Rocchio
from .persistence import save
from .records import fields_of, made_of, record
from .representations.bow import BagOfWords
from .representations.digests import Digests, text_digests
from .representations.linear_scores import LinearScorer
from .representations.text_parts import TextParts, as_parts
from .representations.texts import as_texts

_DECIDE_BY_SCORE = (PriorSVC, KernelSVC, Rocchio)
_LINEAR = (PriorSVC, Rocchio)


def _last_part_has(method: str) -> Any:
    """Whether the part that has the last word offers a method."""

    def check(self: TextClassifier) -> bool:
        getattr(
            self.model_ if hasattr(self, "model_") else self._slots.assemble(self._slots.new_learner()),
            method,
        )
        return True

    return available_if(check)


@record("classes_ labels_ representation_ model_ knowledge_ metadata_ text_digests_ _verdicts _shares")
class TextClassifier(ClassifierMixin, BaseEstimator):
    """Text in, labels out.

    Four slots, each with a default; each also takes the scikit-learn object of its kind. A slot that is None
    takes parameters of its default: `set_params(learner__C=0.1)`, or the same in a grid search.

    Parameters
    ----------
    representation : transformer or kernel on texts, default=None
        Texts to a matrix: `BagOfWords()` by default, or any scikit-learn vectoriser. With a string kernel
        here, or as the `kernel` of the learner, texts are compared as they are.
    knowledge : mapping, object with `coef(terms, classes)`, or list of these, default=None
        What is known of the words: a mapping class → list of words, or class → mapping word → weight, as
        `KeywordPrior` takes them; a mapping word → weight; or an object that gives weights for the
        representation's terms. It becomes the learner's `prior`. Of several kinds in a list each is weighed
        by itself.
    learner : classifier, default=None
        Matrix to scores: `PriorSVC()` by default, `KernelSVC()` for a kernel, or any scikit-learn classifier.
    decision : meta-estimator, default=None
        Scores to labels: an estimator with an `estimator` parameter, which is set to the learner, such as
        `ThresholdClassifier` or scikit-learn's `FixedThresholdClassifier`. By default the learner decides,
        within a `ThresholdClassifier(rule="zero")` where it has held-out scores, so that probabilities and
        costs can be had later.
    classes : sequence, default=None
        The names of an indicator matrix's columns. For other forms of labels, those there may be: others are
        an error.
    positive : class, default=None
        Of two classes the one that is looked for: utilities and floors speak of it. By default 1 of 0 and 1,
        or of −1 and 1, else the rarer; without any label, the one that something is known of.
    shares : mapping class → share, default=None
        How frequent each class is among unlabelled texts, from 0 to 1; guessed by default (`shares_`). Of one
        label a text, some classes may be left out. Where other shares bring the decisions nearer to the given
        ones, a warning says which were used.
    multilabel : bool, default=None
        Whether a text may have any number of labels, where no label tells.

    Attributes
    ----------
    classes_ : array (n_classes,)
        The names of the labels, in order.
    labels_ : ClassLabels
        What the labels are: their names, kind, which is positive, and the form they were given in.
    representation_ : the fitted representation; the kernel, where texts are compared as they are.
    model_ : the fitted learner, inside the decision if there is one.
    knowledge_ : list of str
        Which knowledge each of the learner's priors comes from, such as "keywords"; empty without any.
    metadata_ : dict
        What the model knows of itself, and what goes with it into a file: `n_texts` and `label_counts` of
        training, `versions`; whoever trains may add to it (`textmargin train`: `source`, `text_column`,
        `label_column`, `label_separator`).
    text_digests_ : array (n_different_texts,) of 64-bit numbers, in order, or None
        What `trained_on` knows the training texts by; None where they were forgotten, or too many.

    Examples
    --------
    >>> from textmargin import TextClassifier
    >>> texts = ["wheat and corn harvest", "corn exports fell", "bank raises rates", "rates and the dollar"]
    >>> model = TextClassifier(knowledge={"grain": ["wheat", "corn"]})
    >>> model.fit(texts, ["grain", "grain", "money", "money"]).predict(["wheat prices", "dollar falls"])
    array(['grain', 'money'], dtype='<U5')

    Any number of labels a text:

    >>> model = TextClassifier().fit(texts, [("grain",), ("grain", "trade"), ("money",), ("money", "trade")])
    >>> model.predict(["corn harvest"])[0]
    ('grain',)
    """

    _verdicts: list[Verdict]
    _shares: Floats | None
    _unlabelled: tuple[list[str] | None, Any] | None = None  # the texts, or their rows; not in a saved model
    _scorer: tuple[tuple[Any, ...], LinearScorer | None] = ((), None)  # what it was made from, and it
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "representation": [HasMethods(["fit_transform", "transform"]), None],
        "knowledge": [Mapping, HasMethods(["coef"]), list, tuple, None],
        "learner": [HasMethods(["fit", "predict", "get_params"]), None],
        "decision": [HasMethods(["fit", "predict", "get_params"]), None],
        "classes": ["array-like", None],
        "positive": [Real, str, "boolean", None],
        "shares": [Mapping, None],
        "multilabel": ["boolean", None],
    }

    def __init__(
        self,
        representation: Any = None,
        *,
        knowledge: Any = None,
        learner: Any = None,
        decision: Any = None,
        classes: Sequence[Any] | None = None,
        positive: Any = None,
        shares: Mapping[Any, float] | None = None,
        multilabel: bool | None = None,
    ) -> None:
        self.representation = representation
        self.knowledge = knowledge
        self.learner = learner
        self.decision = decision
        self.classes = classes
        self.positive = positive
        self.shares = shares
        self.multilabel = multilabel

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, unlabelled: Any = None) -> Self:
        """Learn from texts and labels, and from texts without labels where these help.

        Parameters
        ----------
        X : list, array or column of n_texts strings; or texts in parts, of any size: `scale.TextFiles`, Dask
            collections
        y : the labels of each text; for texts in parts by default their own
            A name or number each; or, for any number of labels a text, a list, set or tuple of these each, or
            a 0/1 indicator matrix (n_texts, n_classes), whose columns `classes` or a data frame may name.
            None or NaN is a text without a label; so is −1 beside two other numbers or more, where some are
            None or NaN, or there is knowledge or `unlabelled`, and `classes` does not name it. With
            knowledge, none needs to have a label.
        sample_weight : array (n_texts,), default=None
            Cost of each text, passed to the learner; not looked at for texts without a label.
        unlabelled : list, array or column of strings, or texts in parts, default=None
            More texts without labels. Of those in parts, or beside such, as many are learnt from as fit into
            memory; where these are not all, a warning says so.
        """
        X, unlabelled, y, sample_weight = (
            as_parts(X),
            as_parts(unlabelled),
            in_memory(y),
            in_memory(sample_weight),
        )
        if isinstance(X, TextParts) or isinstance(unlabelled, TextParts):
            return self._fit_parts(X, y, sample_weight, unlabelled)
        texts = as_texts(X)
        more = [] if unlabelled is None else as_texts(unlabelled)
        if not texts and not more:
            raise EmptyVocabularyError("There are no texts to learn from: the corpus is empty.")
        if unlabelled is not None and not more:
            raise EmptyVocabularyError("unlabelled has no texts; leave it out.")
        expects_gaps = self.knowledge is not None or unlabelled is not None
        labelled = labelled_rows(y, len(texts), expects_gaps=expects_gaps, classes=self.classes)
        if len(labelled) != len(texts):
            raise LabelError(f"There are {len(texts)} texts but {len(labelled)} labels.")
        if labelled.all() and not more:
            return self._fit_labelled(texts, y, sample_weight)
        rows = np.flatnonzero(labelled)
        own = [texts[row] for row in rows.tolist()]
        rest = [*(texts[row] for row in np.flatnonzero(~labelled).tolist()), *more]
        weight = None if sample_weight is None else weight_of_each(sample_weight, len(texts))[rows]
        return self._fit_partly(own, take_labels(y, rows) if rows.size else None, weight, rest)

    def _fit_parts(self, X: Any, y: Any, sample_weight: Any, unlabelled: Any) -> Self:
        """Learn from texts in parts; where some have no label, from as many as fit into memory."""
        if y is None and unlabelled is None:
            return self._fit_labelled(X, None, sample_weight)
        texts = X if isinstance(X, TextParts) else as_texts(X)
        more = (
            unlabelled
            if isinstance(unlabelled, TextParts)
            else []
            if unlabelled is None
            else as_texts(unlabelled)
        )
        n_texts = texts.n_texts if isinstance(texts, TextParts) else len(texts)
        given = texts.labels if y is None and isinstance(texts, TextParts) else y
        labelled = labelled_rows(
            given, n_texts, expects_gaps=self.knowledge is not None, classes=self.classes
        )
        if len(labelled) != n_texts:
            raise LabelError(f"There are {n_texts} texts but {len(labelled)} labels.")
        if labelled.all() and unlabelled is None:
            return self._fit_labelled(texts, given, sample_weight)
        pool = gather(texts, labelled, more, available_memory(X if isinstance(X, TextParts) else unlabelled))
        if pool is None:
            if not labelled.all():
                raise LabelError(
                    f"{np.count_nonzero(~labelled):,} of {n_texts:,} texts have no label, and the others "
                    "do not fit into memory, "
                    f"where such are learnt from; leave them out."
                )
            warn_of_sample(None)
            return self._fit_labelled(texts, given, sample_weight)
        if len(pool.unlabelled) < pool.n_unlabelled:
            warn_of_sample(pool)
        rows = np.flatnonzero(labelled)
        own = take_labels(given, rows) if rows.size else None
        weight = None if sample_weight is None else weight_of_each(sample_weight, n_texts)[rows]
        if not pool.unlabelled:
            return self._fit_labelled(pool.labelled, own, weight)
        return self._fit_partly(pool.labelled, own, weight, pool.unlabelled)

    def _fit_partly(self, texts: list[str], y: Any, sample_weight: Any, unlabelled: list[str]) -> Self:
        """Learn from texts with labels and texts without, or from the first alone where the second do not
        help.
        """
        slots = self._slots
        slots.check()
        kinds, names = [type(kind).__name__ for kind in slots.kinds()], slots.named_classes(y, self.classes)
        if not texts and not (kinds and (names or self.classes is not None)):
            known = "nothing is known of the classes"
            if kinds:
                known = (
                    f"{kinds[0]} names no class: marked passages, and all that is learnt from labels, "
                    "need labelled texts"
                )
            raise LabelError(
                f"None of {len(unlabelled)} texts has a label, and {known}. "
                f"Label a few texts of each, or name words: knowledge={{'class': ['word', 'word'], …}}."
            )
        labels = describe_partly(
            y, names, classes=self.classes, positive=self.positive, multilabel=self.multilabel
        )
        target = encode(labels, y) if texts else np.empty(0)
        weight = np.ones(len(texts))
        if texts and sample_weight is not None:
            weight = check_sample_weight(sample_weight, texts, dtype=np.float64, ensure_non_negative=True)
        own, joined = texts, target
        if texts:
            own, _, joined, weight = without_copies(texts, texts, target, weight)
        learnt = SemiSupervised(
            slots, labels, [*own, *unlabelled], joined, weight, self.shares, self.positive
        ).fit()
        if learnt.model is None:
            self._fit_labelled(texts, y, sample_weight)
        else:
            counts = (
                labels.membership(target).sum(axis=0) if texts else np.zeros(labels.names.size, dtype=int)
            )
            self.set_fitted(
                learnt.representation, learnt.model, labels, len(texts), counts, text_digests(texts)
            )
            self.knowledge_ = learnt.knowledge
        if not texts and self.decision is not None:
            warn_of_guesses()
        self._verdicts, self._shares = learnt.verdicts, learnt.shares
        self._unlabelled = (unlabelled if learnt.model is None else None), learnt.X
        self.metadata_["n_unlabelled"] = len(unlabelled)
        return self

    def _fit_labelled(self, texts: list[str] | TextParts, y: Any, sample_weight: Any) -> Self:
        """Learn from texts that all have labels."""
        learnt = fit_labelled(self._slots, texts, y, sample_weight, self.classes, self.positive)
        self.set_fitted(
            learnt.representation, learnt.model, learnt.labels, learnt.n_texts, learnt.counts, learnt.digests
        )
        self.knowledge_ = learnt.knowledge
        return self

    def set_fitted(
        self,
        representation: Any,
        model: Any,
        labels: ClassLabels,
        n_texts: int,
        counts: NDArray[Any],
        digests: Digests | None = None,
    ) -> Self:
        """Become what a fit makes of it, from parts that were fitted elsewhere, such as on a cluster.

        Parameters
        ----------
        representation, model : fitted, as the attributes of these names are described
        labels : ClassLabels
        n_texts : int
            That they were fitted on.
        counts : array (n_classes,)
            How many of these had each label.
        digests : array (n_texts,), default=None
            What `text_digests` gives for them; without, the model does not know its training texts again.
        """
        positive = getattr(model, "pos_label_", None)
        labels = labels if positive is None else replace(labels, positive=labels.index(positive))
        self.representation_, self.model_ = representation, model
        self.labels_, self.classes_, self.knowledge_ = labels, labels.names, []
        self._verdicts, self._shares, self._unlabelled = [], None, None
        self.text_digests_ = None if digests is None else np.unique(digests)
        self.metadata_: dict[str, Any] = {
            "n_texts": n_texts,
            "label_counts": dict(zip(labels.text_names, [int(n) for n in counts], strict=True)),
            "versions": {
                "textmargin": __version__,
                "scikit-learn": sklearn.__version__,
                "python": platform.python_version(),
            },
        }
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each text, in the form that `fit` was given: names, tuples of names, or an indicator
        matrix.

        Where a decision is to ask (see `ThresholdClassifier`), a text of one label gets None, or the
        decision's `unsure_label`.
        """
        if (decider := self.decider_) is not None:
            return decider.predict(X)
        return decode(self.labels_, self.model_.predict(self._represent(X)))

    @_last_part_has("decision_function")
    def decision_function(self, X: Any) -> Floats:
        """Scores of each text: (n_texts,) for two classes, else (n_texts, n_classes)."""
        if (decider := self.decider_) is not None:
            return decider.decision_function(X)
        return self.model_.decision_function(self._represent(X))

    @_last_part_has("predict_proba")
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes (n_texts, n_classes): from held-out scores, or those of a learner that
        gives its own.
        """
        if (decider := self._decider(with_probabilities=True)) is not None:
            return decider.predict_proba(X)
        return self.model_.predict_proba(self._represent(X))

    @property
    def decider_(self) -> Decider | None:
        """What texts are decided by, in one object, and all of the file that `load_decider` reads.

        None if scores need a matrix, a kernel, or a function of yours. It is made of the other attributes
        each time, so that it is never out of date.
        """
        return self._decider(with_probabilities=False)

    def _decider(self, with_probabilities: bool) -> Decider | None:
        check_is_fitted(self)
        words, learner = self.representation_, self.learner_
        by_words = type(words) is BagOfWords and type(learner) in _LINEAR and not sp.issparse(learner.coef_)
        if not by_words or type(self.model_) not in (type(learner), ThresholdClassifier):
            return None  # a subclass may see it otherwise
        parts = (*vars(words).values(), learner.coef_, learner.intercept_)
        old, scorer = self._scorer
        if len(old) != len(parts) or not all(map(is_, old, parts)):
            scorer = words.linear_scorer(learner.coef_, learner.intercept_)
            shared = scorer is not None and np.may_share_memory(scorer.coef, learner.coef_)
            self._scorer = (parts if shared else (), scorer)  # else a weight that is changed would be missed
        if scorer is None:
            return None
        rule = DecisionRule(self.labels_)
        if isinstance(self.model_, ThresholdClassifier):
            rule = self.model_.decision_rule(with_probabilities)
            rule = replace(rule, labels=replace(self.labels_, positive=rule.labels.positive))
        return Decider(scorer, rule, self.metadata_)

    @property
    def held_out_(self) -> HeldOutScores:
        """Labels and scores of the training texts, by models that did not know them; the words are those of
        all texts.
        """
        return self._threshold_classifier.held_out_

    @property
    def can_be_unsure(self) -> bool:
        """Whether there are texts that the model leaves to a person."""
        check_is_fitted(self)
        return isinstance(self.model_, ThresholdClassifier) and self.model_.can_be_unsure

    @property
    def has_held_out(self) -> bool:
        """Whether there are held-out scores, on which probabilities, budgets and a watch over the texts
        rest.
        """
        check_is_fitted(self)
        return isinstance(self.model_, ThresholdClassifier)

    def estimate(self, *, n_new: int | None = None, without: TextClassifier | None = None) -> Estimate:
        """How good the decisions will be on new texts like those of training, with 90 % intervals, from
        held-out scores.

        Nothing is trained again. The utility is that of the decision, where there is one. See
        `decisions/estimate.py`.

        Parameters
        ----------
        n_new : int, default=None
            Of how many new texts the intervals are to hold the figures; by default as many as were trained
            on.
        without : TextClassifier, default=None
            A model of the same texts in the same order, fitted without knowledge: `by_knowledge` is then what
            that adds.

        Examples
        --------
        >>> from textmargin import TextClassifier, load_dataset
        >>> train = load_dataset("desk").part("train")
        >>> found = TextClassifier().fit(train.texts, train.labels).estimate()
        >>> f"{found.accuracy.value:.0%} right"
        '80% right'
        """
        other = None if without is None else without._threshold_classifier
        if self._shares is not None and not self._verdicts:
            raise ScoreError(
                "No text of some class has a label in what this model learnt from, so that nothing tells "
                "how often it is right. "
                "Label some texts, and fit it to these as well, or score it on them."
            )
        return estimate(
            self._threshold_classifier, n_new=n_new, without=other, with_utility=self.decision is not None
        )

    def decide(self, X: Any, *, probabilities: bool = False) -> Decisions:
        """Scores and labels of each text together, every class in a column of its own, as files, pages and
        services show them.

        Parameters
        ----------
        X : texts
        probabilities : bool, default=False
            Whether to give them as well; the model must have held-out scores (`has_held_out`).
        """
        if (decider := self._decider(probabilities)) is not None:
            return decider.decide(X, probabilities=probabilities)
        if not (texts := self._texts(X)):
            none = np.empty((0, self.labels_.names.size))
            accepted = none.astype(bool)
            return Decisions(
                self.labels_.text_names, none, accepted, accepted, none if probabilities else None
            )
        return self._decide(self._represent(texts), probabilities)

    def _decide(self, matrix: Any, probabilities: bool) -> Decisions:
        labels = self.labels_
        if isinstance(self.model_, ThresholdClassifier) or probabilities:
            return replace(self._threshold_classifier.decide(matrix, probabilities), names=labels.text_names)
        if hasattr(self.model_, "decision_function"):
            columns = labels.columns(self.model_.decision_function(matrix))
        elif hasattr(self.model_, "predict_proba"):
            columns = score_columns(self.model_, matrix, labels.multilabel) - 0.5
        else:
            raise TextmarginError(
                f"{type(self.model_).__name__} gives no scores; use a learner with decision_function."
            )
        if columns.shape[1] != labels.n_problems:
            raise TextmarginError(
                f"{type(self.model_).__name__} gives {columns.shape[1]} scores, not {labels.n_problems}."
            )
        scores = labels.class_scores(columns)
        by_score = isinstance(self.model_, _DECIDE_BY_SCORE)
        accepted = labels.accepted(scores) if by_score else labels.membership(self.model_.predict(matrix))
        return Decisions(labels.text_names, scores, accepted, np.zeros_like(accepted))

    def trained_on(self, X: Any) -> Bools:
        """Which texts (n_texts,), or their digests, the model was trained on, white space aside: on these it
        looks too good.
        """
        check_is_fitted(self)
        if self.text_digests_ is None:
            raise TextmarginError(
                "This model has no digests of its training texts; only a new fit can tell which they were."
            )
        known = isinstance(X, np.ndarray) and X.dtype == np.uint64
        return np.isin(X if known else text_digests(as_texts(X)), self.text_digests_)

    def forget_texts(self) -> Self:
        """Leave out the digests of the training texts: who has a text can then not learn whether it was one
        of them.
        """
        check_is_fitted(self)
        self.text_digests_ = None
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of texts whose labels are all right."""
        decided = self.predict(X)
        if self.labels_.form == "sets":
            right = [set(own) == set(truth) for own, truth in zip(decided, y, strict=True)]
        else:
            truth = np.asarray(y.toarray() if sp.issparse(y) else y)
            right = (
                decided == np.ravel(truth)
                if self.labels_.form == "names"
                else (decided == (truth != 0)).all(axis=1)
            )
        return float(np.average(right, weights=sample_weight))

    def explain(self, text: str, target: Any = None) -> Explanation | KernelExplanation:
        """How much of a text's score each of its terms gave, or with a kernel, the subsequences it shares
        with other texts.

        Parameters
        ----------
        text : str
        target : class, default=None
            Whose score; default: the class that the text is given, or, given none, the one with the highest
            score.
        """
        if not isinstance(text, str):
            raise NotTextError(f"explain takes one text, a string; got {type(text).__name__}: {text!r:.60}.")
        learner = self.learner_
        if not hasattr(learner, "explain"):
            raise TextmarginError(
                f"explain needs a learner that can tell, such as PriorSVC; {type(learner).__name__} cannot."
            )
        decided, names = self.decide([text]), self.labels_.names.tolist()
        given = np.flatnonzero(decided.accepted[0]).tolist()
        if target is None:
            target = names[given[0] if given else int(decided.scores[0].argmax())]
        k = self.labels_.index(target)
        row = text if self._slots.kernel() is not None else self._represent([text])
        found: Explanation | KernelExplanation = learner.explain(row, names[k])
        threshold = float(self.thresholds_[k])
        found = replace(
            found,
            score=found.score - threshold,
            intercept=found.intercept - threshold,
            labels=tuple(names[j] for j in given),
        )
        if isinstance(found, KernelExplanation):
            return found
        found = replace(found, knowledge=tuple(self.knowledge_))
        names = term_names(self.representation_) if found.terms.dtype.kind == "i" else None
        return found if names is None else replace(found, terms=names[found.terms])

    def disagreements(self, n: int = 10) -> list[Disagreement]:
        """The n terms of which knowledge and data disagree most (see `PriorSVC`): a tool to mend a list of
        words with.
        """
        learner = self.learner_
        if not hasattr(learner, "disagreements"):
            raise TextmarginError(
                f"disagreements needs a learner with a prior; {type(learner).__name__} has none."
            )
        found = [
            replace(
                one,
                target=self._known_of(one.target),
                known=self.labels_.sign * one.known,
                data=self.labels_.sign * one.data,
                knowledge=self._origin(one.prior),
            )
            for one in learner.disagreements(n)
        ]
        names = term_names(self.representation_)
        return [
            one if names is None or isinstance(one.term, str) else replace(one, term=names[one.term])
            for one in found
        ]

    @property
    def verdict_(self) -> list[Verdict]:
        """What became of each kind of knowledge about each class, where the learner's `trust` is "auto" (see
        `PriorSVC`).

        Where there were unlabelled texts and labels to weigh them by, the last is about these: its `target`
        is None.
        """
        own = [
            replace(one, target=self._known_of(one.target), knowledge=self._origin(one.prior))
            for one in getattr(self.learner_, "verdict_", [])
        ]
        return [*own, *(one for one in self._verdicts if not own or one.target is None)]

    @property
    def shares_(self) -> dict[Any, float]:
        """How frequent each class was taken to be among unlabelled texts, given or guessed; empty where none
        were learnt from.
        """
        check_is_fitted(self)
        return (
            {}
            if self._shares is None
            else dict(zip(self.classes_.tolist(), self._shares.tolist(), strict=True))
        )

    @property
    def spread_(self) -> dict[Any, dict[str, float]]:
        """Per class the words that keywords spread to in the unlabelled texts, with their weights, the
        largest first.

        A word that does not belong there is struck out by naming it with weight 0: `{"grain": {"wheat": 1,
        "winter": 0}}`.
        """
        near = [j for j, title in enumerate(self.knowledge_) if title.startswith(NEAR)]
        if not near:
            return {}
        weights = self.labels_.class_scores(self.learner_.prior_[:, near].sum(axis=1).T).T
        terms = self.representation_.get_feature_names_out()
        found = {}
        for name, row in zip(self.classes_.tolist(), weights, strict=True):
            order = descending_order(row)[: np.count_nonzero(row > 0)]
            found[name] = {str(terms[j]): float(row[j]) for j in order}
        return found

    @property
    def unlabelled_(self) -> Decisions:
        """What the model decides on the unlabelled texts of `fit`, in their order: first those of X, then the
        others.

        With probabilities where the model has held-out scores. Not in a saved or pickled model.
        """
        check_is_fitted(self)
        if self._unlabelled is None:
            raise AttributeError(
                "This model has no unlabelled texts: it was fitted without, or loaded from a file."
            )
        texts, matrix = self._unlabelled
        matrix = matrix if texts is None else self.representation_.transform(texts)
        return self._decide(matrix, probabilities=self.has_held_out)

    def with_utility(
        self,
        utility: Any = None,
        *,
        min_precision: float | None = None,
        min_recall: float | None = None,
        always_answer: bool | None = None,
    ) -> TextClassifier:
        """The same model with its thresholds set anew, without training and without texts.

        Parameters
        ----------
        utility : measure, or mapping class → measure, default=None
            What decisions are worth; stays as it is where it is left out.
        min_precision, min_recall : float, default=None
            Floors; stay as they are where they are left out.
        always_answer : bool, default=None
            Whether every text gets an answer; stays as it is where it is left out.
        """
        if not self.metadata_["n_texts"]:
            warn_of_guesses()
        floors = {"min_precision": min_precision, "min_recall": min_recall, "always_answer": always_answer}
        given: dict[str, Any] = {name: value for name, value in floors.items() if value is not None}
        if self.decision is None:  # so far the learner decided
            given["rule"] = "parameter-free"
        return self.with_decision(self._threshold_classifier.with_utility(utility, **given))

    def with_decision(self, decision: ThresholdClassifier) -> TextClassifier:
        """The same model with another fitted decision around its learner."""
        other = copy(self)
        other.model_ = decision
        other._unlabelled = self._unlabelled  # which a copy leaves out, as a file does
        parameters = decision.get_params(deep=False)
        changed = {name: parameters[name] for name in parameters if name not in ("estimator", "pos_label")}
        own = ThresholdClassifier() if self.decision is None else clone(self.decision)
        other.decision = own.set_params(**changed)
        return other

    @property
    def _threshold_classifier(self) -> ThresholdClassifier:
        check_is_fitted(self)
        if not isinstance(self.model_, ThresholdClassifier):
            raise ScoreError(
                f"This model, a {type(self.model_).__name__}, has no held-out scores to set thresholds "
                "on; train it with "
                f"decision=ThresholdClassifier(scores='cv')."
            )
        return self.model_

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which `textmargin.load` and every command read."""
        save(self, path)

    def to_record(self) -> dict[str, Any]:
        """With its `decider_`. Without priors as parameters of the learner: knowledge gave it those."""
        own = fields_of(self)
        if not hasattr(self, "model_"):
            return own
        if isinstance(self.model_, ThresholdClassifier):
            self.model_.to_record()  # which computes held-out scores, for probabilities
        if self.knowledge is not None:
            own["model_"] = _without_prior(self.model_)
        return {"decider_": self.decider_, **own}

    @classmethod
    def from_record(cls, fields: dict[str, Any]) -> Self:
        """Without its `decider_`, which is made of the others."""
        own: Self = made_of(cls, {name: value for name, value in fields.items() if name != "decider_"})
        return own

    @property
    def learner_(self) -> Any:
        """The fitted learner, without the decision around it."""
        check_is_fitted(self)
        wraps = self.decision is not None or isinstance(self.model_, ThresholdClassifier)
        return getattr(self.model_, "estimator_", self.model_) if wraps else self.model_

    @property
    def thresholds_(self) -> Floats:
        """Where each class (n_classes,) is cut on the learner's own scores: 0 unless a decision moved it."""
        check_is_fitted(self)
        offsets = getattr(self.model_, "offsets_", np.zeros(self.labels_.n_problems))
        return self.labels_.class_scores(np.atleast_2d(offsets))[0]

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of a slot that is None are set on its default."""
        slots = [
            name
            for name in ("representation", "learner", "decision")
            if any(key.startswith(f"{name}__") for key in params)
        ]
        super().set_params(**{key: value for key, value in params.items() if "__" not in key})
        for slot in slots:
            if getattr(self, slot) is None:
                setattr(self, slot, self._slots.default(slot))
        return super().set_params(**{key: value for key, value in params.items() if "__" in key})

    def __getstate__(self) -> dict[str, Any]:
        """Without the unlabelled texts, and what can be made again."""
        state = dict(super().__getstate__())
        state.pop("_scorer", None)
        if "_unlabelled" in state:
            state["_unlabelled"] = None
        return state

    def _known_of(self, target: Any) -> Any:
        """The class that something is told of: of two the one that is looked for, where the learner scores
        the second.
        """
        return self.labels_.threshold_names[0] if self.labels_.kind == "binary" else target

    def _origin(self, prior: int | None) -> str:
        """The knowledge that a prior, or for None the contrasts, come from; empty where the learner brought
        its own.
        """
        if prior is None:
            return "contrasts of marked passages"
        return self.knowledge_[prior] if self.knowledge_ else ""

    @property
    def _slots(self) -> Slots:
        return Slots(self.representation, self.knowledge, self.learner, self.decision)

    def _texts(self, X: Any) -> list[str]:
        check_is_fitted(self)
        return as_texts(X)

    def _represent(self, X: Any) -> Any:
        texts = self._texts(X)
        return self.representation_.transform(texts) if self._slots.kernel() is None else texts

    def _sk_visual_block_(self) -> Any:
        slots = {"representation": self.representation, "learner": self.learner, "decision": self.decision}
        steps = {name: slot for name, slot in slots.items() if slot is not None or name != "decision"}
        shown = {name: self._slots.default(name) if slot is None else slot for name, slot in steps.items()}
        return serial_diagram(shown)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags


def _without_prior(model: Any) -> Any:
    """A copy of a learner, or of the decision around it, without the prior that was its parameter."""
    own = copy(model)
    for name in ("estimator", "estimator_"):
        if hasattr(own, name):
            setattr(own, name, _without_prior(getattr(own, name)))
    if hasattr(own, "prior"):
        own.prior = None
    return own
