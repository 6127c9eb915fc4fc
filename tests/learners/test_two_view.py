"""SVM-2K against an interior-point solver, its limits, and texts that lack the second view."""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from textmargin import SVM2K, PriorSVC

TIGHT = {"tol": 1e-12, "max_iter": 300}


def views(n=40, seed=0):
    """Two noisy views of the same labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    signs = 2 * y - 1
    return (
        signs[:, None] * [0.5, 0.2, 0] + rng.normal(size=(n, 3)),
        signs[:, None] * [0.4, 0] + rng.normal(size=(n, 2)),
        y,
    )


def quadratic_programme(P, q, A, b):
    """min ½v'Pv + q'v with Av ≤ b."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    parts = (
        sp.triu(sp.csc_matrix(P), format="csc"),
        q,
        sp.csc_matrix(A),
        b,
        [clarabel.NonnegativeConeT(len(b))],
    )
    found = clarabel.DefaultSolver(*parts, settings).solve()
    return np.array(found.x), found.obj_val


def interior_point(A, B, y, C, D, epsilon, squared):
    """The primal problem in w_A, b_A, w_B, b_B and slacks: scores of both views, and the optimum."""
    n, a, b = len(y), A.shape[1] + 1, B.shape[1] + 1
    FA, FB = (np.hstack([X, np.ones((n, 1))]) for X in (A, B))
    none_a, none_b, none, one = np.zeros((n, a)), np.zeros((n, b)), np.zeros((n, n)), np.eye(n)
    penalty = np.concatenate([np.ones(a - 1), [0], np.ones(b - 1), [0]])
    costs = np.concatenate([np.full(2 * n, C), np.full(n, D)])
    P = np.diag(np.concatenate([penalty, 2 * costs if squared else np.zeros(3 * n)]))
    q = np.concatenate([np.zeros(a + b), np.zeros(3 * n) if squared else costs])
    rows = [
        np.hstack([-y[:, None] * FA, none_b, -one, none, none]),
        np.hstack([none_a, -y[:, None] * FB, none, -one, none]),
        np.hstack([FA, -FB, none, none, -one]),
        np.hstack([-FA, FB, none, none, -one]),
        np.hstack([np.zeros((3 * n, a + b)), -np.eye(3 * n)]),
    ]
    limits = np.concatenate([-np.ones(2 * n), np.full(2 * n, epsilon), np.zeros(3 * n)])
    v, value = quadratic_programme(P, q, np.vstack(rows), limits)
    return FA @ v[:a], FB @ v[a : a + b], value


@pytest.mark.parametrize(("coupling", "epsilon"), [(0.5, 0.0), (2.0, 0.1), (20.0, 0.0)])
@pytest.mark.parametrize("way", [np.asarray, sp.csr_matrix])
def test_equals_an_interior_point_solver(coupling, epsilon, way):
    A, B, y = views()
    model = SVM2K(C=0.7, coupling=coupling, epsilon=epsilon, **TIGHT).fit(way(A), y, second=way(B))
    first, second, _ = interior_point(A, B, 2 * y - 1, 0.7, coupling, epsilon, squared=True)
    np.testing.assert_allclose(SVM2K.decision_function(model, way(A)), first, atol=1e-5)
    np.testing.assert_allclose(
        model.set_params(predict_view="second").decision_function(A, second=B), second, atol=1e-5
    )
    both = model.set_params(predict_view="mean").decision_function(A, second=B)
    np.testing.assert_allclose(both, (first + second) / 2, atol=1e-5)


def test_the_dual_of_the_hinge_form_has_the_same_optimum():
    """The papers' form: minimise ½g_A'K_A g_A + ½g_B'K_B g_B − Σ(a_A + a_B) + εΣ(p + q)."""
    A, B, y = views(25)
    y = 2.0 * y - 1
    n, C, D, epsilon = len(y), 0.8, 0.6, 0.05
    _, _, primal = interior_point(A, B, y, C, D, epsilon, squared=False)
    one, none = np.eye(n), np.zeros((n, n))
    # of a_A, a_B, p, q
    GA, GB = np.hstack([np.diag(y), none, -one, one]), np.hstack([none, np.diag(y), one, -one])
    P = GA.T @ A @ A.T @ GA + GB.T @ B @ B.T @ GB
    q = np.concatenate([-np.ones(2 * n), np.full(2 * n, epsilon)])
    sums = np.vstack([GA.sum(axis=0), -GA.sum(axis=0), GB.sum(axis=0), -GB.sum(axis=0)])
    rows = [
        -np.eye(4 * n),
        np.hstack([np.eye(2 * n), np.zeros((2 * n, 2 * n))]),
        np.hstack([none, none, one, one]),
        sums,
    ]
    limits = np.concatenate([np.zeros(4 * n), np.full(2 * n, C), np.full(n, D), np.zeros(4)])
    _, dual = quadratic_programme(P + 1e-12 * np.eye(4 * n), q, np.vstack(rows), limits)
    assert -dual == pytest.approx(primal, rel=1e-5)
    first, second, _ = interior_point(A, B, y, C, 0.0, 0.0, squared=False)
    np.testing.assert_allclose(
        first, SVC(kernel="linear", C=C, tol=1e-8).fit(A, y).decision_function(A), atol=1e-4
    )
    first, second, _ = interior_point(A, B, y, C, 1e4, 0.0, squared=False)
    np.testing.assert_allclose(first, second, atol=1e-4)


def test_texts_without_the_second_view_are_learnt_and_scored_by_the_first():
    A, B, y = views(60)
    partly = B.copy()
    partly[40:] = np.nan
    model = SVM2K(coupling=5.0).fit(A, y, second=partly)
    scores = model.decision_function(A, second=partly)
    np.testing.assert_allclose(scores[40:], model.decision_function(A)[40:])
    assert not np.allclose(scores[:40], model.decision_function(A)[:40])
    nobody = SVM2K().fit(A, y, second=np.full_like(B, np.nan))
    np.testing.assert_allclose(nobody.decision_function(A), SVM2K().fit(A, y).decision_function(A))


def test_kernel_views():
    A, B, y = views(50)
    model = SVM2K(kernel="rbf", coupling=0.0, predict_view="second", **TIGHT).fit(A, y, second=B)
    root = np.linalg.cholesky(rbf_kernel(B) + 1e-12 * np.eye(50))
    np.testing.assert_allclose(
        model.decision_function(A, second=B),
        PriorSVC(**TIGHT).fit(root, y).decision_function(root),
        atol=1e-4,
    )
    mixed = SVM2K(kernel=("linear", "rbf")).fit(A, y, second=B)
    assert mixed.coef_.shape == (1, 3)


def test_several_classes_and_weights():
    A, B, y = views(90)
    labels = np.where(A[:, 2] > 0.5, 2, y)
    model = SVM2K(class_weight="balanced").fit(A, labels, second=B)
    assert model.decision_function(A, second=B).shape == (90, 3)
    indicator = (labels[:, None] == [0, 1, 2]).astype(int)
    assert SVM2K().fit(A, indicator, second=B).predict(A, second=B).shape == (90, 3)
    twice = SVM2K(**TIGHT).fit(
        np.vstack([A, A[:9]]), np.append(labels, labels[:9]), second=np.vstack([B, B[:9]])
    )
    weighted = SVM2K(**TIGHT).fit(A, labels, sample_weight=1.0 + (np.arange(90) < 9), second=B)
    np.testing.assert_allclose(twice.decision_function(A, B), weighted.decision_function(A, B), atol=1e-6)
