"""Filtering with feedback: texts in time order, the truth told of accepted ones only (TREC 2001/2002 adaptive
filtering).

A text is accepted where its chance of being a hit, given its score, is at or above break-even,

    p* = (u_tn − u_fp) / (u_tp − u_fn + u_tn − u_fp)            1/3 for T10U

or, exploring, where it may be there: the chance's upper confidence bound is at or above p*, `patience` texts
have gone by since exploring last failed, and what it has cost stays within the share `budget` of what hits
were worth. It does less the more is known: the bound falls to the chance itself as judged texts come in. And
it does less for a topic that has little to gain: five false alarms are nothing to a topic of 500 hits, and an
eighth of what a topic of 20 can be worth.

Three speeds: the threshold moves with every judged text (`_chance.py`, on held-out scores: leave-one-out
scores of what the model was trained on, the model's own of what came later); the model is trained again, from
where it stands, when hits or false alarms have grown by the share `growth`, so that all trainings together
cost a constant times the last one; the words and their weights stay as they were at the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from .._sklearn import HasMethods, Interval, dense_coef, validate_params
from .._slots import Slots
from .._ties import ROUNDING
from .._typing import Bools, Floats
from ..decisions.utility import T10U, Utility
from ..errors import LabelError, ScoreError
from ..labels import ClassLabels
from ..learners.primal import PriorSVC
from ._filter_topic import FilterTopic


@dataclass(frozen=True)
class FilterDecision:
    """What an `AdaptiveFilter` decided on some texts; `learn` takes it back with the truth.

    Attributes
    ----------
    accepted : array (n_texts,) of bool, or (n_texts, n_topics) where the filter has several topics
    explored : same shape, those of them that are below the threshold and accepted to learn from them
    scores : same shape, how far above the threshold
    rows : sparse matrix (n_texts, n_terms)
    """

    accepted: Bools
    explored: Bools
    scores: Floats
    rows: sp.csr_matrix

    def __len__(self) -> int:
        return len(self.accepted)


class AdaptiveFilter(BaseEstimator):
    """Accept or reject texts as they come, for one topic or several, and learn from what is said of the
    accepted ones.

    Starts from a few positives among texts that nobody judged. `decide` takes the next texts, `learn` what
    turned out about those that were accepted: of rejected ones nothing is asked, and what is said of them is
    not looked at. Everything is determined by texts, truth and `random_state`. The filter is saved, with all
    it knows, by `pickle`.

    Parameters
    ----------
    representation : transformer on texts, default=None
        `BagOfWords()` by default; fitted once, on the texts of the start.
    knowledge : mapping topic → words, object with `coef(terms, classes)`, or list of these, default=None
        What is known of the words, as `TextClassifier` takes it.
    learner : PriorSVC, default=None
        One is trained per topic. By default `PriorSVC()`.
    utility : Utility, default=T10U
        What hits and false alarms are worth.
    exploration : float, default=0
        How many standard deviations better than expected the chance of a hit may be for a text to be
        explored, 1 for instance; 0 for none: on the streams that were tried exploring finds more, at a price
        that takes it all away.
    patience : int, default=1000
        How many texts go by after one that was explored and no hit before another is explored.
    budget : float, default=0.025
        What exploring may cost, as a share of what the topic's hits, those of the start included, are worth.
    growth : float, default=0.25
        By which share hits or false alarms must have grown for the model to be trained again.
    n_background : int, default=500
        How many of the unjudged texts of the start are learnt from, as weak negatives.
    memory : int, default=2500
        How many hits, and how many false alarms, are learnt from: the latest.
    random_state : int, default=0
        Draws the unjudged texts.

    Attributes
    ----------
    topics_ : list, the names of the topics; [1] where there is one without a name
    representation_ : the fitted representation
    thresholds_ : array (n_topics,), on the scores of the topics' models
    n_judged_, n_hits_ : arrays (n_topics,), of texts with a known truth, those of the start included, and how
        many are positive

    Examples
    --------
    Three texts about corn are known; of the others nobody said anything.

    >>> from textmargin import AdaptiveFilter
    >>> texts = ["corn harvest", "corn and wheat prices", "corn exports",
    ...          "bank rates", "dollar and yen", "rates fall"]
    >>> filter = AdaptiveFilter().start(texts, [True, True, True, None, None, None])
    >>> decision = filter.decide(["corn prices", "yen rates"])
    >>> decision.accepted
    array([ True, False])
    >>> filter.learn(decision, [True, None]).n_hits_
    array([4])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "representation": [HasMethods(["fit_transform", "transform"]), None],
        "knowledge": [Mapping, HasMethods(["coef"]), list, tuple, None],
        "learner": [PriorSVC, None],
        "utility": [callable],
        "exploration": [Interval(Real, 0, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "budget": [Interval(Real, 0, None, closed="left")],
        "growth": [Interval(Real, 0, None, closed="neither")],
        "n_background": [Interval(Integral, 0, None, closed="left")],
        "memory": [Interval(Integral, 1, None, closed="left")],
        "random_state": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        representation: Any = None,
        *,
        knowledge: Any = None,
        learner: PriorSVC | None = None,
        utility: Utility = T10U,
        exploration: float = 0.0,
        patience: int = 1000,
        budget: float = 0.025,
        growth: float = 0.25,
        n_background: int = 500,
        memory: int = 2500,
        random_state: int = 0,
    ) -> None:
        self.representation = representation
        self.knowledge = knowledge
        self.learner = learner
        self.utility = utility
        self.exploration = exploration
        self.patience = patience
        self.budget = budget
        self.growth = growth
        self.n_background = n_background
        self.memory = memory
        self.random_state = random_state

    def start(self, texts: Any, truth: Any, topics: Sequence[Any] | None = None) -> Self:
        """Learn the words, and a first model and threshold per topic.

        Parameters
        ----------
        texts : list, array or column of n_texts strings, or what the representation takes
            All texts at hand, judged or not.
        truth : array (n_texts,), or (n_texts, n_topics)
            True or 1 for a text of the topic, False or 0 for one that is not, None or NaN where nobody said.
        topics : sequence, default=None
            Names of the columns of `truth`; by default numbers from 0.
        """
        validate_params(self)
        if not isinstance(self.utility, Utility):
            raise ScoreError(
                f"utility={self.utility} needs the number of texts that were missed, which is unknown "
                "where only accepted texts "
                "are judged; say what a hit and a false alarm are worth: utility=Utility(tp=2, fp=-1), "
                "for instance."
            )
        slots = Slots(self.representation, self.knowledge, None, None)
        slots.check()
        representation = slots.new_representation()
        X = sp.csr_matrix(representation.fit_transform(texts), dtype=np.float64)
        known = _known(truth, X.shape[0])
        self._single = known.ndim == 1
        known = known.reshape(len(known), -1)
        names = ([1] if self._single else list(range(known.shape[1]))) if topics is None else list(topics)
        if len(names) != known.shape[1]:
            raise LabelError(
                f"topics has {len(names)} names, but truth has {known.shape[1]} columns; give a name to each."
            )
        learner = PriorSVC() if self.learner is None else self.learner
        labels = ClassLabels.of(np.asarray(names), True)
        prior = slots.prior(learner, representation, labels, X)
        started = []
        for k, name in enumerate(names):
            own = clone(learner).set_params(
                warm_start=True, **({} if prior is None else {"prior": prior.prior[k]})
            )
            started.append(self._start_topic(own, X, known[:, k], name))
        self.topics_, self.representation_, self._topics = names, representation, started
        self._coef, self._intercept = np.empty((len(names), X.shape[1])), np.empty(len(names))
        self.thresholds_, self.n_judged_, self.n_hits_ = (
            np.empty(len(names)),
            *np.empty((2, len(names)), dtype=int),
        )
        for k in range(len(names)):
            self._publish(k)
        return self

    def decide(self, texts: Any) -> FilterDecision:
        """Accept or reject the next texts; the filter remembers that they went by.

        A text that is explored counts as a false alarm until `learn` hears otherwise.

        Parameters
        ----------
        texts : list, array or column of n_texts strings, or what the representation takes
        """
        self._check_started()
        rows = sp.csr_matrix(self.representation_.transform(texts), dtype=np.float64)
        scores = rows @ self._coef.T + self._intercept
        above = scores - self.thresholds_
        above[np.abs(above) <= ROUNDING * np.maximum(np.abs(scores), 1.0)] = 0.0
        accepted = above >= 0
        explored = np.zeros_like(accepted)
        for k, topic in enumerate(self._topics):
            explored[self._explore(topic, scores[:, k], accepted[:, k]), k] = True
        decision = FilterDecision(accepted | explored, explored, above, rows)
        if not self._single:
            return decision
        return replace(
            decision, accepted=decision.accepted[:, 0], explored=explored[:, 0], scores=above[:, 0]
        )

    def learn(self, decision: FilterDecision, truth: Any) -> Self:
        """Learn what turned out about texts that were accepted.

        Parameters
        ----------
        decision : FilterDecision
            What `decide` gave.
        truth : array, shaped like `decision.accepted`
            True or 1, False or 0; None or NaN where nobody looked. What stands at a text that was rejected is
            ignored.
        """
        self._check_started()
        known = np.where(decision.accepted, _known(truth, len(decision), decision.accepted.ndim), np.nan)
        known, explored = (values.reshape(len(decision), -1) for values in (known, decision.explored))
        if known.shape[1] != len(self._topics):
            raise LabelError(
                f"The decision is about {known.shape[1]} topics, but this filter has {len(self._topics)}."
            )
        for k, topic in enumerate(self._topics):
            judged = np.flatnonzero(~np.isnan(known[:, k]))
            if judged.size == 0:
                continue
            hit = known[judged, k] > 0
            n_successes = int((hit & explored[judged, k]).sum())
            if n_successes:
                topic.n_failed, topic.n_waited = topic.n_failed - n_successes, self.patience
            topic.add(decision.rows[judged], hit)
            if topic.has_news(self.growth):
                topic.train(self.memory)
            topic.set_threshold(self._log_odds, self.exploration)
            self._publish(k)
        return self

    def _explore(self, topic: FilterTopic, scores: Floats, accepted: Bools) -> list[int]:
        """The texts to explore: those that may be hits, each after the patience it takes, while there is
        money left.
        """
        worth, explored = self.utility, list[int]()
        n_affordable = (
            self.budget * topic.n_hits * (worth.tp - worth.fn) / (worth.tn - worth.fp) * (1 + ROUNDING)
        )
        begin = -topic.n_waited  # where the waiting began, counted from the first of these texts
        for i in np.flatnonzero(~accepted & (scores >= topic.lowest)).tolist() if self.exploration else ():
            if i - begin >= self.patience and topic.n_failed + 1 <= n_affordable:
                explored.append(i)
                topic.n_failed += 1
                begin = i + 1
        topic.n_waited = scores.size - begin
        return explored

    def _check_started(self) -> None:
        if not hasattr(self, "representation_"):
            raise NotFittedError("This AdaptiveFilter knows no topic yet; call start with some texts first.")

    def _start_topic(self, learner: PriorSVC, X: sp.csr_matrix, known: Floats, name: Any) -> FilterTopic:
        """The first model and threshold of a topic."""
        judged, unjudged = np.flatnonzero(~np.isnan(known)), np.flatnonzero(np.isnan(known))
        truth = known[judged] > 0
        rng = np.random.default_rng(self.random_state)
        sample = np.sort(rng.choice(unjudged, min(self.n_background, unjudged.size), replace=False))
        if not truth.any() or (truth.all() and not sample.size):
            missing = "no positive" if not truth.any() else "no negative, and no text that nobody judged"
            raise LabelError(
                f"Topic {name!r} has {missing} to start from; say of a few texts what they are, and leave "
                "others open."
            )
        empty = np.empty(0)
        topic = FilterTopic(
            learner, X[sample], [X[judged]], truth, empty, empty, 0.0, 0.0, n_waited=self.patience
        )
        topic.n_judged, topic.n_hits = truth.size, int(truth.sum())
        topic.train(self.memory)
        topic.set_threshold(self._log_odds, self.exploration)
        return topic

    @property
    def _log_odds(self) -> float:
        """Of a hit at break-even."""
        worth = self.utility
        return float(np.log((worth.tn - worth.fp) / (worth.tp - worth.fn)))

    def _publish(self, k: int) -> None:
        """What a topic decides by, among those of all: `decide` is one product of matrices."""
        topic = self._topics[k]
        self._coef[k], self._intercept[k], self.thresholds_[k] = (
            dense_coef(topic.learner)[0],
            topic.learner.intercept_[0],
            topic.threshold,
        )
        self.n_judged_[k], self.n_hits_[k] = topic.n_judged, topic.n_hits


def _known(truth: Any, n_texts: int, ndim: int | None = None) -> Floats:
    """Truth as 0, 1 and NaN."""
    try:
        known = np.asarray(truth, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise LabelError(f"truth must be True, False or None for each text; got {truth!r:.80}.") from error
    if known.ndim not in ((1, 2) if ndim is None else (ndim,)) or len(known) != n_texts:
        raise LabelError(
            f"truth has shape {known.shape}, but there are {n_texts} texts; give one value a text and topic."
        )
    strange = known[~np.isnan(known) & (known != 0) & (known != 1)]
    if strange.size:
        raise LabelError(f"truth must be True, False or None for each text; got {strange[0]:g}.")
    return known
