"""All problems over one matrix as a GPU solves them, with NumPy in its place: LIBSVM's decisions, and the
minimum.
"""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.svm import SVC

from textmargin.errors import DeviceError, TooLargeError
from textmargin.learners._device_dual import DeviceDual, solve_dual
from textmargin.learners._dual import DualProblems


def problem(seed, n=60, n_features=30, n_problems=4, scale=1.0):
    """K of rows with duplicates and an empty one, the signs of each problem, of which the first has one
    positive, and costs.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features)) * 10.0 ** rng.uniform(-1, 1, (n, 1) if seed % 2 else (1, 1))
    X = np.round(8 * X) / 8  # so that K is exact in single precision, and with that positive semi-definite
    X[n // 2 : n // 2 + 5] = X[:5]
    X[n // 2 + 7] = 0
    signs = np.where(
        X @ rng.standard_normal((n_features, n_problems)) + rng.standard_normal((n, n_problems)) > 0.5,
        1.0,
        -1.0,
    ).T
    signs[:, :2] = [1.0, -1.0]
    signs[0, 1:] = -1.0
    costs = np.where(rng.random((n_problems, n)) < 0.2, 0.0, rng.uniform(0.3, 3.0, (n_problems, n)))
    costs[:, :2] = 1.0
    costs *= np.where(signs > 0, 5.0, 1.0)  # class weights
    K = (scale * X @ X.T).astype(np.float32)
    return K, signs, costs / scale


def posed(signs, costs):
    return DualProblems.of(signs, costs, np.zeros_like(signs), "hinge")


def libsvm(K, signs, costs):
    """β and b of one problem; texts of weight 0 as if they were not there."""
    there = np.flatnonzero(costs)
    machine = SVC(kernel="precomputed", tol=1e-8, C=1.0).fit(
        K[np.ix_(there, there)], signs[there], sample_weight=costs[there]
    )
    beta = np.zeros(len(K))
    beta[there[machine.support_]] = machine.dual_coef_[0]
    return beta, machine.intercept_[0]


@pytest.mark.parametrize(("scale", "n_features"), [(1.0, 30), (2.0**20, 30), (2.0**-20, 30), (1.0, 8)])
@pytest.mark.parametrize("seed", range(6))
def test_equals_libsvm(seed, scale, n_features):
    """Duplicates, an empty text, texts of weight 0, one positive, class weights, rows of the same and of
    different lengths.
    """
    K, signs, costs = problem(seed, n_features=n_features, scale=scale)
    found = solve_dual(K, posed(signs, costs), True, 1e-6, xp=np)
    K = K.astype(float)
    assert found.violation.max() <= 1e-6
    np.testing.assert_allclose(found.beta.sum(axis=1), 0, atol=1e-12 / scale)
    for k, (beta, b) in enumerate(zip(found.beta, found.intercept, strict=True)):
        other, other_b = libsvm(K, signs[k], costs[k])
        ours, theirs = (0.5 * one @ K @ one - signs[k] @ one for one in (beta, other))
        assert abs(ours - theirs) <= 1e-6 * abs(theirs)
        scores = K @ other + other_b
        apart = np.abs(scores) > 1e-4
        assert np.array_equal((K @ beta + b > 0)[apart], (scores > 0)[apart])


@pytest.mark.parametrize("seed", range(6))
def test_without_intercept_no_margin_can_be_mended(seed):
    """The conditions of Karush, Kuhn and Tucker in double precision, which are all there is to a minimum of a
    convex function.
    """
    K, signs, costs = problem(seed, n_features=8)
    problems = posed(signs, costs)
    found = solve_dual(K, problems, False, 1e-7, xp=np)
    slack = problems.target - found.beta @ K.astype(float)
    assert (found.beta >= problems.low).all()
    assert (found.beta <= problems.high).all()
    assert slack[found.beta < problems.high].max() <= 1.01e-7
    assert slack[found.beta > problems.low].min() >= -1.01e-7
    assert not found.intercept.any()
    assert (found.beta[costs == 0] == 0).all()


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_targets_of_any_size(fit_intercept):
    """Prior scores leave other targets than ±1, beyond 0 as well."""
    K, signs, costs = problem(2)
    problems = DualProblems.of(signs, costs, np.random.default_rng(0).normal(0, 3, signs.shape), "hinge")
    found = solve_dual(K, problems, fit_intercept, 1e-6, xp=np)
    slack = problems.target - found.beta @ K.astype(float) - found.intercept[:, None]
    assert found.violation.max() <= 1e-6
    assert slack[found.beta < problems.high].max() <= 1.01e-6
    assert slack[found.beta > problems.low].min() >= -1.01e-6


@pytest.mark.parametrize("seed", range(6))
def test_a_kernel_of_low_rank_is_jumped_along(seed):
    """Rows of two numbers leave nearly all directions flat, along which steps only creep."""
    K, signs, costs = problem(seed, n_features=2)
    found = solve_dual(K, posed(signs, costs), False, 1e-6, xp=np)
    assert found.violation.max() <= 1e-6
    assert found.n_iter.max() < 10_000


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_squared_hinge(fit_intercept):
    """Weights without a bound and a ridge of 1/2c: each text that misses its margin has the weight 2c times
    what is missing.
    """
    K, signs, costs = problem(4)
    found = solve_dual(
        K, DualProblems.of(signs, costs, np.zeros_like(signs), "squared_hinge"), fit_intercept, 1e-7, xp=np
    )
    missing = np.maximum(0, 1 - signs * (found.beta @ K.astype(float) + found.intercept[:, None]))
    assert found.violation.max() <= 1e-7
    np.testing.assert_allclose(signs * found.beta, 2 * costs * missing, atol=1e-5)
    np.testing.assert_allclose(found.beta.sum(axis=1) * fit_intercept, 0, atol=1e-12)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_warm_start_takes_fewer_steps_to_the_same_place(fit_intercept):
    K, signs, costs = problem(4)
    machine = DeviceDual(K, fit_intercept, np)
    neighbour = machine.solve(posed(signs, costs), 1e-6)
    cold = machine.solve(posed(signs, 1.1 * costs), 1e-6)
    warm = machine.solve(posed(signs, 1.1 * costs), 1e-6, start=1.1 * neighbour.beta)
    assert warm.n_iter.sum() < cold.n_iter.sum()
    np.testing.assert_allclose(warm.beta @ K, cold.beta @ K, atol=1e-3)
    again = machine.solve(posed(signs, costs), 1e-6, start=neighbour.beta)
    assert not again.n_iter.any()
    np.testing.assert_allclose(again.beta, neighbour.beta, rtol=1e-9)


def test_problems_in_groups_are_the_same_problems(monkeypatch):
    """Where the memory does not hold them all."""
    K, signs, costs = problem(1)
    machine = DeviceDual(K, xp=np)
    whole = machine.solve(posed(signs, costs), 1e-5)
    monkeypatch.setattr(DeviceDual, "_free_bytes", lambda self: 130.0 * 3 * len(K))
    parts = machine.solve(posed(signs, costs), 1e-5)
    np.testing.assert_allclose(parts.beta @ K, whole.beta @ K, atol=1e-3)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_what_is_not_solved_in_time_comes_with_its_violation(fit_intercept):
    K, signs, costs = problem(3)
    problems = posed(signs, costs)
    found = DeviceDual(K, fit_intercept, np).solve(problems, 1e-9, max_iter=25)
    assert found.violation.max() > 1e-9
    assert (found.n_iter <= 25).all()
    assert (found.beta >= problems.low).all()
    assert (found.beta <= problems.high).all()


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_nothing_to_learn_from(fit_intercept):
    """No text counts, or all texts are empty."""
    K, signs, costs = problem(0)
    found = solve_dual(K, posed(signs, 0 * costs), fit_intercept, 1e-6, xp=np)
    assert not found.beta.any()
    assert not found.intercept.any()
    empty = solve_dual(0 * K, posed(signs, costs), fit_intercept, 1e-6, xp=np)
    assert empty.violation.max() <= 1e-6
    if not fit_intercept:
        assert np.array_equal(empty.beta, signs * costs)


def test_bad_matrices_are_named():
    K, _, _ = problem(0)
    K[3, 4] = np.nan
    with pytest.raises(TooLargeError, match="not finite"):
        DeviceDual(K, xp=np)
    with pytest.raises(ValueError, match="float32; got float64"):
        DeviceDual(np.eye(3), xp=np)


def test_too_little_memory_is_named(monkeypatch):
    K, signs, costs = problem(0)
    monkeypatch.setattr(DeviceDual, "_free_bytes", lambda self: 12.0 * K.size)
    machine = DeviceDual(K, xp=np)
    monkeypatch.setattr(DeviceDual, "_free_bytes", lambda self: 11.9 * K.size)
    with pytest.raises(DeviceError, match=r"60 texts at once takes .* GB of the GPU's memory"):
        DeviceDual(K, xp=np)
    monkeypatch.setattr(DeviceDual, "_free_bytes", lambda self: 100.0)
    with pytest.raises(DeviceError, match="too small to learn a class from 60 texts"):
        machine.solve(posed(signs, costs), 1e-6)


def test_it_does_without_the_compiled_core():
    script = """
import sys
sys.modules["textmargin.core"] = None
import numpy as np
from textmargin.learners._device_dual import solve_dual
from textmargin.learners._dual import DualProblems
signs = np.array([[1.0, -1.0]])
problems = DualProblems.of(signs, np.ones((1, 2)), np.zeros((1, 2)), "hinge")
print(solve_dual(np.eye(2, dtype=np.float32), problems, True, 1e-6, xp=np).beta)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[[ 1. -1.]]"
