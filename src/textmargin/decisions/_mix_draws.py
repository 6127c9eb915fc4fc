"""Resampling for an estimate of shares: how far it may be off, and whether shares alone explain the new
scores.

The distance is that of Kolmogorov and Smirnov between the new scores and the old ones, reweighted to the
estimated shares. What it would be were there no other change is drawn: old texts with replacement, new texts
from the reweighted old ones, calibration and shares estimated again in each draw, so that the test pays for
having chosen the shares that fit best.

Shares of classes among texts without labels, by maximum likelihood (Saerens, Latinne & Decaestecker 2002).

Only the shares are taken to change, from π to π′; what texts of a class look like stays. With P(k | s) of the
old texts

    P′(k | s) ∝ P(k | s) π′_k / π_k        π′_k = mean over new texts of P′(k | s)

is the EM step, and its fixed point the maximum of Σ log Σ_k P(k | s) π′_k / π_k, which is concave. One text's
worth of the old mix is added to the new texts (`n_prior`), so that no share is exactly 0 or 1. For two
classes bisection finds the maximum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logit

from .._typing import Bools, Floats, Indices
from ._isotonic import isotonic_knots
from ._logistic import fit_sigmoids
from .calibration import Calibration, interpolate

# of each sample: a distance on these is at most 1/128 short of the whole one, in the draws too
_N_CELLS = 128
_HALVINGS = 50
_MAX_STEPS = 5000
_COARSE = 1e-5  # shares of draws need no more digits


@dataclass(frozen=True)
class MixDraws:
    """Shares and distances, estimated and in draws.

    `shares` (n_classes,) and those of draws (n_draws, n_classes); `distance` (n_columns,) and `null`
    (n_draws, n_columns or 1), the distances of draws in which nothing but the shares changed.
    """

    shares: Floats
    draws: Floats
    distance: Floats
    null: Floats


def draw_column(
    positive: Bools, score: Floats, weight: Floats, new: Floats, n_draws: int, rng: np.random.Generator
) -> MixDraws:
    """One class against the rest; texts are counted in cells between quantiles, so that a draw costs
    little.
    """
    calibration = Calibration.fit(positive[:, None], score[:, None], "binary", weight)
    base = float(np.average(calibration.predict(score), weights=weight))
    share = float(positive_shares(calibration.log_odds(new).T - logit(base), np.ones((1, new.size)), base)[0])
    edges = _edges(score[positive], score[~positive], new)
    n_cells = edges.size + 1
    cell, new_cell = np.searchsorted(edges, score, side="right"), np.searchsorted(edges, new, side="right")
    counts = [np.bincount(cell, weight * side, n_cells) for side in (positive, ~positive)]
    n_new = np.bincount(new_cell, minlength=n_cells)
    total = np.bincount(cell, minlength=n_cells) + n_new
    centre = (np.bincount(cell, score, n_cells) + np.bincount(new_cell, new, n_cells)) / np.maximum(total, 1)
    rates = [side / side.sum() for side in counts]
    old = [
        rng.multinomial(int(side.sum()), rate, n_draws)
        for side, rate in zip((positive, ~positive), rates, strict=True)
    ]
    log_ratio = _log_ratios(old[0], old[1], centre, bool(calibration.isotonic[0]))
    new_counts = rng.multinomial(new.size, n_new / new.size, n_draws).astype(np.float64)
    draws = positive_shares(log_ratio, new_counts, base, n_prior=0)  # an interval may reach 0 and 1
    n_positive = rng.binomial(new.size, share, n_draws)
    same = np.add(
        rng.multinomial(n_positive, rates[0]),
        rng.multinomial(new.size - n_positive, rates[1]),
        dtype=np.float64,
    )
    distance = _distances(np.array([share]), [rate[None] for rate in rates], n_new[None] / new.size)
    again = positive_shares(log_ratio, same, base)
    null = _distances(again, [side / side.sum(axis=1, keepdims=True) for side in old], same / new.size)
    return MixDraws(np.array([share]), draws[:, None], distance, null[:, None])


def _edges(*samples: Floats) -> Floats:
    """Where cells begin: quantiles of each sample, or every value where there are few."""
    inner = np.arange(1, _N_CELLS) / _N_CELLS
    return np.unique(
        np.concatenate([np.quantile(sample, inner, method="inverted_cdf") for sample in samples])
    )


def _log_ratios(hits: Indices, misses: Indices, centre: Floats, isotonic: bool) -> Floats:
    """log P(s | +)/P(s | −) in every cell, by a calibration of each draw's texts."""
    n_draws, n_cells = hits.shape
    truth = np.repeat([True, False], n_cells)
    scores, weight = np.tile(centre, 2), np.hstack([hits, misses]).astype(np.float64)
    all_truth, all_scores = (np.broadcast_to(row, weight.shape) for row in (truth, scores))
    slope, intercept = fit_sigmoids(all_truth, all_scores, weight)
    f = slope[:, None] * centre + intercept[:, None]
    if isotonic:
        for b in range(n_draws):
            f[b] = interpolate(centre, *isotonic_knots(truth, scores, weight[b]), slope[b])
    both = hits + misses
    base = np.sum(both / (1 + np.exp(-f)), axis=1) / both.sum(axis=1)
    return np.asarray(f - logit(base)[:, None])


def _distances(share: Floats, old: list[Floats], new: Floats) -> Floats:
    mixture = share[:, None] * old[0] + (1 - share[:, None]) * old[1]
    return np.abs(np.cumsum(mixture - new, axis=1)).max(axis=1)


def draw_classes(
    classes: Indices, scores: Floats, weight: Floats, new: Floats, proba: Floats, new_proba: Floats,
    n_draws: int, rng: np.random.Generator,
) -> MixDraws:  # fmt: skip
    """All classes of which a text has one; the calibration is that of all old texts, the largest distance of
    any class counts.
    """
    n_classes = scores.shape[1]
    old = np.zeros((n_draws, len(scores)))
    for k in np.unique(classes):
        own = np.flatnonzero(classes == k)
        old[:, own] = rng.multinomial(own.size, weight[own] / weight[own].sum(), n_draws) * (
            weight[own].sum() / own.size
        )
    base = np.average(proba, axis=0, weights=weight)
    bases = old @ proba / old.sum(axis=1, keepdims=True)
    shares = class_shares(new_proba, np.ones((1, len(new))), base)[0]
    new_counts = rng.multinomial(len(new), np.full(len(new), 1 / len(new)), n_draws).astype(np.float64)
    draws = class_shares(new_proba, new_counts, bases, n_prior=0, tol=_COARSE)

    old_shares = np.bincount(classes, weight, n_classes) / weight.sum()
    mixture = weight * (shares / old_shares)[classes]
    same = rng.multinomial(len(new), mixture / mixture.sum(), n_draws).astype(np.float64)
    again = class_shares(proba, same, bases, tol=_COARSE)
    edges = [_edges(column, new_column) for column, new_column in zip(scores.T, new.T, strict=True)]
    in_cells, new_in_cells = _cells(scores, edges), _cells(new, edges)
    distance = _class_distances(mixture[None] @ in_cells, np.ones((1, len(new))) @ new_in_cells, n_classes)[0]
    mix_counts = old * (again / old_shares)[:, classes]
    null = _class_distances(mix_counts @ in_cells, same @ in_cells, n_classes).max(axis=1)
    return MixDraws(shares, draws, distance, null[:, None])


def _cells(scores: Floats, edges: list[Floats]) -> sp.csr_matrix:
    """A 1 for the cell of each text's score in each class, (n_texts, n_classes · n_cells)."""
    width = 2 * _N_CELLS
    columns = np.column_stack(
        [
            k * width + np.searchsorted(edge, s, side="right")
            for k, (s, edge) in enumerate(zip(scores.T, edges, strict=True))
        ]
    )
    n_texts, n_classes = scores.shape
    ends = np.arange(n_texts + 1) * n_classes
    return sp.csr_matrix((np.ones(columns.size), columns.ravel(), ends), shape=(n_texts, n_classes * width))


def _class_distances(old: Floats, new: Floats, n_classes: int) -> Floats:
    """Distances (n_draws, n_classes) between counts in cells."""
    rates = [counts.reshape(len(counts), n_classes, -1) for counts in (old, new)]
    gap = rates[0] / rates[0].sum(axis=2, keepdims=True) - rates[1] / rates[1].sum(axis=2, keepdims=True)
    return np.abs(np.cumsum(gap, axis=2)).max(axis=2)


def positive_shares(log_ratio: Floats, counts: Floats, old_share: float, n_prior: float = 1.0) -> Floats:
    """π′ per row of counts (n_draws, n_texts); log_ratio, of the same shape, is the log of P(s | +)/P(s | −).

    The derivative Σ n (r − 1)/(π′r + 1 − π′) falls in π′, and so does what is left of it after a step of EM.
    """
    low, high = np.zeros(len(counts)), np.ones(len(counts))
    total = counts.sum(axis=1) + n_prior
    for _ in range(_HALVINGS):
        share = (low + high) / 2
        with np.errstate(divide="ignore"):
            log_odds = np.log(share / (1 - share))
        step = (np.sum(counts * expit(log_ratio + log_odds[:, None]), axis=1) + n_prior * old_share) / total
        up = step > share
        low, high = np.where(up, share, low), np.where(up, high, share)
    return (low + high) / 2


def class_shares(
    proba: Floats, counts: Floats, old_shares: Floats, n_prior: float = 1.0, tol: float = 1e-8
) -> Floats:
    """π′ (n_draws, n_classes) of counts (n_draws, n_texts); proba (n_texts, n_classes) are those under the
    old shares.

    `old_shares` is a vector, or has a row per draw.
    """
    prior = np.broadcast_to(old_shares, (len(counts), proba.shape[1]))
    shares, total = prior.copy(), counts.sum(axis=1, keepdims=True) + n_prior
    active = np.arange(len(counts))
    for _ in range(_MAX_STEPS):
        factor = shares[active] / prior[active]
        ratio = counts[active].T / (proba @ factor.T)
        new = (factor * (proba.T @ ratio).T + n_prior * prior[active]) / total[active]
        change = np.abs(new - shares[active]).max(axis=1)
        shares[active] = new
        active = active[change > tol]
        if not active.size:
            break
    return shares
