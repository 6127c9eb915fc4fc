"""One rule that believes: whether unlabelled texts are learnt from, and with which priors, by what held-out labelled texts say.

The labelled texts are dealt into folds, and the whole of self-training (`self_training.py`) is done without each: without any
prior, and with each kind of knowledge. What a kind saves of the loss of the texts held out is its evidence for each class, and
the rule for priors (`evidence.select_priors`) says which are used. Self-training with these is adopted where it clearly (evidence ≥ 1) decides more
texts rightly than the labelled texts alone, with these priors or without any, whichever is better. Losses would not do there:
self-training on texts of other topics has smaller losses, being surer, and decides worse. Where it cannot be told, the unlabelled
texts are left aside.

Where a class has no labelled text there is nothing to compare with: what is known is used, and nothing is weighed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from .._typing import Bools, Floats, Indices
from ._folds import deal_folds
from .evidence import Verdict, evidence_of, is_harmful, log_ranks, select_priors, squared_gains, verdict
from .self_training import Guess, Pool, SelfTraining, Signs

_ROUNDS = (0.2, 0.5, 0.95)  # of the self-training that is weighed: fewer, as it is done many times
_MOST_LABELLED, _MOST_UNLABELLED = 2_000, 3_000  # texts that it is weighed on
_N_FOLDS = 5
_UNDECIDED = 1e-4  # of the loss: rounds stop at a coarse tolerance


@dataclass(frozen=True)
class Belief:
    """What is learnt from.

    Attributes
    ----------
    guess : Guess or None
        None where unlabelled texts are left aside.
    prior : array (n_problems, n_features)
        The priors that are used, at their scale.
    used : array (n_problems, n_priors) of bool
    verdicts : list of Verdict
        Of each class and kind of knowledge, where they were weighed; last, of the unlabelled texts, whose `target` and `prior` are
        None.
    """

    guess: Guess | None
    prior: Floats
    used: Bools
    verdicts: list[Verdict]


def believe(
    training: SelfTraining, pool: Pool, priors: Floats, row_size: float, report: Callable[[float], object] | None = None
) -> Belief:
    """Weigh priors and unlabelled texts, and learn from those that deserve it.

    Parameters
    ----------
    training : SelfTraining
    pool : Pool, whose `prior` is not looked at
    priors : array (n_problems, n_priors, n_features)
    row_size : float, the typical length of a row
    """
    known = (priors != 0).any(axis=2)
    if not ((pool.signs > 0).any(axis=0) & (pool.signs < 0).any(axis=0)).all():
        prior = join_scaled(priors, known, row_size)
        return Belief(training.guess(replace(pool, prior=prior), report), prior, known, [])
    used, verdicts = weigh(training, pool, priors, known, row_size, report)
    prior = join_scaled(priors, used, row_size)
    adopted = verdicts[-1].status in ("supported", "adopted")
    return Belief(training.guess(replace(pool, prior=prior)) if adopted else None, prior, used, verdicts)


def weigh(
    training: SelfTraining,
    pool: Pool,
    priors: Floats,
    known: Bools,
    row_size: float,
    report: Callable[[float], object] | None = None,
) -> tuple[Bools, list[Verdict]]:
    """Which priors are used (n_problems, n_priors), and the verdicts on them and on the unlabelled texts."""
    trial = Trial.of(replace(training, rounds=_ROUNDS), pool)
    n_problems, n_priors, _ = priors.shape
    none = np.zeros((n_problems, n_priors), dtype=bool)
    steps = _Steps(n_priors + 4, report)

    @cache
    def scores(mask: bytes, unlabelled: bool) -> Floats:
        steps.advance()
        used = np.frombuffer(mask, dtype=bool).reshape(n_problems, n_priors)
        return trial.scores(join_scaled(priors, used, row_size), unlabelled=unlabelled)

    evidence, gain = np.full((n_problems, n_priors), np.nan), np.zeros((n_problems, n_priors))
    if known.any():
        without = trial.losses(scores(none.tobytes(), True))
    for j in np.flatnonzero(known.any(axis=0)):
        mask = known & (np.arange(n_priors) == j)
        with_prior = trial.losses(scores(mask.tobytes(), True))
        for k in np.flatnonzero(mask[:, j]):
            gains = squared_gains(without[:, k], with_prior[:, k], _UNDECIDED)
            evidence[k, j] = evidence_of(gains)
            gain[k, j] = gains.sum() / max(without[:, k].sum(), 1e-300)
    used = select_priors(evidence) & known
    verdicts = [
        verdict(pool.labels.name(k), j, float(evidence[k, j]), float(gain[k, j]), trusted=bool(used[k, j]))
        for k, j in np.argwhere(known).tolist()
    ]
    labelled_only = [trial.merits(scores(mask.tobytes(), False)) for mask in (none, used)]
    reference = max(labelled_only, key=lambda one: round(float(one.sum()), 9))
    gains = trial.merits(scores(used.tobytes(), True)) - reference
    total = evidence_of(gains)
    verdicts.append(verdict(None, None, total, float(gains.mean()), trusted=is_harmful(-total)))
    return used, verdicts


@dataclass(frozen=True)
class Trial:
    """Labelled texts in folds, with some unlabelled ones, on which ways to learn are compared."""

    training: SelfTraining
    pool: Pool
    labelled: Indices  # rows of the pool
    fold: Indices  # of each labelled text

    @classmethod
    def of(cls, training: SelfTraining, pool: Pool) -> Trial:
        """Of the texts of a pool, or some of them where they are many."""
        unlabelled = pool.unlabelled
        rows = [_some(np.flatnonzero(~unlabelled), _MOST_LABELLED), _some(np.flatnonzero(unlabelled), _MOST_UNLABELLED)]
        some = pool.take(np.concatenate(rows))
        labelled = np.flatnonzero(~some.unlabelled)
        positive = some.signs[labelled] > 0
        fewest = int(np.minimum(positive.sum(axis=0), (~positive).sum(axis=0)).min())
        n_folds = min(_N_FOLDS if fewest < 2 else min(_N_FOLDS, fewest), labelled.size)
        return cls(training, some, labelled, deal_folds(positive, n_folds, random_state=0))

    def scores(self, prior: Floats, *, unlabelled: bool) -> Floats:
        """Of the labelled texts (n_texts, n_problems), each by what is learnt without its fold."""
        found = np.empty((self.labelled.size, self.pool.signs.shape[1]))
        for j in range(int(self.fold.max()) + 1):
            out = self.labelled[self.fold == j]
            signs: Signs = self.pool.signs.copy()
            signs[out] = 0
            pool = replace(self.pool, signs=signs, prior=prior)
            scores = self.training.guess(pool).scores if unlabelled else self.training.start(pool)
            found[self.fold == j] = scores[out]
        return found

    @property
    def signs(self) -> Signs:
        """Of the labelled texts."""
        return self.pool.signs[self.labelled]

    def losses(self, scores: Floats) -> Floats:
        """Of the labelled texts (n_texts, n_problems)."""
        return self.pool.weight[self.labelled, None] * np.maximum(1 - self.signs * scores, 0) ** 2

    def merits(self, scores: Floats) -> Floats:
        """What scores are worth where decisions, not margins, count.

        With one label a text, whether each is right; with several, how far up each label of each text stands among the texts
        without that label: minus the logarithm of its rank.
        """
        labels = self.pool.labels
        if not labels.multilabel:
            decided = labels.accepted(labels.class_scores(scores))
            truth = labels.class_scores(self.signs.astype(float)) > 0
            return self.pool.weight[self.labelled] * (decided & truth).any(axis=1)
        ranks = [log_ranks(column, signs > 0) for column, signs in zip(scores.T, self.signs.T, strict=True)]
        return -np.concatenate(ranks)


def join_scaled(priors: Floats, used: Bools, row_size: float) -> Floats:
    """Priors (n_problems, n_features) that lift a text of nothing but their words across the margin, several of a class as one."""
    sizes = np.linalg.norm(priors, axis=2, keepdims=True)
    unit = np.divide(priors, sizes, out=np.zeros_like(priors), where=sizes > 0)
    joined = (unit * used[:, :, None]).sum(axis=1)
    size = np.linalg.norm(joined, axis=1, keepdims=True)
    return 2.0 / max(row_size, 1e-300) * joined / np.maximum(size, 1.0)


def _some(rows: Indices, most: int) -> Any:
    return rows if rows.size <= most else rows[np.linspace(0, rows.size - 1, most).astype(np.intp)]


@dataclass
class _Steps:
    """How far a number of steps has come."""

    n: int
    report: Callable[[float], object] | None
    done: int = field(default=0)

    def advance(self) -> None:
        if self.report is not None:
            self.report(min(self.done / self.n, 1.0))
        self.done += 1
