"""Kernel machines over a whole Gram matrix: those of LIBSVM, for every kind of matrix, cost and precision."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import corpus
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC

from textmargin import KernelSVC, SpectrumKernel, core, load, save
from textmargin.errors import SettingError, TooLargeError
from textmargin.learners._dual import DualProblems
from textmargin.learners._folds import deal_folds
from textmargin.learners._gram_dual import solve_dual
from textmargin.learners._row_pairs import RowPairs
from textmargin.learners._whole_gram import WholeGram


def points(n=80, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


def objective(K, y, costs, beta, b):
    """The primal, ½β'Kβ + Σ c max(0, 1 − yf)."""
    f = K @ beta
    return 0.5 * beta @ f + costs @ np.maximum(0, 1 - y * (f + b))


def dense(model, n):
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0]
    return beta, model.intercept_[0]


@st.composite
def matrices(draw):
    """A Gram matrix, labels and weights of up to 60 texts: low rank, duplicates, one positive, weights of 0,
    any scale.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, rank = draw(st.integers(4, 60)), draw(st.sampled_from([1, 2, 5, 80]))
    A = rng.normal(size=(n, rank))
    if draw(st.booleans()):
        A[n // 2 :] = A[: n - n // 2]
    y = np.where(A[:, 0] + draw(st.sampled_from([0.0, 0.5, 3.0])) * rng.normal(size=n) > 0, 1, -1)
    if draw(st.booleans()):
        y[:] = -1
    y[0], y[1] = 1, -1
    weight = np.ones(n) if draw(st.booleans()) else rng.choice([0.0, 0.3, 1.0, 4.0], n)
    weight[:2] = 1.0
    return A @ A.T / rank, y, weight, draw(st.sampled_from([1e-6, 1e-3, 1.0, 1e3, 1e6]))


@given(matrices(), st.sampled_from([None, "balanced", {1: 3.0, -1: 0.5}]), st.sampled_from([0.03, 1.0, 30.0]))
@settings(max_examples=60, deadline=None)
def test_is_svc(problem, class_weight, C):
    """In units in which values are `scale` times as large, C must be as many times smaller."""
    K, y, weight, scale = problem
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = KernelSVC("precomputed", C / scale, class_weight=class_weight, tol=1e-6).fit(
            scale * K, y, weight
        )
    there = weight > 0
    other = SVC(C=C, kernel="precomputed", class_weight=class_weight, tol=1e-6)
    other.fit(K[np.ix_(there, there)], y[there], weight[there])
    costs = weight * C
    if class_weight is not None:
        per_class = {1: 3.0, -1: 0.5} if class_weight != "balanced" else _balanced(y[there], weight[there])
        costs = costs * np.where(y > 0, per_class[1], per_class[-1])
    beta = np.zeros(len(y))
    beta[np.flatnonzero(there)[other.support_]] = other.dual_coef_[0]
    own, b = dense(model, len(y))
    expected = objective(K, y, costs, beta, other.intercept_[0])
    found = objective(K, y, costs, own * scale, b)
    assert found <= expected * (1 + 1e-6)
    assert abs(own.sum()) <= 1e-9 * np.abs(own).sum()


def _balanced(y, weight):
    """As `class_weight="balanced"` of scikit-learn has it."""
    sides = {side: weight[y == side].sum() for side in (1, -1)}
    return {side: sum(sides.values()) / (2 * total) for side, total in sides.items()}


@given(matrices(), st.sampled_from([0.03, 1.0, 30.0]))
@settings(max_examples=60, deadline=None)
def test_without_intercept_the_gap_to_the_dual_is_closed(problem, C):
    K, y, weight, scale = problem
    model = KernelSVC("precomputed", C / scale, fit_intercept=False, tol=1e-7).fit(scale * K, y, weight)
    beta = dense(model, len(y))[0] * scale
    assert ((y * beta >= 0) & (y * beta <= C * weight * (1 + 1e-9))).all()
    dual = y @ beta - 0.5 * beta @ K @ beta
    assert objective(K, y, C * weight, beta, 0.0) - dual <= 1e-6 * max(dual, 1e-9 * C)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("level", ["baseline", "avx2"])
@pytest.mark.parametrize("n", [37, 64])
def test_every_precision_and_level_finds_the_same(n, level, intercept, monkeypatch):
    monkeypatch.setenv("TEXTMARGIN_LEVEL", level)
    X, y = points(n, n_classes=5)
    K = rbf_kernel(X)
    signs = np.where(y == np.arange(5)[:, None], 1.0, -1.0)
    problems = DualProblems.of(signs, np.full((5, n), 2.0), np.zeros((5, n)), "hinge")
    exact = solve_dual(K, problems, intercept, 1e-8)
    for matrix, other in ((K.astype(np.float32), None), (K.astype(np.float32), K)):
        found = solve_dual(matrix, problems, intercept, 1e-5, exact=other, n_jobs=2)
        np.testing.assert_allclose(found.beta, exact.beta, atol=1e-4)
        np.testing.assert_allclose(found.intercept, exact.intercept, atol=1e-4)
        assert found.violation.max() <= 1e-5


def test_steps_read_no_further_than_the_matrix_goes():
    """The last row ends where the array ends, whatever the number of texts is in lanes."""
    for n in range(2, 20):
        X, _ = points(n)
        K = rbf_kernel(X).astype(np.float32)
        y = np.where(np.arange(n) % 2, 1.0, -1.0)[None]
        zeros = np.zeros_like(y)
        beta, left, violation, _ = core.dual_steps(
            K, y, np.minimum(y, 0), np.maximum(y, 0), zeros, zeros, zeros, True, 1e-4, 10_000, True, "avx2", 1
        )
        assert violation[0] <= 1e-4
        e = core.dual_residuals(K, y, zeros, beta, "baseline", 2)
        np.testing.assert_allclose(e, y - beta @ K.astype(float), atol=1e-12)
        np.testing.assert_allclose(left, e, atol=1e-5)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("error", [0.0, 0.05])
def test_a_rough_tol_holds_in_double_precision_even_where_single_is_off(error, intercept):
    X, y = points(300, n_classes=5)
    exact = rbf_kernel(X)
    single = (exact * (1 + error * np.cos(np.add.outer(np.arange(300), np.arange(300))))).astype(np.float32)
    signs = np.where(y == np.arange(5)[:, None], 1.0, -1.0)
    problems = DualProblems.of(signs, np.ones((5, 300)), np.zeros((5, 300)), "hinge")
    found = solve_dual(single, problems, intercept, 1e-3, exact=exact)
    intercepts, violation = problems.conditions(found.beta, signs - found.beta @ exact, intercept)
    assert violation.max() <= 1e-3
    np.testing.assert_allclose(found.intercept, intercepts, atol=1e-4)


@pytest.mark.parametrize("start", ["itself", "another", "beyond all bounds"])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_start_changes_nothing_but_the_steps(intercept, start):
    X, y = points(120, n_classes=4)
    K = rbf_kernel(X)
    signs = np.where(y == np.arange(4)[:, None], 1.0, -1.0)
    problems = DualProblems.of(signs, np.ones((4, 120)), np.zeros((4, 120)), "hinge")
    cold = solve_dual(K, problems, intercept, 1e-7)
    begin = {"itself": cold.beta, "another": cold.beta[::-1], "beyond all bounds": 50 * signs}[start]
    warm = solve_dual(K, problems, intercept, 1e-7, begin)
    np.testing.assert_allclose(warm.beta, cold.beta, atol=1e-6)
    if start == "itself":
        assert warm.n_iter.sum() < 0.1 * cold.n_iter.sum()


def test_an_indefinite_kernel_ends_or_says_so(recwarn):
    X, y = points(100)
    for C in (1.0, 1e4):
        model = KernelSVC("sigmoid", C, kernel_params={"gamma": 2.0, "coef0": -1.0}).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
    assert all(issubclass(warning.category, ConvergenceWarning) for warning in recwarn)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("chunk_size", [None, 5])
def test_values_that_are_not_finite_are_refused(value, chunk_size):
    X, y = points(20)

    def kernel(A, B):
        return np.where((A[:, :1] == X[7, 0]) & (B[:, 0] == X[7, 0]), value, rbf_kernel(A, B))

    with pytest.raises(ValueError, match="texts number 7 and 7"):
        KernelSVC(kernel, chunk_size=chunk_size).fit(X, np.arange(20) % 2)
    with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
        KernelSVC("precomputed").fit(np.where(np.eye(20) > 0, value, 0.0), y)


def test_a_matrix_at_hand_is_the_machine_of_its_kernel(tmp_path):
    texts, topics = corpus()
    kernel = SpectrumKernel(3)
    K, new = kernel(texts), kernel(["barley prices", "crude oil"], texts)
    model = KernelSVC("precomputed", C=3.0).fit(K, topics)
    by_texts = KernelSVC(kernel, C=3.0).fit(texts, topics)
    np.testing.assert_allclose(
        model.decision_function(new), by_texts.decision_function(["barley prices", "crude oil"]), atol=1e-6
    )
    assert model.support_.tolist() == by_texts.support_.tolist()
    assert (model.n_kernel_evaluations_, model.support_vectors_.size) == (0, 0)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(
        load(tmp_path / "model").decision_function(new), model.decision_function(new)
    )
    single = KernelSVC("precomputed", C=3.0).fit(K.astype(np.float32), topics)
    np.testing.assert_allclose(single.decision_function(new), model.decision_function(new), atol=1e-4)


class OnDevice:
    """A kernel whose matrix stays where it was computed."""

    def items(self, X):
        return X

    def over(self, X):
        return OnDevicePairs(np.asarray(X, dtype=float), OnDevice(), {})

    def __call__(self, A, B):
        return rbf_kernel(A, B)


class OnDevicePairs(RowPairs):
    def device_gram(self):
        return rbf_kernel(self.X).astype(np.float32)

    def take(self, rows):
        return OnDevicePairs(self.X[rows], self.kernel, self.params)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("trust", ["free", "fixed"])
def test_a_matrix_on_a_device_gives_the_same_machine(loss, trust):
    X, y = points(60, n_classes=3)
    z = np.random.default_rng(0).normal(size=(60, 3))
    there, here = (
        KernelSVC(kernel, loss=loss, trust=trust, tol=1e-5).fit(
            X.tolist() if kernel != "rbf" else X, y, prior_scores=z
        )
        for kernel in (OnDevice(), "rbf")
    )
    new = points(20, seed=1)[0]
    found = there.decision_function(new.tolist(), prior_scores=z[:20])
    # rbf_kernel has its default gamma, 1/3, in both
    np.testing.assert_allclose(found, here.decision_function(new, prior_scores=z[:20]), atol=1e-3)
    np.testing.assert_allclose(there.fold_decision_function(3), here.fold_decision_function(3), atol=1e-3)


def test_the_whole_matrix_on_request():
    texts, topics = corpus()
    kernel = SpectrumKernel(3)
    whole, lazy = KernelSVC(kernel, chunk_size=None).fit(texts, topics), KernelSVC(kernel).fit(texts, topics)
    np.testing.assert_allclose(whole.decision_function(texts), lazy.decision_function(texts), atol=1e-5)
    assert whole.n_kernel_evaluations_ == len(texts) * (len(texts) + 1) // 2 > lazy.n_kernel_evaluations_


def test_a_matrix_larger_than_memory_is_not_begun():
    class Endless:
        def __len__(self):
            return 10_000_000

    with pytest.raises(
        TooLargeError, match=r"10,000,000 texts takes 372529.0 GiB more, .* use chunk_size=50"
    ):
        WholeGram.of(Endless())


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (KernelSVC("precomputed"), np.ones((4, 3)), "square kernel matrix"),
        (KernelSVC("precomputed", kernel_params={"gamma": 1.0}), np.eye(4), "kernel_params"),
        (KernelSVC("precomputed", cache="folder"), np.eye(4), "cache=None"),
        (KernelSVC(chunk_size="all"), np.eye(4), "chunk_size"),
        (KernelSVC(loss="logistic"), np.eye(4), "loss"),
    ],
)
def test_bad_input_says_what_is_wrong(model, X, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize("chunk_size", [10, None])
def test_folds_are_those_of_machines_learnt_anew(chunk_size):
    X, y = points(90, n_classes=3)
    model = KernelSVC("rbf", chunk_size=chunk_size, tol=1e-6).fit(X, y)
    found = model.fold_decision_function(n_folds=3)
    fold = deal_folds(y[:, None] == np.arange(3), 3, 0)
    for j in range(3):
        anew = KernelSVC("rbf", tol=1e-6).fit(X[fold != j], y[fold != j])
        np.testing.assert_allclose(found[fold == j], anew.decision_function(X[fold == j]), atol=1e-4)


@pytest.mark.parametrize("chunk_size", [10, None])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_warm_start_over_costs_ends_where_a_cold_one_does(intercept, chunk_size):
    X, y = points(90, n_classes=3)
    warm = KernelSVC("rbf", warm_start=True, chunk_size=chunk_size, fit_intercept=intercept, tol=1e-7)
    for C in (0.1, 1.0, 10.0, 0.5):
        cold = KernelSVC("rbf", C, chunk_size=chunk_size, fit_intercept=intercept, tol=1e-7).fit(X, y)
        np.testing.assert_allclose(
            warm.set_params(C=C).fit(X, y).decision_function(X), cold.decision_function(X), atol=1e-5
        )
    other = warm.fit(X[:60], y[:60] % 2)  # other texts and classes: from the beginning
    assert other.decision_function(X).shape == (90,)


def test_the_squared_hinge_is_linear_svc_in_the_space_of_the_kernel():
    X, y = points(80)
    K = rbf_kernel(X)
    values, vectors = np.linalg.eigh(K)
    coordinates = vectors * np.sqrt(np.maximum(values, 0))
    expected = LinearSVC(C=2.0, fit_intercept=False, tol=1e-10, max_iter=100_000, dual=False).fit(
        coordinates, y
    )
    for chunk_size in (10, None):
        model = KernelSVC(
            "rbf", 2.0, loss="squared_hinge", fit_intercept=False, chunk_size=chunk_size, tol=1e-7
        ).fit(X, y)
        np.testing.assert_allclose(
            model.decision_function(X), expected.decision_function(coordinates), atol=1e-5
        )


@pytest.mark.parametrize("intercept", [True, False])
def test_leave_one_out_of_the_squared_hinge_is_learning_without_the_text(intercept):
    X, y = points(40)
    weight = np.ones(40)
    weight[5] = 0
    model = KernelSVC("rbf", 0.5, loss="squared_hinge", fit_intercept=intercept, tol=1e-8).fit(X, y, weight)
    found = model.loo_decision_function()
    assert found[5] == pytest.approx(model.decision_function(X[5:6])[0])
    anew = []
    for i in np.flatnonzero(weight):
        rest = np.setdiff1d(np.flatnonzero(weight), [i])
        anew.append(
            KernelSVC("rbf", 0.5, loss="squared_hinge", fit_intercept=intercept, tol=1e-8).fit(
                X[rest], y[rest]
            )
        )
        same = np.array_equal(rest[anew[-1].support_], np.setdiff1d(model.support_, [i]))
        tolerance = 1e-6 if same else 0.05
        assert found[i] == pytest.approx(anew[-1].decision_function(X[i : i + 1])[0], abs=tolerance)


def test_the_hinge_points_to_its_folds():
    X, y = points(20)
    with pytest.raises(SettingError, match="fold_decision_function"):
        KernelSVC("rbf").fit(X, y).loo_decision_function()
