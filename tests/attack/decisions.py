"""Decisions against their definitions, one text at a time and in whole numbers: utilities, curves,
thresholds, sweeps.

Scores are quarters, weights and costs small whole numbers, so that a tie is one; in some cases scores are
shaken in their last digits, which must change nothing.
"""

import math
import random
from fractions import Fraction

import numpy as np

from textmargin import (
    T10SU,
    T10U,
    T11SU,
    FBeta,
    Utility,
    beta_gamma_threshold,
    select_beta_gamma,
    utility_curve,
)
from textmargin.decisions.joint import joint_thresholds
from textmargin.decisions.single_label import SingleLabelTexts

BETAS, GAMMAS = (-0.5, -0.25, 0.0, 0.125, 0.5, 1.0), (None, 0.0625, 0.5)
NEAR = 1e-9
ROUNDING = 1e-12  # what decisions forgive


def case(seed):
    rng = random.Random(f"decisions/{seed}")
    kinds = [curves, curves, selection, selection, one_label, one_label, joint, joint, curves, curves]
    rng.choice(kinds)(rng)


# The definitions.


def worth(measure, tp, fp, fn, tn):
    """What a table is worth; None where it is undefined."""
    tp, fp, fn, tn = map(Fraction, (tp, fp, fn, tn))
    if isinstance(measure, Utility):
        return sum(
            Fraction(w) * n
            for w, n in zip((measure.tp, measure.fp, measure.fn, measure.tn), (tp, fp, fn, tn), strict=True)
        )
    if tp + fn == 0:
        return None
    if isinstance(measure, FBeta):
        b2 = Fraction(measure.beta) ** 2
        return (1 + b2) * tp / ((1 + b2) * tp + b2 * fn + fp)
    u, most = 2 * tp - fp, 2 * (tp + fn)
    floor = Fraction(-100) if measure is T10SU else -most / 2
    return (max(u, floor) - floor) / (most - floor)


def table(positive, score, weight, theta):
    tp = sum(w for p, s, w in zip(positive, score, weight, strict=True) if p and s >= theta)
    fp = sum(w for p, s, w in zip(positive, score, weight, strict=True) if not p and s >= theta)
    total = sum(w for p, w in zip(positive, weight, strict=True) if p)
    return tp, fp, total - tp, sum(weight) - total - fp


class Curve:
    """u_k, θ_max and θ_zero by counting, for each distinct score of a text that weighs something."""

    def __init__(self, positive, score, weight, measure):
        self.scores = sorted({s for s, w in zip(score, weight, strict=True) if w}, reverse=True)
        thetas = [self.scores[0] + 1, *self.scores]
        self.u = [worth(measure, *table(positive, score, weight, theta)) for theta in thetas]
        self.k = self.u.index(max(self.u))
        back = next((k for k in range(self.k + 1, len(self.u)) if self.u[k] <= self.u[0]), None)
        self.case = "accepts nothing" if self.k == 0 else "never returns" if back is None else "crosses"
        self.top = float(self.scores[self.k - 1]) if self.k else math.nextafter(self.scores[0], math.inf)
        self.zero = float(self.scores[back - 1]) if back else math.nextafter(self.scores[-1], -math.inf)
        self.p = sum(w for p, w in zip(positive, weight, strict=True) if p)

    def relaxed(self, beta, gamma):
        alpha = beta if gamma is None else beta + (1 - beta) * math.exp(-self.p * gamma)
        return alpha * self.zero + (1 - alpha) * self.top

    def middle(self):
        return (self.top + (self.scores[self.k] if self.k < len(self.scores) else self.scores[-1])) / 2


# Problems.


def a_measure(rng, undefined=True):
    costs = [rng.choice([0, 1, 2, 5, 20]) for _ in range(4)]
    linear = Utility(
        tp=costs[0] + 1, fp=-costs[1] - 1, fn=-costs[2] * rng.randrange(2), tn=costs[3] * rng.randrange(2)
    )
    return rng.choice(
        [T10U, linear, linear] + ([T11SU, T10SU, FBeta(1), FBeta(2.0), FBeta(0.5)] if undefined else [])
    )


def a_list(rng, least=1, weighted=True):
    n = rng.choice([rng.randrange(least + 1, 12), rng.randrange(least + 1, 60)])
    score = [rng.randrange(-12, 13) / 4 for _ in range(n)]
    positive = [rng.random() < rng.choice([0.1, 0.5, 0.9]) for _ in range(n)]
    for k in range(least):
        positive[k] = True
    weight = [rng.choice([1, 1, 2, 3, 0]) for _ in range(n)] if weighted and rng.random() < 0.4 else None
    if weight:
        weight[0] = 1
    return positive, score, weight


def shaken(rng, score):
    """The same scores, maybe wrong in their last digits."""
    size = rng.choice([0.0, 0.0, 2e-16, 1e-14])
    return np.array([s * (1 + size * rng.choice([-1, 0, 1])) for s in score])


def near(a, b):
    return abs(a - b) <= NEAR * max(1, abs(a), abs(b))


# The cases.


def curves(rng):
    positive, score, weight = a_list(rng)
    measure = a_measure(rng)
    given = shaken(rng, score)
    found = utility_curve(positive, given, measure, weight)
    slow = Curve(positive, score, weight or [1] * len(score), measure)
    by_theta = dict(zip(np.round(found.scores, 6), found.utility[1:], strict=True))
    assert near(found.utility[0], slow.u[0]), "u_0"
    for s, u in zip(slow.scores, slow.u[1:], strict=True):
        assert near(by_theta[s], u), f"u at {s} is {by_theta[s]}, by counting {float(u)}"
    assert near(found.theta_max, slow.top), f"theta_max is {found.theta_max}, by definition {slow.top}"
    assert near(found.theta_zero, slow.zero), f"theta_zero is {found.theta_zero}, by definition {slow.zero}"
    assert found.case == slow.case
    for beta in (-0.25, 0.0, 0.1, 1.0, 1.5):
        gamma = rng.choice([None, 0.05, 1.0])
        theta = beta_gamma_threshold(positive, given, beta, gamma, measure, weight)
        assert near(theta, slow.relaxed(beta, gamma)), f"theta of beta={beta}, gamma={gamma}"
    # On its own texts θ_max gets what the curve promises, whatever the last digits are.
    got = worth(measure, *table(positive, given, weight or [1] * len(score), found.theta_max))
    assert near(got, max(slow.u)), f"theta_max gets {float(got)}, and {float(max(slow.u))} is to be had"


def folds_of(positive, score, n_folds, state):
    """As `select_beta_gamma` deals them out: by score, each class evenly; (rows, fold)."""
    order = sorted(range(len(score)), key=lambda i: -score[i])
    signs = np.array([positive[i] for i in order])
    n_folds = min(n_folds, int(signs.sum()), int((~signs).sum()))
    rng, fold = np.random.default_rng(state), np.empty(len(order), dtype=int)
    for side in (signs, ~signs):
        fold[side] = rng.permutation(np.arange(side.sum()) % max(n_folds, 1))
    return order, fold, n_folds


def parts(positive, score, order, fold, j, measure):
    for inside in (False, True):
        rows = [i for i, f in zip(order, fold, strict=True) if (f == j) == inside]
        own = [positive[i] for i in rows], [score[i] for i in rows], [1] * len(rows)
        yield own, Curve(*own, measure)


def selection(rng):
    positive, score, _ = a_list(rng, least=2, weighted=False)
    positive[-2:] = False, False
    measure, n_folds, state = a_measure(rng), rng.choice([2, 3, 5]), rng.randrange(100)
    found = select_beta_gamma(positive, score, BETAS, GAMMAS, measure, n_folds, state)
    order, fold, n_folds = folds_of(positive, score, n_folds, state)
    if n_folds < 2:
        assert found.beta == 0
        return
    least, most = {}, {}
    dealt = [list(parts(positive, score, order, fold, j, measure)) for j in range(n_folds)]
    for beta in BETAS:
        for gamma in GAMMAS:
            low = high = Fraction(0)
            for (_, rest), (held_out, _) in dealt:
                theta = rest.relaxed(beta, gamma)
                # A threshold that meets a score but for rounding may be either side of it.
                values = [worth(measure, *table(*held_out, t)) for t in (theta - NEAR, theta, theta + NEAR)]
                low, high = low + min(values), high + max(values)
            least[beta, gamma], most[beta, gamma] = low / n_folds, high / n_folds
    best = max(least.values())
    own = most[found.beta, found.gamma]
    assert own >= best - Fraction(1, 10**9), (
        f"chose {found.beta}, {found.gamma}, worth {float(own)}; {float(best)} is to be had"
    )
    assert least[found.beta, found.gamma] - NEAR <= found.value <= own + NEAR
    assert near(
        found.theta, Curve(positive, score, [1] * len(score), measure).relaxed(found.beta, found.gamma)
    )


def answers_of(scores, thresholds, always):
    """Per text the class furthest above its threshold, the first of equal ones; None where no class is."""
    answers = []
    for row in scores:
        above = [s - t for s, t in zip(row, thresholds, strict=True)]
        highest = max(above)
        k = next(j for j, one in enumerate(above) if one >= highest - ROUNDING * max(abs(highest), 1.0))
        answers.append(k if always or above[k] >= -ROUNDING else None)
    return answers


def worth_of_answers(truth, answers, measures, weight):
    """Class by class, from its own table; linear utilities are summed, with what asking is worth."""
    total, defined = Fraction(0), 0
    linear = all(isinstance(one, Utility) for one in measures)
    for k, measure in enumerate(measures):
        counts = [0, 0, 0, 0]  # tp, fp, fn, tn
        for y, a, w in zip(truth, answers, weight, strict=True):
            if a is None and linear and measures[y].ask is not None:
                a = y  # a person decides rightly
            counts[(0 if a == k else 2) if y == k else (1 if a == k else 3)] += w
        value = worth(measure, *counts)
        if value is not None:
            total, defined = total + value, defined + 1
    if not linear:
        return total / max(defined, 1)
    asked = [
        (Fraction(measures[y].ask), w)
        for y, a, w in zip(truth, answers, weight, strict=True)
        if a is None and measures[y].ask
    ]
    return total + sum(price * w for price, w in asked)


def single_label(rng, most=25):
    n, k = rng.randrange(3, most), rng.randrange(3, 6)
    truth = [rng.randrange(k) for _ in range(n)]
    scores = [[rng.randrange(-8, 9) / 4 + (1.0 if j == y else 0.0) for j in range(k)] for y in truth]
    if rng.random() < 0.75:
        measures = [a_measure(rng, undefined=False) for _ in range(k)]
        if rng.random() < 0.3:
            measures = [Utility(one.tp, one.fp, one.fn, one.tn, ask=-rng.randrange(4)) for one in measures]
    else:
        measures = [rng.choice([FBeta(1), T11SU])] * k
    weight = [rng.randrange(1, 4) for _ in range(n)] if rng.random() < 0.3 else None
    given = None if weight is None else np.array(weight, dtype=float)
    texts = SingleLabelTexts(np.array(truth), np.array(scores), tuple(measures), rng.random() < 0.4, given)
    return texts, truth, scores, measures, weight or [1] * n


def one_label(rng):
    texts, truth, scores, measures, weight = single_label(rng)
    thresholds = np.array([rng.randrange(-6, 7) / 4 + 1 / 16 * rng.randrange(2) for _ in measures])

    def slow(own):
        return worth_of_answers(truth, answers_of(scores, own, texts.always_answer), measures, weight)

    assert near(texts.utility(thresholds), slow(thresholds)), (
        f"{texts.utility(thresholds)}, by counting {float(slow(thresholds))}"
    )
    k = rng.randrange(len(measures))
    sweep = texts.sweep_class(k, texts.standing(thresholds), float(thresholds[k]))
    for place, value in enumerate(sweep.utility):
        other = thresholds.copy()
        other[k] = sweep.threshold(place)
        assert near(value, slow(other)), (
            f"the sweep of class {k} says {value} at {other[k]}, by counting {float(slow(other))}"
        )


def joint(rng):
    texts, truth, scores, measures, weight = single_label(rng, most=60)
    found = joint_thresholds(texts, damp=rng.random() < 0.7, random_state=rng.randrange(10))
    plain = worth_of_answers(truth, answers_of(scores, [0.0] * len(measures), True), measures, weight)
    own = worth_of_answers(truth, answers_of(scores, found.thresholds, found.always_answer), measures, weight)
    assert own >= plain - Fraction(1, 10**8), (
        f"worth {float(own)}, where plain argmax is worth {float(plain)}"
    )
    assert near(found.gain, own - plain), f"gain {found.gain}, by counting {float(own - plain)}"
    assert not texts.always_answer or found.always_answer
