"""Shares of classes among texts without labels, by maximum likelihood (Saerens, Latinne & Decaestecker 2002).

Only the shares are taken to change, from π to π′; what texts of a class look like stays. With P(k | s) of the
old texts

    P′(k | s) ∝ P(k | s) π′_k / π_k        π′_k = mean over new texts of P′(k | s)

is the EM step, and its fixed point the maximum of Σ log Σ_k P(k | s) π′_k / π_k, which is concave. One text's
worth of the old mix is added to the new texts (`n_prior`), so that no share is exactly 0 or 1. For two
classes bisection finds the maximum.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from .._typing import Floats

_HALVINGS = 50
_MAX_STEPS = 5000


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
