"""What the desk knows now, kept up with the acts: a quick step at once, and everything slow in a thread
beside it.

After each act the model takes a quick step, so that the next question can be asked. The thread then, for the
newest acts:

1. scores all texts,
2. learns from labels, keywords and unlabelled texts, as far as held-out texts speak for them,
3. sets thresholds and estimates quality,
4. looks for words to suggest,
5. draws the learning curve.

What it finds replaces what was there, tagged with the acts that it rests on; acts that come in between are
taken up by the next round. When it is idle, all that is shown is a function of the texts and the acts alone.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._typing import Bools, Indices
from ..learners.evidence import Verdict
from .all_texts import AllTexts
from .answers import AnswerTable, LabelledTexts
from .background import BackgroundWork
from .corpus import TextColumns
from .deciding import Costs, Deciding, DisputedText
from .keywords import NAMED, KeywordPriors
from .learning import BackgroundFit, learn
from .learning_curve import LearningCurve, learning_curve
from .model import LinearModel, add_knowledge, no_model, quick_step, start
from .queue import TextQueue
from .state import State
from .word_suggestions import WordSuggestion, suggest_words


@dataclass(frozen=True, eq=False)
class BackgroundRound:
    """What one round of the thread found."""

    answers: LabelledTexts
    knowledge: KeywordPriors
    learnt: BackgroundFit
    deciding: Deciding
    f1: list[dict[str, float] | None]
    costs: Costs


@dataclass(eq=False)
class Engine:
    """The model of a desk.

    Parameters
    ----------
    texts : TextColumns
    state : State
    lock : the lock that whoever acts on the state holds
    n_jobs : int, default=None
    seed : int, default=0
    in_background : bool, default=True
        Whether slow work is done in a thread; else when `wait` is called.
    """

    texts: TextColumns
    state: State
    lock: Any
    n_jobs: int | None = None
    seed: int = 0
    in_background: bool = True
    queue: TextQueue = field(init=False)
    answers: LabelledTexts = field(init=False)
    knowledge: KeywordPriors = field(init=False)
    model: LinearModel = field(init=False)
    deciding: Deciding = field(init=False)
    round: BackgroundRound | None = None
    all_texts: AllTexts | None = None
    curve: LearningCurve | None = None
    suggestions: dict[str, list[WordSuggestion]] = field(default_factory=dict)
    work: BackgroundWork = field(init=False)

    def __post_init__(self) -> None:
        self.queue = TextQueue(self.texts, self.seed)
        self._base: LinearModel | None = None
        self.work = BackgroundWork(self.lock, self._run_round, self.in_background)
        self._table = AnswerTable(self.state, self.queue.order)
        self.answers = self._table.now()
        self.knowledge = KeywordPriors.of(self.texts, self.answers.keywords, self.answers.labels)
        self.model = no_model(self.answers.labels, self.texts.X.shape[1])
        self.deciding = self._no_deciding()
        self._step()

    # what an act changes at once

    def update(self) -> None:
        """Take in what the state says now; whoever calls holds the lock."""
        new, old = self._table.now(), self.answers
        if new.same(old):
            self.answers = replace(old, version=new.version)
            self.work.want()
            return
        classes = new.labels.names.tolist() != old.labels.names.tolist()
        words = new.keywords != old.keywords
        self.answers = new
        if classes or words:
            self.knowledge = self._priors(new)
            self._base = None
        if classes:
            self.deciding = self._no_deciding()
            self.suggestions = {}
        self._step()
        self.work.want()

    def update_costs(self) -> None:
        """Thresholds for the costs that hold now, without training; whoever calls holds the lock."""
        self.answers = replace(self.answers, version=self.state.version)
        if self.round is not None and self._fits(self.round.learnt.model):
            last = self.round
            deciding = Deciding.of(last.answers, last.learnt.held_out, self.state.costs)
            f1 = deciding.f1_by_class(last.answers, last.learnt.held_out)
            self.round = replace(last, deciding=deciding, f1=f1, costs=self.state.costs)
            self.deciding = deciding
        else:
            self.deciding = self._no_deciding()
        if self.all_texts is not None and self._fits(self.all_texts.model):
            self.all_texts = AllTexts.of(self.all_texts.model, self.all_texts.scores, self.deciding)
        self.work.want()

    def replace_texts(self, texts: TextColumns) -> None:
        """The same texts in other columns, after a keyword that was none; whoever calls holds the lock."""
        self.texts = self.queue.texts = texts
        self.round = self.all_texts = self._base = None
        self.answers = self._table.now()
        self.knowledge = self._priors(self.answers)
        self._step()
        self.work.want()

    def _step(self) -> None:
        last = self.round
        if last is not None and self.answers.same(last.answers):
            self.model = replace(last.learnt.model, labels=self.answers.labels)
            return
        if self._base is None and last is not None and self._fits(last.learnt.model):
            self._base = self._with_keywords(last)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model = self._base = quick_step(self.texts, self.answers, self.knowledge, self._base)

    def _fits(self, model: LinearModel) -> bool:
        """Whether a model is of the classes and columns there are now, whatever these are called."""
        own = self.answers.labels
        same = model.labels.kind == own.kind and model.labels.names.size == own.names.size
        return same and model.coef.shape[1] == self.texts.X.shape[1]

    def _with_keywords(self, last: BackgroundRound) -> LinearModel:
        """The model of the last round with the keywords that were named since, and without those that were
        taken back.
        """
        model = replace(last.learnt.model, labels=self.answers.labels)
        if self.answers.keywords == last.answers.keywords:
            return model
        new, old = (
            start(self.texts, self.answers, self.knowledge),
            start(self.texts, last.answers, last.knowledge),
        )
        dropped = [self._is_dropped(name) for name in self.answers.labels.problem_names]
        return add_knowledge(model, new, old, np.array(dropped, dtype=bool))

    def _is_dropped(self, name: str) -> bool:
        one = self.keyword_verdict(name)
        return one is not None and one.status in ("dropped", "contradicted")

    def _priors(self, answers: LabelledTexts) -> KeywordPriors:
        near = self.texts.vectors if "vectors" in vars(self.texts) else None
        return KeywordPriors.of(self.texts, answers.keywords, answers.labels, near)

    def keyword_verdict(self, name: str) -> Verdict | None:
        """What the last round says of the keywords of a class; None if they changed since."""
        last = self.round
        if last is None or last.answers.keywords.get(name) != self.answers.keywords.get(name):
            return None
        return next((one for one in last.learnt.verdicts if one.target == name and one.prior == NAMED), None)

    def _no_deciding(self) -> Deciding:
        none = np.full((len(self.answers), self.answers.labels.n_problems), np.nan)
        return Deciding.of(self.answers, none, self.state.costs)

    # the rounds

    def _run_round(self) -> None:
        with self.lock:
            answers, costs, texts = self.answers, self.state.costs, self.texts
        self._score_all()
        self._learn(texts, answers, costs)
        self._score_all()
        self._suggest(texts, answers)
        self._draw_curve(texts, answers, costs)

    def _score_all(self) -> None:
        """All texts by the newest model, unless that was done."""
        with self.lock:
            model, deciding, texts = self.model, self.deciding, self.texts
        if (
            self.all_texts is not None
            and self.all_texts.model is model
            and self.all_texts.deciding is deciding
        ):
            return
        if not self.work.stage("scoring all texts"):
            return
        summary = AllTexts.of(model, model.scores(texts.X).astype(np.float32), deciding)
        with self.lock:
            if self.texts is texts:
                self.all_texts = summary

    def _learn(self, texts: TextColumns, answers: LabelledTexts, costs: Costs) -> None:
        if self.round is None or not answers.same(self.round.answers):
            if not self.work.stage("looking for copies"):
                return
            _ = texts.group
            if answers.keywords and not self.work.stage("words that keep company"):
                return
            near = texts.vectors if answers.keywords else None
            knowledge = KeywordPriors.of(texts, answers.keywords, answers.labels, near)
            if not self.work.stage("learning from labels, keywords and unlabelled texts"):
                return
            learnt = learn(texts, answers, knowledge, self.unlabelled(answers), n_jobs=self.n_jobs)
        else:
            knowledge, learnt = self.round.knowledge, self.round.learnt
        if not self.work.stage("setting thresholds"):
            return
        deciding = Deciding.of(answers, learnt.held_out, costs)
        _ = deciding.quality  # computed once, here
        f1 = deciding.f1_by_class(answers, learnt.held_out)
        with self.lock:
            if self.texts is not texts:  # of other columns; the next round learns again
                return
            self.round = BackgroundRound(answers, knowledge, learnt, deciding, f1, costs)
            self._base = None
            if self.answers.keywords == answers.keywords and self._fits(learnt.model):
                self.knowledge = knowledge
            if self._fits(learnt.model):
                if self.state.costs != costs:
                    deciding = Deciding.of(answers, learnt.held_out, self.state.costs)
                self.deciding = replace(deciding, labels=self.answers.labels)
            self._step()

    def unlabelled(self, answers: LabelledTexts) -> Indices:
        """Texts to guess at, in the order of the pool; of copies one."""
        free: Bools = self.texts.representatives()
        free[self.texts.copies[answers.rows]] = False
        return self.queue.pool_order[free[self.queue.pool_order]]

    def _suggest(self, texts: TextColumns, answers: LabelledTexts) -> None:
        shown = self.all_texts
        if (
            self.texts is not texts
            or shown is None
            or not shown.model.decides
            or not self.work.stage("looking for words")
        ):
            return
        deciding = shown.deciding
        n_classes = shown.model.labels.names.size
        # a class came in between
        if not deciding.labels.names.size == answers.labels.names.size == n_classes:
            return
        accepted = shown.accepted()
        accepted[answers.rows] = answers.member
        found = suggest_words(texts, shown.model.labels, accepted, answers.keywords)
        with self.lock:
            self.suggestions = found

    def _draw_curve(self, texts: TextColumns, answers: LabelledTexts, costs: Costs) -> None:
        last = self.round
        if last is None or self.texts is not texts or not self.work.stage("the learning curve"):
            return
        curve = learning_curve(texts, answers, last.knowledge, last.learnt, self.unlabelled(answers), costs)
        if curve is not None:  # computed once, here: it takes longer than an act may
            _ = curve.points, curve.next_gain
        with self.lock:
            self.curve = curve

    # what is asked of it

    def disputed(self, n: int) -> list[DisputedText]:
        """The n texts whose held-out prediction contradicts their label most."""
        last = self.round
        if last is None or not self._fits(last.learnt.model):
            return []
        return last.deciding.disputed(last.answers, last.learnt.held_out, n)
