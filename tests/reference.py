"""Slow definitions that the package is held to."""

from itertools import combinations

import numpy as np
from scipy.optimize import minimize

SCIENCE = "science is organized knowledge", "wisdom is organized life"
BARBARA = "abracadabra", "barbarad"
BANK = (
    ["the", "central", "bank", "raised", "interest", "rates"],
    ["interest", "rates", "were", "raised", "by", "the", "bank"],
)
# Values worked out by hand: two texts, length, decay, K and K normalised.
WORKED = [
    (("car", "cat"), 2, 0.5, 0.0625, 1 / (2 + 0.5**2)),
    (SCIENCE, 1, 0.5, 13.25, 0.8486792152),
    (SCIENCE, 2, 0.5, 1.537392054, 0.5798136983),
    (SCIENCE, 3, 0.5, 0.3451985252, 0.4784547863),
    (SCIENCE, 4, 0.5, 0.09764458911, 0.4388705084),
    (SCIENCE, 2, 1.0, 706, 0.6120204418),
    (SCIENCE, 3, 1.0, 4299, 0.4019966579),
    (SCIENCE, 4, 1.0, 15480, 0.2496440035),
    (BARBARA, 2, 0.5, 0.9705963135, 0.6975585398),
    (BARBARA, 3, 0.5, 0.1250915527, 0.3665137736),
    (BARBARA, 4, 1.0, 113, 0.2897435897),
    (("card", "custard"), 3, 0.5, 0.0185546875, 0.2705328788),
    (BANK, 1, 0.5, 1.25, 0.7715167498),
    (BANK, 2, 0.5, 0.09375, 0.2187595562),
    (BANK, 3, 0.5, 0.0, 0.0),
]


def ssk_by_definition(s, t, length, decay, gap_decay=None):
    """K_n(s, t): over all pairs of equal subsequences, decay for each symbol matched and gap_decay for each
    skipped between.
    """
    gap = gap_decay if callable(gap_decay) else lambda symbol: decay if gap_decay is None else gap_decay

    def spans(sequence):
        found = {}
        for places in combinations(range(len(sequence)), length):
            key = tuple(sequence[i] for i in places)
            skipped = [gap(sequence[i]) for i in range(places[0], places[-1]) if i not in places]
            found[key] = found.get(key, 0.0) + decay**length * float(np.prod(skipped))
        return found

    in_s, in_t = spans(s), spans(t)
    return sum(weight * in_t.get(key, 0.0) for key, weight in in_s.items())


def primal_svm(
    X,
    signs,
    *,
    C=1.0,
    costs=None,
    margins=(1.0, 1.0),
    prior=None,
    intercept=True,
    pull=0.0,
    target=0.0,
    nonneg=False,
):
    """The minimum of J by L-BFGS: w, η, b and J, with X dense and prior (n_priors, n_features).

    `intercept` is whether there is one, or of each row whether it has it.
    """
    n, d = X.shape
    prior = np.zeros((0, d)) if prior is None else np.atleast_2d(prior)
    costs = np.ones(n) if costs is None else costs
    m = np.where(signs > 0, *margins)
    Z = X @ prior.T
    k, penalty = len(prior), 1 / (2 * C)
    has_intercept = np.zeros(n) + intercept

    def objective(u):
        w, eta, b = u[:d], u[d : d + k], u[-1]
        missed = np.maximum(0, m - signs * (X @ w + Z @ eta + b * has_intercept))
        slope = -costs * signs * missed
        value = 0.5 * penalty * w @ w + 0.5 * costs @ missed**2 + 0.5 * pull * np.sum((eta - target) ** 2)
        gradient = np.concatenate(
            [penalty * w + X.T @ slope, Z.T @ slope + pull * (eta - target), [slope @ has_intercept]]
        )
        return value, gradient

    bounds = [(None, None)] * d + [(0 if nonneg else None, None)] * k + [(None, None)]
    best = minimize(
        objective, np.zeros(d + k + 1), jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 50},
    )  # fmt: skip
    return best.x[:d], best.x[d : d + k], best.x[-1] * np.any(intercept), best.fun


def utility_by_counting(positive, score, theta, tp=2.0, fp=-1.0, fn=0.0, tn=0.0):
    """The linear utility of accepting every score of at least theta, one text at a time."""
    total = 0.0
    for is_positive, value in zip(positive, score, strict=True):
        if value >= theta:
            total += tp if is_positive else fp
        else:
            total += fn if is_positive else tn
    return total


def ssk_extended(s, t, length, decay):
    """K of two arrays of codes by its recurrence in extended precision, row by row. For decays whose 16th
    power is nothing.
    """
    decay, side = np.longdouble(decay), 16
    powers = decay ** np.arange(1, side + 1, dtype=np.longdouble)
    K, Kp = (
        np.longdouble(0),
        [np.ones(len(t) + 1, np.longdouble), *np.zeros((length - 1, len(t) + 1), np.longdouble)],
    )
    for symbol in s:
        hits = np.flatnonzero(t == symbol)
        K += decay**2 * Kp[-1][hits].sum()
        for i in range(length - 1, 0, -1):
            Kpp = np.zeros((-(-len(t) // side), side), np.longdouble)
            Kpp.reshape(-1)[hits] = decay**2 * Kp[i - 1][hits]
            for j in range(1, side):
                Kpp[:, j] += decay * Kpp[:, j - 1]
            Kpp[1:] += Kpp[:-1, -1:].copy() * powers
            Kp[i][1:] = decay * Kp[i][1:] + Kpp.ravel()[: len(t)]
    return K


def platt_by_minimising(positive, score, weight=None):
    """Platt's sigmoid by a general minimiser: slope and intercept, the slope at least 0."""
    positive, score = np.asarray(positive, dtype=bool), np.asarray(score, dtype=float)
    weight = np.ones(score.size) if weight is None else np.asarray(weight, dtype=float)
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))

    def loss(x):
        f = x[0] * score + x[1]
        residual = weight * (1 / (1 + np.exp(-f)) - target)
        return weight @ (np.logaddexp(0, f) - target * f), np.array([residual @ score, residual.sum()])

    best = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=[(0, None), (None, None)],
                    options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 10000})  # fmt: skip
    return best.x


def calibration_error_by_counting(positive, proba, n_bins):
    """Bins of equally many texts, one text after the other; probabilities are all different."""
    order = sorted(range(len(proba)), key=lambda i: proba[i])
    total = 0.0
    for b in range(n_bins):
        own = [i for rank, i in enumerate(order) if b <= (rank + 0.5) * n_bins / len(order) < b + 1]
        total += abs(sum(proba[i] - positive[i] for i in own))
    return total / len(order)


def shares_by_em(proba, old_shares, n_steps=200_000):
    """Saerens, Latinne and Decaestecker's steps, one text's worth of the old mix added; proba (n_texts,
    n_classes).
    """
    proba, old_shares = np.asarray(proba), np.asarray(old_shares)
    shares = old_shares.copy()
    for _ in range(n_steps):
        weighted = proba * (shares / old_shares)
        new = ((weighted / weighted.sum(axis=1, keepdims=True)).sum(axis=0) + old_shares) / (len(proba) + 1)
        if np.abs(new - shares).max() < 1e-13:
            break
        shares = new
    return shares


def budget_by_sorting(leads, n, groups):
    """The n highest of each group's leads from 0 on, the first of equal ones, one group at a time."""
    chosen = set()
    for group in dict.fromkeys(groups):
        own = [i for i in range(len(leads)) if groups[i] == group and leads[i] >= 0]
        chosen |= set(sorted(own, key=lambda i: (-leads[i], i))[:n])
    return [i in chosen for i in range(len(leads))]


def jaccard_by_definition(a, b, length=5):
    """|A ∩ B| / |A ∪ B| of the character n-grams of two texts in lower case, white space as single blanks."""
    first, second = (" ".join(text.casefold().split()).ljust(length) for text in (a, b))
    grams, others = (
        {text[i : i + length] for i in range(len(text) - length + 1)} for text in (first, second)
    )
    return len(grams & others) / len(grams | others)


def disagreement_by_definition(units):
    """Krippendorff's observed and expected disagreement of names: pairs that differ within units, and among
    all values.
    """
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    observed = sum(
        sum(a != b for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j) / (len(unit) - 1)
        for unit in units
    )
    return observed, sum(a != b for i, a in enumerate(values) for j, b in enumerate(values) if i != j) / (
        len(values) - 1
    )


def alpha_by_definition(*problems):
    """Krippendorff's α = 1 − D_o / D_e; of several problems with their disagreements summed."""
    observed, expected = map(sum, zip(*map(disagreement_by_definition, problems), strict=True))
    return 1 - observed / expected


def rank_gains_by_counting(without, with_prior, positive):
    """Of each positive text, what log(1 + others with a higher score) falls by; one with the same score
    counts half.
    """

    def log_rank(scores, i):
        others = [scores[j] for j in range(len(scores)) if not positive[j]]
        return np.log(1 + sum((one > scores[i]) + 0.5 * (one == scores[i]) for one in others))

    return [log_rank(without, i) - log_rank(with_prior, i) for i in np.flatnonzero(positive)]
