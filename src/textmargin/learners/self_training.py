"""Self-training: texts without labels, guessed at and learnt from, a few more in each round.

A round gives every unlabelled text the class of its highest score, takes from each class the texts that lead
the second class by most, no more than a part of the class's share, and learns again from these and the
labelled texts. With several labels a text, and of two classes, each class takes the texts of its highest
scores as examples for it, as many as a part of its share, and those of its lowest scores against it. The
share is what keeps a large class from swallowing the others: it is Joachims' (1999) and Sindhwani & Keerthi's
(2006) constraint. Where nobody gives it, it is guessed once, from what the start says, and never from the
rounds, which would confirm themselves (`class_shares.py`). Of two classes that nothing but words tell apart
it is the share, of some, that leaves the fewest texts near the border, on either side of it; but odds that
are ten times what the words say confirm themselves too, and are not tried.

Shares limit what is learnt from, not what is decided: with one label a text, a frequent class of a small
corpus can win nearly all texts by its true share. So given shares are tried beside the guess, and the rounds
kept whose decisions come nearest to them.

The start is the model of the labelled texts with the priors, or the priors alone. Priors have their scale: −1
+ ⟨v, x⟩ is the score of a text by the prior alone (`trust.py`).

The constants were chosen on Wikipedia's categories, Reuters' topics, Medline's queries and the service desk,
with all and with two keywords a class; most of them hardly matter (docs/unlabelled.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._ties import ROUNDING, descending_order
from .._typing import Bools, Floats, Indices
from ..labels import ClassLabels
from .class_shares import fill_shares, guess_shares, leaders, trial_shares
from .matrix import Matrix
from .problem import Problem
from .trust import Fit, Solver

ROUNDS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 0.95, 0.95)  # how much of its share each class takes
WEIGHT = 0.5  # what an unlabelled text costs beside a labelled one
SHORT_ROUNDS = (0.2, 0.5, 0.95)  # where self-training is done many times, to compare
_GIVEN = (1.0, 0.5, 0.0)  # how much of shares that are tried is what was given; the rest is the guess

Signs = NDArray[np.int8]


@dataclass(frozen=True)
class LinearScores:
    """Scores (n_texts, n_problems) of texts: ⟨coef, x⟩ + intercept."""

    coef: Floats  # (n_problems, n_features)
    intercept: Floats  # (n_problems,)

    def __call__(self, X: Matrix) -> Floats:
        """Of some texts."""
        return np.asarray(X @ self.coef.T + self.intercept)


@dataclass(frozen=True)
class Pool:
    """Texts, some of them with labels.

    Attributes
    ----------
    X : matrix (n_texts, n_features)
    signs : array (n_texts, n_problems)
        1 or −1 for texts with labels, 0 for those without.
    weight : array (n_texts,), of texts with labels; 1 for the others.
    prior : array (n_problems, n_features), at its scale; 0 where nothing is known.
    labels : ClassLabels
    shares : array (n_classes,) with NaN where they are to be guessed, or None for all
    has_rest : bool
        Whether texts of which nothing is known start in the class of which nothing is known.
    """

    X: Matrix
    signs: Signs
    weight: Floats
    prior: Floats
    labels: ClassLabels
    shares: Floats | None = None
    has_rest: bool = False

    @property
    def unlabelled(self) -> Bools:
        """Which texts (n_texts,) have no label."""
        return np.asarray(~self.signs.any(axis=1))

    @property
    def both_sides(self) -> Bools:
        """For which problems (n_problems,) there are labelled texts for and against the class."""
        return np.asarray((self.signs > 0).any(axis=0) & (self.signs < 0).any(axis=0))

    @property
    def speaks(self) -> Bools:
        """For which problems (n_problems,) a prior is known."""
        return np.asarray((self.prior != 0).any(axis=1))

    def word_scores(self, prior: Floats) -> LinearScores:
        """Scores by priors alone; `prior` (n_texts, n_problems) is what the words of each text add up to."""
        return LinearScores(self.prior, prior_intercept(self, prior))

    def with_priors(self, priors: Floats) -> Pool:
        """The same texts with several priors a class, (n_problems, n_priors, n_features)."""
        return replace(self, prior=priors.sum(axis=1))

    def take(self, rows: Indices) -> Pool:
        """Some of the texts."""
        return replace(self, X=self.X[rows], signs=self.signs[rows], weight=self.weight[rows])


@dataclass(frozen=True)
class Guess:
    """What self-training came to.

    Attributes
    ----------
    signs : array (n_texts, n_problems)
        1 or −1 for texts that were labelled or guessed at, 0 for those that were not sure enough to learn
        from.
    scores : LinearScores, of the last round
    shares : array (n_classes,), those that the rounds kept to.
    """

    signs: Signs
    scores: LinearScores
    shares: Floats


@dataclass(frozen=True)
class SelfTraining:
    """The settings of self-training.

    Attributes
    ----------
    C : float, of the SVM
    solver : Solver
    rounds : how much of its share each class takes, round by round
    fit_intercept : bool
    """

    C: float
    solver: Solver
    rounds: tuple[float, ...] = ROUNDS
    fit_intercept: bool = True

    def start(self, pool: Pool) -> LinearScores:
        """The model of the labelled texts with the priors; of priors alone where a class has no text.

        A few texts of some classes would otherwise draw the others' texts to these, before any was guessed
        at.
        """
        prior = np.asarray(pool.X @ pool.prior.T)
        words = pool.word_scores(prior)
        learnt = pool.both_sides if pool.both_sides.all() else pool.both_sides & ~pool.speaks
        coef, intercept = words.coef.copy(), words.intercept.copy()
        for k, fit in self._learn(pool, prior, pool.signs, np.flatnonzero(learnt).tolist(), {}).items():
            coef[k], intercept[k] = fit.w + pool.prior[k], fit.intercept
        return LinearScores(coef, intercept)

    def guess(self, pool: Pool) -> Guess:
        """Guess at the unlabelled texts."""
        given, several = pool.shares, pool.labels.kind == "multiclass"
        if given is not None and not several:
            return self.with_shares(pool, given)
        prior = np.asarray(pool.X @ pool.prior.T)
        # labels have the mix of those who gave them
        by = pool.word_scores(prior) if pool.speaks.all() else self.start(pool)
        guessed = self._guess_shares(pool, prior, by(pool.X[pool.unlabelled]))
        if given is None:
            return self.with_shares(pool, guessed)
        filled = fill_shares(given, guessed)
        tries = [self.with_shares(pool, part * filled + (1 - part) * guessed) for part in _GIVEN]
        return tries[int(np.argmin([_distance(pool, one.scores) for one in tries]))]

    def with_shares(self, pool: Pool, shares: Floats) -> Guess:
        """Guess at the unlabelled texts by rounds that keep to some shares (n_classes,)."""
        prior, unlabelled = np.asarray(pool.X @ pool.prior.T), pool.unlabelled
        X, need = pool.X[unlabelled], _without_texts(pool)
        scores = self.start(pool)
        fits: dict[int, Fit] = {}
        signs = pool.signs.copy()
        for part in (1.0,) if pool.labels.multilabel else self.rounds:
            signs[unlabelled] = select(pool.labels, scores(X), shares, part, need)
            fits = self._learn(pool, prior, signs, list(range(signs.shape[1])), fits)
            weights = np.array([fits[k].w for k in range(len(fits))])
            scores = LinearScores(
                weights + pool.prior, np.array([fits[k].intercept for k in range(len(fits))])
            )
        return Guess(signs, scores, shares)

    def _guess_shares(self, pool: Pool, prior: Floats, scores: Floats) -> Floats:
        """Of each class (n_classes,), from scores of the unlabelled texts at the start."""
        one_sided = _one_side(prior) != 0
        if pool.labels.kind != "binary" or one_sided or pool.both_sides.all():
            return guess_shares(pool.labels, scores, one_sided)
        short = replace(self, rounds=SHORT_ROUNDS)
        trials, losses = trial_shares(scores[:, 0]), []
        for share in trials:
            guess = short.with_shares(pool, np.array([1 - share, share]))
            losses.append(_doubt(guess.scores(pool.X[pool.unlabelled])[:, 0]))
        best = trials[int(np.argmin(losses))]
        return np.array([1 - best, best])

    def _learn(
        self, pool: Pool, prior: Floats, signs: Signs, problems: list[int], starts: dict[int, Fit]
    ) -> dict[int, Fit]:
        """The problems learnt from the texts with a sign."""
        cost = np.where(pool.unlabelled, WEIGHT, pool.weight)
        chosen = (
            Problem(
                X=pool.X,
                y=signs[:, k].astype(float),
                costs=cost * (signs[:, k] != 0),
                margins=np.ones(len(signs)),
                penalty=1.0 / (2.0 * self.C),
                fit_intercept=self.fit_intercept,
                V=pool.prior[k][None, :],
                Z=prior[:, [k]],
                row_size=1.0,
            )
            for k in problems
        )
        return dict(
            zip(problems, self.solver.fit(chosen, 1.0, [starts.get(k) for k in problems]), strict=True)
        )


def prior_intercept(pool: Pool, prior: Floats) -> Floats:
    """What makes a score (n_problems,) of what the words of texts add up to, where a class has nothing but
    words.

    Of two classes, both of which have words, 0 is undecided. A class without words has the texts with less
    than half of what a typical text with words has: always of two classes, of more where the pool says so.
    """
    reach = np.abs(prior).max(axis=1)
    half = float(np.median(reach[reach > 0])) / 2 if reach.any() else 0.0
    if pool.labels.kind == "binary":
        return np.array([-_one_side(prior) * half])
    return np.where(~pool.speaks & pool.has_rest & (not pool.labels.multilabel), half, 0.0) - 1.0


def _doubt(scores: Floats) -> float:
    """How near texts lie to the border of two classes: the squared loss of taking each as decided, the mean
    of both sides.
    """
    loss = np.maximum(1 - np.abs(scores), 0) ** 2
    sides = [loss[side] for side in (scores > ROUNDING, scores <= ROUNDING)]
    return float(np.mean([side.mean() if side.size else 1.0 for side in sides]))


def _one_side(prior: Floats) -> float:
    """Of two classes the one, 1 or −1, that all words speak for; 0 where some speak for the other."""
    rounding = ROUNDING * float(np.abs(prior).max())
    return 1.0 if prior.min() >= -rounding else -1.0 if prior.max() <= rounding else 0.0


def select(labels: ClassLabels, scores: Floats, shares: Floats, part: float, need: Bools) -> Signs:
    """The signs (n_texts, n_problems) of the texts that a round learns from; 0 for the others.

    Parameters
    ----------
    labels, scores : as above
    shares : array (n_classes,)
    part : float
        How much of its share each class takes.
    need : array (n_classes,) of bool
        The classes that have no labelled text, and must take one at least.
    """
    if labels.kind != "multiclass":
        return _select_each(scores, shares[-labels.n_problems :], part)
    class_scores = labels.class_scores(scores)
    leader, lead = leaders(class_scores)
    most = np.maximum(np.floor(part * shares * len(scores) + ROUNDING), 1).astype(int)
    chosen = np.full(len(scores), -1)
    for k in range(labels.names.size):
        own = np.flatnonzero((leader == k) & (lead > 0))
        chosen[own[descending_order(lead[own])[: most[k]]]] = k
    for k in np.flatnonzero(need).tolist():
        if not (chosen == k).any():
            _give_one(class_scores, chosen, k, need)
    given = chosen >= 0
    signs = np.where(chosen[:, None] == np.arange(labels.names.size), 1, -1)
    return np.where(given[:, None], signs, 0).astype(np.int8)


def _distance(pool: Pool, scores: LinearScores) -> float:
    """How far the decisions on the unlabelled texts are from the shares that were given."""
    assert pool.shares is not None
    X, shares = pool.X[pool.unlabelled], pool.shares
    leader, lead = leaders(pool.labels.class_scores(scores(X)))
    decided = np.bincount(leader[lead > 0], minlength=shares.size) / max(len(leader), 1)
    return float(np.nansum(np.abs(decided - shares)))


def _without_texts(pool: Pool) -> Bools:
    """The classes (n_classes,) that no text is labelled."""
    sides = [pool.signs < 0, pool.signs > 0] if pool.labels.kind == "binary" else [pool.signs > 0]
    return np.asarray(~np.concatenate([side.any(axis=0) for side in sides]))


def _give_one(class_scores: Floats, chosen: Indices, k: int, need: Bools) -> None:
    """A class that leads nowhere takes the free text that is nearest to it, or one that another class can do
    without.
    """
    rows = np.flatnonzero(chosen < 0)
    if not rows.size:
        spare = ~need | (np.bincount(chosen, minlength=need.size) > 1)
        rows = np.flatnonzero(spare[chosen])
    if rows.size:
        nearness = class_scores[rows, k] - np.delete(class_scores[rows], k, axis=1).max(axis=1)
        chosen[rows[descending_order(nearness)[0]]] = k


def _select_each(scores: Floats, shares: Floats, part: float) -> Signs:
    """Of each class on its own the texts of its highest scores for it, and of its lowest against it."""
    n = len(scores)
    n_for = np.maximum(np.floor(part * shares * n + ROUNDING), 1).astype(int)
    n_against = np.maximum(np.floor(part * (1 - shares) * n + ROUNDING), 1).astype(int)
    signs = np.zeros(scores.shape, dtype=np.int8)
    for k, column in enumerate(scores.T):
        order = descending_order(column)
        signs[order[n - n_against[k] :], k] = -1
        signs[order[: n_for[k]], k] = 1
    return signs
