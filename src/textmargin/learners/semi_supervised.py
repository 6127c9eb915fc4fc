"""One rule that believes: whether unlabelled texts are learnt from, and with which priors, by what held-out
labelled texts say.

The labelled texts are dealt into folds, and the whole of self-training (`self_training.py`) is done without
each: without any prior, and with each kind of knowledge. What a kind saves of the loss of the texts held out
is its evidence for each class, and the rule for priors (`evidence.select_priors`) says which are used, unless
all of them, or none, decide more of the texts rightly. Self-training with these is adopted where it clearly
(evidence ≥ 1) decides more texts rightly than the labelled texts alone, and not clearly fewer than these with
the priors. With several labels a text what counts is the F1 of each, and how far up its labels stand among
the texts. Losses would not do there: self-training on texts of other topics has smaller losses, being surer,
and decides worse. Where it cannot be told, the unlabelled texts are left aside.

Where a class has no labelled text there is nothing to compare with: what is known is used, and nothing is
weighed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from .._typing import Bools, Floats, Indices
from ._folds import deal_folds
from .evidence import Verdict, evidence_of, is_harmful, log_ranks, select_priors, squared_gains, verdict
from .self_training import SHORT_ROUNDS, Guess, Pool, SelfTraining, Signs

_MOST_LABELLED, _MOST_UNLABELLED = 2_000, 3_000  # texts that it is weighed on
_N_FOLDS = 5
_TIE = 1e-9
# of the held-out texts: what one labelled text a class comes to by itself on hard corpora
_LEAST_RIGHT = 0.25
_UNDECIDED = 1e-4  # of the loss: rounds stop at a coarse tolerance


@dataclass(frozen=True)
class Belief:
    """What is learnt from.

    Attributes
    ----------
    guess : Guess or None
        None where unlabelled texts are left aside.
    priors : array (n_problems, n_priors, n_features)
        Those that are used, at their scale; 0 for the others.
    verdicts : list of Verdict
        Of each class and kind of knowledge, where they were weighed; last, of the unlabelled texts (`target`
        and `prior` None).
    held_out : HeldOut or None
        Scores of labelled texts by models that did not know their labels, where they were weighed.
    """

    guess: Guess | None
    priors: Floats
    verdicts: list[Verdict]
    held_out: HeldOut | None = None


@dataclass(frozen=True)
class HeldOut:
    """Scores (n_rows, n_problems) of some of a pool's rows."""

    rows: Indices
    scores: Floats


def believe(training: SelfTraining, pool: Pool, priors: Floats, row_size: float) -> Belief:
    """Weigh priors and unlabelled texts, and learn from those that deserve it.

    Parameters
    ----------
    training : SelfTraining
    pool : Pool, whose `prior` is not looked at
    priors : array (n_problems, n_priors, n_features)
    row_size : float, the typical length of a row
    """
    known = np.asarray((priors != 0).any(axis=2))
    if not pool.both_sides.all():
        used = scale_jointly(priors, known, row_size)
        return Belief(training.guess(replace(pool.with_priors(used), has_rest=True)), used, [])
    mask, verdicts, held_out = weigh(training, pool, priors, known, row_size)
    used = scale_jointly(priors, mask, row_size)
    adopted = verdicts[-1].status in ("supported", "adopted")
    return Belief(training.guess(pool.with_priors(used)) if adopted else None, used, verdicts, held_out)


def weigh(
    training: SelfTraining, pool: Pool, priors: Floats, known: Bools, row_size: float
) -> tuple[Bools, list[Verdict], HeldOut]:
    """Which priors are used (n_problems, n_priors), the verdicts on them and on the unlabelled texts, and
    held-out scores.
    """
    trial = Trial.of(replace(training, rounds=SHORT_ROUNDS), pool)
    n_problems, n_priors, _ = priors.shape
    none = np.zeros((n_problems, n_priors), dtype=bool)

    @cache
    def scores(mask: bytes, unlabelled: bool) -> Floats:
        used = np.frombuffer(mask, dtype=bool).reshape(n_problems, n_priors)
        return trial.scores(scale_jointly(priors, used, row_size), unlabelled=unlabelled)

    evidence, gain = np.full((n_problems, n_priors), np.nan), np.zeros((n_problems, n_priors))
    # A class whose only text is held out has no text to train itself on: then priors are weighed on labelled
    # texts alone.
    several = trial.fewest > 1
    if known.any():
        without = trial.losses(scores(none.tobytes(), several))
    for j in np.flatnonzero(known.any(axis=0)):
        mask = known & (np.arange(n_priors) == j)
        with_prior = trial.losses(scores(mask.tobytes(), several))
        for k in np.flatnonzero(mask[:, j]):
            gains = squared_gains(without[:, k], with_prior[:, k], _UNDECIDED)
            evidence[k, j] = evidence_of(gains)
            gain[k, j] = gains.sum() / max(without[:, k].sum(), 1e-300)
    candidates = [select_priors(evidence) & known, known, *([none] if several else [])]
    merits = [trial.merits(scores(mask.tobytes(), True)) for mask in candidates]
    best = int(np.argmax([one.sum() for one in merits]))
    used = candidates[best]
    verdicts = [
        verdict(pool.labels.name(k), j, float(evidence[k, j]), float(gain[k, j]), trusted=bool(used[k, j]))
        for k, j in np.argwhere(known).tolist()
    ]
    plain, with_priors = (
        trial.compare(scores(used.tobytes(), True), scores(mask.tobytes(), False)) for mask in (none, used)
    )
    adopted = is_harmful(-plain) and not is_harmful(with_priors)
    if not several and not pool.labels.multilabel:
        # Labelled texts alone are never right on a class whose only text is held out, so that any luck would
        # look like more.
        adopted &= (
            float(merits[best].sum()) >= _LEAST_RIGHT * float(trial.pool.weight[trial.labelled].sum()) - _TIE
        )
    more = float(merits[best].mean() - trial.merits(scores(none.tobytes(), False)).mean())
    verdicts.append(verdict(None, None, min(plain, with_priors), more, trusted=adopted))
    return used, verdicts, HeldOut(trial.rows, scores(used.tobytes(), True))


@dataclass(frozen=True)
class Trial:
    """Labelled texts in folds, with some unlabelled ones, on which ways to learn are compared."""

    training: SelfTraining
    pool: Pool
    rows: Indices  # of the labelled texts, in the pool that they come from
    labelled: Indices  # the same in this pool
    fold: Indices  # of each labelled text
    fewest: int  # texts for a class, or against it

    @classmethod
    def of(cls, training: SelfTraining, pool: Pool) -> Trial:
        """Of the texts of a pool, or some of them where they are many."""
        unlabelled = pool.unlabelled
        rows = [
            _some(np.flatnonzero(~unlabelled), _MOST_LABELLED),
            _some(np.flatnonzero(unlabelled), _MOST_UNLABELLED),
        ]
        some = pool.take(np.concatenate(rows))
        labelled = np.flatnonzero(~some.unlabelled)
        positive = some.signs[labelled] > 0
        fewest = int(np.minimum(positive.sum(axis=0), (~positive).sum(axis=0)).min())
        n_folds = min(_N_FOLDS if fewest < 2 else min(_N_FOLDS, fewest), labelled.size)
        return cls(training, some, rows[0], labelled, deal_folds(positive, n_folds, random_state=0), fewest)

    def scores(self, priors: Floats, *, unlabelled: bool) -> Floats:
        """Of the labelled texts (n_texts, n_problems), each by what is learnt without its fold."""
        found = np.empty((self.labelled.size, self.pool.signs.shape[1]))
        pool = self.pool.with_priors(priors)
        for j in range(int(self.fold.max()) + 1):
            # not even as unlabelled texts: new texts will not be there either
            out = self.labelled[self.fold == j]
            rest = pool.take(np.setdiff1d(np.arange(len(pool.signs)), out))
            scores = self.training.guess(rest).scores if unlabelled else self.training.start(rest)
            found[self.fold == j] = scores(pool.X[out])
        return found

    @property
    def signs(self) -> Signs:
        """Of the labelled texts."""
        return self.pool.signs[self.labelled]

    def losses(self, scores: Floats) -> Floats:
        """Of the labelled texts (n_texts, n_problems)."""
        return self.pool.weight[self.labelled, None] * np.maximum(1 - self.signs * scores, 0) ** 2

    def merits(self, scores: Floats) -> Floats:
        """What the decisions on the labelled texts (n_texts,) are worth: whether each is right; of several
        labels, its F1.
        """
        labels = self.pool.labels
        decided, truth = (
            labels.accepted(labels.class_scores(scores)),
            labels.class_scores(self.signs.astype(float)) > 0,
        )
        both, either = (decided & truth).sum(axis=1), decided.sum(axis=1) + truth.sum(axis=1)
        return self.pool.weight[self.labelled] * np.where(either == 0, 1.0, 2 * both / np.maximum(either, 1))

    def compare(self, scores: Floats, others: Floats) -> float:
        """The evidence that decisions by some scores are better than by others.

        With several labels a text, where labels stand among the texts without them counts as much as the
        decisions, which hang on thresholds; where a class has one text only, both must say so.
        """
        evidence = evidence_of(self.merits(scores) - self.merits(others))
        if not self.pool.labels.multilabel:
            return evidence
        pairs = zip(scores.T, others.T, self.signs.T > 0, strict=True)
        ranks = evidence_of(np.concatenate([log_ranks(b, own) - log_ranks(a, own) for a, b, own in pairs]))
        return (evidence + ranks) / 2 if self.fewest > 1 else min(evidence, ranks)


@dataclass(frozen=True)
class WordHalves:
    """Scores (n_texts, n_problems) by the words of one half, and the classes (n_texts, n_classes) by those of
    the other.
    """

    scores: Floats
    member: Bools


def agree(
    training: SelfTraining, pool: Pool, shares: Floats, halves: list[Floats], row_size: float
) -> WordHalves:
    """How far two models agree that start from different words: without labels, the nearest to how sure one
    may be.

    Both know fewer words than all together, so that they agree less often than the model of all is right; but
    they may also err together. Every other text has its score by the one, and its class by the other.
    """
    short, labels = replace(training, rounds=SHORT_ROUNDS), pool.labels
    both = []
    for half in halves:
        scaled = scale_jointly(half, np.asarray((half != 0).any(axis=2)), row_size)
        both.append(
            short.with_shares(replace(pool.with_priors(scaled), has_rest=True), shares).scores(pool.X)
        )
    members = [labels.accepted(labels.class_scores(scores)) for scores in both]
    even = (np.arange(len(pool.signs)) % 2 == 0)[:, None]
    return WordHalves(np.where(even, *both), np.where(even, members[1], members[0]))


def split_words(priors: Floats) -> list[Floats]:
    """Every other word of each prior (n_problems, n_priors, n_features), and the rest; of one word alone,
    both have it.
    """
    halves = [priors.copy(), priors.copy()]
    for k, j in np.ndindex(priors.shape[:2]):
        words = np.flatnonzero(priors[k, j])
        if words.size > 1:
            for half, gone in zip(halves, (words[1::2], words[::2]), strict=True):
                half[k, j, gone] = 0.0
    return halves


def scale_jointly(priors: Floats, used: Bools, row_size: float) -> Floats:
    """Priors (n_problems, n_priors, n_features) that together lift a text of nothing but their words across
    the margin.
    """
    sizes = np.linalg.norm(priors, axis=2, keepdims=True)
    unit = np.divide(priors, sizes, out=np.zeros_like(priors), where=sizes > 0) * used[:, :, None]
    together = np.linalg.norm(unit.sum(axis=1), axis=1)
    return unit * (2.0 / (row_size * np.maximum(together, 1.0)))[:, None, None]


def _some(rows: Indices, most: int) -> Any:
    return rows if rows.size <= most else rows[np.linspace(0, rows.size - 1, most).astype(np.intp)]
