"""What is learnt slowly, beside the reader: from labels, keywords and unlabelled texts, as far as held-out
texts speak for each.

The rule is the library's (`learners/semi_supervised.py`): self-training with the keywords' priors, adopted
where held-out labelled texts clearly gain; else the labelled texts with `trust="auto"`. Without any label, or
where a class has none, keywords and unlabelled texts are all there is, and are used. Marked passages are
contrasts, used where held-out texts speak for them.

The result depends on the texts, the labels, the keywords and the marks alone: whoever repeats the acts gets
the same model.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Bools, Floats, Indices
from ..errors import TextmarginWarning
from ..knowledge.contrasts import RationaleContrasts
from ..labels import ClassLabels, Indicator
from ..learners.contrasts import Contrasts
from ..learners.evidence import Verdict, select_priors, verdict
from ..learners.primal import PriorSVC
from ..learners.self_training import SHORT_ROUNDS, WEIGHT, LinearScores, Pool, SelfTraining
from ..learners.semi_supervised import Belief, HeldOut, Trial, believe, scale_jointly
from ..learners.trust import Solver
from .answers import LabelledTexts
from .corpus import TextColumns
from .keywords import KeywordPriors
from .model import OUT_OF_QUESTION, LinearModel, no_model

MOST_UNLABELLED = 2_000  # texts that are guessed at: more take longer and hardly tell more
_FEWEST_HELD_OUT = 8  # labelled texts from which on some are held out
_TOL = 1e-2  # of self-training, as in `TextClassifier`


@dataclass(frozen=True, eq=False)
class BackgroundFit:
    """A model, and what was found out on the way.

    Attributes
    ----------
    model : LinearModel
    verdicts : list of Verdict
        Of keywords (`prior` 0), words near them (1) and passages (None) by class; last, with `target` None,
        of unlabelled texts.
    held_out : array (n_answers, n_problems)
        Scores of the labelled texts by models that did not know their labels; NaN where there is none.
    semi_supervised : bool, whether unlabelled texts were learnt from
    """

    model: LinearModel
    verdicts: list[Verdict]
    held_out: Floats
    semi_supervised: bool


def learn(
    texts: TextColumns,
    answers: LabelledTexts,
    knowledge: KeywordPriors,
    unlabelled: Indices,
    *,
    n_jobs: int | None = None,
    hold_out: bool = True,
) -> BackgroundFit:
    """Learn from all that is there.

    Parameters
    ----------
    texts, answers, knowledge : what is there
    unlabelled : array, texts to guess at; those with an answer are left out
    n_jobs : int, default=None
    hold_out : bool, default=True
        Whether to give held-out scores where these cost extra time.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _Lesson.of(texts, answers, knowledge, unlabelled, n_jobs).learn(hold_out)


@dataclass(frozen=True, eq=False)
class _Lesson:
    """The classes of which something is known, over the columns that matter."""

    texts: TextColumns
    answers: LabelledTexts
    known: Bools  # (n_problems,)
    labels: ClassLabels  # of the known problems
    rows: Indices  # labelled texts, then unlabelled ones
    columns: Indices
    X: Any
    priors: Floats  # (n_known, n_priors, n_columns)
    n_jobs: int | None

    @classmethod
    def of(
        cls,
        texts: TextColumns,
        answers: LabelledTexts,
        knowledge: KeywordPriors,
        unlabelled: Indices,
        n_jobs: int | None,
    ) -> _Lesson:
        labels, signs = answers.labels, answers.signs
        positive, negative = (signs > 0).any(axis=0), (signs < 0).any(axis=0)
        known = knowledge.speaks | (positive if labels.kind == "multiclass" else positive & negative)
        rest = unlabelled[~np.isin(unlabelled, answers.rows)][:MOST_UNLABELLED]
        rows = np.concatenate([answers.rows, rest])
        X = texts.X[rows]
        priors = knowledge.priors[known]
        columns = np.flatnonzero(
            (np.bincount(X.indices, minlength=X.shape[1]) > 0) | (priors != 0).any(axis=(0, 1))
        )
        own = labels if labels.kind == "binary" else replace(labels, names=labels.names[known])
        return cls(texts, answers, known, own, rows, columns, X[:, columns], priors[:, :, columns], n_jobs)

    def learn(self, hold_out: bool) -> BackgroundFit:
        n, n_problems = len(self.answers), self.known.size
        held_out = np.full((n, n_problems), np.nan)
        decides = self.known.sum() > (1 if self.labels.kind == "multiclass" else 0)
        if not decides or not self.columns.size:
            return BackgroundFit(
                no_model(self.answers.labels, self.texts.X.shape[1], self.answers.version),
                [],
                held_out,
                False,
            )
        pool, training = self._pool(), SelfTraining(1.0, Solver(1.0, _TOL, 50, self.n_jobs))
        n_rest = self.rows.size - n
        if n_rest:
            belief = self._heed(believe(training, pool, self.priors, 1.0), training, pool)
            if belief.guess is not None:
                held_out[:, self.known] = self._held_out(training, pool, belief, hold_out)
                scores, prior = belief.guess.scores, belief.priors
                verdicts = belief.verdicts
                contrasts = self._contrasts()
                if contrasts is not None and pool.both_sides.all():
                    _, more = self._auto(contrasts)
                    verdicts = [*verdicts[:-1], *(one for one in more if one.prior is None), *verdicts[-1:]]
                    if any(one.prior is None and one.status in ("supported", "adopted") for one in more):
                        scores = self._with_contrasts(belief, contrasts)
                return BackgroundFit(self._model(scores, prior.sum(axis=1)), verdicts, held_out, True)
            left_aside = belief.verdicts[-1:]
        elif not pool.both_sides.all():
            used = scale_jointly(self.priors, (self.priors != 0).any(axis=2), 1.0)
            with_priors = pool.with_priors(used)
            return BackgroundFit(
                self._model(training.start(with_priors), used.sum(axis=1)), [], held_out, False
            )
        else:
            left_aside = []
        learner, verdicts = self._auto(self._contrasts())
        if n >= _FEWEST_HELD_OUT:
            held_out[:, self.known] = np.asarray(learner.held_out_decision_function()).reshape(n, -1)
        prior = (learner.trust_[:, :, None] * learner.prior_).sum(axis=1)
        return BackgroundFit(
            self._model(LinearScores(np.asarray(learner.coef_), learner.intercept_), prior),
            [*verdicts, *left_aside],
            held_out,
            False,
        )

    def _pool(self) -> Pool:
        signs = np.zeros((self.rows.size, self.known.sum()), dtype=np.int8)
        signs[: len(self.answers)] = self.answers.signs[:, self.known]
        empty = np.zeros((signs.shape[1], self.columns.size))
        return Pool(self.X, signs, np.ones(self.rows.size), empty, self.labels)

    def prior_pool(self, used: Bools) -> Pool:
        """The texts with those of the priors that are used, (n_known, n_priors)."""
        pool = self._pool().with_priors(scale_jointly(self.priors, used, 1.0))
        return replace(pool, has_rest=not pool.both_sides.all())

    def _heed(self, belief: Belief, training: SelfTraining, pool: Pool) -> Belief:
        """The same, with the priors that their own evidence speaks for.

        `believe` also tries none and all of them, and takes what decides most labelled texts rightly. Those
        of a desk are few, and not like the others: by a text or two it would give up words that every class
        speaks for.
        """
        given_up = [
            one
            for one in belief.verdicts
            if one.status == "dropped" and one.evidence >= 1 and one.target is not None
        ]
        if belief.guess is None or not given_up:
            return belief
        evidence = np.full(self.priors.shape[:2], np.nan)
        places = {self._name(k): k for k in range(len(evidence))}
        for one in belief.verdicts[:-1]:
            evidence[places[str(one.target)], one.prior] = one.evidence
        mask = select_priors(evidence) & np.asarray((self.priors != 0).any(axis=2))
        used = scale_jointly(self.priors, mask, 1.0)
        trial = Trial.of(replace(training, rounds=SHORT_ROUNDS), pool)
        verdicts = [
            verdict(
                one.target,
                one.prior,
                one.evidence,
                one.gain,
                trusted=bool(mask[places[str(one.target)], one.prior]),
            )
            for one in belief.verdicts[:-1]
        ]
        return Belief(
            training.guess(pool.with_priors(used)),
            used,
            [*verdicts, belief.verdicts[-1]],
            HeldOut(trial.rows, trial.scores(used, unlabelled=True)),
        )

    def _held_out(self, training: SelfTraining, pool: Pool, belief: Belief, hold_out: bool) -> Floats:
        """Of the labelled texts; those that `believe` found, or by folds where a class has no text and
        nothing was weighed.
        """
        found = np.full((len(self.answers), pool.signs.shape[1]), np.nan)
        if belief.held_out is not None:
            found[belief.held_out.rows] = belief.held_out.scores
        elif hold_out and len(self.answers) >= _FEWEST_HELD_OUT:
            trial = Trial.of(replace(training, rounds=SHORT_ROUNDS), replace(pool, has_rest=True))
            found[trial.rows] = trial.scores(belief.priors, unlabelled=True)
        return found

    def _auto(self, contrasts: Contrasts | None) -> tuple[PriorSVC, list[Verdict]]:
        """The labelled texts alone, with what of the knowledge they speak for."""
        n = len(self.answers)
        learner = PriorSVC(prior=self.priors, trust="auto", tol=1e-4, n_jobs=self.n_jobs)
        learner.fit(self.X[:n], self._indicator(self.answers.signs[:, self.known]), contrasts=contrasts)
        return learner, [replace(one, target=self._name(int(one.target))) for one in learner.verdict_]

    def _with_contrasts(self, belief: Belief, contrasts: Contrasts) -> LinearScores:
        """Labelled texts and guesses again, with marked passages."""
        assert belief.guess is not None
        signs = belief.guess.signs
        chosen = np.flatnonzero(signs.any(axis=1))  # labelled texts come first, and all of them have a sign
        weight = np.where(chosen < len(self.answers), 1.0, WEIGHT)
        learner = PriorSVC(prior=belief.priors, trust="fixed", tol=1e-3, n_jobs=self.n_jobs)
        learner.fit(self.X[chosen], self._indicator(signs[chosen]), weight, contrasts=contrasts)
        return LinearScores(np.asarray(learner.coef_), learner.intercept_)

    def _contrasts(self) -> Contrasts | None:
        """Marked passages of labelled texts."""
        rows = {row: i for i, row in enumerate(self.answers.rows.tolist())}
        names = self.labels.text_names
        passages = [
            (self.texts.texts[text], [(one.start, one.end, one.label) for one in marks if one.label in names])
            for text, marks in sorted(self.answers.marks.items())
            if text in rows
        ]
        passages = [one for one in passages if one[1]]
        if not passages:
            return None
        known = RationaleContrasts(passages)
        own = [self.texts.texts[row] for row in self.answers.rows.tolist()]

        def transform(some: list[str]) -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TextmarginWarning)
                return sp.csr_matrix(self.texts.words.transform(some))[:, self.columns]

        found = known.differences(own, names, transform)
        if not len(found.classes):
            return None
        sign = np.zeros((len(found.classes), self.known.sum()))
        for i, name in enumerate(found.classes):
            k = names.index(name)
            sign[i, 0 if self.labels.kind == "binary" else k] = (
                2.0 * k - 1.0 if self.labels.kind == "binary" else 1.0
            )
        return Contrasts(found.X, sign, found.text, np.full(len(found.classes), known.cost))

    def _indicator(self, signs: Any) -> Indicator:
        """A column for each known problem, whatever the kind: each is learnt against the rest."""
        return Indicator((signs > 0).astype(np.uint8), np.arange(signs.shape[1]))

    def _name(self, problem: int) -> str:
        return str(self.labels.name(problem))

    def _model(self, scores: LinearScores, prior: Floats) -> LinearModel:
        """Over all classes and columns."""
        n_problems, n_terms = self.known.size, self.texts.X.shape[1]
        coef, intercept = np.zeros((n_problems, n_terms)), np.full(n_problems, OUT_OF_QUESTION)
        places = np.flatnonzero(self.known)
        coef[np.ix_(places, self.columns)] = scores.coef
        intercept[places] = scores.intercept
        part = sp.coo_array(prior)
        known = sp.csr_array((part.data, (places[part.row], self.columns[part.col])), shape=coef.shape)
        return LinearModel(
            self.answers.labels, coef, intercept, known, self.known, self.answers.rows, self.answers.version
        )


def score_held_out(
    texts: TextColumns,
    answers: LabelledTexts,
    like: BackgroundFit,
    knowledge: KeywordPriors,
    unlabelled: Indices,
    test: Indices,
) -> Floats:
    """Scores (n_test, n_problems) of texts by what some answers, without them, come to: learnt as `like` was,
    nothing weighed.

    The texts of `test` are left out even where they have no label: new texts will not be there either.
    """
    dropped = {(one.target, one.prior) for one in like.verdicts if one.status in ("dropped", "contradicted")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rest = unlabelled[~np.isin(unlabelled, test)][: MOST_UNLABELLED // 2]
        lesson = _Lesson.of(texts, answers, knowledge, rest, 1)
        found = np.full((test.size, lesson.known.size), OUT_OF_QUESTION)
        if lesson.known.sum() <= (1 if lesson.labels.kind == "multiclass" else 0) or not lesson.columns.size:
            return found
        names = [str(name) for name in lesson.labels.problem_names]
        used = np.asarray((lesson.priors != 0).any(axis=2))
        adopted = [[(name, j) not in dropped for j in range(used.shape[1])] for name in names]
        # of no priors at all it would be an array of floats
        used &= np.array(adopted, dtype=bool).reshape(used.shape)
        pool = lesson.prior_pool(used)
        training = SelfTraining(1.0, Solver(1.0, _TOL, 50, 1), rounds=SHORT_ROUNDS)
        guesses = lesson.rows.size > len(answers) and (like.semi_supervised or not pool.both_sides.all())
        scores = training.guess(pool).scores if guesses else training.start(pool)
        found[:, lesson.known] = scores(texts.X[test][:, lesson.columns])
    return found
