"""Learners on ordinary scales against the optimum of the problem that they name, by an interior-point solver
(Clarabel).

PriorSVC    ½λ‖w‖² + ½ Σ cᵢ max(0, mᵢ − yᵢfᵢ)² + ½ρ‖η − η₀‖²,   λ = 1/(2C),  f = Xw + Zη + b
KernelSVC   ½β'Kβ + C Σ cᵢ max(0, 1 − yᵢfᵢ)
SVM-2K      ½‖w_A‖² + ½‖w_B‖² + C Σ max(0, 1 − yf_A)² + C Σ max(0, 1 − yf_B)² + D Σ max(0, |f_A − f_B| − ε)²

An objective may be above the optimum by what the learner's tolerance says, and never below it.
"""

import random

import clarabel
import numpy as np
import scipy.sparse as sp

from textmargin import SVM2K, KernelSVC, PriorSVC

SECONDS_A_CASE = 40
NEGLIGIBLE = 1e-7  # of the objective of scoring nothing: what Clarabel leaves where the optimum is 0
GUARD = 1e-10  # PriorSVC's own pull on a free η, beside the typical size of its scores
GAP = 1e-5  # relative: PriorSVC's tol is 1e-6 of the objective, Clarabel's a thousandth of that


def case(seed):
    rng = random.Random(f"learners/{seed}")
    rng.choice([linear, linear, kernel, two_views, linear])(rng, np.random.default_rng([7, seed]))


def a_problem(rng, numbers, most=40):
    n, d = rng.randrange(4, most), rng.randrange(1, 12)
    X = numbers.standard_normal((n, d)) * (numbers.random((n, d)) < rng.choice([0.3, 1.0]))
    y = np.where(
        X @ numbers.standard_normal(d) + rng.choice([0.1, 1, 3]) * numbers.standard_normal(n)
        > rng.choice([0, 1]),
        1,
        -1,
    )
    y[:2] = -1, 1
    if rng.random() < 0.2:
        X[n // 2 :] = X[: n - n // 2]  # texts that stand there twice, maybe of two classes
    return X, y


def minimum(P, q, A, b, n_equal=0):
    """min ½x'Px + q'x, the first rows of Ax equal to b and the others at most b: x, and the value."""
    cones = ([clarabel.ZeroConeT(n_equal)] if n_equal else []) + [clarabel.NonnegativeConeT(len(b) - n_equal)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    found = clarabel.DefaultSolver(
        sp.triu(sp.csc_matrix(P)).tocsc(), q, sp.csc_matrix(A), b, cones, settings
    ).solve()
    x = np.array(found.x)
    return (
        x,
        float(0.5 * x @ (P @ x) + q @ x),
        "Solved" in str(found.status) and "Almost" not in str(found.status),
    )


def squared_hinge(rows, signs, costs, margins, ridge, centre, least=None):
    """The optimum of ½Σ ridge(u − centre)² + ½Σ c max(0, m − y·row·u)², as u and slacks ξ ≥ m − yf, ξ ≥ 0."""
    n, d = rows.shape
    P = np.diag(np.concatenate([ridge, costs]))
    q = np.concatenate([-ridge * centre, np.zeros(n)])
    A = [np.hstack([-signs[:, None] * rows, -np.eye(n)]), np.hstack([np.zeros((n, d)), -np.eye(n)])]
    b = [-margins, np.zeros(n)]
    if least is not None:
        A.append(np.hstack([-np.eye(d)[least], np.zeros((len(least), n))]))
        b.append(np.zeros(len(least)))
    x, value, solved = minimum(P, q, np.vstack(A), np.concatenate(b))
    return x[:d], value + 0.5 * ridge @ centre**2, solved


def objective(rows, signs, costs, margins, ridge, centre, u):
    missed = np.maximum(0, margins - signs * (rows @ u))
    return 0.5 * ridge @ (u - centre) ** 2 + 0.5 * costs @ missed**2


def check(value, best, what, slack=0.0):
    size = max(abs(best), 1e-8)
    assert value <= best + GAP * size + slack, (
        f"{what}: {value!r} is above the optimum {best!r} by {(value - best) / size:.1e}"
    )
    assert value >= best - GAP * size - slack, (
        f"{what}: {value!r} is below the optimum {best!r}, which cannot be"
    )


def linear(rng, numbers):
    X, y = a_problem(rng, numbers)
    n, d = X.shape
    C, margins = 10 ** rng.uniform(-2, 2), rng.choice([(1.0, 1.0), (1.0, 0.4)])
    weight = None if rng.random() < 0.6 else 10 ** numbers.uniform(-1, 1, n)
    given = rng.choice([None, "balanced", {1: 3.0}])
    V = None if rng.random() < 0.3 else numbers.standard_normal((rng.choice([1, 2]), d))
    trust = rng.choice(["fixed", 0.5, "free", "nonneg"]) if V is not None else "fixed"
    intercept = rng.random() < 0.8
    matrix = sp.csr_matrix(X) if rng.random() < 0.5 else X
    options = {
        "C": C,
        "margins": margins,
        "class_weight": given,
        "prior": V,
        "trust": trust,
        "fit_intercept": intercept,
    }
    model = PriorSVC(**options).fit(matrix, y, weight)
    costs = np.ones(n) if weight is None else weight.copy()
    if given == "balanced":
        total = costs.sum()
        costs *= np.where(y > 0, total / (2 * costs[y > 0].sum()), total / (2 * costs[y < 0].sum()))
    elif given:
        costs *= np.where(y > 0, 3.0, 1.0)
    m = np.where(y > 0, *margins)
    V = np.zeros((0, d)) if V is None else V
    moves = trust in ("free", "nonneg") and len(V)
    eta = model.trust_[0] if len(V) else np.zeros(0)
    w = model.coef_[0] - (eta @ V if len(V) else 0)
    fixed = 0.0 if moves or not len(V) else (1.0 if trust == "fixed" else trust) * (X @ V.T).sum(axis=1)
    extra = X @ V.T if moves else np.zeros((n, 0))
    rows = np.hstack([X, extra, np.full((n, int(intercept)), 1.0)])
    ridge = np.concatenate([np.full(d, 1 / (2 * C)), np.zeros(rows.shape[1] - d)])
    u = np.concatenate([w, eta if moves else [], [model.intercept_[0]] if intercept else []])
    least = np.arange(d, d + extra.shape[1]) if trust == "nonneg" and moves else None
    problem = rows, y, costs, m - y * fixed, ridge, np.zeros(rows.shape[1])
    _, best, solved = squared_hinge(*problem, least)
    # by the pull that decides trust where nothing else does
    if moves and solved and objective(*problem, u) > best:
        guard = (
            GUARD * costs.sum() * np.array([np.median(z[z != 0] ** 2) if z.any() else 0.0 for z in extra.T])
        )
        ridge[d : d + guard.size] = guard
        held = objective(*problem, u)
        _, least_held, solved = squared_hinge(*problem, least)
        best += max(0.0, least_held - 0.5 * guard @ eta**2 - best) if held <= least_held * (1 + GAP) else 0.0
        ridge[d : d + guard.size] = 0.0
    if solved:
        check(
            objective(*problem, u),
            best,
            f"PriorSVC({options!r:.200})",
            slack=NEGLIGIBLE * 0.5 * (costs @ m**2),
        )


def kernel(rng, numbers):
    X, y = a_problem(rng, numbers)
    n, C = len(y), 10 ** rng.uniform(-1, 1.5)
    K = X @ X.T if rng.random() < 0.5 else np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=-1) / X.shape[1])
    weight = None if rng.random() < 0.6 else 10 ** numbers.uniform(-0.5, 0.5, n)
    intercept, tol = rng.random() < 0.8, 1e-4
    model = KernelSVC("precomputed", C=C, fit_intercept=intercept, tol=tol).fit(K, y, sample_weight=weight)
    costs = C * (np.ones(n) if weight is None else weight)
    scores = model.decision_function(K)
    beta = np.zeros(n)
    beta[model.support_] = np.ravel(model.dual_coef_)
    b = float(np.ravel(model.intercept_)[0])
    assert np.allclose(scores, K @ beta + b, atol=1e-5 * (1 + np.abs(scores).max())), (
        "the scores are not those of the machine"
    )
    missed = np.maximum(0, 1 - y * (K @ beta + b))
    value = 0.5 * beta @ K @ beta + costs @ missed
    # The dual: min ½β'Kβ − y'β, 0 ≤ yβ ≤ c, Σβ = 0 with an intercept.
    P = K + 1e-12 * np.eye(n)
    A = [np.ones((1, n))] if intercept else []
    A += [-np.diag(y.astype(float)), np.diag(y.astype(float))]
    right = [np.zeros(1)] if intercept else []
    right += [np.zeros(n), costs]
    _, dual, solved = minimum(P, -y.astype(float), np.vstack(A), np.concatenate(right), int(intercept))
    if solved:
        check(value, -dual, f"KernelSVC(C={C}, fit_intercept={intercept})", slack=4 * tol * costs.sum())


def two_views(rng, numbers):
    A, y = a_problem(rng, numbers, most=25)
    n, B = len(y), numbers.standard_normal((len(y), rng.randrange(1, 6))) + 0.5 * y[:, None]
    C, D, epsilon = 10 ** rng.uniform(-1, 1), rng.choice([0.0, 0.3, 3.0]), rng.choice([0.0, 0.2])
    model = SVM2K(C, coupling=D, epsilon=epsilon).fit(A, y, second=B)
    zeros = np.zeros
    rows = np.vstack([
        np.hstack([A, zeros(B.shape), np.ones((n, 1)), zeros((n, 1))]),
        np.hstack([zeros(A.shape), B, zeros((n, 1)), np.ones((n, 1))]),
        np.hstack([A, -B, np.ones((n, 1)), -np.ones((n, 1))]),
        np.hstack([-A, B, -np.ones((n, 1)), np.ones((n, 1))]),
    ])  # fmt: skip
    signs = np.concatenate([y, y, np.ones(2 * n)])
    margins = np.concatenate([np.ones(2 * n), np.full(2 * n, -epsilon)])
    # |f_A − f_B| − ε as two losses: max(0, −ε − (f_B − f_A))², and the other way round
    costs = 2 * np.concatenate([np.full(2 * n, C), np.full(2 * n, D)])
    ridge = np.concatenate([np.ones(A.shape[1] + B.shape[1]), np.zeros(2)])
    u = np.concatenate([model.coef_[0], model.second_coef_[0], model.intercept_, model.second_intercept_])
    problem = rows, signs, costs, margins, ridge, zeros(rows.shape[1])
    _, best, solved = squared_hinge(*problem)
    if solved:
        check(
            objective(*problem, u),
            best,
            f"SVM2K(C={C}, coupling={D}, epsilon={epsilon})",
            slack=1e-8 * costs.sum(),
        )
