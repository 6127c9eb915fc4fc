"""Thresholds of all classes set anew on texts that people judged, where a text has one label: for the
decision that is made.

What people see is what was decided, so that of texts left unsure little is known. From the thresholds θ₀ in
use the ways are

    common    all move by as much; and half of it
    joint     from there class by class, as in `joint.py`; and a quarter, half and three quarters of the way

and a threshold falls below θ₀ only where `least` unsure texts, for a class those whose best guess it is, were
judged. Then what nobody judged stays unsure under all of them, and their differences in utility are those on
the judged texts. Each way is set without a fifth of the texts and valued on these; one that does not gain a
standard error over the one before is not taken, and if none is, the thresholds stay as they are.

Where it was only said that a label is wrong, nobody knows the right one: no answer to the text counts as
right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._ties import first_maximum
from .._typing import Bools, Floats, Indices
from ..errors import ScoreError
from .feedback import LEAST
from .joint import SHARES, choose_way, deal_classes
from .single_label import SingleLabelTexts, answer_table
from .utility import Utility

_MOST_PASSES = 10
_N_FOLDS = 5


@dataclass(frozen=True)
class JudgedTexts(SingleLabelTexts):
    """Texts that people judged.

    Attributes
    ----------
    truth : array (n_texts,)
        The class of each; n_classes + k where only class k was said to be wrong.
    """

    @cached_property
    def table(self) -> Floats:
        """The worth of an answer (2·n_classes, n_classes + 1); a truth that nobody knows is any class but the
        wrong one.
        """
        utilities = []
        for one in self.measures:
            if not isinstance(one, Utility):
                raise ScoreError(
                    f"{one} needs the number of texts that were missed, which nobody knows where only "
                    "decided texts are judged; "
                    f"say what a hit and a false alarm are worth: utility=Utility(tp=2, fp=-1), for instance."
                )
            utilities.append(one)
        known = answer_table(tuple(utilities))
        n = self.n_classes
        wrong = known.copy()
        fp, fn, tn = (np.array([getattr(one, name) for one in utilities]) for name in ("fp", "fn", "tn"))
        np.fill_diagonal(wrong[:, :n], fn + fp + tn.sum() - 2 * tn)
        others = (1.0 - np.eye(n)) / max(n - 1, 1)
        return np.vstack([known, others @ wrong])


@dataclass(frozen=True)
class JointFeedback:
    """Thresholds of all classes, and how they were found.

    Attributes
    ----------
    thresholds : array (n_classes,)
    always_answer : bool
    way : str, "as they were" where nothing is worth more than chance
    gain : float, what they are worth on the judged texts beyond those in use
    can_fall : array (n_classes,) of bool
    """

    thresholds: Floats
    always_answer: bool
    way: str
    gain: float
    can_fall: Bools


def joint_feedback(
    texts: JudgedTexts,
    thresholds: Floats,
    answers_all: bool,
    *,
    least: int = LEAST,
    movable: Bools | None = None,
    can_fall: bool = True,
    random_state: int | None = 0,
) -> JointFeedback:
    """The thresholds that pay on judged texts, by the module's rule.

    Parameters
    ----------
    texts : JudgedTexts
    thresholds : array (n_classes,), those in use
    answers_all : bool
        Whether with these every text was answered.
    least : int, default=20
        How many decisions for a class must have been judged for its threshold to move by itself, and how many
        unsure texts for it to fall.
    movable : array (n_classes,) of bool, default=None
        The classes whose thresholds may move; then not all together.
    can_fall : bool, default=True
        Whether any may fall.
    random_state : int, default=0
        Deals out the folds.
    """
    move = _Move.of(texts, thresholds, answers_all, least, movable, can_fall)
    before = move.base.text_utilities(move.base.answers(thresholds))
    fold = deal_classes(texts.truth, _N_FOLDS, np.random.default_rng(random_state))
    utilities: dict[str, list[Floats]] = {_STAY: []}
    assert before is not None  # the table is always there
    for j in range(_N_FOLDS):
        rest, held_out = fold != j, texts.part(fold == j)
        if not rest.any() or not len(held_out):
            continue
        utilities[_STAY].append(before[fold == j])
        for way, found in move.ways(texts.part(rest)):
            own = held_out.text_utilities(held_out.answers(found))
            assert own is not None
            utilities.setdefault(way, []).append(own)
    way = choose_way(utilities, _STAY, texts.rounding)
    if way != _STAY:
        found = dict(move.ways(texts))[way]
        gain = texts.utility(found) - float(before.sum())
        if gain > texts.rounding:
            return JointFeedback(found, texts.always_answer, way, gain, move.falls)
    return JointFeedback(thresholds.copy(), answers_all, _STAY, 0.0, move.falls)


_STAY = "as they were"


@dataclass(frozen=True)
class _Move:
    """From where, and how far, thresholds may move."""

    start: Floats
    base: SingleLabelTexts
    free: bool  # nothing was left unsure, so that nobody's silence matters
    together: bool
    lowest: float  # that all may move by together
    falls: Bools
    moves: Bools

    @classmethod
    def of(
        cls,
        texts: JudgedTexts,
        thresholds: Floats,
        answers_all: bool,
        least: int,
        movable: Bools | None,
        can_fall: bool,
    ) -> _Move:
        n = texts.n_classes
        base = JudgedTexts(texts.truth, texts.scores, texts.measures, answers_all, texts.weight)
        answers = base.answers(thresholds)
        unsure = answers == n
        guesses = np.bincount((texts.scores - thresholds).argmax(axis=1)[unsure], minlength=n)
        falls = np.full(n, answers_all) if answers_all else (guesses >= least) & can_fall
        moves = np.bincount(answers, minlength=n + 1)[:n] >= least
        moves = moves if movable is None else moves & movable
        down = answers_all or (can_fall and int(unsure.sum()) >= least)
        together = movable is None and not texts.always_answer
        return cls(thresholds, base, answers_all, together, -np.inf if down else 0.0, falls, moves)

    def ways(self, texts: SingleLabelTexts) -> Iterator[tuple[str, Floats]]:
        """Thresholds by each way, the least daring first."""
        start = self.start
        if self.together:
            step = self._common(texts)
            if not self.free:
                yield "common, half", self.start + step / 2
            start = self.start + step
            yield "common", start
        end = self._search(texts, start)
        for share in SHARES:
            yield f"joint, {share:g}", start + share * (end - start)

    def _common(self, texts: SingleLabelTexts) -> float:
        above = texts.scores - self.start
        best = above.argmax(axis=1)
        sweep = texts.sweep(above[np.arange(len(texts)), best], np.full(len(texts), texts.n_classes), best)
        stay = sweep.place(0.0)
        allowed = np.arange(sweep.utility.size) <= (sweep.utility.size if self.lowest < 0 else stay)
        place = _highest(sweep.utility, allowed, texts.rounding)
        if not self.free and sweep.utility[place] <= sweep.utility[stay] + texts.rounding:
            return 0.0
        return max(sweep.threshold(place), self.lowest)

    def _search(self, texts: SingleLabelTexts, thresholds: Floats) -> Floats:
        """Class by class to where the decisions are worth most while the others stay, until nothing gains."""
        thresholds = thresholds.copy()
        standing = texts.standing(thresholds)
        for _ in range(_MOST_PASSES):
            changed = False
            for k in np.flatnonzero(self.moves).tolist():
                sweep = texts.sweep_class(k, standing, thresholds[k])
                here = sweep.place(thresholds[k])
                floor = -np.inf if self.falls[k] else self.start[k]
                allowed = np.arange(sweep.utility.size) <= (
                    sweep.utility.size if self.falls[k] else sweep.place(floor)
                )
                place = _highest(sweep.utility, allowed, texts.rounding)
                if sweep.utility[place] > sweep.utility[here] + texts.rounding:
                    thresholds[k] = max(sweep.threshold(place), floor)
                    standing, changed = texts.standing(thresholds), True
            if not changed:
                break
        return thresholds


def _highest(utility: Floats, allowed: Bools, rounding: float) -> int:
    places: Indices = np.flatnonzero(allowed)
    return int(places[first_maximum(utility[places], rounding)])
