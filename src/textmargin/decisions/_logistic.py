"""Logistic fits of many columns of scores: Platt's sigmoid per class, and one softmax over all classes.

    sigmoid    P(y_k = 1 | s) = 1/(1 + exp(−a_k s_k − b_k))  targets (n₊ + 1)/(n₊ + 2), 1/(n₋ + 2); Platt 1999
    softmax    P(y = k | s) ∝ exp(α s_k + c_k)               ½ρ‖c‖² added to the loss

Both are convex, and minimised by Newton steps that are halved until the loss falls. The slopes are never
negative: where the scores rank the wrong way round they say nothing, and every text gets the share of the
class.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from .._ties import ROUNDING
from .._typing import Bools, Floats, Indices

_MAX_STEPS = 100
_DECREMENT = 1e-7  # of the loss per text, before the last step, which squares the error
_CELLS = 1 << 16  # texts times classes at a time: what stays in a processor's cache
_LOWEST = -700.0  # exp of it is still a number
_RIDGE = 3.0  # ρ: on folds of wikipedia25, desk and single-topic Reuters training texts 1 to 10 are alike


def fit_sigmoids(positive: Bools, scores: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Slope and intercept of every class; all arrays (n_classes, n_texts), texts of weight 0 are left out."""
    slope, intercept = np.empty(len(scores)), np.empty(len(scores))
    step = max(1, _CELLS // scores.shape[1])
    for start in range(0, len(scores), step):
        part = slice(start, start + step)
        slope[part], intercept[part] = _fit_part(positive[part], scores[part], weight[part])
    return slope, intercept


def smoothed_targets(positive: Bools, weight: Floats) -> Floats:
    """Platt's targets: what a text of each class would be believed to be, had one more of either kind been
    seen.
    """
    n_positive = np.sum(weight, axis=1, where=positive, keepdims=True)
    n_negative = np.sum(weight, axis=1, where=~positive, keepdims=True)
    return np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


def _fit_part(positive: Bools, scores: Floats, weight: Floats) -> tuple[Floats, Floats]:
    target = smoothed_targets(positive, weight)
    total = weight.sum(axis=1)
    mean = np.sum(weight * scores, axis=1) / total
    centred = np.where(weight > 0, scores - mean[:, None], 0.0)
    spread = np.sqrt(np.sum(weight * centred**2, axis=1) / total)
    informative = spread > ROUNDING * np.abs(np.where(weight > 0, scores, 0.0)).max(axis=1)
    scale = np.where(informative, spread, 1.0)
    base = logit(np.sum(weight * target, axis=1) / total)
    a, b = np.zeros(len(scores)), base.copy()
    active = np.flatnonzero(informative)
    z = centred[active] / scale[active, None]
    a[active], b[active] = _newton(z, target[active], weight[active], base[active])
    rises = a > 0
    slope = np.where(rises, a / scale, 0.0)
    return slope, np.where(rises, b - slope * mean, base)


def _newton(z: Floats, target: Floats, weight: Floats, base: Floats) -> tuple[Floats, Floats]:
    """Slope and intercept on scores of mean 0 and spread 1, for all classes at once; those that are done drop
    out.
    """
    slope, intercept, active = np.zeros(len(z)), base.copy(), np.arange(len(z))
    p, loss = _sigmoid_loss(slope, intercept, z, target, weight)
    for _ in range(_MAX_STEPS):
        residual, curvature = weight * (p - target), weight * p * (1 - p)
        ga, gb = np.einsum("ki,ki->k", residual, z), residual.sum(axis=1)
        tilt = curvature * z
        haa, hab, hbb = np.einsum("ki,ki->k", tilt, z), tilt.sum(axis=1), curvature.sum(axis=1)
        determinant = np.maximum(haa * hbb - hab**2, ROUNDING * haa * hbb)
        da, db = (hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant
        decrement, t = ga * da + gb * db, np.ones(len(active))
        while True:
            a, b = slope[active] - t * da, intercept[active] - t * db
            p, shorter = _sigmoid_loss(a, b, z, target, weight)
            short = shorter > loss - 1e-4 * t * decrement + ROUNDING * np.abs(loss)
            if not short.any():
                break
            t = np.where(short, t / 2, t)
        slope[active], intercept[active], loss = a, b, shorter
        go_on = decrement > _DECREMENT * weight.sum(axis=1)
        if not go_on.any():
            break
        if not go_on.all():
            active, p, loss = active[go_on], p[go_on], loss[go_on]
            z, target, weight = z[go_on], target[go_on], weight[go_on]
    return slope, intercept


def _sigmoid_loss(a: Floats, b: Floats, z: Floats, target: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Probabilities (n_classes, n_texts) and the log loss of each class: softplus(f) − t f = (1 − t) f − log
    p.
    """
    f = np.maximum(a[:, None] * z + b[:, None], _LOWEST)
    p = expit(f)
    return p, np.einsum("ki,ki->k", weight, (1 - target) * f - np.log(p))


def fit_softmax(classes: Indices, scores: Floats, weight: Floats) -> tuple[float, Floats]:
    """α and c for scores (n_texts, n_classes)."""
    n_classes = scores.shape[1]
    spread = float(np.sqrt(np.average(np.var(scores, axis=1), weights=weight)))
    if spread <= ROUNDING * float(np.abs(scores).max()):
        return 0.0, _log_shares(classes, n_classes, weight)
    z, truth = scores / spread, np.eye(n_classes)[classes]
    x = np.append(1.0, np.zeros(n_classes))
    p, loss = _softmax_loss(x, z, classes, weight)
    for _ in range(_MAX_STEPS):
        weighted = weight[:, None] * p
        residual = weighted - weight[:, None] * truth
        gradient = np.append(np.sum(residual * z), residual.sum(axis=0) + _RIDGE * x[1:])
        mean = np.sum(p * z, axis=1)
        hessian = np.empty((n_classes + 1, n_classes + 1))
        hessian[0, 0] = np.sum(weighted * z * z) - weight @ mean**2
        hessian[0, 1:] = hessian[1:, 0] = np.sum(weighted * z, axis=0) - weighted.T @ mean
        hessian[1:, 1:] = np.diag(weighted.sum(axis=0) + _RIDGE) - weighted.T @ p
        hessian[0, 0] = max(hessian[0, 0], ROUNDING * weight.sum())
        direction = np.linalg.solve(hessian, gradient)
        decrement, t = float(gradient @ direction), 1.0
        while True:
            p, shorter = _softmax_loss(x - t * direction, z, classes, weight)
            if shorter <= loss - 1e-4 * t * decrement + ROUNDING * loss:
                break
            t /= 2
        x, loss = x - t * direction, shorter
        if decrement <= _DECREMENT * weight.sum():
            break
    return (float(x[0]) / spread, x[1:]) if x[0] > 0 else (0.0, _log_shares(classes, n_classes, weight))


def _softmax_loss(x: Floats, z: Floats, classes: Indices, weight: Floats) -> tuple[Floats, float]:
    """Probabilities (n_texts, n_classes), and the log loss with its ridge."""
    f = x[0] * z + x[1:]
    f -= f.max(axis=1, keepdims=True)
    own = np.take_along_axis(f, classes[:, None], axis=1)[:, 0]
    p = np.exp(f, out=f)
    total = p.sum(axis=1)
    p /= total[:, None]
    return p, float(weight @ (np.log(total) - own) + _RIDGE / 2 * x[1:] @ x[1:])


def _log_shares(classes: Indices, n_classes: int, weight: Floats) -> Floats:
    counts = np.bincount(classes, weight, n_classes) + 1
    return np.log(counts / counts.sum())
