"""Thresholds of all classes together, for texts of one label each: set for the decision that is made of them.

Thresholds set one class against the rest are wrong where the class furthest above its own wins: raising one
pushes its texts into others. Here the utility of the decisions themselves (`single_label.py`), on held-out
scores, says where they go. Several ways are tried, each more daring than the one before:

    argmax       no thresholds: the highest score, always answered
    common       one threshold for all classes, by one sort of the highest scores
    calibrated   where answering is worth as much as not, by sigmoids fitted to the scores of each class; and
                 half way there
    joint        from the common one class by class, each where the decisions are worth most while the others
                 stay, until nothing gains; and a quarter, half and three quarters of the way there, for the
                 search believes in chance

Each is set without a fifth of the texts and valued on these, five times. A way is taken if it gains more than
a standard error over the one taken so far; on all texts nothing is kept that is worth less than argmax. So
the default never pays for its daring where texts are few, and all of it is decided without a text that the
thresholds are then used on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .._ties import first_maximum
from .._typing import Bools, Floats, Indices
from ._logistic import fit_sigmoids
from .single_label import SingleLabelTexts

# that thresholds are searched on; of more a sample, which is more than enough for a number per class
_MOST_TEXTS = 40_000
_MOST_PASSES = 10
SHARES = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class JointThresholds:
    """Thresholds of all classes.

    Attributes
    ----------
    thresholds : array (n_classes,)
    always_answer : bool, whether every text gets an answer: it was asked for, or argmax is best
    way : str, how they were found
    gain : float, what they are worth beyond argmax on the texts they were set on; on folds it is less
    """

    thresholds: Floats
    always_answer: bool
    way: str
    gain: float


def joint_thresholds(
    texts: SingleLabelTexts, *, damp: bool = True, n_folds: int = 5, random_state: int | None = 0
) -> JointThresholds:
    """The thresholds that pay, by the module's rule.

    Parameters
    ----------
    texts : SingleLabelTexts
    damp : bool, default=True
        Without, the search is taken at its word, all the way.
    n_folds : int, default=5
    random_state : int, default=0
        Deals out the folds.

    Examples
    --------
    Three texts in four are told apart; a wrong answer costs more than a right one gains, so that the fourth
        gets none.

    >>> import numpy as np
    >>> from textmargin import Utility
    >>> from textmargin.decisions.joint import joint_thresholds
    >>> from textmargin.decisions.single_label import SingleLabelTexts
    >>> scores = np.tile([[1.0, -1, -1], [-1, 1.0, -1], [-1, -1, 1.0], [-0.5, -0.5, -0.5]], (30, 1))
    >>> truth = np.ravel([[0, 1, 2, k % 3] for k in range(30)])
    >>> texts = SingleLabelTexts(truth, scores, (Utility(tp=1, fp=-2),) * 3)
    >>> texts.answers(joint_thresholds(texts).thresholds)[:4]  # 3: unsure
    array([0, 1, 2, 3])
    """
    rng = np.random.default_rng(random_state)
    if len(texts) > _MOST_TEXTS:
        texts = texts.part(np.sort(rng.choice(len(texts), _MOST_TEXTS, replace=False)))
    plain = replace(texts, always_answer=True)
    zero = np.zeros(texts.n_classes)
    n_folds = min(n_folds, len(texts))
    way = _best_way(texts, deal_classes(texts.truth, n_folds, rng)) if damp else f"joint, {SHARES[-1]:g}"
    if way != "argmax":
        thresholds = dict(_ways(texts))[way]
        gain = texts.utility(thresholds) - plain.utility(zero)
        if gain > texts.rounding:
            return JointThresholds(thresholds, texts.always_answer, way, gain)
    return JointThresholds(zero, True, "argmax", 0.0)


def search(texts: SingleLabelTexts, thresholds: Floats) -> Floats:
    """Each class's threshold to where the decisions are worth most while the others stay, again and again
    until nothing gains.
    """
    thresholds = thresholds.copy()
    standing = texts.standing(thresholds)
    for _ in range(_MOST_PASSES):
        moved = False
        for k in range(texts.n_classes):
            sweep = texts.sweep_class(k, standing, thresholds[k])
            best = int(first_maximum(sweep.utility, texts.rounding))
            if sweep.utility[best] > sweep.utility[sweep.place(thresholds[k])] + texts.rounding:
                thresholds[k] = sweep.threshold(best)
                standing = texts.standing(thresholds)
                moved = True
        if not moved:
            break
    return thresholds


def _ways(texts: SingleLabelTexts) -> Iterator[tuple[str, Floats]]:
    """Thresholds by each way, the least daring first."""
    start = np.zeros(texts.n_classes)
    if not texts.always_answer:
        start += _common(texts)
        yield "common", start
    calibrated = _calibrated(texts, start)
    if calibrated is not None:
        yield "calibrated, half", (start + calibrated) / 2
        yield "calibrated", calibrated
    end = search(texts, start)
    for share in SHARES:
        yield f"joint, {share:g}", start + share * (end - start)


def _best_way(texts: SingleLabelTexts, folds: Indices) -> str:
    """By what each way is worth on texts that its thresholds were not set on."""
    utilities: dict[str, list[Floats]] = {}
    zero = np.zeros(texts.n_classes)
    for j in range(int(folds.max(initial=0)) + 1):
        rest, held_out = texts.part(folds != j), texts.part(folds == j)
        if not len(rest) or not len(held_out):
            continue
        utilities.setdefault("argmax", []).append(_fold_utility(replace(held_out, always_answer=True), zero))
        for way, thresholds in _ways(rest):
            utilities.setdefault(way, []).append(_fold_utility(held_out, thresholds))
    return choose_way(utilities, "argmax", texts.rounding)


def choose_way(utilities: dict[str, list[Floats]], first: str, rounding: float) -> str:
    """The way that gains more than a standard error over the one chosen so far, from the first on, in their
    order.

    Parameters
    ----------
    utilities : dict way → list of arrays, one per fold, of what decisions on its texts are worth
    first : str
    rounding : float, what is no gain
    """
    chosen = first
    for way in utilities:
        if len(utilities[way]) < len(utilities[first]):
            continue  # not to be had on every fold
        gain = np.concatenate(utilities[way]) - np.concatenate(utilities[chosen])
        # Rounding apart, a standard error of 0 is that of no difference at all.
        if gain.sum() > np.sqrt(gain.size) * gain.std() + rounding:
            chosen = way
    return chosen


def _fold_utility(texts: SingleLabelTexts, thresholds: Floats) -> Floats:
    """What decisions are worth, text by text; where measures do not add up, of all texts together."""
    single = texts.text_utilities(texts.answers(thresholds))
    return np.array([texts.utility(thresholds)]) if single is None else single


def _common(texts: SingleLabelTexts) -> float:
    """One threshold for all classes: a text whose highest score is below it gets no answer."""
    best = texts.scores.argmax(axis=1)
    unsure = np.full(len(texts), texts.n_classes)
    sweep = texts.sweep(texts.scores[np.arange(len(texts)), best], unsure, best)
    return sweep.threshold(int(first_maximum(sweep.utility, texts.rounding)))


def _calibrated(texts: SingleLabelTexts, start: Floats) -> Floats | None:
    """Per class the score from which on an answer is worth more than none; where scores tell nothing of it,
    the start.
    """
    if texts.table is None:
        return None
    n = texts.n_classes
    positive: Bools = texts.truth[None, :] == np.arange(n)[:, None]
    weight = np.ones(len(texts)) if texts.weight is None else texts.weight
    share = np.bincount(texts.truth, weight, n)
    own = texts.table.diagonal() - texts.table[:, n]  # what the right answer gains beside none
    wrong = texts.table[:, n : n + 1] - texts.table[:, :n]  # and a wrong one loses
    np.fill_diagonal(wrong, 0.0)
    lost = share @ wrong / np.maximum(share.sum() - share, 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(lost / own)
    odds = np.where((own > 0) & (lost > 0), odds, 0.0)
    slope, intercept = fit_sigmoids(
        positive, np.ascontiguousarray(texts.scores.T), np.broadcast_to(weight, positive.shape)
    )
    rises = slope > 0
    return np.where(rises, (odds - intercept) / np.where(rises, slope, 1.0), start)


def deal_classes(truth: Indices, n_folds: int, rng: np.random.Generator) -> Indices:
    """The fold of each text; every class is dealt out evenly, each from another fold on."""
    fold = np.empty(truth.size, dtype=np.intp)
    for k in np.unique(truth):
        rows = np.flatnonzero(truth == k)
        fold[rows] = rng.permutation((np.arange(rows.size) + rng.integers(n_folds)) % n_folds)
    return fold
